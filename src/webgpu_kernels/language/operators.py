"""The operators, on values of every kind.

The functions take two operands of which neither is known; the compiler has handled the common pairs of ints before.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.lexer import WHITESPACE
from webgpu_kernels.language.limits import check_items, spend_on
from webgpu_kernels.language.text import joined, plain_text
from webgpu_kernels.language.values import (
    NEGATIVE_ZERO,
    NUMBERS,
    UNDEFINED,
    EdgeInteger,
    Value,
    describe,
    integer,
    rounded,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_JS_NUMBER: Final = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_JS_BASED: Final = {"0x": 16, "0X": 16, "0o": 8, "0O": 8, "0b": 2, "0B": 2}


def _refuse(operator: str, left: Value, right: Value) -> EvaluationError:
    for operand in (left, right):
        if operand is UNDEFINED:
            return EvaluationError(f"an operand of {operator!r} is undefined")
        if operand is None:
            return EvaluationError(f"an operand of {operator!r} is none")
    return EvaluationError(f"{operator!r} does not take these operands", got=f"{describe(left)} and {describe(right)}")


def _numbers(left: Value, right: Value) -> bool:
    return type(left) in NUMBERS and type(right) in NUMBERS


def _is_float(left: Value, right: Value) -> bool:
    return type(left) is float or type(right) is float


def add(left: Value, right: Value) -> Value:
    """Add numbers, join lists, or concatenate where a string is on either side."""
    if type(left) is int and type(right) is int:
        return rounded(left + right)
    if _numbers(left, right):
        total = float(left) + float(right)
        return total if _is_float(left, right) else integer(total)
    if left is UNDEFINED or right is UNDEFINED or left is None or right is None:
        raise _refuse("+", left, right)
    if type(left) in (list, tuple) and type(right) in (list, tuple):
        check_items(len(left) + len(right))
        return [*left, *right]
    if type(left) is str or type(right) is str:
        return joined(plain_text(left), plain_text(right))
    raise _refuse("+", left, right)


def subtract(left: Value, right: Value) -> Value:
    """Subtract numbers."""
    if type(left) is int and type(right) is int:
        return rounded(left - right)
    if not _numbers(left, right):
        raise _refuse("-", left, right)
    difference = float(left) - float(right)
    return difference if _is_float(left, right) else integer(difference)


def multiply(left: Value, right: Value) -> Value:
    """Multiply numbers; a product of ints may be minus zero."""
    if type(left) is int and type(right) is int:
        product = left * right
        return rounded(product) if product or (left >= 0 and right >= 0) else NEGATIVE_ZERO
    if not _numbers(left, right):
        raise _refuse("*", left, right)
    result = float(left) * float(right)
    return result if _is_float(left, right) else integer(result)


def _quotient(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def divide(left: Value, right: Value) -> Value:
    """Divide numbers: always a Float."""
    if not _numbers(left, right):
        raise _refuse("/", left, right)
    return _quotient(float(left), float(right))


def floor_divide(left: Value, right: Value) -> Value:
    """Divide numbers and round down."""
    if not _numbers(left, right):
        raise _refuse("//", left, right)
    quotient = _quotient(float(left), float(right))
    floored = _floor(quotient)
    return floored if _is_float(left, right) else integer(floored)


def _floor(value: float) -> float:
    # math.floor gives an int, which has no minus zero and no infinity.
    return float(math.floor(value)) if math.isfinite(value) and value else value


def remainder(left: Value, right: Value) -> Value:
    """Take the remainder of numbers, with the sign of the dividend."""
    if not _numbers(left, right):
        raise _refuse("%", left, right)
    has_result = right and math.isfinite(left) and not math.isnan(right)
    result = math.fmod(float(left), float(right)) if has_result else math.nan
    return result if _is_float(left, right) else integer(result)


def power(left: Value, right: Value) -> Value:
    """Raise to a power; booleans count as 0 and 1, and a result that is not finite is an error."""
    for operand in (left, right):
        if type(operand) not in NUMBERS and type(operand) is not bool:
            raise _refuse("**", left, right)
    base, exponent = float(left), float(right)
    if base == 0 and exponent < 0:
        raise EvaluationError("0 cannot be raised to a negative power")
    try:
        result = math.pow(base, exponent)
    except (OverflowError, ValueError):
        result = math.nan
    if exponent and (math.isnan(exponent) or (abs(base) == 1 and math.isinf(exponent))):
        result = math.nan
    if not math.isfinite(result):
        raise EvaluationError("the result of '**' is not a finite real number")
    return result if _is_float(left, right) or exponent < 0 else integer(result)


def concatenate(left: Value, right: Value) -> Value:
    """Write both operands as text, one after the other."""
    if left is UNDEFINED or right is UNDEFINED or left is None or right is None:
        raise _refuse("~", left, right)
    return joined(plain_text(left), plain_text(right))


def less(left: Value, right: Value) -> bool:
    """Compare numbers with ``<``."""
    if not _numbers(left, right):
        raise _refuse("<", left, right)
    return bool(left < right)


def greater(left: Value, right: Value) -> bool:
    """Compare numbers with ``>``."""
    if not _numbers(left, right):
        raise _refuse(">", left, right)
    return bool(left > right)


def less_or_equal(left: Value, right: Value) -> bool:
    """Compare numbers with ``<=``."""
    if not _numbers(left, right):
        raise _refuse("<=", left, right)
    return bool(left <= right)


def greater_or_equal(left: Value, right: Value) -> bool:
    """Compare numbers with ``>=``."""
    if not _numbers(left, right):
        raise _refuse(">=", left, right)
    return bool(left >= right)


def equal(left: Value, right: Value) -> bool:
    """Compare as JavaScript's loose equality does: none is undefined, "1" is 1 is true, lists only themselves."""
    left, right = _comparable(left), _comparable(right)
    if left is None or right is None:
        return left is right
    is_object = (_is_object(left), _is_object(right))
    if all(is_object):
        return left is right
    if callable(left) or callable(right):
        return False
    if is_object[0]:
        left = plain_text(left)
    if is_object[1]:
        right = plain_text(right)
    if type(left) is str and type(right) is str:
        return left == right
    return js_number(left) == js_number(right)


