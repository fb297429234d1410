"""Identity in PyTorch, to be timed beside this package."""

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
    """Copy the input.

    Args:
        inputs: x, a PyTorch tensor.
        attrs: none.
        outputs: only ``y`` is there.

    Returns:
        Output name to a tensor with memory of its own.

    Source: ONNX operator Identity.
    """
    return dict.fromkeys(outputs, inputs["x"].clone())
