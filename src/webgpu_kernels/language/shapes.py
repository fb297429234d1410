"""The helper functions on shapes and axes."""

from __future__ import annotations

import math

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language import operators
from webgpu_kernels.language.arguments import list_argument, shape_argument, whole_argument, wrong_argument
from webgpu_kernels.language.limits import check_items, spend_on
from webgpu_kernels.language.values import NUMBERS, UNDEFINED, Value, describe


def _product(shape: list[Value]) -> Value:
    result: Value = 1
    for dim in shape:
        result = operators.multiply(result, dim)
    return result


def numel(shape: Value) -> Value:
    """Return how many elements a shape has; 1 for [].

    FORMAT section 3, Functions.
    """
    return _product(shape_argument("numel", shape))


def _axis(function: str, axis: Value, rank: int) -> int:
    return whole_argument(function, axis) % rank


def dim(shape: Value, axis: Value) -> Value:
    """Return the size along an axis, taken modulo the rank; none for [].

    FORMAT section 3, Functions.
    """
    sizes = shape_argument("dim", shape)
    whole = whole_argument("dim", axis)
    return sizes[whole % len(sizes)] if sizes else None


def rows(shape: Value, axis: Value) -> Value:
    """Return the product of all sizes but the one along an axis, taken modulo the rank; 1 for [].

    FORMAT section 3, Functions.
    """
    sizes = shape_argument("rows", shape)
    whole = whole_argument("rows", axis)
    if not sizes:
        return 1
    index = whole % len(sizes)
    return _product(sizes[:index] + sizes[index + 1 :])


def outer(shape: Value, axis: Value) -> Value:
    """Return the product of the sizes before an axis, taken modulo the rank; 1 for [].

    FORMAT section 3, Functions.
    """
    sizes = shape_argument("outer", shape)
    whole = whole_argument("outer", axis)
    return _product(sizes[: whole % len(sizes)]) if sizes else 1


def inner(shape: Value, axis: Value) -> Value:
    """Return the product of the sizes after an axis, taken modulo the rank; 1 for [].

    FORMAT section 3, Functions.
    """
    sizes = shape_argument("inner", shape)
    whole = whole_argument("inner", axis)
    return _product(sizes[whole % len(sizes) + 1 :]) if sizes else 1


def prefix(values: Value, count: Value) -> Value:
    """Return the first entries of a list; none of them for a negative count.

    FORMAT section 3, Functions.
    """
    return list_argument("prefix", values)[: max(whole_argument("prefix", count), 0)]


def suffix(values: Value, start: Value) -> Value:
    """Return the entries of a list from an index on.

    FORMAT section 3, Functions.
    """
    return list_argument("suffix", values)[max(whole_argument("suffix", start), 0) :]


def fill(value: Value, count: Value) -> Value:
    """Return a list of one value, several times.

    FORMAT section 3, Functions.
    """
    whole = whole_argument("fill", count)
    if whole < 0:
        raise wrong_argument("fill", "a count that is not negative", count)
    check_items(whole)
    return [value] * whole


def _strict_axis(function: str, axis: Value, rank: int) -> int:
    whole = whole_argument(function, axis)
    if not -rank <= whole < rank:
        raise wrong_argument(function, f"an axis of [{-rank}, {rank - 1}]", axis)
    return whole % rank


def move_axis(shape: Value, source: Value, target: Value) -> Value:
    """Move one axis of a shape to another place.

    FORMAT section 3, Functions.
    """
    sizes = list(shape_argument("moveAxis", shape))
    start, end = (_strict_axis("moveAxis", axis, len(sizes)) for axis in (source, target))
    sizes.insert(end, sizes.pop(start))
    return sizes


def permute_shape(shape: Value, axes: Value) -> Value:
    """Put the axes of a shape in another order.

    FORMAT section 3, Functions.
    """
    sizes = shape_argument("permuteShape", shape)
    order = [_strict_axis("permuteShape", axis, len(sizes)) for axis in list_argument("permuteShape", axes)]
    if len(order) != len(sizes) or len(set(order)) != len(order):
        raise wrong_argument("permuteShape", f"each of {len(sizes)} axes once", axes)
    return [sizes[axis] for axis in order]


