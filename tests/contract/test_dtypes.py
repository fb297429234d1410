"""The dtypes: what callers name, what buffers hold, what shaders see."""

from __future__ import annotations

import pytest

from webgpu_kernels.contract import (
    LOGICAL_DTYPES,
    dtype_of_onnx_code,
    onnx_code,
    storage_bytes,
    storages_of,
    wgsl_scalar,
)
from webgpu_kernels.language import FUNCTIONS


@pytest.mark.parametrize(
    ("dtype", "wgsl", "size_bytes", "code"),
    [
        ("float16", "f16", 2, 10),
        ("float32", "f32", 4, 1),
        ("int8", "i32", 4, 3),
        ("int16", "i32", 4, 5),
        ("int32", "i32", 4, 6),
        ("int64", "vec2<u32>", 8, 7),
        ("uint8", "u32", 4, 2),
        ("uint32", "u32", 4, 12),
        ("bool", "u32", 4, 9),
    ],
)
def test_each_dtype_has_its_wgsl_type_size_and_onnx_number(dtype: str, wgsl: str, size_bytes: int, code: int) -> None:
    """Narrow integers and booleans are widened to a 32-bit word; int64 is two words that shaders only copy."""
    assert (wgsl_scalar(dtype), storage_bytes(dtype), onnx_code(dtype)) == (wgsl, size_bytes, code)
    assert dtype_of_onnx_code(code) == dtype


def test_there_are_nine_logical_dtypes() -> None:
    """FORMAT section 2 lists them."""
    assert set(LOGICAL_DTYPES) == {"float16", "float32", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool"}


def test_an_onnx_number_without_a_dtype_is_none() -> None:
    """float64 is 11 in ONNX and nothing here."""
    assert dtype_of_onnx_code(11) is None


@pytest.mark.parametrize("dtype", LOGICAL_DTYPES)
def test_expressions_agree_on_sizes_and_numbers(dtype: str) -> None:
    """The language has its own table, as it must not import this one."""
    assert FUNCTIONS["dtypeBytes"](dtype) == storage_bytes(dtype)
    assert FUNCTIONS["onnxDtypeCode"](dtype) == onnx_code(dtype)


def test_only_int64_may_be_stored_otherwise() -> None:
    """It may be projected to a 32-bit integer."""
    assert storages_of("int64") == ("int64", "int32", "uint32")
    assert storages_of("uint8") == ("uint8",)
