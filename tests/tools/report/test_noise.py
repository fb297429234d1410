"""Two times differ only beyond their noise."""

from __future__ import annotations

import pytest

from webgpu_kernels.tools.report.noise import LEAST_BETWEEN, Difference, Time, difference, noise, time_of


@pytest.mark.parametrize(
    ("new", "old", "found"),
    [
        (Time(100, 0.1), Time(100, 0.1), "same"),
        (Time(102, 0.1), Time(100, 0.1), "same"),  # under 3 %
        (Time(104, 0.1), Time(100, 0.1), "slower"),
        (Time(96, 0.1), Time(100, 0.1), "faster"),
        (Time(110, 4), Time(100, 4), "same"),  # 10 is less than two spreads of both
        (Time(112, 4), Time(100, 4), "slower"),
        (Time(110, 40), Time(100, 0), "same"),
    ],
)
def test_times_differ_beyond_noise_only(new: Time, old: Time, found: Difference) -> None:
    """Two spreads of both together, and three percent at least."""
    assert difference(new, old) == found


def test_runs_have_to_differ_by_more() -> None:
    """Processes differ from each other, too."""
    assert difference(Time(104, 0), Time(100, 0), least=LEAST_BETWEEN) == "same"
    assert difference(Time(106, 0), Time(100, 0), least=LEAST_BETWEEN) == "slower"


def test_noise_is_that_of_both() -> None:
    """As independent errors add up."""
    assert noise(Time(100, 3), Time(100, 4)) == 10


@pytest.mark.parametrize("median", [None, 0, -1, float("nan"), float("inf"), 1e300, 10**400])
def test_what_no_clock_gives_is_no_time(median: float | None) -> None:
    """A file may say anything."""
    assert time_of(median, 1) is None


def test_no_time_ends_before_it_began() -> None:
    """Spreads may be more than their medians; one that makes no sense does not count."""
    assert Time(10, 50).low == 0
    assert time_of(10, float("nan")) == Time(10, 0)
    assert (Time(10, 2).low, Time(10, 2).high) == (8, 12)
