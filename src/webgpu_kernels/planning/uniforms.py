"""Uniform structs: field values, their range, WGSL declaration and little-endian contents."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.errors import LanguageError, PlanError
from webgpu_kernels.planning.quantities import F32_MAX, INTEGER_RANGES
from webgpu_kernels.planning.scope import Scope, evaluate_in

if TYPE_CHECKING:
    from webgpu_kernels.contract import FieldType, Struct, StructField
    from webgpu_kernels.planning.request import Request

_FIELDS_A_ROW = 4


class PlannedStruct(NamedTuple):
    """A uniform's layout and contents.

    Attributes:
        name: the struct's WGSL name.
        fields: (field, WGSL type) in order, padding included.
        values: the fields' values, padding left out.
        contents: the buffer's bytes, 32-bit little-endian words, a multiple of 16.
    """

    name: str
    fields: tuple[tuple[str, str], ...]
    values: tuple[int | float, ...]
    contents: bytes

    @property
    def declaration(self) -> str:
        """The struct's WGSL text on one line (FORMAT, section 6)."""
        fields = ", ".join(f"{name}: {kind}" for name, kind in self.fields)
        return f"struct {self.name} {{ {fields} }};"


def plan_struct(declared: Struct, scope: Scope, request: Request, where: str) -> PlannedStruct:
    """Evaluate a uniform's fields.

    Args:
        declared: the struct of the manifest.
        scope: what the field expressions see.
        request: the call, for scalar arguments.
        where: operator, variant, pass and binding, for messages.

    Returns:
        The struct, padded to a multiple of four fields.

    Raises:
        PlanError: a value that is missing, not a number, NaN or out of its type's range.

    Source: FORMAT, section 6.
    """
    values = [_field_value(entry, scope, request, f"{where}: field {entry.name!r}") for entry in declared.fields]
    words = b"".join(_pack(entry.type, value) for entry, value in zip(declared.fields, values, strict=True))
    padding = -len(values) % _FIELDS_A_ROW
    fields = [(entry.name, str(entry.type)) for entry in declared.fields]
    fields += [(f"_pad{index}", "u32") for index in range(padding)]
    contents = words + bytes(4 * padding)
    return PlannedStruct(name=declared.name, fields=tuple(fields), values=tuple(values), contents=contents or bytes(16))


def _field_value(entry: StructField, scope: Scope, request: Request, where: str) -> int | float:
    value: object
    if entry.value is not None:
        try:
            value = evaluate_in(entry.value, scope, where=where)
        except LanguageError as error:
            raise PlanError(f"the expression fails: {error}", where=where) from error
        where = f"{where}: `{entry.value.source}`"
    elif entry.name in request.args:
        value = request.args[entry.name]
    elif entry.default is not None:
        value = entry.default
    else:
        raise PlanError("the field has no value", where=where, hint=f"Give args={{'{entry.name}': …}}.")
    return _checked(entry.type, value, where)


def _checked(kind: FieldType, value: object, where: str) -> int | float:
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, int | float) or math.isnan(value):
        article = "a" if kind == "u32" else "an"
        raise PlanError("wrong field value", where=where, expected=f"{article} {kind} number", got=repr(value))
    if kind == "f32":
        if not math.isinf(value) and abs(value) > F32_MAX:
            raise PlanError("out of range", where=where, expected="a float32 number", got=repr(value))
        return float(value)
    low, high = INTEGER_RANGES[kind]
    if not low <= value <= high or value != int(value):
        raise PlanError("out of range", where=where, expected=f"an integer from {low} to {high}", got=repr(value))
    return int(value)


def _pack(kind: FieldType, value: float) -> bytes:
    return struct.pack({"u32": "<I", "i32": "<i", "f32": "<f"}[kind], value)
