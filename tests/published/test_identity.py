"""Identity of spec 1.0: the published manifest and metadata, unmodified, run in every dtype and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from published_packages import published_kernel

from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from pathlib import Path

    import webgpu_kernels as wk

pytestmark = pytest.mark.device

DTYPES = ("float32", "float16", "int32", "uint32", "int16", "int8", "uint8", "bool")
SHAPES = [
    (),
    (0, 3),
    (1,),
    (3,),
    (4,),
    (2, 0, 4),
    (5, 7),
    (2, 3, 4),
    (1, 1, 1, 1),
    (2, 1, 3, 1, 2),
    (1, 2, 1, 3, 1, 2, 4),
    (257,),
    (64, 64),
]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> wk.Kernel:
    """The published manifest and metadata beside our templates."""
    folder: Path = tmp_path_factory.mktemp("identity")
    return published_kernel("ai.onnx.Identity", folder)


def values(shape: tuple[int, ...], dtype: str) -> Any:
    """Return numbers of both signs, and of both truths."""
    count = int(np.prod(shape))
    return (np.arange(count) * 37 % 251 - 125).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_dtype_and_shape_comes_back(kernel: wk.Kernel, shape: tuple[int, ...], dtype: str) -> None:
    """From a single number and nothing at all up."""
    x = values(shape, dtype)
    y = kernel(x=x).y
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize(
    ("shape", "variant"), [((), "copy"), ((3,), "copy"), ((4,), "copy_vec4"), ((2, 6), "copy_vec4")]
)
def test_vectors_are_for_multiples_of_four(kernel: wk.Kernel, shape: tuple[int, ...], variant: str) -> None:
    """The plain copy serves every size, also where vectors would do."""
    x = values(shape, "float32")
    assert kernel.explain(x=x).variant == variant
    np.testing.assert_array_equal(kernel(x=x, variant="copy").y, x)


def test_a_shader_loops_where_the_grid_ends(kernel: wk.Kernel) -> None:
    """Workgroups of one lane, so that a small tensor exceeds a row of them."""
    x = values((65_535 * 2 + 3,), "int32")
    (step,) = kernel.explain(x=x, tunables={"WORKGROUP_SIZE": 1}).passes
    assert step.dispatch == (65_535, 1, 1)
    np.testing.assert_array_equal(kernel(x=x, tunables={"WORKGROUP_SIZE": 1}).y, x)


def test_nothing_runs_for_an_empty_tensor(kernel: wk.Kernel) -> None:
    """No pass is planned."""
    assert kernel.explain(x=TensorSpec((0, 3), "float32")).passes == ()


def test_a_tensor_copied_onto_itself_stays(kernel: wk.Kernel) -> None:
    """The view alias makes the pass superfluous; without it one buffer could not be read and written."""
    x = kernel.tensor("x", values((2, 6), "float32"))
    kernel(x=x, out={"y": x})
    np.testing.assert_array_equal(x.numpy(), values((2, 6), "float32"))
