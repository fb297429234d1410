"""Whether a host array's values lie in the range that the contract gives them, asked before anything is uploaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.arrays import np
from webgpu_kernels.errors import ValueRangeError

if TYPE_CHECKING:
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.program import ValueRange


def check_values(array: Array, allowed: ValueRange, *, where: str) -> None:
    """Refuse an array that holds a value out of range.

    Args:
        array: integers of any shape and memory layout.
        allowed: the least and the greatest value.
        where: operator and port, for the message.

    Raises:
        ValueRangeError: naming the first such value in row-major order, its position and the range.

    Source: docs/format.md, "Extensions".
    """
    # Least and greatest take a few microseconds; only an array that is refused is looked at value by value.
    if array.size == 0 or (int(array.min()) >= allowed.least and int(array.max()) <= allowed.most):
        return
    outside = (array < allowed.least) | (array > allowed.most)
    position = tuple(int(axis) for axis in np.unravel_index(int(outside.argmax()), array.shape))
    raise ValueRangeError(
        least=allowed.least,
        most=allowed.most,
        what=allowed.what,
        value=int(array[position]),
        position=position,
        where=where,
    )
