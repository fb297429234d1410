"""Add in PyTorch, to be timed beside this package."""

# ruff: noqa: INP001 - the folder bears the operator's name, which is no Python package
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def with_torch(
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any],  # noqa: ARG001 - every peer is called alike
    outputs: Sequence[str],
) -> dict[str, Any]:
    """Add two tensors.

    Args:
        inputs: a and b, PyTorch tensors of one dtype whose shapes broadcast.
        attrs: none.
        outputs: only ``c`` is there.

    Returns:
        Output name to tensor.

    Source: ONNX operator Add.
    """
    return dict.fromkeys(outputs, inputs["a"] + inputs["b"])
