"""int4 and uint4 tensors in a request: how they are described, checked and seen by expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from sample_manifests import scale_manifest
from table_package import EXTENSIONS, table_manifest

from webgpu_kernels.errors import DtypeError, LayoutError
from webgpu_kernels.invocation import spec_of
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from sample_manifests import Planner

ROWS = TensorSpec((1,), "int64")


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_an_array_of_half_bytes_has_its_dtype(dtype: str) -> None:
    """ml_dtypes' arrays describe themselves, by name and by dtype."""
    array = np.zeros((4, 8), getattr(ml_dtypes, dtype))
    assert spec_of(array, "x") == TensorSpec((4, 8), dtype) == TensorSpec((4, 8), array.dtype)
    assert str(TensorSpec((4, 8), dtype)) == f"{dtype}[4, 8]"


def test_half_bytes_have_one_layout() -> None:
    """Packed or not makes no difference: there is no other way to store them."""
    assert TensorSpec((4, 8), "int4", "packed") == TensorSpec((4, 8), "int4")


def test_other_dtypes_of_that_package_are_refused() -> None:
    """Only int4 and uint4 have a place in the format."""
    with pytest.raises(DtypeError, match=r"unsupported dtype: expected one of float16, .*, got bfloat16"):
        spec_of(np.zeros(3, ml_dtypes.bfloat16), "x")


def test_an_array_of_half_bytes_where_the_contract_has_none(plan: Planner) -> None:
    """One clear error, whether or not the manifest knows the extension."""
    with pytest.raises(DtypeError) as caught:
        plan(scale_manifest(), {"x": TensorSpec((4,), "int4")})
    assert str(caught.value) == "test.Scale: 'x': wrong dtype: expected T, one of float32, float16, int32, got int4"
    bytes_only = table_manifest(typeConstraints={"T": ["uint8"]})
    with pytest.raises(DtypeError) as caught:
        plan(bytes_only, {"table": TensorSpec((2, 3), "uint4"), "rows": ROWS})
    assert str(caught.value) == "test.TakeRows: 'table': wrong dtype: expected T, one of uint8, got uint4"


@pytest.mark.parametrize("layout", [None, "packed"])
def test_a_gpu_tensor_of_half_bytes_fits_any_port_of_its_dtype(plan: Planner, layout: str | None) -> None:
    """The port says packed for its bytes; half bytes always are."""
    on_device = TensorSpec((2, 3), "int4", layout, "int4")
    assert plan(table_manifest(), {"table": on_device, "rows": ROWS}).passes
    manifest = scale_manifest(extensions=["int4"], typeConstraints={"T": ["int4"]})
    assert plan(manifest, {"x": TensorSpec((3,), "int4", layout, "int4")}).passes


def test_bytes_must_be_packed_where_the_port_says_so(plan: Planner) -> None:
    """And only there."""
    with pytest.raises(LayoutError) as caught:
        plan(table_manifest(), {"table": TensorSpec((2, 3), "uint8", None, "uint8"), "rows": ROWS})
    assert str(caught.value) == (
        "test.TakeRows: 'table': wrong layout: expected packed, got none. "
        "Make the tensor with kernel.tensor('table', array)."
    )
    with pytest.raises(LayoutError) as caught:
        plan(scale_manifest(typeConstraints={"T": ["uint8"]}), {"x": TensorSpec((3,), "uint8", "packed", "uint8")})
    assert str(caught.value) == (
        "test.Scale: 'x': wrong layout: expected none, got packed. Make the tensor with kernel.tensor('x', array)."
    )


def test_expressions_know_half_bytes_where_they_are_declared(plan: Planner) -> None:
    """By their names and by those of type variables."""
    derive = {"seen": "[dtypes.int4, dtypes.T, logicalDtypes.T, tensorDtypes.x, logicalDtypes.uint4]"}
    changes = {"derive": derive, "typeConstraints": {"T": ["int4"]}}
    planned = plan(scale_manifest(extensions=EXTENSIONS, **changes), {"x": TensorSpec((9,), "int4")})
    assert planned.passes[0].values["seen"] == ["u32", "u32", "int4", "int4", "uint4"]
    assert [binding.element_type for binding in planned.passes[0].bindings] == ["u32", "u32"]


def test_published_manifests_see_no_half_bytes(plan: Planner) -> None:
    """A missing member is undefined, as it was."""
    planned = plan(scale_manifest(derive={"known": "has(dtypes, 'int4')"}))
    assert planned.passes[0].values["known"] is False
