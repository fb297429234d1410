"""Values out of range, found before anything is uploaded."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from webgpu_kernels.device.ranges import check_values
from webgpu_kernels.errors import RequestError, ValueRangeError
from webgpu_kernels.planning.program import ValueRange

ROWS = ValueRange(least=-4, most=3, what="a row of the table")


def refused(array: np.ndarray, allowed: ValueRange = ROWS) -> ValueRangeError:
    with pytest.raises(ValueRangeError) as caught:
        check_values(array, allowed, where="op: 'rows'")
    return caught.value


def test_the_first_bad_value_is_named() -> None:
    """With its position and what would have been right."""
    error = refused(np.array([[0, 3, -4], [1, 4, -5]]))
    assert str(error) == ("op: 'rows': value out of range at [1, 1]: expected -4 to 3 (a row of the table), got 4")
    assert (error.position, error.value, error.least, error.most) == ((1, 1), 4, -4, 3)


def test_a_scalar_has_no_position() -> None:
    """It is the only value there is."""
    error = refused(np.array(-5), ValueRange(least=-4, most=3, what=None))
    assert str(error) == "op: 'rows': value out of range: expected -4 to 3, got -5"
    assert error.position == ()


def test_an_empty_range_allows_nothing() -> None:
    """An empty table has no row."""
    error = refused(np.array([0]), ValueRange(least=0, most=-1, what="a row of the table"))
    assert str(error) == ("op: 'rows': value out of range at [0]: expected no value at all (a row of the table), got 0")


def test_no_value_is_always_in_range() -> None:
    """Also where nothing is allowed."""
    check_values(np.zeros((3, 0), np.int64), ValueRange(least=0, most=-1, what=None), where="")


@pytest.mark.parametrize(
    ("dtype", "value"), [("int64", 2**40), ("int64", -(2**63)), ("uint32", 2**32 - 1), ("int8", -128), (">i4", 70_000)]
)
def test_every_integer_dtype_is_checked_in_its_own_width(dtype: str, value: int) -> None:
    """Before it is narrowed to what the device stores, and whatever the order of its bytes."""
    assert refused(np.array([0, value], dtype)).value == value


def test_bounds_wider_than_the_dtype() -> None:
    """A bound may lie outside of what the array can hold."""
    check_values(np.array([255], np.uint8), ValueRange(least=-(2**40), most=2**40, what=None), where="")
    assert refused(np.array([7], np.uint8), ValueRange(least=-9, most=-1, what=None)).value == 7


@given(
    array=npst.arrays(np.int32, npst.array_shapes(min_dims=0, max_dims=3, min_side=0), elements=st.integers(-6, 6)),
    least=st.integers(-5, 0),
    most=st.integers(0, 5),
)
def test_a_refusal_is_right(array: np.ndarray, least: int, most: int) -> None:
    """Refused if and only if some value is out of range; the position is that of the first one, row by row."""
    bad = [index for index in np.ndindex(array.shape) if not least <= array[index] <= most]
    allowed = ValueRange(least=least, most=most, what=None)
    if bad:
        assert refused(array, allowed).position == bad[0]
    else:
        check_values(array, allowed, where="")


def test_the_error_is_what_callers_catch() -> None:
    """An IndexError, as indexing a list would give, and a RequestError; it survives pickling."""
    error = refused(np.array([9]))
    assert isinstance(error, IndexError)
    assert isinstance(error, RequestError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.position, again.value) == (str(error), (0,), 9)
