"""When two times differ: by more than their noise, not by a hair."""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple, TypeAlias

Difference: TypeAlias = Literal["slower", "faster", "same"]

LEAST_WITHIN: Final = 0.03
"""Differences of one run below this part are none: caches and clocks alone do as much."""
LEAST_BETWEEN: Final = 0.05
"""The same between two runs, as processes differ from each other too."""
SPREADS: Final = 2.0
"""How many spreads (half widths of the middle half) of both times together are noise."""
_SANE: Final = (1e-6, 1e15)


class Time(NamedTuple):
    """A time that was measured.

    Attributes:
        median: microseconds.
        spread: the half width of the middle half of the runs, microseconds.
    """

    median: float
    spread: float

    @property
    def low(self) -> float:
        """The fast end of the middle half."""
        return max(0.0, self.median - self.spread)

    @property
    def high(self) -> float:
        """The slow end of the middle half."""
        return self.median + self.spread


def time_of(median: float | None, spread: float | None) -> Time | None:
    """Return a time, or None where there is none that a clock could have measured.

    Args:
        median: microseconds.
        spread: microseconds.
    """
    known = sane(median)
    return Time(known, sane(spread) or 0.0) if known is not None else None


def sane(value: float | None) -> float | None:
    """Return a positive, finite number that arithmetic does not push out of range, None for any other.

    Args:
        value: what a file says.
    """
    if value is None or not _SANE[0] <= value <= _SANE[1]:
        return None
    return float(value)


def difference(new: Time, old: Time, *, least: float = LEAST_WITHIN) -> Difference:
    """Compare two times.

    Args:
        new: the one that is judged.
        old: what it is judged by.
        least: the part of the old time that counts at least.

    Returns:
        ``same`` unless they differ by more than the noise of both and by that part.
    """
    apart = new.median - old.median
    if abs(apart) <= max(noise(new, old), least * old.median):
        return "same"
    return "slower" if apart > 0 else "faster"


def noise(one: Time, other: Time) -> float:
    """Return by how much two times may differ and mean nothing, in microseconds."""
    return SPREADS * math.hypot(one.spread, other.spread)
