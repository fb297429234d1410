"""GatherBlockQuantized in PyTorch, to be timed beside this package."""

# ruff: noqa: INP001 - the folder bears the operator's name, which is no Python package
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def with_torch(inputs: Mapping[str, Any], attrs: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, Any]:
    """Look rows up in a quantised table of two axes, and dequantise them.

    Args:
        inputs: data, uint8 (rows, bytes), indices of any shape, scales (rows, blocks) and perhaps zero_points, uint8
            (rows, bytes), PyTorch tensors.
        attrs: bits and block_size; the axes are those of an embedding table, 0 and 1.
        outputs: only ``output`` is there.

    Returns:
        ``output`` of the dtype of scales: the shape of indices and the values of a row.

    Raises:
        NotImplementedError: other axes, or a table that is not of bytes.

    Source: ONNX Runtime's contrib operator GatherBlockQuantized.
    """
    bits, block = int(attrs.get("bits", 4)), int(attrs.get("block_size", 128))
    data, scales, zero_points = inputs["data"], inputs["scales"], inputs.get("zero_points")
    axes = attrs.get("gather_axis", 0), attrs.get("quantize_axis", 1)
    if data.dim() != 2 or axes != (0, 1) or str(data.dtype) != "torch.uint8":
        raise NotImplementedError("only embedding tables, packed in bytes, are written down here")
    indices = inputs["indices"].long()
    values, factors = _values(data[indices], bits), scales[indices]
    zeros = _values(zero_points[indices], bits)[..., : factors.shape[-1]] if zero_points is not None else None
    columns = values.shape[-1]
    spread = factors.repeat_interleave(block, -1)[..., :columns]
    offset = 1 << (bits - 1) if zeros is None else zeros.repeat_interleave(block, -1)[..., :columns]
    return dict.fromkeys(outputs, ((values - offset).to(scales.dtype) * spread))


def _values(packed: Any, bits: int) -> Any:
    """Return what bytes hold, low bits first, as int16."""
    mask = (1 << bits) - 1
    parts = [(packed >> shift) & mask for shift in range(0, 8, bits)]
    stacked = parts[0].new_empty((*packed.shape, len(parts)))
    for index, part in enumerate(parts):
        stacked[..., index] = part
    return stacked.flatten(-2).short()
