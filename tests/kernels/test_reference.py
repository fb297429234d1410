"""The numbers of ONNX Runtime's own unit tests pass through the references and through the kernels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from skip_group_norm_cases import SHARED, Array, reference_module

if TYPE_CHECKING:
    import webgpu_kernels as wk

CASES = SHARED / "published" / "onnxruntime" / "cases.json"


def group_norm_calls() -> list[Any]:
    """Read the cases of SkipGroupNorm, and of the operators it contains with a skip of zeros."""
    if not CASES.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="ONNX Runtime's cases are not on this machine"))]
    cases = json.loads(CASES.read_text())
    calls = [
        pytest.param(case | {"skip_shape": shape}, id=f"{case['name']}-{shape}")
        for case in cases["skip_group_norm"]
        for shape in case["skip_shapes"] or [case["shape"]]
    ]
    return calls + [
        pytest.param(as_skip_group_norm(case), id=case["name"]) for case in cases["onnx_group_normalization"]
    ]


def as_skip_group_norm(case: dict[str, Any]) -> dict[str, Any]:
    """Rewrite a case of ai.onnx.GroupNormalization, which is channels first and may have one spatial axis."""
    shape = [*case["shape"], *[1] * (4 - len(case["shape"]))]
    attrs = {"groups": case["num_groups"], "activation": 0, "channels_last": 0, "epsilon": case["epsilon"]}
    names = {"gamma": case["scale"], "beta": case["bias"], "skip": None, "bias": None, "S": None, "T": "float32"}
    return case | names | {"shape": shape, "skip_shape": shape, "attrs": attrs, "M": "float32"}


def inputs_of(case: dict[str, Any]) -> dict[str, Array]:
    """Return the arrays of a case."""
    inputs = {
        "X": np.array(case["X"], case["T"]).reshape(case["shape"]),
        "gamma": np.array(case["gamma"], case["M"]),
        "beta": np.array(case["beta"], case["M"]),
        "skip": np.array(case["skip"] or np.zeros(case["skip_shape"]), case["T"]).reshape(case["skip_shape"]),
    }
    return inputs if case["bias"] is None else inputs | {"bias": np.array(case["bias"], case["T"])}


def compare(case: dict[str, Any], results: Any) -> None:
    """Compare with the published numbers, within ONNX Runtime's own tolerances."""
    for name in ("Y", "S"):
        if case.get(name) is not None:
            wanted = np.array(case[name]).reshape(case["shape"])
            np.testing.assert_allclose(results[name], wanted, rtol=case["rtol"], atol=case["atol"])


def channels_first(case: dict[str, Any]) -> dict[str, Any]:
    """Return the same case on the transposed arrays."""
    n, h, w, c = case["shape"]
    moved = {
        name: np.moveaxis(np.array(case[name]).reshape(case["shape"]), -1, 1).ravel().tolist()
        for name in ("X", "Y", "S", "skip")
        if case.get(name) is not None and len(case[name]) == n * h * w * c
    }
    exact = case["skip_shape"] == case["shape"]
    shape = [n, c, h, w]
    attrs = case["attrs"] | {"channels_last": 0}
    return case | moved | {"shape": shape, "skip_shape": shape if exact else case["skip_shape"], "attrs": attrs}


@pytest.mark.parametrize("case", group_norm_calls())
def test_reference_agrees_with_onnx_runtime(case: dict[str, Any]) -> None:
    """The reference is itself checked."""
    compare(case, reference_module().reference(inputs_of(case), case["attrs"]))


@pytest.mark.parametrize("case", group_norm_calls())
def test_reference_is_the_same_channels_first(case: dict[str, Any]) -> None:
    """Transposed tensors give the transposed result."""
    if case["attrs"]["channels_last"] == 0:
        pytest.skip("the case is channels first as it is")
    compare(
        channels_first(case),
        reference_module().reference(inputs_of(channels_first(case)), {**case["attrs"], "channels_last": 0}),
    )


@pytest.mark.device
@pytest.mark.parametrize("case", group_norm_calls())
def test_kernel_agrees_with_onnx_runtime(skip_group_norm: wk.Kernel, case: dict[str, Any]) -> None:
    """The variant that selection picks gives ONNX Runtime's numbers."""
    compare(case, skip_group_norm(inputs_of(case), attrs=case["attrs"], outputs=["Y", "S"]))


def test_the_sum_is_rounded_once() -> None:
    """1 + 2**-11 + 2**-11 is 1 + 2**-10 in float16; rounded after X + skip it would stay 1."""
    one, half_ulp = np.full((1, 1, 1, 1), 1, np.float16), np.float16(2.0**-11)
    inputs = {"X": one, "skip": np.full_like(one, half_ulp), "bias": np.full(1, half_ulp)}
    assert reference_module().residual_sum(inputs).item() == 1 + 2.0**-10


def test_statistics_see_the_rounded_sum() -> None:
    """Sums that round to one value have no variance, so that Y is beta."""
    x = np.array([1, 1], np.float16).reshape(1, 1, 2, 1)
    skip = np.array([0, 2.0**-12], np.float16).reshape(1, 1, 2, 1)
    inputs = {"X": x, "skip": skip, "gamma": np.ones(1, np.float32), "beta": np.full(1, 3, np.float32)}
    y = reference_module().reference(inputs, {"groups": 1, "activation": 0, "epsilon": 1e-12})["Y"]
    assert np.array_equal(y.ravel(), [3.0, 3.0])
