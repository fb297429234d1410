"""Integer constant expressions of WGSL, as far as sizes of arrays and workgroups need them."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webgpu_kernels.device.wgsl_text import Tokens

_LEVELS: Final = (("|",), ("^",), ("&",), ("<<",), ("+", "-"), ("*", "/", "%"))
"""Binary operators, the loosest first (WGSL, section 8.19 "Operator precedence")."""
_OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = MappingProxyType(
    {
        "|": int.__or__,
        "^": int.__xor__,
        "&": int.__and__,
        "+": int.__add__,
        "-": int.__sub__,
        "*": int.__mul__,
    }
)
_NUMBER: Final = re.compile(r"(0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32})[iu]?")
_MAX_SHIFT: Final = 32
_MAX_VALUE: Final = 2**64
_MAX_DEPTH: Final = 64


class NotUnderstoodError(Exception):
    """The text is beyond this reader; it never leaves the shader check."""


class ConstantExpression:
    """A recursive-descent evaluator: one method a rule, one level a precedence.

    Args:
        tokens: the expression's tokens.
        constant: gives a named constant's value.
    """

    def __init__(self, tokens: Tokens, constant: Callable[[str], int]) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = 0
        self._constant = constant

    def value(self) -> int:
        """Return the expression's value.

        Returns:
            An integer.

        Raises:
            NotUnderstoodError: anything but integer arithmetic on known constants.

        Source: WGSL, section 8 "Expressions".
        """
        result = self._binary(0)
        if self._position != len(self._tokens):
            raise NotUnderstoodError
        return result

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek() in _LEVELS[level]:
            left = _apply(self._take(), left, self._binary(level + 1))
        return left

    def _unary(self) -> int:
        negative = False
        while self._peek() == "-":
            self._take()
            negative = not negative
        value = self._primary()
        return -value if negative else value

    def _primary(self) -> int:
        word = self._take()
        if word == "(":
            return self._closing()
        number = _NUMBER.fullmatch(word)
        if number is not None:
            return int(number[1], 16 if number[1][:2] in {"0x", "0X"} else 10)
        if self._peek() != "(":
            return self._constant(word)
        self._take()
        return self._call(word)

    def _call(self, function: str) -> int:
        if function in {"u32", "i32"}:
            return self._closing()
        if function not in {"min", "max"}:
            raise NotUnderstoodError
        first = self._binary(0)
        if self._take() != ",":
            raise NotUnderstoodError
        second = self._closing()
        return min(first, second) if function == "min" else max(first, second)

    def _closing(self) -> int:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NotUnderstoodError
        value = self._binary(0)
        if self._take() != ")":
            raise NotUnderstoodError
        return value

    def _peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _take(self) -> str:
        word = self._peek()
        if not word:
            raise NotUnderstoodError
        self._position += 1
        return word


def _apply(operator: str, left: int, right: int) -> int:
    if operator in {"/", "%"}:
        if right == 0:
            raise NotUnderstoodError
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator == "<<":
        if not 0 <= right <= _MAX_SHIFT:
            raise NotUnderstoodError
        result = left << right
    else:
        result = _OPERATIONS[operator](left, right)
    if abs(result) > _MAX_VALUE:
        raise NotUnderstoodError
    return result
