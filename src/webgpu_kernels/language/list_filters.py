"""The filters of lists, and ``join``, which strings have too."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language import checks
from webgpu_kernels.language.arguments import NO_ARGUMENTS, FilterArguments
from webgpu_kernels.language.limits import check_chars, check_items, spend
from webgpu_kernels.language.ordering import sorted_values
from webgpu_kernels.language.text import plain_text, string_text, whole_characters
from webgpu_kernels.language.values import NUMBERS, UNDEFINED, EdgeInteger, Keywords, Value, describe, truth

if TYPE_CHECKING:
    from collections.abc import Callable

_INDEX: Final = re.compile(r"[+-]?[0-9]+")


def join(operand: Value, call: FilterArguments) -> str:
    """Write the entries of a list, or the characters of a string, with a separator between them."""
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


def _sort(operand: Value, call: FilterArguments) -> list[Value]:
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
            match = _INDEX.match(part)
            index = int(match[0]) if match else -1
            value = value[index] if 0 <= index < len(value) else UNDEFINED
        else:
            return UNDEFINED
    return value


def _map(operand: Value, call: FilterArguments) -> list[Value]:
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


def _select(*, wanted: bool) -> Callable[[Value, FilterArguments], list[Value]]:
    name = "selectattr" if wanted else "rejectattr"

    def select(operand: Value, call: FilterArguments) -> list[Value]:
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


LIST_FILTERS: Final[dict[str, Callable[[Value], Value]]] = {
    "list": lambda operand: operand,
    "first": _first,
    "last": _last,
    "length": len,
    "reverse": _reversed,
    "sort": lambda operand: _sort(operand, NO_ARGUMENTS),
    "join": lambda operand: join(operand, NO_ARGUMENTS),
    "string": string_text,
    "unique": _unique,
}
"""The filters that are written without parentheses."""

LIST_FILTER_CALLS: Final[dict[str, Callable[[Value, FilterArguments], Value]]] = {
    "join": join,
    "sort": _sort,
    "map": _map,
    "selectattr": _select(wanted=True),
    "rejectattr": _select(wanted=False),
}
"""The filters that are written with parentheses."""
