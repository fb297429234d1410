"""The filters of strings, numbers and booleans."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from webgpu_kernels.language.arguments import NO_ARGUMENTS, FilterArguments, spaces_argument
from webgpu_kernels.language.lexer import WHITESPACE
from webgpu_kernels.language.limits import check_chars
from webgpu_kernels.language.list_filters import join
from webgpu_kernels.language.members import capitalize, replace, title, utf16_length
from webgpu_kernels.language.text import string_text
from webgpu_kernels.language.values import EdgeInteger, Keywords, Value, integer, truth

if TYPE_CHECKING:
    from collections.abc import Callable

_INTEGER_PREFIX: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT_PREFIX: Final = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


def _int_or_default(operand: Value, call: FilterArguments) -> Value:
    found = _leading_integer(operand)
    return call.get(0, "default", 0) if found is None else found


def _float_or_default(operand: Value, call: FilterArguments) -> Value:
    found = _leading_float(operand)
    return call.get(0, "default", 0.0) if found is None else found


def _replace(operand: Value, call: FilterArguments) -> str:
    return replace(operand, [*call.positional, Keywords(call.keywords)])


def _leading_integer(text: str) -> int | EdgeInteger | None:
    match = _INTEGER_PREFIX.match(text.lstrip(WHITESPACE))
    return None if match is None else _integer_of(match[0])


def _integer_of(digits: str) -> int | EdgeInteger:
    return integer(float(digits))


def _leading_float(text: str) -> float | None:
    match = _FLOAT_PREFIX.match(text.lstrip(WHITESPACE))
    return None if match is None else float(match[0])


def _indent(text: str, call: FilterArguments) -> str:
    width, first, blank = (
        call.get(0, "width", 4),
        call.get(1, "first", default=False),
        call.get(2, "blank", default=False),
    )
    width = spaces_argument("indent", width)
    lines = text.split("\n")
    check_chars(len(text) + width * len(lines))
    first, blank = truth(first), truth(blank)
    pad = " " * width
    return "\n".join(
        line if (not first and not index) or (not blank and not line) else pad + line
        for index, line in enumerate(lines)
    )


def _whole(value: Value) -> Value:
    if type(value) is float:
        return integer(float(math.floor(value))) if math.isfinite(value) and value else integer(value)
    return value


def _absolute(value: Value) -> Value:
    return integer(abs(float(value))) if type(value) is EdgeInteger else abs(value)


def _or(value: Value, otherwise: Value) -> Value:
    return otherwise if value is None else value


_Filters: TypeAlias = "dict[str, Callable[[Value], Value]]"
_FilterCalls: TypeAlias = "dict[str, Callable[[Value, FilterArguments], Value]]"

STRING_FILTERS: Final[_Filters] = {
    "length": utf16_length,
    "upper": str.upper,
    "lower": str.lower,
    "title": title,
    "capitalize": capitalize,
    "trim": lambda text: text.strip(WHITESPACE),
    "indent": lambda text: _indent(text, NO_ARGUMENTS),
    "join": lambda text: join(text, NO_ARGUMENTS),
    "string": lambda text: text,
    "int": lambda text: _or(_leading_integer(text), 0),
    "float": lambda text: _or(_leading_float(text), 0.0),
}
NUMBER_FILTERS: Final[_Filters] = {
    "abs": _absolute,
    "int": _whole,
    "float": float,
    "string": string_text,
}
BOOLEAN_FILTERS: Final[_Filters] = {
    "bool": lambda value: value,
    "int": int,
    "float": float,
    "string": string_text,
}

STRING_FILTER_CALLS: Final[_FilterCalls] = {
    "indent": _indent,
    "replace": _replace,
    "join": join,
    "int": _int_or_default,
    "float": _float_or_default,
}
# With parentheses these leave a number as it is, also a Float that is asked for as int.
NUMBER_FILTER_CALLS: Final[_FilterCalls] = dict.fromkeys(("int", "float"), lambda operand, _: operand)
BOOLEAN_FILTER_CALLS: Final[_FilterCalls] = {
    "int": lambda operand, _: int(operand),
    "float": lambda operand, _: float(operand),
}
