"""Identity returns the input, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from package_references import reference_of

import webgpu_kernels as wk
from webgpu_kernels import Capabilities, TensorSpec

DTYPES = ("float32", "float16", "int32", "uint32", "int16", "int8", "uint8", "bool")
SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (0, 3),
    (3,),
    (8,),
    (5, 7),
    (2, 0, 4),
    (2, 3, 4),
    (1, 2, 1, 3, 1, 2, 4),
    (1025,),
]


@pytest.fixture(scope="module")
def kernel() -> wk.Kernel:
    """The bundled package."""
    return wk.get_kernel("ai.onnx.Identity")


def draw(shape: tuple[int, ...], dtype: str) -> Any:
    """Draw any bits that a dtype has."""
    octets = np.random.default_rng(5).integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, np.uint8)
    return (octets % 2 if dtype == "bool" else octets).view(dtype).reshape(shape)


@pytest.mark.device
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_bit_comes_back(kernel: wk.Kernel, shape: tuple[int, ...], dtype: str) -> None:
    """NaNs, subnormals and negative zeros too, in each variant and whatever a lane moves."""
    x = draw(shape, dtype)
    expected = reference_of("ai.onnx.Identity")({"x": x}, {})["y"]
    for candidate in kernel.explain(x=x).candidates:
        for knobs in ({}, {"WORKGROUP_SIZE": 2, "MANY_ITEMS": 0}):
            if candidate.accepted:
                y = kernel(x=x, variant=candidate.id, tunables=knobs).y
                assert (y.shape, y.dtype) == (x.shape, x.dtype)
                assert y.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("shape", "dtype", "variant"),
    [
        ((4,), "float32", "vec4"),
        ((4,), "float16", "word"),
        ((8,), "float16", "vec4"),
        ((7,), "float16", "vec4"),
        ((3,), "int8", "word"),
        ((), "bool", "word"),
    ],
)
def test_words_choose_the_variant(kernel: wk.Kernel, shape: tuple[int, ...], dtype: str, variant: str) -> None:
    """Not elements: two float16 share a word; and no dtype needs a feature."""
    found = kernel.explain(x=TensorSpec(shape, dtype), capabilities=Capabilities())
    assert found.variant == variant


@pytest.mark.device
def test_a_grid_folds_into_rows(kernel: wk.Kernel) -> None:
    """More workgroups than one axis takes."""
    x = np.arange(65_537 * 4, dtype=np.int32)
    knobs = {"WORKGROUP_SIZE": 1}
    (step,) = kernel.explain(x=x, tunables=knobs).passes
    assert step.dispatch == (65_535, 2, 1)
    np.testing.assert_array_equal(kernel(x=x, tunables=knobs).y, x)


@pytest.mark.device
def test_a_copy_onto_itself_runs_nothing(kernel: wk.Kernel) -> None:
    """And is no conflict of reading and writing."""
    x = kernel.tensor("x", np.arange(9, dtype=np.uint8))
    kernel(x=x, out={"y": x})
    np.testing.assert_array_equal(x.numpy(), np.arange(9))
