"""Reads the struct of a uniform binding: fields of one 32-bit word each."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.attributes import float32
from webgpu_kernels.contract.cursor import describe
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import formula
from webgpu_kernels.contract.model import Struct, StructField
from webgpu_kernels.contract.vocabulary import FIELD, FIELD_TYPES
from webgpu_kernels.contract.words import wgsl_fault

if TYPE_CHECKING:
    from collections.abc import Collection

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.contract.model import FieldType
    from webgpu_kernels.language import Expression

_PADDING: Final = re.compile(r"_pad\d+")
_RANGES: Final = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}


def read_struct(node: Node, name: str | None, names: Names, args: Collection[str]) -> Struct:
    """Read ``struct`` of a binding.

    Args:
        node: a non-empty list of fields.
        name: ``structName``, or None.
        names: what the fields' values may use.
        args: the scalar arguments, from which a field without ``value`` takes its value.

    Returns:
        The struct.

    Source: FORMAT section 6.
    """
    if isinstance(node.value, dict):
        node.fail("must be a list of fields; an object {name, fields} is the older dialect: use 'structName'")
        return Struct(name=name or "Params", fields=())
    fields: dict[str, StructField] = {}
    for entry in node.entries("fields", least=1):
        field = _read_field(Fields(entry, FIELD), names, args)
        if field.name in fields:
            entry.at("name", None).fail(f"is taken: the struct has another field {field.name!r}")
        fields[field.name] = field
    return Struct(name=name or "Params", fields=tuple(fields.values()))


def _read_field(fields: Fields, names: Names, args: Collection[str]) -> StructField:
    name = _field_name(fields)
    type_ = fields.choice("type", FIELD_TYPES) or "u32"
    field = StructField(
        name=name,
        type=type_,
        value=_field_value(fields, names),
        required=fields.flag("required"),
        internal=fields.flag("internal"),
        default=_field_default(fields, type_),
    )
    if fields.good and field.required and name not in args and "value" not in fields and "default" not in fields:
        fields.node.fail(f"has no value: give 'value' or 'default', or declare the scalar argument {name!r}")
    return field


def _field_name(fields: Fields) -> str:
    node = fields.get("name")
    name = node.string() if node else None
    if node is None or name is None:
        return ""
    if fault := wgsl_fault(name):
        node.fail(fault)
    elif _PADDING.fullmatch(name):
        node.fail("is kept for padding: choose another name")
    return name


def _field_value(fields: Fields, names: Names) -> Expression | None:
    node = fields.get("value")
    if node is None:
        return None
    if isinstance(node.value, str | int | float):
        return formula(node, names)
    node.fail_kind("an expression or a number")
    return None


def _field_default(fields: Fields, type_: FieldType) -> float | None:
    node = fields.get("default")
    if node is None:
        return None
    value = node.value
    if not isinstance(value, int | float):
        node.fail_kind("a number")
        return None
    if not _fits(value, type_):
        node.fail(f"must be a value of {type_}, not {describe(value)}")
    return value


def _fits(value: float, type_: FieldType) -> bool:
    if type_ == "f32":
        return math.isfinite(float32(value))
    least, most = _RANGES[type_]
    return float(value).is_integer() and least <= value <= most
