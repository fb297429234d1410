"""Medians and spreads of times, and when to distrust them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDE: Final = 0.1
"""A spread of more than this part of the median says little."""
FEW: Final = 5
"""Fewer runs than these say little, too."""


class Sample(NamedTuple):
    """Times of one thing.

    Attributes:
        runs_us: every run, microseconds.
        median_us: their median.
        spread_us: the half width of their middle half.
    """

    runs_us: tuple[float, ...]
    median_us: float
    spread_us: float

    @property
    def note(self) -> str | None:
        """Why not to trust it, or None."""
        if self.median_us <= 0:
            return "shorter than the clock's step"
        if len(self.runs_us) < FEW:
            return f"{len(self.runs_us)} run{'' if len(self.runs_us) == 1 else 's'} only: too few to trust"
        part = self.spread_us / self.median_us
        return f"the middle half of the runs spreads by ±{part:.0%}: too wide to trust" if part > WIDE else None


def sample_of(runs_us: Sequence[float]) -> Sample:
    """Sum up runs.

    Args:
        runs_us: at least one, microseconds.

    Returns:
        Median and spread, rounded to nanoseconds.
    """
    low, median, high = (float(value) for value in np.percentile(runs_us, (25, 50, 75)))
    return Sample(tuple(round(run, 3) for run in runs_us), round(median, 3), round((high - low) / 2, 3))


def scaled(sample: Sample, factor: float) -> Sample:
    """Return the times of a thing that is as many times larger."""
    return sample_of([run * factor for run in sample.runs_us])
