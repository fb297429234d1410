"""The helper functions of formulas."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language import FUNCTIONS, UNDEFINED, evaluate, make_f16_ok

SHAPES = st.lists(st.integers(0, 64), max_size=5)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("ceil(2.1)", 3),
        ("floor(-2.1)", -3),
        ("min(3, 1.5, 2)", 1.5),
        ("max(3, 4.0)", 4),
        ("pow(2, 10)", 1024),
        ("ceilDiv(7, 2)", 4),
        ("ceilDiv(-7, 2)", -3),
        ("ceilDiv(7.5, 2)", 4),
        ("ceilDiv(0, 5)", 0),
        ("pow2ceil(0)", 1),
        ("pow2ceil(5)", 8),
        ("pow2ceil(8)", 8),
        ("log2ceil(1)", 0),
        ("log2ceil(9)", 4),
        ("numel([])", 1),
        ("numel([2, 3])", 6),
        ("dim([2, 3], -1)", 3),
        ("dim([2, 3], 5)", 3),
        ("dim([], 0)", None),
        ("rows([2, 3, 4], 1)", 8),
        ("rows([], 0)", 1),
        ("outer([2, 3, 4], -1)", 6),
        ("inner([2, 3, 4], 0)", 12),
        ("prefix([1, 2, 3], 2)", [1, 2]),
        ("prefix([1], -1)", []),
        ("suffix([1, 2, 3], 1)", [2, 3]),
        ("fill('a', 2)", ["a", "a"]),
        ("moveAxis([2, 3, 4], 0, -1)", [3, 4, 2]),
        ("permuteShape([2, 3, 4], [2, 0, -2])", [4, 2, 3]),
        ("reversedAxes(3)", [2, 1, 0]),
        ("broadcastShape([2, 1], [3])", [2, 3]),
        ("broadcastShape([], [0])", [0]),
        ("matmulShape([5, 2, 3], [3, 4])", [5, 2, 4]),
        ("matmulShape([3], [3])", []),
        ("matmulShape([2, 3], [3])", [2]),
        ("broadcastable([1, 3], [2, 3])", True),
        ("broadcastable([2, 3], [3])", False),
        ("sameShape([1, 2], [1, 2])", True),
        ("sameShape([1], [1, 1])", False),
        ("hasAxis([-1, 0], 3, 4)", True),
        ("hasAxis([1], 0, 4)", False),
        ("axisValue([7, 8], [-1, 0], 3, 4, 1)", 7),
        ("axisValue([7], [0], 1, 4, 1)", 1),
        ("isUniqueIntList([0, 1], -2, 2, 2)", True),
        ("isUniqueIntList([0, -2], -2, 2, 2)", False),
        ("isUniqueIntList(5, 0, 1)", False),
        ("isUniqueIntList([0.5], 0, 1)", False),
        ("has({'a': none}, 'a')", True),
        ("has(none, 'a')", False),
        ("dtypeBytes('float16')", 2),
        ("dtypeBytes('vec2<u32>')", 8),
        ("dtypeBytes('uint8')", 4),
        ("onnxDtypeCode('float16')", 10),
        ("pick([[0, 'a'], [[], 'b']], 'c')", "b"),
        ("pick([], 'c')", "c"),
    ],
)
def test_function_gives(source: str, value: Any) -> None:
    """Each function computes what the format says."""
    got = evaluate(source, dict(FUNCTIONS))
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("ceil('a')", "ceil() was called with a wrong argument: expected a number, got String 'a'"),
        ("dim(n, 0)", "dim() was called with a wrong argument: expected a list, got Undefined"),
        ("dim([1], 0.5)", "dim() was called with a wrong argument: expected an integer, got Float 0.5"),
        (
            "fill(0, -1)",
            "fill() was called with a wrong argument: expected a count that is not negative, got Integer -1",
        ),
        (
            "moveAxis([1, 2], 2, 0)",
            "moveAxis() was called with a wrong argument: expected an axis of [-2, 1], got Integer 2",
        ),
        (
            "permuteShape([1, 2], [0, 0])",
            "permuteShape() was called with a wrong argument: expected each of 2 axes once, got List [0, 0]",
        ),
        (
            "broadcastShape([2], [3])",
            (
                "broadcastShape() was called with shapes that do not broadcast: "
                "expected equal sizes, or 1, along each axis from the last, got List [2] and List [3]"
            ),
        ),
        (
            "onnxDtypeCode('f32')",
            (
                "onnxDtypeCode() was called with a wrong argument: expected one of "
                "float32, uint8, int8, int16, int32, int64, bool, float16, uint32, got String 'f32'"
            ),
        ),
    ],
)
def test_wrong_arguments_are_named(source: str, message: str) -> None:
    """An error names the function, what it expected and what came."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source, dict(FUNCTIONS))
    assert str(caught.value) == f"{source}: {message}"


def test_f16_ok_depends_on_the_device() -> None:
    """Only float16 on a device without shader-f16 is refused."""
    assert [make_f16_ok(False)(dtype) for dtype in ("f16", "float16", "f32", UNDEFINED)] == [False, False, True, True]
    assert make_f16_ok(True)("f16")


@given(SHAPES, st.integers(-9, 9))
def test_an_axis_splits_a_shape(shape: list[int], axis: int) -> None:
    """What is before an axis, along it and after it multiply to the whole."""
    outer, inner, rows, numel = (FUNCTIONS[name] for name in ("outer", "inner", "rows", "numel"))
    if shape:
        assert outer(shape, axis) * FUNCTIONS["dim"](shape, axis) * inner(shape, axis) == numel(shape)
        assert rows(shape, axis) == outer(shape, axis) * inner(shape, axis)
    assert numel(shape) == math.prod(shape)


@given(st.integers(-(2**53), 2**53), st.integers(1, 2**40))
def test_ceil_div_is_exact(a: int, b: int) -> None:
    """Division of exact integers rounds up exactly."""
    assert FUNCTIONS["ceilDiv"](a, b) == -(-a // b)


@given(st.integers(2, 2**53))
def test_powers_of_two_cover(n: int) -> None:
    """The next power of two is the least that covers."""
    power = FUNCTIONS["pow2ceil"](n)
    assert power // 2 < n <= power
    assert power == 2 ** FUNCTIONS["log2ceil"](n)


@given(SHAPES, SHAPES)
def test_broadcasting_is_symmetric(a: list[int], b: list[int]) -> None:
    """Both orders give the same shape, to which both broadcast."""
    broadcast = FUNCTIONS["broadcastShape"]
    try:
        shape = broadcast(a, b)
    except EvaluationError:
        with pytest.raises(EvaluationError):
            broadcast(b, a)
        return
    assert broadcast(b, a) == shape
    assert FUNCTIONS["broadcastable"](a, shape)
    assert FUNCTIONS["broadcastable"](b, shape)
