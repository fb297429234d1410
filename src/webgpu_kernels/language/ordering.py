"""The order in which values sort."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.limits import spend
from webgpu_kernels.language.values import NUMBERS, UNDEFINED, Value, kind

if TYPE_CHECKING:
    from collections.abc import Callable


def compare(left: Value, right: Value, *, case_sensitive: bool) -> int:
    """Return -1, 0 or 1 as one value sorts before, with or after another.

    Args:
        left: one value.
        right: another of its kind; numbers and booleans mix.
        case_sensitive: whether the case of letters counts.

    Returns:
        The order.

    Raises:
        EvaluationError: values of kinds that have no order.
    """
    if type(left) is str and type(right) is str:
        keys = [text if case_sensitive else text.lower() for text in (left, right)]
        a, b = (k if k.isascii() else k.encode("utf-16-be", "surrogatepass").decode("latin-1") for k in keys)
        return (a > b) - (a < b)
    if _is_number(left) and _is_number(right):
        return 0 if math.isnan(left) or math.isnan(right) else (left > right) - (left < right)
    if (left is None and right is None) or (left is UNDEFINED and right is UNDEFINED):
        return 0
    raise EvaluationError("values of these kinds have no order", got=f"{kind(left)} and {kind(right)}")


def _is_number(value: Value) -> bool:
    return type(value) in NUMBERS or type(value) is bool


def sorted_values(
    values: list[Value], key: Callable[[Value], Value], *, case_sensitive: bool, reverse: bool
) -> list[Value]:
    """Sort values; equal ones keep their order, also in reverse.

    Args:
        values: what is sorted.
        key: the part of a value that decides.
        case_sensitive: whether the case of letters counts.
        reverse: whether the last comes first.

    Returns:
        A new list.

    Raises:
        EvaluationError: values of kinds that have no order.
    """
    spend(len(values) * 4)
    keyed = [(key(value), value) for value in values]
    sign = -1 if reverse else 1

    def order(left: tuple[Value, Value], right: tuple[Value, Value]) -> int:
        return sign * compare(left[0], right[0], case_sensitive=case_sensitive)

    return [value for _, value in sorted(keyed, key=functools.cmp_to_key(order))]
