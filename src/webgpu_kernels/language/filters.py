"""The filters. A filter written without parentheses and one written with them are different sets in this dialect."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language import checks
from webgpu_kernels.language.lexer import WHITESPACE
from webgpu_kernels.language.limits import check_chars, check_items, spend, spend_on
from webgpu_kernels.language.members import DICT_METHODS, capitalize, replace, title, utf16_length
from webgpu_kernels.language.ordering import sorted_values
from webgpu_kernels.language.text import JsonStyle, json_text, plain_text, string_text, whole_characters
from webgpu_kernels.language.values import (
    NUMBERS,
    UNDEFINED,
    EdgeInteger,
    Keywords,
    Namespace,
    Value,
    describe,
    integer,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_INTEGER_PREFIX: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT_PREFIX: Final = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


class _Call:
    """The arguments of a filter, positional and by keyword."""

    __slots__ = ("keywords", "positional")

    def __init__(self, arguments: list[Value]) -> None:
        has_keywords = bool(arguments) and type(arguments[-1]) is Keywords
        self.keywords: dict[str, Value] = arguments[-1] if has_keywords else {}
        self.positional = arguments[:-1] if has_keywords else arguments

    def get(self, index: int, name: str, default: Value) -> Value:
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name, default)


def _wrong(filter_name: str, operand: Value) -> EvaluationError:
    return EvaluationError(f"there is no filter {filter_name!r} for this operand", got=describe(operand))


def apply(operand: Value, name: str) -> Value:
    """Apply a filter that is written without parentheses.

    Args:
        operand: what is filtered.
        name: the filter.

    Returns:
        Its result.

    Raises:
        EvaluationError: no such filter for this kind of operand, or it fails.

    FORMAT section 3, Filters.
    """
    if type(operand) in (str, list, tuple):
        spend_on(len(operand) * 4)
    if name == "safe":
        return operand
    if name == "tojson":
        return json_text(operand, JsonStyle())
    table = _BARE.get(type(operand))
    found = table.get(name) if table else None
    if found is None:
        if type(operand) is dict or type(operand) is Keywords:
            return _dict_filter(operand, name, [])
        raise _wrong(name, operand)
    return found(operand)


def apply_with(operand: Value, name: str, arguments: list[Value]) -> Value:
    """Apply a filter that is written with parentheses.

    Args:
        operand: what is filtered.
        name: the filter.
        arguments: what stands in the parentheses; keywords as a last `Keywords`.

    Returns:
        Its result.

    Raises:
        EvaluationError: no such filter for this kind of operand, wrong arguments, or it fails.

    FORMAT section 3, Filters.
    """
    if type(operand) in (str, list, tuple):
        spend_on(len(operand) * 4)
    found = _ON_ANY_CALL.get(name)
    if found is None:
        if type(operand) is dict or type(operand) is Keywords:
            return _dict_filter(operand, name, arguments)
        found = _CALLS.get(type(operand), {}).get(name)
    if found is None:
        raise _wrong(f"{name}(…)", operand)
    return found(operand, _Call(arguments))


def _dict_filter(operand: dict[str, Value], name: str, arguments: list[Value]) -> Value:
    method = DICT_METHODS.get(name)
    if method is None:
        raise _wrong(name, operand)
    spend_on(len(operand) * 24)
    return method(operand, arguments)


def _default(operand: Value, call: _Call) -> Value:
    otherwise = call.positional[0] if call.positional else ""
    flag = call.get(1, "boolean", default=False)
    if type(flag) is not bool:
        raise EvaluationError("the second argument of 'default' is not a boolean", got=describe(flag))
    return otherwise if operand is UNDEFINED or (flag and not truth(operand)) else operand


def _to_json(operand: Value, call: _Call) -> str:
    return json_text(operand, _json_style(operand, call))


def _json_style(operand: Value, call: _Call) -> JsonStyle:
    indent = call.keywords.get("indent")
    separators = call.keywords.get("separators")
    if indent is not None and type(indent) is not int and type(indent) is not EdgeInteger:
        raise EvaluationError("'tojson' needs an Integer for indent", got=describe(indent))
    if separators is not None and not (
        type(separators) in (list, tuple) and len(separators) == 2 and all(type(s) is str for s in separators)
    ):
        raise EvaluationError("'tojson' needs two strings for separators", got=describe(separators))
    flags = [call.keywords.get(name, False) for name in ("ensure_ascii", "sort_keys")]
    if any(type(flag) is not bool for flag in flags):
        raise EvaluationError("'tojson' needs booleans for ensure_ascii and sort_keys")
    return JsonStyle(
        indent=_spaces(indent, "tojson") if indent and type(operand) in (list, dict, Namespace) else 0,
        ascii_only=flags[0],
        sort_keys=flags[1],
        separators=tuple(separators) if separators else None,
    )


def _join(operand: Value, call: _Call) -> str:
    separator = call.get(0, "separator", "")
    if type(separator) is not str:
        raise EvaluationError("'join' needs a string as separator", got=describe(separator))
    parts = []
    total = 0
    for entry in operand:
        part = "" if entry is None or entry is UNDEFINED else plain_text(entry)
        total += len(part) + len(separator)
        check_chars(total)
        parts.append(part)
    spend(len(parts))
    return whole_characters(separator.join(parts))


def _int_or_default(operand: Value, call: _Call) -> Value:
    found = _leading_integer(operand)
    return call.get(0, "default", 0) if found is None else found


def _float_or_default(operand: Value, call: _Call) -> Value:
    found = _leading_float(operand)
    return call.get(0, "default", 0.0) if found is None else found


def _replace(operand: Value, call: _Call) -> str:
    return replace(operand, [*call.positional, Keywords(call.keywords)])


def _leading_integer(text: str) -> int | EdgeInteger | None:
    match = _INTEGER_PREFIX.match(text.lstrip(WHITESPACE))
    return None if match is None else _integer_of(match[0])


def _integer_of(digits: str) -> int | EdgeInteger:
    return integer(float(digits))


def _leading_float(text: str) -> float | None:
    match = _FLOAT_PREFIX.match(text.lstrip(WHITESPACE))
    return None if match is None else float(match[0])


def _spaces(count: Value, name: str) -> int:
    if type(count) is EdgeInteger and not abs(count) > 0:
        return 0
    if type(count) is not int or count < 0:
        raise EvaluationError(f"{name!r} needs an Integer that is not negative", got=describe(count))
    return count


def _indent(text: str, call: _Call) -> str:
    width, first, blank = (
        call.get(0, "width", 4),
        call.get(1, "first", default=False),
        call.get(2, "blank", default=False),
    )
    width = _spaces(width, "indent")
    lines = text.split("\n")
    check_chars(len(text) + width * len(lines))
    first, blank = truth(first), truth(blank)
    pad = " " * width
    return "\n".join(
        line if (not first and not index) or (not blank and not line) else pad + line
        for index, line in enumerate(lines)
    )


def _sort(operand: Value, call: _Call) -> list[Value]:
    reverse = call.get(0, "reverse", default=False)
    case_sensitive = call.get(1, "case_sensitive", default=False)
    attribute = call.get(2, "attribute", None)
    if type(reverse) is not bool or type(case_sensitive) is not bool:
        raise EvaluationError("'sort' needs booleans for reverse and case_sensitive")
    if attribute is not None and type(attribute) not in (str, int, EdgeInteger):
        raise EvaluationError("'sort' needs a string, an Integer or none as attribute", got=describe(attribute))
    return sorted_values(
        list(operand),
        (lambda value: value) if attribute is None else (lambda value: attribute_of(value, plain_text(attribute))),
        case_sensitive=case_sensitive,
        reverse=reverse,
    )


def attribute_of(value: Value, path: str) -> Value:
    """Follow a path of members with dots between; a number in it is an index of a list."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part, UNDEFINED)
        elif type(value) in (list, tuple):
            match = _INTEGER_PREFIX.match(part)
            index = int(match[0]) if match else -1
            value = value[index] if 0 <= index < len(value) else UNDEFINED
        else:
            return UNDEFINED
    return value


