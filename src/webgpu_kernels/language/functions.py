"""The helper functions that a manifest's formulas call: shapes, axes and dtypes.

They take and give values of the language. A wrong argument is an `EvaluationError` that names the function, what it
expected and what came.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.language import operators, shapes
from webgpu_kernels.language.arguments import list_argument, number_argument, wrong_argument
from webgpu_kernels.language.values import UNDEFINED, Value, integer, truth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
    number = number_argument(function, value)
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
        number = number_argument(function, value)
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
    number_argument("pow", base)
    number_argument("pow", exponent)
    return _number_of(operators.power(base, exponent))


def ceil_div(dividend: Value, divisor: Value) -> Value:
    """Divide and round up.

    FORMAT section 3, Functions.
    """
    if type(dividend) is int and type(divisor) is int and divisor:
        return operators.negate(operators.floor_divide(-dividend, divisor)) if dividend else 0
    quotient = operators.divide(number_argument("ceilDiv", dividend), number_argument("ceilDiv", divisor))
    return math.ceil(quotient) if math.isfinite(quotient) else integer(quotient)


def log2_ceil(value: Value) -> Value:
    """Return the least n with 2**n not below the argument; 0 up to 1.

    FORMAT section 3, Functions.
    """
    number = number_argument("log2ceil", value)
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


def has(owner: Value, key: Value) -> bool:
    """Return whether a dict has a key of its own; a missing dict has none.

    FORMAT section 3, Functions.
    """
    if owner is None or owner is UNDEFINED:
        return False
    if not isinstance(owner, dict):
        raise wrong_argument("has", "a dict", owner)
    if type(key) is not str:
        raise wrong_argument("has", "a string", key)
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
        raise wrong_argument("dtypeBytes", f"one of {', '.join(_BYTES)}", dtype)
    return _BYTES[dtype]


def onnx_dtype_code(dtype: Value) -> int:
    """Return ONNX's number of a logical dtype.

    FORMAT section 3, Functions.
    """
    if type(dtype) is not str or dtype not in _ONNX_CODES:
        raise wrong_argument("onnxDtypeCode", f"one of {', '.join(_ONNX_CODES)}", dtype)
    return _ONNX_CODES[dtype]


def pick(cases: Value, default: Value = None) -> Value:
    """Return the value of the first pair whose condition holds, else the default; lists and dicts hold.

    FORMAT section 3, Functions.
    """
    for case in list_argument("pick", cases):
        if type(case) not in (list, tuple) or len(case) != 2:
            raise wrong_argument("pick", "a list of [condition, value] pairs", case)
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
    "numel": shapes.numel,
    "dim": shapes.dim,
    "rows": shapes.rows,
    "outer": shapes.outer,
    "inner": shapes.inner,
    "prefix": shapes.prefix,
    "suffix": shapes.suffix,
    "fill": shapes.fill,
    "moveAxis": shapes.move_axis,
    "permuteShape": shapes.permute_shape,
    "reversedAxes": shapes.reversed_axes,
    "broadcastShape": shapes.broadcast_shape,
    "matmulShape": shapes.matmul_shape,
    "broadcastable": shapes.broadcastable,
    "sameShape": shapes.same_shape,
    "hasAxis": shapes.has_axis,
    "axisValue": shapes.axis_value,
    "isUniqueIntList": shapes.is_unique_int_list,
    "has": has,
    "dtypeBytes": dtype_bytes,
    "onnxDtypeCode": onnx_dtype_code,
    "pick": pick,
}
for _name, _function in _TABLE.items():
    _function.__name__ = _name

FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(_TABLE)
"""The helper functions by their names in formulas; all but ``f16Ok``, which depends on the device."""
