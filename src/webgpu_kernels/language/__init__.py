"""The manifest expression language and the template dialect."""

from webgpu_kernels.language.expression import Expression, compile_expression, compile_value, evaluate
from webgpu_kernels.language.functions import FUNCTIONS, make_f16_ok
from webgpu_kernels.language.values import UNDEFINED, Undefined, Value, host_value

__all__ = [
    "FUNCTIONS",
    "UNDEFINED",
    "Expression",
    "Undefined",
    "Value",
    "compile_expression",
    "compile_value",
    "evaluate",
    "host_value",
    "make_f16_ok",
]
