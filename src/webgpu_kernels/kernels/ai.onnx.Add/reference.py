"""What Add computes, in numpy: the broadcast sum, rounded once or wrapped around."""

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
    outputs: Sequence[str] = ("c",),
) -> dict[str, Array]:
    """Add two tensors.

    Args:
        inputs: a and b, of one dtype and of shapes that broadcast.
        attrs: none.
        outputs: which outputs are wanted.

    Returns:
        Output name to an array of the broadcast shape and the inputs' dtype.

    Source: ONNX operator Add.
    """
    with np.errstate(over="ignore"):
        total = np.asarray(np.add(inputs["a"], inputs["b"]))
    return dict.fromkeys(outputs, total)
