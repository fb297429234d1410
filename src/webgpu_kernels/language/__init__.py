"""The manifest expression language and the template dialect."""

from webgpu_kernels.language.expression import Expression, compile_expression, compile_value, evaluate
from webgpu_kernels.language.functions import FUNCTIONS, make_f16_ok
from webgpu_kernels.language.limits import MAX_WORK, Bounded, Meter, spend
from webgpu_kernels.language.template import Rendered, Template, compile_template, render
from webgpu_kernels.language.values import UNDEFINED, Undefined, Value, host_value

__all__ = [
    "FUNCTIONS",
    "MAX_WORK",
    "UNDEFINED",
    "Bounded",
    "Expression",
    "Meter",
    "Rendered",
    "Template",
    "Undefined",
    "Value",
    "compile_expression",
    "compile_template",
    "compile_value",
    "evaluate",
    "host_value",
    "make_f16_ok",
    "render",
    "spend",
]
