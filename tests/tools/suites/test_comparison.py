"""An element is right where it is as near to the reference as the case allows, and nowhere else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from webgpu_kernels.tools.suites.comparison import Verdict, compare
from webgpu_kernels.tools.suites.model import Tolerance

Array = np.ndarray[Any, np.dtype[Any]]
NAN, INF = math.nan, math.inf


def judged(
    got: Array, expected: Array, atol: float = 0.0, rtol: float = 0.0, *, nan: bool = False, **rest: Any
) -> Verdict:
    """Compare an output y."""
    return compare("y", got, expected, Tolerance(atol, rtol), nan, **rest)


def floats(*values: float, dtype: str = "float32") -> Array:
    """Return an array of floats."""
    with np.errstate(all="ignore"):
        return np.array(values, dtype)


@pytest.mark.parametrize(
    ("got", "expected", "atol", "rtol", "right"),
    [
        (1.0, 1.0, 0, 0, True),
        (1.25, 1.0, 0.25, 0, True),
        (1.25, 1.0, 0.2, 0, False),
        (1.25, 1.0, 0, 0.25, True),
        (1.0, 1.25, 0.125, 0.1, True),
        (-0.0, 0.0, 0, 0, True),
        (INF, INF, 0, 0, True),
        (INF, -INF, 1e30, 1, False),
        (INF, 3e38, 1e30, 0, False),
        (3e38, INF, 1e30, 1, False),
        (NAN, 1.0, 1e30, 1, False),
        (1.0, NAN, 1e30, 1, False),
        (NAN, NAN, 1e30, 1, False),
    ],
)
def test_the_tolerance_is_absolute_and_relative(
    got: float, expected: float, atol: float, rtol: float, *, right: bool
) -> None:
    """|y - ref| <= atol + rtol |ref|; infinities and NaN have no distance."""
    assert (judged(floats(got), floats(expected), atol, rtol).reason is None) is right


def test_nan_equals_nan_where_it_is_allowed_whatever_its_payload() -> None:
    """But nothing else equals it."""
    quiet = np.array([0x7FC00000, 0xFFC12345], np.uint32).view(np.float32)
    assert judged(quiet, floats(NAN, NAN), nan=True)[:2] == (None, 0.0)
    assert judged(quiet, floats(NAN, 1.0), nan=True).reason == "y: 1 of 2 elements is wrong"


def test_a_reference_beyond_the_dtype_is_its_infinity() -> None:
    """As the dtype rounds it; what rounds to a finite number is not."""
    assert judged(floats(INF, dtype="float16"), np.array([70000.0])).reason is None
    assert judged(floats(INF, dtype="float16"), np.array([65504.0])).reason is not None
    assert judged(floats(-INF, dtype="float16"), np.array([70000.0])).reason is not None


def test_a_reference_in_float64_is_not_rounded_first() -> None:
    """So a result is held against what is true."""
    verdict = judged(floats(1.0), np.array([1.0 + 2**-30]))
    assert verdict.worst is not None
    assert verdict.worst.difference == 2**-30


def test_integers_are_exact_at_the_ends_of_their_range() -> None:
    """Where a double would see no difference."""
    got, expected = np.array([2**63 - 1, -(2**63)], np.int64), np.array([2**63 - 2, 2**63 - 1], np.int64)
    verdict = judged(got, expected)
    assert verdict.reason == "y: 2 of 2 elements are wrong"
    assert verdict.worst is not None
    assert (verdict.worst.got, verdict.worst.difference) == (-(2**63), 2**64 - 1)
    assert judged(got, got).reason is None


def test_integers_may_have_a_tolerance() -> None:
    """Quantised outputs differ by one."""
    got, expected = np.array([0, 255], np.uint8), np.array([1, 254], np.uint8)
    assert judged(got, expected, 1).reason is None
    assert judged(got, expected, 0.5).reason == "y: 2 of 2 elements are wrong"


def test_booleans_are_compared_as_they_are() -> None:
    """A difference is one."""
    verdict = judged(np.array([True, False]), np.array([True, True]))
    assert verdict.worst is not None
    assert (verdict.worst.index, verdict.worst.got, verdict.worst.difference) == ((1,), 0, 1)


def test_the_worst_element_is_the_one_farthest_beyond_what_is_allowed() -> None:
    """Not the one with the greatest difference."""
    got, expected = floats(101.0, 1.5), floats(100.0, 1.0)
    verdict = judged(got.reshape(1, 2), expected.reshape(1, 2), 0, 0.1)
    assert verdict.worst is not None
    assert verdict.worst.index == (0, 1)
    assert verdict.error_of_allowed == pytest.approx(5.0)


def test_without_a_tolerance_the_worst_is_the_greatest_difference() -> None:
    """All are infinitely beyond what is allowed."""
    verdict = judged(floats(1.5, 9.0, 2.0), floats(1.0, 1.0, 1.0))
    assert verdict.worst is not None
    assert (verdict.worst.index, verdict.error_of_allowed) == ((1,), INF)


def test_a_right_output_says_how_near_it_was() -> None:
    """As a part of what is allowed."""
    verdict = judged(floats(1.5, 1.0), floats(1.0, 1.0), 1.0)
    assert (verdict.reason, verdict.error_of_allowed) == (None, 0.5)


def test_another_shape_is_wrong() -> None:
    """Even where it would broadcast."""
    assert judged(floats(1.0), np.array(1.0)).reason == "y has the shape [1], its reference []"


def test_nothing_is_right() -> None:
    """An output without elements has no worst one."""
    assert judged(np.zeros((0, 3), np.float32), np.zeros((0, 3))) == Verdict(None)


def test_elements_that_nobody_wrote_are_wrong_whatever_they_hold() -> None:
    """The first of them is shown."""
    same = floats(1.0, 2.0, 3.0)
    verdict = judged(same, same, 1e9, unwritten=np.array([1, 2]))
    assert verdict.reason == "y: 2 of 3 elements are not written"
    assert verdict.worst is not None
    assert verdict.worst.index == (1,)


def test_a_scalar_has_an_empty_index() -> None:
    """Rank 0 is a shape like others."""
    verdict = judged(floats(2.0).reshape(()), floats(1.0).reshape(()))
    assert verdict.worst is not None
    assert verdict.worst.index == ()
