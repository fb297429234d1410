"""Which numbers of an expression or a call can be sizes, counts and 32-bit words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

F32_MAX: Final = 3.4028234663852886e38
"""Largest finite float32."""
INTEGER_RANGES: Final = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}
"""Least and largest value of WGSL's integers."""

MAX_RANK: Final = 64
"""Dimensions of a tensor: as many as numpy's arrays have."""


def as_count(value: object) -> int | None:
    """Return a non-negative whole number as an int.

    Args:
        value: what an expression gave; whole floats count, as the expression language has them.

    Returns:
        The number, or None for anything else, also where a double no longer tells whole numbers apart.

    Source: FORMAT, sections 4 and 8.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53 or value != int(value):
        return None
    return int(value)


def as_counts(values: Iterable[object]) -> tuple[int, ...] | None:
    """Return non-negative whole numbers as ints.

    Args:
        values: what an expression gave.

    Returns:
        The numbers; None where one of them is none.

    Source: FORMAT, sections 4 and 8.
    """
    found: list[int] = []
    for value in values:
        count = as_count(value)
        if count is None:
            return None
        found.append(count)
    return tuple(found)