def reversed_axes(rank: Value) -> Value:
    """Return the axes of a rank in reverse.

    FORMAT section 3, Functions.
    """
    whole = whole_argument("reversedAxes", rank)
    if whole < 0:
        raise wrong_argument("reversedAxes", "a rank that is not negative", rank)
    check_items(whole)
    return list(range(whole - 1, -1, -1))


def _broadcast(first: list[Value], second: list[Value]) -> list[Value] | None:
    rank = max(len(first), len(second))
    padded = [[1] * (rank - len(shape)) + shape for shape in (first, second)]
    result = []
    for a, b in zip(*padded, strict=True):
        if a != b and 1 not in (a, b):
            return None
        result.append(b if a == 1 else a)
    return result


def broadcast_shape(first: Value, second: Value) -> Value:
    """Return the shape that two shapes broadcast to.

    FORMAT section 3, Functions.
    """
    shapes = [shape_argument("broadcastShape", shape) for shape in (first, second)]
    result = _broadcast(*shapes)
    if result is None:
        raise EvaluationError(
            "broadcastShape() was called with shapes that do not broadcast",
            expected="equal sizes, or 1, along each axis from the last",
            got=f"{describe(first)} and {describe(second)}",
        )
    return result


def matmul_shape(first: Value, second: Value) -> Value:
    """Return the shape of an ONNX MatMul: 1-D operands are promoted, batches broadcast.

    FORMAT section 3, Functions; ONNX MatMul.
    """
    a, b = (list(shape_argument("matmulShape", shape)) for shape in (first, second))
    if not a or not b:
        raise wrong_argument("matmulShape", "shapes of rank 1 or more", first if not a else second)
    left = a if len(a) > 1 else [1, *a]
    right = b if len(b) > 1 else [*b, 1]
    batch = _broadcast(left[:-2], right[:-2])
    if left[-1] != right[-2] or batch is None:
        raise EvaluationError(
            "matmulShape() was called with shapes that do not multiply",
            expected="equal inner sizes and batches that broadcast",
            got=f"{describe(first)} and {describe(second)}",
        )
    return batch + ([left[-2]] if len(a) > 1 else []) + ([right[-1]] if len(b) > 1 else [])


def broadcastable(shape: Value, target: Value) -> bool:
    """Return whether a shape broadcasts to another without changing that one.

    FORMAT section 3, Functions.
    """
    sizes, wanted = shape_argument("broadcastable", shape), shape_argument("broadcastable", target)
    return len(sizes) <= len(wanted) and _broadcast(sizes, wanted) == wanted


def same_shape(first: Value, second: Value) -> bool:
    """Return whether two shapes are equal.

    FORMAT section 3, Functions.
    """
    return shape_argument("sameShape", first) == shape_argument("sameShape", second)


def has_axis(axes: Value, axis: Value, rank: Value) -> bool:
    """Return whether an axis is among others, all taken modulo the rank.

    FORMAT section 3, Functions.
    """
    return _find_axis("hasAxis", axes, axis, rank) is not None


def axis_value(values: Value, axes: Value, axis: Value, rank: Value, default: Value = UNDEFINED) -> Value:
    """Return the entry of a list that belongs to an axis, or a default.

    FORMAT section 3, Functions.
    """
    entries = list_argument("axisValue", values)
    index = _find_axis("axisValue", axes, axis, rank)
    return entries[index] if index is not None and index < len(entries) else default


def _find_axis(function: str, axes: Value, axis: Value, rank: Value) -> int | None:
    candidates = [whole_argument(function, candidate) for candidate in list_argument(function, axes)]
    wanted, whole_rank = whole_argument(function, axis), whole_argument(function, rank)
    if whole_rank <= 0:
        return None
    for index, candidate in enumerate(candidates):
        if candidate % whole_rank == wanted % whole_rank:
            return index
    return None


def is_unique_int_list(values: Value, low: Value, high: Value, modulus: Value = 0) -> bool:
    """Return whether all entries are integers of [low, high) without a repeat, compared modulo a positive modulus.

    FORMAT section 3, Functions.
    """
    if type(values) not in (list, tuple) or any(type(bound) not in NUMBERS for bound in (low, high, modulus)):
        return False
    spend_on(len(values) * 16)
    seen = set()
    for value in values:
        if type(value) not in NUMBERS or not math.isfinite(value) or value != math.floor(value):
            return False
        if not low <= value < high:
            return False
        seen.add(value % modulus if modulus > 0 else value)
    return len(seen) == len(values)
