"""Checks of the arguments of helper functions."""

from __future__ import annotations

import math

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.limits import spend_on
from webgpu_kernels.language.values import NUMBERS, Value, describe


def wrong_argument(function: str, expected: str, got: Value) -> EvaluationError:
    """Return the error that names a function, what it expected and what came."""
    return EvaluationError(f"{function}() was called with a wrong argument", expected=expected, got=describe(got))


def number_argument(function: str, value: Value) -> float:
    """Check for a number."""
    if type(value) not in NUMBERS:
        raise wrong_argument(function, "a number", value)
    return value  # type: ignore[no-any-return]


def whole_argument(function: str, value: Value) -> int:
    """Check for a number of integral value."""
    if type(value) is int:
        return value
    if type(value) in NUMBERS and math.isfinite(value) and value.is_integer():
        return int(value)
    raise wrong_argument(function, "an integer", value)


def list_argument(function: str, value: Value) -> list[Value]:
    """Check for a list, and charge for going through it."""
    if type(value) is list or type(value) is tuple:
        spend_on(len(value) * 8)
        return list(value)
    raise wrong_argument(function, "a list", value)


def shape_argument(function: str, value: Value) -> list[Value]:
    """Check for a list of numbers."""
    shape = list_argument(function, value)
    for dim in shape:
        if type(dim) not in NUMBERS:
            raise wrong_argument(function, "a list of numbers", value)
    return shape
