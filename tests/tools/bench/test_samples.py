"""Medians, spreads, and when they are not to be trusted."""

from __future__ import annotations

from webgpu_kernels.tools.bench.samples import sample_of, scaled


def test_the_spread_is_half_of_the_middle_half() -> None:
    """One run that is far off changes neither it nor the median."""
    sample = sample_of([10.0, 11.0, 12.0, 13.0, 500.0])
    assert (sample.median_us, sample.spread_us) == (12.0, 1.0)
    assert sample.note is None


def test_a_wide_spread_is_noted() -> None:
    """With how wide it is."""
    assert sample_of([10.0, 10.0, 20.0, 30.0, 30.0]).note == (
        "the middle half of the runs spreads by ±50%: too wide to trust"
    )


def test_few_runs_are_noted() -> None:
    """However alike they are."""
    assert sample_of([10.0, 10.0, 10.0]).note == "3 runs only: too few to trust"
    assert sample_of([10.0]).note == "1 run only: too few to trust"


def test_what_no_clock_saw_is_noted() -> None:
    """A speed would be infinite."""
    assert sample_of([0.0] * 9).note == "shorter than the clock's step"


def test_times_of_a_part_are_scaled_up() -> None:
    """In proportion."""
    sample = scaled(sample_of([10.0, 11.0, 12.0, 13.0, 14.0]), 3)
    assert (sample.median_us, sample.spread_us) == (36.0, 3.0)
