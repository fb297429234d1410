"""The helper functions that a manifest's formulas call: shapes, axes and dtypes.

They take and give values of the language. A wrong argument is an `EvaluationError` that names the function, what it
expected and what came.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language import operators
from webgpu_kernels.language.limits import check_items, spend_on
from webgpu_kernels.language.values import NUMBERS, UNDEFINED, Value, describe, integer, truth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _bad(function: str, expected: str, got: Value) -> EvaluationError:
    return EvaluationError(f"{function}() was called with a wrong argument", expected=expected, got=describe(got))


def _number(function: str, value: Value) -> float:
    if type(value) not in NUMBERS:
        raise _bad(function, "a number", value)
    return value  # type: ignore[no-any-return]


def _whole(function: str, value: Value) -> int:
    if type(value) is int:
        return value
    if type(value) in NUMBERS and math.isfinite(value) and value.is_integer():
        return int(value)
    raise _bad(function, "an integer", value)


def _list(function: str, value: Value) -> list[Value]:
    if type(value) is list or type(value) is tuple:
        spend_on(len(value) * 8)
        return list(value)
    raise _bad(function, "a list", value)


def _shape(function: str, value: Value) -> list[Value]:
    shape = _list(function, value)
    for dim in shape:
        if type(dim) not in NUMBERS:
            raise _bad(function, "a list of numbers", value)
    return shape


def _number_of(value: float) -> Value:
    return integer(value) if not math.isfinite(value) or float(value).is_integer() else value


def ceil(value: Value) -> Value:
    """Round up.

    FORMAT section 3, Functions.
    """
    return _rounded("ceil", value, math.ceil)


def floor(value: Value) -> Value:
    """Round down.

    FORMAT section 3, Functions.
    """
    return _rounded("floor", value, math.floor)


def _rounded(function: str, value: Value, rounding: Callable[[float], int]) -> Value:
    number = _number(function, value)
    if type(number) is int or not math.isfinite(number):
        return number
    return rounding(number)


def minimum(*values: Value) -> Value:
    """Return the least of the arguments.

    FORMAT section 3, Functions.
    """
    return _extreme("min", values, math.inf, lambda a, b: a < b)


def maximum(*values: Value) -> Value:
    """Return the greatest of the arguments.

    FORMAT section 3, Functions.
    """
    return _extreme("max", values, -math.inf, lambda a, b: a > b)


def _extreme(function: str, values: tuple[Value, ...], empty: float, better: Callable[[float, float], bool]) -> Value:
    if all(type(value) is int for value in values) and values:
        return min(values) if empty > 0 else max(values)
    best: Value = None
    for value in values:
        number = _number(function, value)
        if number != number:  # noqa: PLR0124 - only NaN differs from itself
            return integer(math.nan)
        if best is None or better(number, best):
            best = number
    if best is None:
        return integer(empty)
    return best if type(best) is int else _number_of(float(best))


def power(base: Value, exponent: Value) -> Value:
    """Raise a number to a power.

    FORMAT section 3, Functions.
    """
    _number("pow", base)
    _number("pow", exponent)
    return _number_of(operators.power(base, exponent))


def ceil_div(dividend: Value, divisor: Value) -> Value:
    """Divide and round up.

    FORMAT section 3, Functions.
    """
    if type(dividend) is int and type(divisor) is int and divisor:
        return operators.negate(operators.floor_divide(-dividend, divisor)) if dividend else 0
    quotient = operators.divide(_number("ceilDiv", dividend), _number("ceilDiv", divisor))
    return math.ceil(quotient) if math.isfinite(quotient) else integer(quotient)


def log2_ceil(value: Value) -> Value:
    """Return the least n with 2**n not below the argument; 0 up to 1.

    FORMAT section 3, Functions.
    """
    number = _number("log2ceil", value)
    if not number > 1:
        return 0
    if not math.isfinite(number):
        return integer(number)
    return (math.ceil(number) - 1).bit_length()


def pow2_ceil(value: Value) -> Value:
    """Return the least power of two that is not below the argument; 1 up to 1.

    FORMAT section 3, Functions.
    """
    exponent = log2_ceil(value)
    if type(exponent) is not int:
        return exponent
    return 2**exponent if exponent < 1024 else integer(math.inf)


def _product(shape: list[Value]) -> Value:
    result: Value = 1
    for dim in shape:
        result = operators.multiply(result, dim)
    return result


def numel(shape: Value) -> Value:
    """Return how many elements a shape has; 1 for [].

    FORMAT section 3, Functions.
    """
    return _product(_shape("numel", shape))


def _axis(function: str, axis: Value, rank: int) -> int:
    return _whole(function, axis) % rank


def dim(shape: Value, axis: Value) -> Value:
    """Return the size along an axis, taken modulo the rank; none for [].

    FORMAT section 3, Functions.
    """
    sizes = _shape("dim", shape)
    whole = _whole("dim", axis)
    return sizes[whole % len(sizes)] if sizes else None


def rows(shape: Value, axis: Value) -> Value:
    """Return the product of all sizes but the one along an axis, taken modulo the rank; 1 for [].

    FORMAT section 3, Functions.
    """
    sizes = _shape("rows", shape)
    whole = _whole("rows", axis)
    if not sizes:
        return 1
    index = whole % len(sizes)
    return _product(sizes[:index] + sizes[index + 1 :])


def outer(shape: Value, axis: Value) -> Value:
    """Return the product of the sizes before an axis, taken modulo the rank; 1 for [].

    FORMAT section 3, Functions.
    """
    sizes = _shape("outer", shape)
    whole = _whole("outer", axis)
    return _product(sizes[: whole % len(sizes)]) if sizes else 1


def inner(shape: Value, axis: Value) -> Value:
    """Return the product of the sizes after an axis, taken modulo the rank; 1 for [].

    FORMAT section 3, Functions.
    """
    sizes = _shape("inner", shape)
    whole = _whole("inner", axis)
    return _product(sizes[whole % len(sizes) + 1 :]) if sizes else 1


def prefix(values: Value, count: Value) -> Value:
    """Return the first entries of a list; none of them for a negative count.

    FORMAT section 3, Functions.
    """
    return _list("prefix", values)[: max(_whole("prefix", count), 0)]


def suffix(values: Value, start: Value) -> Value:
    """Return the entries of a list from an index on.

    FORMAT section 3, Functions.
    """
    return _list("suffix", values)[max(_whole("suffix", start), 0) :]


def fill(value: Value, count: Value) -> Value:
    """Return a list of one value, several times.

    FORMAT section 3, Functions.
    """
    whole = _whole("fill", count)
    if whole < 0:
        raise _bad("fill", "a count that is not negative", count)
    check_items(whole)
    return [value] * whole


def _strict_axis(function: str, axis: Value, rank: int) -> int:
    whole = _whole(function, axis)
    if not -rank <= whole < rank:
        raise _bad(function, f"an axis of [{-rank}, {rank - 1}]", axis)
    return whole % rank


def move_axis(shape: Value, source: Value, target: Value) -> Value:
    """Move one axis of a shape to another place.

    FORMAT section 3, Functions.
    """
    sizes = list(_shape("moveAxis", shape))
    start, end = (_strict_axis("moveAxis", axis, len(sizes)) for axis in (source, target))
    sizes.insert(end, sizes.pop(start))
    return sizes


def permute_shape(shape: Value, axes: Value) -> Value:
    """Put the axes of a shape in another order.

    FORMAT section 3, Functions.
    """
    sizes = _shape("permuteShape", shape)
    order = [_strict_axis("permuteShape", axis, len(sizes)) for axis in _list("permuteShape", axes)]
    if len(order) != len(sizes) or len(set(order)) != len(order):
        raise _bad("permuteShape", f"each of {len(sizes)} axes once", axes)
    return [sizes[axis] for axis in order]


def reversed_axes(rank: Value) -> Value:
    """Return the axes of a rank in reverse.

    FORMAT section 3, Functions.
    """
    whole = _whole("reversedAxes", rank)
    if whole < 0:
        raise _bad("reversedAxes", "a rank that is not negative", rank)
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
    shapes = [_shape("broadcastShape", shape) for shape in (first, second)]
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
    a, b = (list(_shape("matmulShape", shape)) for shape in (first, second))
    if not a or not b:
        raise _bad("matmulShape", "shapes of rank 1 or more", first if not a else second)
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
    sizes, wanted = _shape("broadcastable", shape), _shape("broadcastable", target)
    return len(sizes) <= len(wanted) and _broadcast(sizes, wanted) == wanted


def same_shape(first: Value, second: Value) -> bool:
    """Return whether two shapes are equal.

    FORMAT section 3, Functions.
    """
    return _shape("sameShape", first) == _shape("sameShape", second)


def has_axis(axes: Value, axis: Value, rank: Value) -> bool:
    """Return whether an axis is among others, all taken modulo the rank.

    FORMAT section 3, Functions.
    """
    return _find_axis("hasAxis", axes, axis, rank) is not None


def axis_value(values: Value, axes: Value, axis: Value, rank: Value, default: Value = UNDEFINED) -> Value:
    """Return the entry of a list that belongs to an axis, or a default.

    FORMAT section 3, Functions.
    """
    entries = _list("axisValue", values)
    index = _find_axis("axisValue", axes, axis, rank)
    return entries[index] if index is not None and index < len(entries) else default


def _find_axis(function: str, axes: Value, axis: Value, rank: Value) -> int | None:
    candidates = [_whole(function, candidate) for candidate in _list(function, axes)]
    wanted, whole_rank = _whole(function, axis), _whole(function, rank)
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


def has(owner: Value, key: Value) -> bool:
    """Return whether a dict has a key of its own; a missing dict has none.

    FORMAT section 3, Functions.
    """
    if owner is None or owner is UNDEFINED:
        return False
    if not isinstance(owner, dict):
        raise _bad("has", "a dict", owner)
    if type(key) is not str:
        raise _bad("has", "a string", key)
    return key in owner


_BYTES: Final = {
    "f32": 4, "i32": 4, "u32": 4, "f16": 2, "vec2<u32>": 8,
    "float32": 4, "float16": 2, "int8": 4, "int16": 4, "int32": 4, "int64": 8, "uint8": 4, "uint32": 4, "bool": 4,
}  # fmt: skip
_ONNX_CODES: Final = {
    "float32": 1, "uint8": 2, "int8": 3, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "uint32": 12,
}  # fmt: skip


def dtype_bytes(dtype: Value) -> int:
    """Return the bytes of one stored element of a logical dtype or WGSL scalar.

    FORMAT section 3, Functions.
    """
    if type(dtype) is not str or dtype not in _BYTES:
        raise _bad("dtypeBytes", f"one of {', '.join(_BYTES)}", dtype)
    return _BYTES[dtype]


def onnx_dtype_code(dtype: Value) -> int:
    """Return ONNX's number of a logical dtype.

    FORMAT section 3, Functions.
    """
    if type(dtype) is not str or dtype not in _ONNX_CODES:
        raise _bad("onnxDtypeCode", f"one of {', '.join(_ONNX_CODES)}", dtype)
    return _ONNX_CODES[dtype]


def pick(cases: Value, default: Value = None) -> Value:
    """Return the value of the first pair whose condition holds, else the default; lists and dicts hold.

    FORMAT section 3, Functions.
    """
    for case in _list("pick", cases):
        if type(case) not in (list, tuple) or len(case) != 2:
            raise _bad("pick", "a list of [condition, value] pairs", case)
        condition, value = case
        if isinstance(condition, (list, tuple, dict)) or truth(condition):
            return value
    return default


def make_f16_ok(has_f16: bool) -> Callable[[Value], bool]:
    """Return the ``f16Ok`` of a device.

    Args:
        has_f16: whether the device has shader-f16.

    Returns:
        A function of a dtype that is false only for float16 on a device without it.

    FORMAT section 3, Functions.
    """

    def f16_ok(dtype: Value) -> bool:
        return has_f16 or not (type(dtype) is str and dtype in ("f16", "float16"))

    f16_ok.__name__ = "f16Ok"
    return f16_ok


_TABLE: Final[dict[str, Callable[..., Value]]] = {
    "ceil": ceil,
    "floor": floor,
    "min": minimum,
    "max": maximum,
    "pow": power,
    "ceilDiv": ceil_div,
    "pow2ceil": pow2_ceil,
    "log2ceil": log2_ceil,
    "numel": numel,
    "dim": dim,
    "rows": rows,
    "outer": outer,
    "inner": inner,
    "prefix": prefix,
    "suffix": suffix,
    "fill": fill,
    "moveAxis": move_axis,
    "permuteShape": permute_shape,
    "reversedAxes": reversed_axes,
    "broadcastShape": broadcast_shape,
    "matmulShape": matmul_shape,
    "broadcastable": broadcastable,
    "sameShape": same_shape,
    "hasAxis": has_axis,
    "axisValue": axis_value,
    "isUniqueIntList": is_unique_int_list,
    "has": has,
    "dtypeBytes": dtype_bytes,
    "onnxDtypeCode": onnx_dtype_code,
    "pick": pick,
}
for _name, _function in _TABLE.items():
    _function.__name__ = _name

FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(_TABLE)
"""The helper functions by their names in formulas; all but ``f16Ok``, which depends on the device."""
