"""The arguments of helper functions and of filters, and how they are checked."""

from __future__ import annotations

import math
from typing import Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.limits import spend_on
from webgpu_kernels.language.values import NUMBERS, EdgeInteger, Keywords, Value, describe


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


class FilterArguments:
    """What stands in the parentheses of a filter.

    Args:
        arguments: the values; keywords as a last `Keywords`.

    Attributes:
        positional: those without a keyword.
        keywords: the others by name.
    """

    __slots__ = ("keywords", "positional")

    def __init__(self, arguments: list[Value]) -> None:
        has_keywords = bool(arguments) and type(arguments[-1]) is Keywords
        self.keywords: dict[str, Value] = arguments[-1] if has_keywords else {}
        self.positional = arguments[:-1] if has_keywords else arguments

    def get(self, index: int, name: str, default: Value) -> Value:
        """Return an argument by its position, or else by its keyword, or else a default."""
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name, default)


NO_ARGUMENTS: Final = FilterArguments([])


def spaces_argument(filter_name: str, value: Value) -> int:
    """Check for a count of spaces."""
    if type(value) is EdgeInteger and not abs(value) > 0:
        return 0
    if type(value) is not int or value < 0:
        raise EvaluationError(f"{filter_name!r} needs an Integer that is not negative", got=describe(value))
    return value