def _map(operand: Value, call: _Call) -> list[Value]:
    if "attribute" not in call.keywords:
        raise EvaluationError("'map' needs attribute=…")
    path, default = call.keywords["attribute"], call.keywords.get("default", UNDEFINED)
    if type(path) is not str:
        raise EvaluationError("'map' needs a string as attribute", got=describe(path))
    spend(len(operand))
    result = []
    for entry in operand:
        if type(entry) not in (dict, Keywords):
            raise EvaluationError("'map' takes a list of dicts", got=describe(entry))
        found = attribute_of(entry, path)
        result.append(default if found is UNDEFINED else found)
    return result


def _select(*, wanted: bool) -> Callable[[Value, _Call], list[Value]]:
    name = "selectattr" if wanted else "rejectattr"

    def select(operand: Value, call: _Call) -> list[Value]:
        if any(type(entry) not in (dict, Keywords) for entry in operand):
            raise EvaluationError(f"{name!r} takes a list of dicts")
        if call.keywords or any(type(argument) is not str for argument in call.positional):
            raise EvaluationError(f"{name!r} takes strings")
        if not call.positional:
            raise EvaluationError(f"{name!r} needs the name of a member")
        attribute, *test = call.positional
        spend(len(operand))
        return [entry for entry in operand if _selected(entry.get(attribute), test) is wanted]

    return select


