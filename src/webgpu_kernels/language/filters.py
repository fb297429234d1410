"""The filters. A filter written without parentheses and one written with them are different sets in this dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.arguments import FilterArguments, spaces_argument
from webgpu_kernels.language.limits import spend_on
from webgpu_kernels.language.list_filters import LIST_FILTER_CALLS, LIST_FILTERS
from webgpu_kernels.language.members import DICT_METHODS
from webgpu_kernels.language.scalar_filters import (
    BOOLEAN_FILTER_CALLS,
    BOOLEAN_FILTERS,
    NUMBER_FILTER_CALLS,
    NUMBER_FILTERS,
    STRING_FILTER_CALLS,
    STRING_FILTERS,
)
from webgpu_kernels.language.text import JsonStyle, json_text
from webgpu_kernels.language.values import NUMBERS, UNDEFINED, EdgeInteger, Keywords, Namespace, Value, describe, truth

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN_JSON: Final = JsonStyle()


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
        return json_text(operand, _PLAIN_JSON)
    table = _FILTERS.get(type(operand))
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
    found = _ANY_FILTER_CALLS.get(name)
    if found is None:
        if type(operand) is dict or type(operand) is Keywords:
            return _dict_filter(operand, name, arguments)
        found = _FILTER_CALLS.get(type(operand), {}).get(name)
    if found is None:
        raise _wrong(f"{name}(…)", operand)
    return found(operand, FilterArguments(arguments))


def _dict_filter(operand: dict[str, Value], name: str, arguments: list[Value]) -> Value:
    method = DICT_METHODS.get(name)
    if method is None:
        raise _wrong(name, operand)
    spend_on(len(operand) * 24)
    return method(operand, arguments)


def _default(operand: Value, call: FilterArguments) -> Value:
    otherwise = call.positional[0] if call.positional else ""
    flag = call.get(1, "boolean", default=False)
    if type(flag) is not bool:
        raise EvaluationError("the second argument of 'default' is not a boolean", got=describe(flag))
    return otherwise if operand is UNDEFINED or (flag and not truth(operand)) else operand


def _to_json(operand: Value, call: FilterArguments) -> str:
    return json_text(operand, _json_style(operand, call))


def _json_style(operand: Value, call: FilterArguments) -> JsonStyle:
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
        indent=spaces_argument("tojson", indent) if indent and type(operand) in (list, dict, Namespace) else 0,
        ascii_only=flags[0],
        sort_keys=flags[1],
        separators=tuple(separators) if separators else None,
    )


_Filters: TypeAlias = "dict[str, Callable[[Value], Value]]"
_FilterCalls: TypeAlias = "dict[str, Callable[[Value, FilterArguments], Value]]"

_DICT_FILTERS: Final[_Filters] = {"length": len}
_FILTERS: Final[dict[type, _Filters]] = {
    list: LIST_FILTERS,
    tuple: LIST_FILTERS,
    str: STRING_FILTERS,
    bool: BOOLEAN_FILTERS,
    dict: _DICT_FILTERS,
    Keywords: _DICT_FILTERS,
    **dict.fromkeys(NUMBERS, NUMBER_FILTERS),
}
_ANY_FILTER_CALLS: Final[_FilterCalls] = {"default": _default, "tojson": _to_json}
_FILTER_CALLS: Final[dict[type, _FilterCalls]] = {
    list: LIST_FILTER_CALLS,
    tuple: LIST_FILTER_CALLS,
    str: STRING_FILTER_CALLS,
    bool: BOOLEAN_FILTER_CALLS,
    **dict.fromkeys(NUMBERS, NUMBER_FILTER_CALLS),
}
