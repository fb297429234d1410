"""Members, indices and slices of values, and the methods that strings and dicts have."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.lexer import WHITESPACE
from webgpu_kernels.language.limits import check_chars, check_items, spend_on
from webgpu_kernels.language.ordering import sorted_values
from webgpu_kernels.language.text import whole_characters
from webgpu_kernels.language.values import (
    UNDEFINED,
    EdgeInteger,
    Keywords,
    Namespace,
    Native,
    Value,
    describe,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = list[Value]

_WORD: Final = re.compile(rf"[^{WHITESPACE}]+")
_WORD_START: Final = re.compile(r"\b[A-Za-z0-9_]", re.ASCII)
_INFINITE: Final = 2**62


def utf16_length(text: str) -> int:
    """Return a string's length in UTF-16 units, which is how this language counts."""
    if text.isascii():
        return len(text)
    spend_on(len(text) * 2)
    return len(text) + sum(c > "\uffff" for c in text)


def _units(text: str) -> str:
    # One character a UTF-16 unit: surrogate halves stand apart.
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(raw[i] | raw[i + 1] << 8) for i in range(0, len(raw), 2))


def member(owner: Value, key: Value) -> Value:
    """Return ``owner[key]``.

    Args:
        owner: any value.
        key: an index, or the name of a member.

    Returns:
        The member; `UNDEFINED` where there is none.

    Raises:
        EvaluationError: the key is of the wrong kind.

    FORMAT section 3, Values and operators.
    """
    owner_kind = type(owner)
    if owner_kind is list or owner_kind is tuple or owner_kind is str:
        if type(key) is int or type(key) is EdgeInteger:
            return _entry(owner, key)
        if type(key) is str:
            if key == "length":
                return utf16_length(owner) if owner_kind is str else len(owner)
            return _method(owner, key) if owner_kind is str else UNDEFINED
    elif type(key) is str:
        if isinstance(owner, dict):
            found = owner.get(key, UNDEFINED)
            if found is UNDEFINED and key not in owner and owner_kind is not Namespace:
                return _method(owner, key)
            return found
        return UNDEFINED
    raise EvaluationError(
        "a member is asked for by a key of the wrong kind", got=f"{describe(key)} of {describe(owner)}"
    )


def _entry(owner: Value, key: int | EdgeInteger) -> Value:
    # Minus zero is an index; an infinity is beyond the end.
    index = key if type(key) is int else 0 if not key else _INFINITE
    if type(owner) is str and not owner.isascii():
        spend_on(len(owner) * 8)
        owner = _units(owner)
    return owner[index] if -len(owner) <= index < len(owner) else UNDEFINED


def _method(owner: Value, key: str) -> Value:
    table = STRING_METHODS if type(owner) is str else DICT_METHODS
    method = table.get(key)
    if method is None:
        return UNDEFINED

    def run(arguments: Arguments) -> Value:
        spend_on(len(owner) if type(owner) is str else len(owner) * 8)
        return method(owner, arguments)

    return Native(key, run)


def slice_of(owner: Value, start: Value, stop: Value, step: Value) -> Value:
    """Return ``owner[start:stop:step]`` of a list, tuple or string; a step of 0 gives nothing.

    Args:
        owner: a list, tuple or string.
        start: an Integer, or undefined.
        stop: an Integer, or undefined.
        step: an Integer, or undefined.

    Returns:
        A list, or a string.

    Raises:
        EvaluationError: not sliceable, or a bound of the wrong kind.
    """
    if type(owner) not in (list, tuple, str):
        raise EvaluationError("only lists and strings have slices", got=describe(owner))
    spend_on(len(owner))
    first, last, stride = (_bound(name, value) for name, value in (("start", start), ("stop", stop), ("step", step)))
    if stride is not None and stride < 0 and last == -1:
        # Going backwards, -1 is the place before the first entry, not the last entry.
        last = None
    empty = any(type(value) is EdgeInteger and math.isnan(value) for value in (start, stop, step)) or stride == 0
    # Strings are sliced by character, not by UTF-16 unit.
    result = owner[0:0] if empty else owner[first:last:stride]
    return list(result) if type(result) is tuple else result


def _bound(name: str, value: Value) -> int | None:
    if value is UNDEFINED:
        return None
    if type(value) is int:
        return value
    if type(value) is EdgeInteger:
        return _INFINITE if value > 0 else -_INFINITE if value < 0 else 0
    raise EvaluationError(f"the {name} of a slice is not an Integer", got=describe(value))


# Methods take the owner and the arguments.


def _argument(arguments: Arguments, index: int) -> Value:
    return arguments[index] if index < len(arguments) else None


def title(text: str) -> str:
    """Put the first letter of each word in upper case and leave the others."""
    return _WORD_START.sub(lambda m: m[0].upper(), text)


def capitalize(text: str) -> str:
    """Put the first letter in upper case and leave the others."""
    first = text[:1]
    return (first if first > "\uffff" else first.upper()) + text[1:]