def _selected(value: Value, test: list[str]) -> bool:
    if not test:
        return truth(value)
    return value is not None and checks.check(value, test[0], *test[1:2])


_CallFilters: TypeAlias = "dict[str, Callable[[Value, _Call], Value]]"
_ON_ANY_CALL: Final[_CallFilters] = {"default": _default, "tojson": _to_json}
_ON_LIST_CALL: Final[_CallFilters] = {
    "join": _join,
    "sort": _sort,
    "map": _map,
    "selectattr": _select(wanted=True),
    "rejectattr": _select(wanted=False),
}
_ON_STRING_CALL: Final[_CallFilters] = {
    "indent": _indent,
    "replace": _replace,
    "join": _join,
    "int": _int_or_default,
    "float": _float_or_default,
}
# With parentheses these leave a number as it is, also a Float that is asked for as int.
_ON_NUMBER_CALL: Final[_CallFilters] = dict.fromkeys(("int", "float"), lambda operand, _: operand)
_ON_BOOLEAN_CALL: Final[_CallFilters] = {
    "int": lambda operand, _: int(operand),
    "float": lambda operand, _: float(operand),
}
_CALLS: Final[dict[type, _CallFilters]] = {
    list: _ON_LIST_CALL,
    tuple: _ON_LIST_CALL,
    str: _ON_STRING_CALL,
    bool: _ON_BOOLEAN_CALL,
    **dict.fromkeys(NUMBERS, _ON_NUMBER_CALL),
}


# Filters without parentheses.


def _first(operand: Value) -> Value:
    if not operand:
        raise EvaluationError("an empty list has no first entry")
    return operand[0]


def _last(operand: Value) -> Value:
    if not operand:
        raise EvaluationError("an empty list has no last entry")
    return operand[-1]


def _unique(operand: Value) -> list[Value]:
    seen: set[object] = set()
    result = []
    spend(len(operand))
    for entry in operand:
        mark = _identity(entry)
        if mark not in seen:
            seen.add(mark)
            result.append(entry)
    return result


def _identity(value: Value) -> object:
    if type(value) in NUMBERS:
        return "NaN" if math.isnan(value) else float(value)
    if type(value) in (str, bool):
        return type(value), value
    return None if value is UNDEFINED or value is None else (id(value),)


def _reversed(operand: Value) -> list[Value]:
    check_items(len(operand))
    return list(operand)[::-1]


def _whole(value: Value) -> Value:
    if type(value) is float:
        return integer(float(math.floor(value))) if math.isfinite(value) and value else integer(value)
    return value


def _absolute(value: Value) -> Value:
    return integer(abs(float(value))) if type(value) is EdgeInteger else abs(value)


def _or(value: Value, otherwise: Value) -> Value:
    return otherwise if value is None else value


_ON_LIST: Final[dict[str, Callable[[Value], Value]]] = {
    "list": lambda operand: operand,
    "first": _first,
    "last": _last,
    "length": len,
    "reverse": _reversed,
    "sort": lambda operand: _sort(operand, _Call([])),
    "join": lambda operand: _join(operand, _Call([])),
    "string": string_text,
    "unique": _unique,
}
_ON_STRING: Final[dict[str, Callable[[Value], Value]]] = {
    "length": utf16_length,
    "upper": str.upper,
    "lower": str.lower,
    "title": title,
    "capitalize": capitalize,
    "trim": lambda text: text.strip(WHITESPACE),
    "indent": lambda text: _indent(text, _Call([])),
    "join": lambda text: _join(text, _Call([])),
    "string": lambda text: text,
    "int": lambda text: _or(_leading_integer(text), 0),
    "float": lambda text: _or(_leading_float(text), 0.0),
}
_ON_NUMBER: Final[dict[str, Callable[[Value], Value]]] = {
    "abs": _absolute,
    "int": _whole,
    "float": float,
    "string": string_text,
}
_ON_BOOLEAN: Final[dict[str, Callable[[Value], Value]]] = {
    "bool": lambda value: value,
    "int": int,
    "float": float,
    "string": string_text,
}
_ON_DICT: Final[dict[str, Callable[[Value], Value]]] = {"length": len}

_BARE: Final[dict[type, dict[str, Callable[[Value], Value]]]] = {
    list: _ON_LIST,
    tuple: _ON_LIST,
    str: _ON_STRING,
    bool: _ON_BOOLEAN,
    dict: _ON_DICT,
    Keywords: _ON_DICT,
    **dict.fromkeys((int, float, EdgeInteger), _ON_NUMBER),
}
