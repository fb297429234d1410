"""Add of spec 2: the published manifest, unmodified, passes the cases that were published with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from published_packages import FOLDERS, published_kernel

if TYPE_CHECKING:
    from pathlib import Path

    import webgpu_kernels as wk

Array = np.ndarray[Any, np.dtype[Any]]

pytestmark = pytest.mark.device

SUITE = FOLDERS["ai.onnx.Add"] / "test.json"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> wk.Kernel:
    """The published manifest beside our templates."""
    folder: Path = tmp_path_factory.mktemp("add")
    return published_kernel("ai.onnx.Add", folder)


def cases() -> list[Any]:
    """Return the published cases, those that the file itself excludes from GPUs marked so."""
    if not SUITE.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="the published test.json is not on this machine"))]
    suite = json.loads(SUITE.read_text())
    return [
        pytest.param((case, suite["fixtureArrays"]), id=case["name"], marks=_marks(case)) for case in suite["cases"]
    ]


def _marks(case: dict[str, Any]) -> Any:
    excluded = case.get("skipGpu")
    return pytest.mark.skip(reason=f"skipGpu, {excluded['category']}: {excluded['reason']}") if excluded else ()


def array(tensor: dict[str, Any], fixtures: dict[str, list[float]]) -> Array:
    """Make a case's tensor.

    How ``fillFloat32`` mixes its sine and cosine is not published: here it is their sum times the scale, which is as
    good for comparing with a reference of our own.
    """
    data = tensor["data"]
    if data["kind"] == "values":
        values = data["values"]
        if isinstance(values, dict):
            values = fixtures[values["$ref"].removeprefix("#/fixtureArrays/")]
        return np.array(values, tensor["dtype"]).reshape(tensor["shape"])
    assert data["kind"] == "fillFloat32"
    i = np.arange(int(np.prod(tensor["shape"])))
    filled = data.get("scale", 1.0) * (np.sin(i * data["sinStep"]) + np.cos(i * data["cosStep"]))
    shaped: Array = filled.astype(np.float32).astype(tensor["dtype"]).reshape(tensor["shape"])
    return shaped


@pytest.mark.parametrize("published", cases())
def test_a_published_case_passes(kernel: wk.Kernel, published: tuple[dict[str, Any], dict[str, list[float]]]) -> None:
    """Within the case's tolerance of the published numbers, and exactly as numpy adds."""
    case, fixtures = published
    a, b = (array(case["inputs"][name], fixtures) for name in ("a", "b"))
    expected = case["outputs"]["c"]
    got = kernel(a=a, b=b).c
    assert (got.dtype, list(got.shape)) == (expected["dtype"], expected["shape"])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, a + b)
    if "data" in expected:
        np.testing.assert_allclose(got, array(expected, fixtures), rtol=0, atol=expected.get("tolerance", 0))


def test_the_suite_is_whole() -> None:
    """Fifty-one cases, of which three are not for GPUs."""
    if not SUITE.is_file():
        pytest.skip("the published test.json is not on this machine")
    listed = json.loads(SUITE.read_text())["cases"]
    assert len(listed) == 51
    assert [case["name"] for case in listed if "skipGpu" in case] == [
        "f32_subnormal_identity_and_cancellation_gpu_gap",
        "f32_subnormal_identity_and_cancellation_scalar_gpu_gap",
        "ort_int16_basic_gpu_gap",
    ]


@pytest.mark.parametrize(
    ("a", "b", "variant"),
    [
        ((2, 8), (2, 8), "same_shape_vec4"),
        ((2, 8), (1,), "scalar_b_vec4"),
        ((1, 1), (2, 8), "scalar_a_vec4"),
        ((2, 8), (2, 1), "broadcast_vec4"),
        ((3, 5), (5,), "broadcast"),
    ],
)
def test_each_variant_is_chosen(kernel: wk.Kernel, a: tuple[int, ...], b: tuple[int, ...], variant: str) -> None:
    """By the shapes."""
    inputs = {"a": np.arange(np.prod(a)).reshape(a).astype(np.int32), "b": np.ones(b, np.int32)}
    assert kernel.explain(inputs).variant == variant
    np.testing.assert_array_equal(kernel(inputs).c, inputs["a"] + inputs["b"])
