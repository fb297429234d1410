"""Binary operators as closures that try the common pair of ints, in line, before the general operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from webgpu_kernels.language import operators
from webgpu_kernels.language.values import EXACT, Value

Scope: TypeAlias = Mapping[str, Value]
Closure: TypeAlias = Callable[[Any], Value]


def binary(operator: str, left: Closure, right: Closure) -> Closure:
    """Return the closure of a binary operator, given those of its operands."""
    special = _SPECIAL.get(operator)
    if special is not None:
        return special(left, right)
    apply = operators.BINARY[operator]
    return lambda scope: apply(left(scope), right(scope))


def _add(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        if type(a) is int and type(b) is int and -EXACT <= (total := a + b) <= EXACT:
            return total
        return operators.add(a, b)

    return run


def _subtract(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        if type(a) is int and type(b) is int and -EXACT <= (difference := a - b) <= EXACT:
            return difference
        return operators.subtract(a, b)

    return run


def _multiply(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        if type(a) is int and type(b) is int and (product := a * b) > 0 and product <= EXACT:
            return product
        return operators.multiply(a, b)

    return run


def _floor_divide(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        if type(a) is int and type(b) is int and a >= 0 and b > 0:
            return a // b
        return operators.floor_divide(a, b)

    return run


def _remainder(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        if type(a) is int and type(b) is int and a >= 0 and b > 0:
            return a % b
        return operators.remainder(a, b)

    return run


def _less(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        return a < b if type(a) is int and type(b) is int else operators.less(a, b)

    return run


def _greater(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        return a > b if type(a) is int and type(b) is int else operators.greater(a, b)

    return run


def _less_or_equal(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        return a <= b if type(a) is int and type(b) is int else operators.less_or_equal(a, b)

    return run


def _greater_or_equal(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        return a >= b if type(a) is int and type(b) is int else operators.greater_or_equal(a, b)

    return run


def _equal(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        kind = type(a)
        return a == b if kind is type(b) and (kind is int or kind is str) else operators.equal(a, b)

    return run


def _not_equal(left: Closure, right: Closure) -> Closure:
    def run(scope: Scope) -> Value:
        a, b = left(scope), right(scope)
        kind = type(a)
        return a != b if kind is type(b) and (kind is int or kind is str) else not operators.equal(a, b)

    return run


_SPECIAL: Final[dict[str, Callable[[Closure, Closure], Closure]]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "//": _floor_divide,
    "%": _remainder,
    "<": _less,
    ">": _greater,
    "<=": _less_or_equal,
    ">=": _greater_or_equal,
    "==": _equal,
    "!=": _not_equal,
}