def _comparable(value: Value) -> Value:
    return None if value is UNDEFINED else value


def _is_object(value: Value) -> bool:
    return type(value) not in NUMBERS and type(value) is not str and type(value) is not bool


def js_number(value: Value) -> float:
    """Return a primitive as JavaScript's ``Number`` does."""
    if type(value) is not str:
        return float(value)
    text = value.strip(WHITESPACE)
    if not text:
        return 0.0
    if _JS_NUMBER.fullmatch(text):
        return float(text)
    base = _JS_BASED.get(text[:2])
    if base is None or not text[2:].isalnum():
        return math.nan
    try:
        return float(int(text[2:], base))
    except (ValueError, OverflowError):
        return math.nan


def not_equal(left: Value, right: Value) -> bool:
    """Negate `equal`."""
    return not equal(left, right)


def strictly_equal(left: Value, right: Value) -> bool:
    """Compare as JavaScript's strict equality does: the same kind of primitive, or the same object."""
    if type(left) is str or type(left) is bool:
        return type(left) is type(right) and bool(left == right)
    if type(left) in NUMBERS:
        return type(right) in NUMBERS and bool(left == right)
    return left is right


def contains(left: Value, right: Value, operator: str = "in") -> bool:
    """Test for an entry of a list, a part of a string or a key of a dict."""
    if right is UNDEFINED:
        return False
    if left is None or right is None or left is UNDEFINED:
        raise _refuse(operator, left, right)
    if type(right) in (list, tuple, str):
        spend_on(len(right) if type(right) is str else len(right) * 8)
    if type(right) in (list, tuple) and type(left) not in (list, tuple):
        return any(strictly_equal(left, entry) for entry in right)
    if type(left) is str and type(right) is str:
        return left in right
    if type(left) is str and type(right) is dict:
        return left in right
    raise _refuse(operator, left, right)


def lacks(left: Value, right: Value) -> bool:
    """Negate `contains`."""
    return not contains(left, right, "not in")


def negate(value: Value) -> Value:
    """Apply the unary minus."""
    if type(value) is int:
        return -value if value else NEGATIVE_ZERO
    if type(value) is bool:
        return -1 if value else NEGATIVE_ZERO
    if type(value) is float:
        return -value
    if type(value) is EdgeInteger:
        return integer(-float(value))
    raise EvaluationError("unary '-' does not take this operand", got=describe(value))


def affirm(value: Value) -> Value:
    """Apply the unary plus."""
    if type(value) is bool:
        return int(value)
    if type(value) in NUMBERS:
        return value
    raise EvaluationError("unary '+' does not take this operand", got=describe(value))


def invert(value: Value) -> bool:
    """Apply ``not``, which looks at the raw value: an empty list or dict counts as true."""
    if _is_object(value) and value is not None and value is not UNDEFINED:
        return False
    return not truth(value)


BINARY: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": floor_divide,
    "%": remainder,
    "**": power,
    "~": concatenate,
    "<": less,
    ">": greater,
    "<=": less_or_equal,
    ">=": greater_or_equal,
    "==": equal,
    "!=": not_equal,
    "in": contains,
    "not in": lacks,
}

UNARY: Final[dict[str, Callable[[Value], Value]]] = {"-": negate, "+": affirm, "not": invert}
