"""Values as text: JavaScript's way of writing numbers, and the three ways in which this dialect writes a value.

`plain_text` is what ``~`` and ``join`` use, `printed_text` what a template prints, `json_text` what lists and dicts
print as and what the ``tojson`` filter gives.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.limits import MAX_NESTING, check_chars, spend, too_deep
from webgpu_kernels.language.values import EXACT, NUMBERS, UNDEFINED, EdgeInteger, Namespace, Value, kind

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN_EXPONENTS: Final = range(-6, 21)


def number_text(value: float) -> str:
    """Return a number as JavaScript writes it: ``1e+21``, ``5e-7``, ``0`` for minus zero, ``Infinity``, ``NaN``."""
    if type(value) is int and -EXACT <= value <= EXACT:
        return str(value)
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    return _finite_text(value)


def _finite_text(value: float) -> str:
    # repr and JavaScript choose the same shortest digits and lay them out differently.
    sign, digits, exponent = _decimal(repr(value))
    if exponent in _PLAIN_EXPONENTS:
        if exponent < 0:
            return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
        whole = digits[: exponent + 1].ljust(exponent + 1, "0")
        fraction = digits[exponent + 1 :]
        return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{sign}{mantissa}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


def _decimal(text: str) -> tuple[str, str, int]:
    sign = "-" if text[0] == "-" else ""
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    exponent = len(whole) - 1 - leading + int(power or 0)
    return sign, digits.rstrip("0"), exponent


def float_text(value: float) -> str:
    """Return a Float as a template prints it: with ``.0`` where it is integral."""
    if not value.is_integer():
        return number_text(value)
    if abs(value) >= 1e21:
        return number_text(value)
    return f"{value:.1f}"


def joined(left: str, right: str) -> str:
    """Return two strings as one, refusing a result that is too long."""
    total = len(left) + len(right)
    if total > 128:
        check_chars(total)
    text = left + right
    return text if text.isascii() else whole_characters(text)


def whole_characters(text: str) -> str:
    """Join surrogate halves that have come to stand side by side, as UTF-16 strings do by themselves."""
    if any("\ud800" <= c <= "\udfff" for c in text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def plain_text(value: Value) -> str:
    """Return a value as ``~`` writes it: Floats without ``.0``, a list as its entries with commas between.

    Args:
        value: any value but undefined and none, which operators refuse before.

    Returns:
        The text.

    Raises:
        EvaluationError: a function.
        WorkLimitExceeded: the text is too long.

    FORMAT section 3, Values and operators.
    """
    kind_of = type(value)
    if kind_of is str:
        return value  # type: ignore[no-any-return]
    if kind_of in NUMBERS:
        return number_text(value)
    if kind_of is bool:
        return "true" if value else "false"
    if kind_of is list or kind_of is tuple:
        return _bounded(",", (_entry_text(v) for v in value))
    if isinstance(value, dict):
        return "[object Map]"
    raise _function_text_error(value)


def _bounded(separator: str, parts: Iterator[str]) -> str:
    total = 0
    taken = []
    for part in parts:
        total += len(part) + len(separator)
        check_chars(total)
        spend(1)
        taken.append(part)
    return whole_characters(separator.join(taken))


def _entry_text(value: Value) -> str:
    if value is None or value is UNDEFINED:
        return "undefined"
    return string_text(value)


def string_text(value: Value) -> str:
    """Return the text that a value's own conversion gives: what is printed, without a special case for none."""
    kind_of = type(value)
    if kind_of is str:
        return value  # type: ignore[no-any-return]
    if kind_of is float:
        return float_text(value)
    if kind_of is int or kind_of is EdgeInteger:
        return number_text(value)
    if kind_of is bool:
        return "true" if value else "false"
    if kind_of is list or kind_of is tuple or isinstance(value, dict):
        return json_text(value, _PRINTED)
    raise _function_text_error(value)


def _function_text_error(value: Value) -> EvaluationError:
    return EvaluationError("a function has no text", got=kind(value), hint="Call it")


def printed_text(value: Value) -> str:
    """Return a value as ``{{ … }}`` prints it.

    Args:
        value: any value; none and undefined print nothing.

    Returns:
        The text.

    Raises:
        EvaluationError: a function, or a tuple.
        WorkLimitExceeded: the text is too long.

    FORMAT section 7, Printing.
    """
    if value is None or value is UNDEFINED:
        return ""
    return string_text(value)


class JsonStyle(NamedTuple):
    """How to write JSON.

    Attributes:
        indent: spaces a level; 0 for one line.
        ascii_only: escape everything beyond ASCII.
        sort_keys: write a dict's keys in order.
        separators: between entries, and between a key and its value; None for the usual ones.
        undefined: what an undefined entry is written as.
    """

    indent: int = 0
    ascii_only: bool = False
    sort_keys: bool = False
    separators: tuple[str, str] | None = None
    undefined: str = "null"


_PRINTED: Final = JsonStyle(undefined="undefined")


def json_text(value: Value, style: JsonStyle) -> str:
    """Return a value as JSON in this dialect's layout.

    Args:
        value: the value.
        style: layout and escapes.

    Returns:
        The text; numbers without a finite value are ``null``.

    Raises:
        EvaluationError: a function or a tuple is in it.
        WorkLimitExceeded: the text is too long, or the value nested too deeply.
    """
    parts: list[str] = []
    _Writer(style, parts).write(value, 0)
    return "".join(parts)


class _Writer:
    def __init__(self, style: JsonStyle, out: list[str]) -> None:
        self.style = style
        self.out = out
        self.size = 0
        self.comma, self.colon = style.separators or ("," if style.indent else ", ", ": ")

    def write(self, value: Value, depth: int) -> None:
        if depth > MAX_NESTING:
            raise too_deep("a value")
        kind_of = type(value)
        if kind_of is list:
            self.entries("[]", [(None, entry) for entry in value], depth)
        elif kind_of is dict or kind_of is Namespace:
            keys = sorted(value, key=_utf16) if self.style.sort_keys else list(value)
            self.entries("{}", [(key, value[key]) for key in keys], depth)
        else:
            spend(1)
            self.put(_scalar_json(value, self.style))

    def put(self, text: str) -> None:
        self.size += len(text)
        check_chars(self.size)
        self.out.append(text)

    def entries(self, brackets: str, entries: list[tuple[str | None, Value]], depth: int) -> None:
        line, closing = self.line(depth + 1), self.line(depth)
        # An empty list keeps the line that its entries would be on; an empty dict does not.
        self.put(brackets[0] + (line if entries or brackets == "[]" else ""))
        for index, (key, entry) in enumerate(entries):
            if index:
                self.put(self.comma + line)
            if key is not None:
                self.put(_scalar_json(key, self.style) + self.colon)
            self.write(entry, depth + 1)
        self.put(closing + brackets[1])

    def line(self, depth: int) -> str:
        if not self.style.indent:
            return ""
        check_chars(self.style.indent * depth)
        return "\n" + " " * (self.style.indent * depth)


def _scalar_json(value: Value, style: JsonStyle) -> str:
    kind_of = type(value)
    if kind_of is str:
        return json.dumps(value, ensure_ascii=style.ascii_only)
    if kind_of is bool:
        return "true" if value else "false"
    if kind_of in NUMBERS:
        return number_text(value) if math.isfinite(value) else "null"
    if value is None:
        return "null"
    if value is UNDEFINED:
        return style.undefined
    raise EvaluationError("a value cannot be written as JSON", got=kind(value))


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
