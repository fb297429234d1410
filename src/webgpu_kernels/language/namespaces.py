"""The functions that the language itself has: ``namespace`` everywhere, ``range`` and others in templates."""

from __future__ import annotations

import math
from typing import Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.limits import MAX_ITEMS, check_items
from webgpu_kernels.language.operators import js_number
from webgpu_kernels.language.text import plain_text
from webgpu_kernels.language.values import (
    UNDEFINED,
    Keywords,
    Namespace,
    Native,
    Value,
    describe,
    number_from_host,
)


def make_namespace(arguments: list[Value]) -> Namespace:
    """Make an object whose members a template may set, from a dict and keywords."""
    keywords = arguments[-1] if arguments and type(arguments[-1]) is Keywords else {}
    positional = [a for a in arguments if type(a) is not Keywords]
    if len(positional) > 1:
        raise EvaluationError("namespace() takes at most one dict", got=f"{len(positional)} arguments")
    if positional and type(positional[0]) is not dict:
        raise EvaluationError("namespace() takes a dict", got=describe(positional[0]))
    return Namespace({**(positional[0] if positional else {}), **keywords})


def _range(arguments: list[Value]) -> list[Value]:
    start, stop, step = ([*arguments, UNDEFINED, UNDEFINED, UNDEFINED])[:3]
    if stop is UNDEFINED or stop is None:
        start, stop = 0, start
    if step is UNDEFINED or step is None:
        step = 1
    if step == 0:
        raise EvaluationError("range() needs a step that is not 0", got=describe(step))
    first, end, stride = (_bound(value) for value in (start, stop, step))
    if math.isnan(first) or math.isnan(end) or math.isnan(stride):
        return []
    count = math.ceil(min(max((end - first) / stride, 0.0), MAX_ITEMS + 1.0)) if math.isfinite(stride) else 1
    check_items(count)
    return [number_from_host(value) for value in _values(first, end, stride)]


def _values(first: float, end: float, stride: float) -> list[float]:
    # Added up step by step: 0.3 three times is 0.8999999999999999.
    values: list[float] = []
    value = first
    while (value < end if stride > 0 else value > end) and len(values) <= MAX_ITEMS:
        values.append(value)
        value += stride
    check_items(len(values))
    return values


def _bound(value: Value) -> float:
    if value is UNDEFINED or isinstance(value, dict) or callable(value):
        return math.nan
    if value is None:
        return 0.0
    return js_number(plain_text(value) if type(value) in (list, tuple) else value)


def _raise_exception(arguments: list[Value]) -> Value:
    message = plain_text(arguments[0]) if arguments else ""
    raise EvaluationError(message or "the template raised an exception")


TEMPLATE_FUNCTIONS: Final = {
    "namespace": Native("namespace", make_namespace),
    "range": Native("range", _range),
    "raise_exception": Native("raise_exception", _raise_exception),
}
