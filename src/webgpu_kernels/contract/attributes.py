"""Reads attributes with their constraints, and tunables: values that a call may override."""

from __future__ import annotations

import struct
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.cursor import show
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.model import UNSET, Attribute, Tunable
from webgpu_kernels.contract.vocabulary import ATTRIBUTE, CONSTRAINT, TUNABLE
from webgpu_kernels.contract.words import name_fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.kinds import Table

_MOST_LISTED: Final = 20


def float32(value: float) -> float:
    """Round to the nearest float32, to an infinity where it is too large.

    Args:
        value: any number.

    Returns:
        The float32 value.

    Source: IEEE 754, round to nearest even.
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", float(value)))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def same_value(value: object, allowed: object) -> bool:
    """Compare an attribute's value with an allowed one.

    Args:
        value: a value of the expression language.
        allowed: an entry of ``values``.

    Returns:
        Whether they are equal, numbers after rounding to float32.

    Source: FORMAT section 2 (``attributeConstraints``).
    """
    if isinstance(value, list) and isinstance(allowed, list):
        return len(value) == len(allowed) and all(map(same_value, value, allowed))
    if isinstance(value, bool) or isinstance(allowed, bool):
        return value is allowed
    if isinstance(value, int | float) and isinstance(allowed, int | float):
        return float32(value) == float32(allowed)
    return value == allowed


def read_attributes(attributes: Node | None, constraints: Node | None) -> Mapping[str, Attribute]:
    """Read ``attributes`` and ``attributeConstraints`` into one.

    Args:
        attributes: an object of name to ``{default?, description?}``, or None.
        constraints: an object of name to ``{required?, values?}``, or None; a constraint declares its attribute too.

    Returns:
        The attributes in the manifest's order, those that are only constrained last.

    Source: FORMAT section 2.
    """
    declared = {name: _read_attribute(name, entry) for name, entry in named(attributes, "attributes")}
    return constrained_attributes(declared, constraints)


def constrained_attributes(declared: Mapping[str, Attribute], constraints: Node | None) -> Mapping[str, Attribute]:
    """Read ``attributeConstraints`` into the attributes that they concern.

    Args:
        declared: the attributes as ``attributes`` declares them.
        constraints: an object of name to ``{required?, values?}``, or None; a constraint declares its attribute too.

    Returns:
        The attributes in the manifest's order, those that are only constrained last.

    Source: FORMAT section 2.
    """
    merged = dict(declared)
    for name, entry in named(constraints, "attribute constraints"):
        plain = plain_attribute(name)
        merged[name] = _constrained(merged.get(name, plain), Fields(entry, CONSTRAINT))
    return MappingProxyType(merged)


def plain_attribute(name: str) -> Attribute:
    """Return an attribute of which no more is known than its name."""
    return Attribute(name=name, default=UNSET, required=False, values=None, description=None)


def named(node: Node | None, what: str) -> list[tuple[str, Node]]:
    """Return the members of an object, reporting keys that expressions could not write.

    Args:
        node: the object, or None.
        what: what the members are, in the plural.

    Returns:
        Name and node of each.

    Source: FORMAT section 3 (lexing).
    """
    members = node.members(what) if node else []
    for name, entry in members:
        if fault := name_fault(name):
            entry.fail(fault)
    return members


def _with_default(entry: Node, table: Table) -> Fields | None:
    """Return the fields of ``{default, description}``; a bare value was the older dialect's way."""
    if isinstance(entry.value, dict):
        return Fields(entry, table)
    entry.fail(f'must be an object: write {{"default": {show(entry.value)}}}')
    return None


def _read_attribute(name: str, entry: Node) -> Attribute:
    fields = _with_default(entry, ATTRIBUTE)
    default = fields.get("default") if fields else None
    return Attribute(
        name=name,
        default=default.value if default else UNSET,
        required=False,
        values=None,
        description=fields.text("description") if fields else None,
    )


def _constrained(attribute: Attribute, fields: Fields) -> Attribute:
    required = fields.flag("required")
    listed = fields.get("values")
    values = tuple(entry.value for entry in listed.entries("allowed values", least=1)) if listed else None
    if fields.good and "required" not in fields and listed is None:
        fields.node.fail("constrains nothing: give 'required' or 'values'")
    if attribute.default is not UNSET:
        _check_default(attribute.default, required, values, fields)
    return Attribute(
        name=attribute.name,
        default=attribute.default,
        required=required and attribute.default is UNSET,
        values=values or None,
        description=attribute.description,
    )


def _check_default(default: object, required: bool, values: tuple[object, ...] | None, fields: Fields) -> None:
    if required:
        fields.node.at("required", None).fail("stands beside a default: drop one of them")
    if values and not any(same_value(default, allowed) for allowed in values):
        listed = ", ".join([*map(show, values[:_MOST_LISTED]), *(["…"] if len(values) > _MOST_LISTED else [])])
        fields.node.at("values", None).fail(f"must hold the default {show(default)}; it holds {listed}")


def read_tunables(node: Node | None) -> Mapping[str, Tunable]:
    """Read ``tunables``, of the manifest or of a variant.

    Args:
        node: an object of name to ``{default, description?}``, or None.

    Returns:
        The tunables in the manifest's order.

    Source: FORMAT section 2.
    """
    tunables: dict[str, Tunable] = {}
    for name, entry in named(node, "tunables"):
        fields = _with_default(entry, TUNABLE)
        if fields is not None:
            tunables[name] = _read_tunable(name, fields)
    return MappingProxyType(tunables)


def _read_tunable(name: str, fields: Fields) -> Tunable:
    node = fields.get("default")
    default = node.value if node else 0
    if node is not None and not isinstance(default, int | float | str):
        node.fail_kind("a number, a string, true or false")
    return Tunable(
        name=name,
        default=default if isinstance(default, int | float | str) else 0,
        description=fields.text("description"),
    )
