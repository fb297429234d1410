"""What GatherBlockQuantized computes, in numpy, bit for bit."""

# ruff: noqa: INP001 - the folder bears the operator's name, which is no Python package
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, np.dtype[Any]]


def reference(
    inputs: Mapping[str, Array], attrs: Mapping[str, Any], outputs: Sequence[str] = ("output",)
) -> dict[str, Array]:
    """Gather slices of a quantised table and dequantise them: one integer difference, one product, one rounding.

    Args:
        inputs: data of rank r >= 2, uint8 (8 / ``bits`` values a byte along the last axis, low bits first) or an array
            of ml_dtypes' int4 or uint4; indices of any rank, int32 or int64, negative ones count from the end; scales,
            float32 or float16, of the table's shape with ceil(size / block_size) on the quantised axis; if given
            zero_points of data's dtype, uint8 ones packed as data is, and otherwise of scales' shape.
        attrs: ``gather_axis`` (0), ``quantize_axis`` (1), ``block_size`` (128) and ``bits`` (4), if not the defaults.
        outputs: only ``output`` is there.

    Returns:
        ``output`` of scales' dtype: the table's shape with indices' shape in place of the gathered axis. A slice whose
        index is out of range is zero.

    Source: ONNX Runtime's contrib operator GatherBlockQuantized.
    """
    bits, rank = int(attrs.get("bits", 4)), inputs["data"].ndim
    gathered, quantized = (
        int(attrs.get(f"{verb}_axis", default)) % rank for verb, default in (("gather", 0), ("quantize", 1))
    )
    if gathered not in {quantized, rank - 1}:
        inputs = _only_used(inputs, gathered)
    data, scales, zero_points = inputs["data"], inputs["scales"], inputs.get("zero_points")
    table = quantized_values(data, bits)
    blocks = np.arange(table.shape[quantized]) // int(attrs.get("block_size", 128))
    if zero_points is None:
        zeros = np.array(1 << (bits - 1) if data.dtype == np.uint8 else 0, np.int32)
    else:
        zeros = quantized_values(zero_points, bits, scales.shape[-1]).take(blocks, quantized)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        values = ((table - zeros).astype(np.float32) * scales.astype(np.float32).take(blocks, quantized)).astype(
            scales.dtype
        )
    return {name: _gather(values, inputs["indices"], gathered) for name in outputs}


def quantized_values(array: Array, bits: int, columns: int | None = None) -> Array:
    """Return the integers that an array holds.

    Args:
        array: uint8, each byte of the last axis holding 8 / ``bits`` values, low bits first; or int4 or uint4.
        bits: bits of a value.
        columns: values on the last axis, where the last byte is not full.

    Returns:
        int32 array; its last axis has ``columns`` values, else all that are there.

    Source: ONNX Runtime's contrib operator GatherBlockQuantized.
    """
    if array.dtype != np.uint8:
        return array.astype(np.int32)
    shifts = np.arange(0, 8, bits, dtype=np.int32)
    values = (array.astype(np.int32)[..., None] >> shifts) & ((1 << bits) - 1)
    unpacked: Array = values.reshape(*array.shape[:-1], array.shape[-1] * shifts.size)
    return unpacked[..., :columns]


def _only_used(inputs: Mapping[str, Array], axis: int) -> dict[str, Array]:
    """Leave out the slices that nobody asks for: of a language model's table that is nearly all."""
    indices, size = inputs["indices"], inputs["data"].shape[axis]
    inside = (indices >= -size) & (indices < size)
    places = np.where(indices < 0, indices + size, indices)
    used = np.unique(places[inside])
    kept = {name: array.take(used, axis) for name, array in inputs.items() if name != "indices"}
    return {**kept, "indices": np.where(inside, np.searchsorted(used, places), used.size)}


def _gather(values: Array, indices: Array, axis: int) -> Array:
    """Take slices along an axis, zero where the index is outside of it."""
    size = values.shape[axis]
    inside = (indices >= -size) & (indices < size)
    if size == 0:
        shape = (*values.shape[:axis], *indices.shape, *values.shape[axis + 1 :])
        return np.zeros(shape, values.dtype)
    taken: Array = values.take(np.where(inside, indices, 0), axis)
    mask = inside.reshape(inside.shape + (1,) * (values.ndim - axis - 1))
    return np.where(mask, taken, values.dtype.type(0))