def _affix(name: str, test: Callable[[str, str], bool]) -> Callable[[str, Arguments], bool]:
    def method(text: str, arguments: Arguments) -> bool:
        wanted = _argument(arguments, 0)
        if type(wanted) is str:
            return test(text, wanted)
        if type(wanted) not in (list, tuple):
            raise EvaluationError(f"{name}() needs a string or a list of strings", got=describe(wanted))
        for entry in wanted:
            if type(entry) is not str:
                raise EvaluationError(f"{name}() needs a string or a list of strings", got=describe(entry))
            if test(text, entry):
                return True
        return False

    return method


def _split(text: str, arguments: Arguments) -> list[str]:
    separator = _argument(arguments, 0)
    limit = arguments[1] if len(arguments) > 1 else -1
    if separator is not None and type(separator) is not str:
        raise EvaluationError("split() needs a string or none to split at", got=describe(separator))
    if type(limit) is not int and type(limit) is not EdgeInteger:
        raise EvaluationError("split() needs an Integer as the number of splits", got=describe(limit))
    if separator == "":
        raise EvaluationError("split() needs a separator that is not empty")
    # Of the negative numbers only -1 means "no limit"; others count from the end.
    count = math.inf if limit == -1 or math.isnan(limit) else limit
    parts = _split_at_spaces(text, count) if separator is None else _split_at(text, separator, count)
    check_items(len(parts))
    return parts


def _split_at(text: str, separator: str, count: float) -> list[str]:
    check_items(text.count(separator))
    parts = text.split(separator)
    if count >= len(parts):
        return parts
    kept = max(int(count), -len(parts)) if math.isfinite(count) else -len(parts)
    return [*parts[:kept], separator.join(parts[kept:])]


def _split_at_spaces(text: str, count: float) -> list[str]:
    parts: list[str] = []
    for match in _WORD.finditer(text):
        if len(parts) >= count:
            return [*parts, text[match.start() :]]
        parts.append(match[0])
    return parts


def replace(text: str, arguments: Arguments) -> str:
    """Replace parts of a string: (old, new, count or none)."""
    positional = [a for a in arguments if type(a) is not Keywords]
    keywords = arguments[-1] if arguments and type(arguments[-1]) is Keywords else Keywords()
    if len(positional) < 2 or type(positional[0]) is not str or type(positional[1]) is not str:
        raise EvaluationError("replace() needs two strings")
    count = positional[2] if len(positional) > 2 else keywords.get("count")
    if count is not None and type(count) is not int and type(count) is not EdgeInteger:
        raise EvaluationError("replace() needs an Integer or none as count", got=describe(count))
    is_all = count is None or count < 0 or count > len(text)
    limit = -1 if is_all else int(count) if type(count) is int else 0
    return replaced(text, positional[0], positional[1], limit)


def replaced(text: str, old: str, new: str, limit: int) -> str:
    """Replace up to ``limit`` parts of a string, all where it is negative, refusing a result that is too long."""
    found = len(text) + 1 if not old else text.count(old)
    found = found if limit < 0 else min(found, limit)
    check_chars(max(len(text), len(text) + found * (len(new) - len(old))))
    result = text.replace(old, new, limit)
    return result if result.isascii() else whole_characters(result)


STRING_METHODS: Final[dict[str, Callable[[str, Arguments], Value]]] = {
    "upper": lambda text, _: text.upper(),
    "lower": lambda text, _: text.lower(),
    "strip": lambda text, _: text.strip(WHITESPACE),
    "lstrip": lambda text, _: text.lstrip(WHITESPACE),
    "rstrip": lambda text, _: text.rstrip(WHITESPACE),
    "title": lambda text, _: title(text),
    "capitalize": lambda text, _: capitalize(text),
    "startswith": _affix("startswith", str.startswith),
    "endswith": _affix("endswith", str.endswith),
    "split": _split,
    "replace": replace,
}


def _get(owner: dict[str, Value], arguments: Arguments) -> Value:
    key = _argument(arguments, 0)
    if type(key) is not str:
        raise EvaluationError("get() needs a string as key", got=describe(key))
    return owner.get(key, _argument(arguments, 1))


def _items(owner: dict[str, Value], _: Arguments) -> list[list[Value]]:
    return [[key, value] for key, value in owner.items()]


def _dictsort(owner: dict[str, Value], arguments: Arguments) -> Value:
    keywords = arguments[-1] if arguments and type(arguments[-1]) is Keywords else Keywords()
    positional = [a for a in arguments if type(a) is not Keywords]
    defaults = (("case_sensitive", False), ("by", "key"), ("reverse", False))
    case_sensitive, by, reverse = (
        positional[i] if i < len(positional) else keywords.get(name, default)
        for i, (name, default) in enumerate(defaults)
    )
    if type(case_sensitive) is not bool or type(reverse) is not bool:
        raise EvaluationError("dictsort needs booleans for case_sensitive and reverse")
    if type(by) is not str or by not in ("key", "value"):
        raise EvaluationError("dictsort sorts by 'key' or by 'value'", got=describe(by))
    index = 0 if by == "key" else 1
    pairs = [[k, v] for k, v in owner.items()]
    return sorted_values(pairs, lambda pair: pair[index], case_sensitive=case_sensitive, reverse=reverse)


DICT_METHODS: Final[dict[str, Callable[[dict[str, Value], Arguments], Value]]] = {
    "get": _get,
    "items": _items,
    "keys": lambda owner, _: list(owner),
    "values": lambda owner, _: list(owner.values()),
    "dictsort": _dictsort,
}
