"""Integer values of WGSL expressions, where they are known: constants, uniforms, ids of an invocation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from webgpu_kernels.tools.lint.wgsl_statements import Tokens

Known: TypeAlias = "int | bool | dict[str, int] | None"
"""An integer, a truth value, a vector's or struct's members, or None for what is not known."""

_LEVELS: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_LEVEL: Final = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_GENERIC: Final = frozenset(
    {"vec2", "vec3", "vec4", "array", "bitcast", "atomic", "ptr"} | {f"mat{a}x{b}" for a in "234" for b in "234"}
)
_MAX_DEPTH: Final = 80
_WORD: Final = 2**32


class NotUnderstoodError(Exception):
    """The expression is beyond this reader; its value is then not known."""


class Evaluator:
    """Evaluates expressions in an environment.

    Args:
        lookup: the value of a name.
        call: the value of a function for arguments, built-in ones aside.
    """

    def __init__(self, lookup: Callable[[str], Known], call: Callable[[str, Sequence[Known]], Known]) -> None:
        self._lookup = lookup
        self._call = call
        self._words: list[str] = []
        self._at = 0
        self._depth = 0

    def value(self, tokens: Tokens) -> Known:
        """Return the value of an expression.

        Args:
            tokens: the expression.

        Returns:
            The value, None where it is not known.
        """
        outer = (self._words, self._at, self._depth)
        self._words, self._at, self._depth = [token.text for token in tokens], 0, 0
        try:
            return self._binary(0) if tokens else None
        except NotUnderstoodError:
            return None
        finally:
            self._words, self._at, self._depth = outer

    def _binary(self, level: int) -> Known:
        left = self._unary()
        while (found := _LEVEL.get(self._peek(), -1)) >= level:
            operator = self._take()
            left = _applied(operator, left, self._binary(found + 1))
        return left

    def _unary(self) -> Known:
        word = self._peek()
        if word in {"-", "!", "~", "&", "*"}:
            self._take()
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise NotUnderstoodError
            value = self._unary()
            if word == "-":
                return -value if isinstance(value, int) else None
            return (not value) if word == "!" and isinstance(value, bool) else None
        return self._postfix(self._primary())

    def _primary(self) -> Known:
        word = self._take()
        if word == "(":
            value = self._nested()
            self._expect(")")
            return value
        if word[:1].isdigit() or word[:1] == ".":
            return _number(word)
        if word in {"true", "false"}:
            return word == "true"
        if word in _GENERIC and self._peek() == "<":
            self._skip_generic()
        if word == "arrayLength":
            return self._array_length()
        if self._peek() == "(":
            self._take()
            return self._called(word, self._arguments())
        return self._lookup(word)

    def _array_length(self) -> Known:
        """``arrayLength(&x)``."""
        self._expect("(")
        self._expect("&")
        name = self._take()
        self._expect(")")
        return self._lookup(f"arrayLength {name}")

    def _postfix(self, value: Known) -> Known:
        while self._peek() in {".", "["}:
            if self._take() == "[":
                self._nested()
                self._expect("]")
                value = None
            else:
                member = self._take()
                value = value.get(member) if isinstance(value, dict) else None
                if self._peek() == "(":
                    raise NotUnderstoodError
        return value

    def _arguments(self) -> list[Known]:
        values: list[Known] = []
        while self._peek() != ")":
            values.append(self._nested())
            if self._peek() == ",":
                self._take()
        self._take()
        return values

    def _nested(self) -> Known:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NotUnderstoodError
        value = self._binary(0)
        self._depth -= 1
        return value

    def _called(self, name: str, values: Sequence[Known]) -> Known:
        numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
        whole = len(numbers) == len(values)
        if name in {"u32", "i32"} and len(values) == 1:
            return int(values[0]) if isinstance(values[0], int) else None
        if name in {"min", "max"} and len(values) == 2:
            return (min(numbers) if name == "min" else max(numbers)) if whole else None
        if name == "select" and len(values) == 3:
            return (values[1] if values[2] else values[0]) if isinstance(values[2], bool) else None
        if name == "workgroupUniformLoad":
            return None
        return self._call(name, values)

    def _skip_generic(self) -> None:
        depth = 0
        while True:
            word = self._take()
            depth += {"<": 1, ">": -1, ">>": -2, "<<": 2}.get(word, 0)
            if depth <= 0:
                return

    def _expect(self, word: str) -> None:
        if self._take() != word:
            raise NotUnderstoodError

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _take(self) -> str:
        if self._at >= len(self._words):
            raise NotUnderstoodError
        self._at += 1
        return self._words[self._at - 1]


def _number(word: str) -> int | None:
    text = word[:-1] if word[-1:] in "iu" else word
    try:
        return int(text, 0)
    except ValueError:
        return None


def _applied(operator: str, left: Known, right: Known) -> Known:
    if operator in {"||", "&&"}:
        return _joined(operator, left, right)
    if not (isinstance(left, int) and isinstance(right, int)):
        return None
    if operator in {"/", "%"}:
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in {"<<", ">>"}:
        return _shifted(operator, left, right)
    return _OPERATIONS[operator](left, right)


def _joined(operator: str, left: Known, right: Known) -> bool | None:
    """One side may decide although the other is not known."""
    decides = operator == "||"
    if left is decides or right is decides:
        return decides
    return (not decides) if isinstance(left, bool) and isinstance(right, bool) else None


def _shifted(operator: str, left: int, right: int) -> int | None:
    if not 0 <= right < 32:
        return None
    return left >> right if operator == ">>" else (left << right) % _WORD


_OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
