"""What Identity computes, in numpy: the input."""

# ruff: noqa: INP001 - the folder bears the operator's name, which is no Python package
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, np.dtype[Any]]


def reference(
    inputs: Mapping[str, Array],
    attrs: Mapping[str, Any],  # noqa: ARG001 - every reference is called alike
    outputs: Sequence[str] = ("y",),
) -> dict[str, Array]:
    """Copy the input.

    Args:
        inputs: x, of any shape and dtype.
        attrs: none.
        outputs: which outputs are wanted.

    Returns:
        Output name to an array of x's shape and dtype.

    Source: ONNX operator Identity.
    """
    return {name: np.array(inputs["x"]) for name in outputs}
