"""Reads attributes and tunables of the older dialect: bare defaults, and descriptions beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from webgpu_kernels.contract.attributes import constrained_attributes, named, plain_attribute
from webgpu_kernels.contract.model import Tunable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.fields import Fields
    from webgpu_kernels.contract.model import Attribute


def read_attributes(fields: Fields) -> Mapping[str, Attribute]:
    """Read ``attributes``, ``attributeNames``, ``attributeDescriptions`` and ``attributeConstraints`` into one.

    Args:
        fields: the manifest.

    Returns:
        The attributes: those with a default first, then those that are only named, described or constrained.

    Source: FORMAT section 12.
    """
    declared = {}
    for name, entry in named(fields.get("attributes"), "attributes, name to default"):
        if isinstance(entry.value, dict):
            entry.fail("must be the bare default, as spec 1.0 has it, not an object")
        declared[name] = replace(plain_attribute(name), default=entry.value)
    for name in _read_names(fields.get("attributeNames")):
        declared.setdefault(name, plain_attribute(name))
    for name, text in _read_descriptions(fields.get("attributeDescriptions"), "attribute descriptions").items():
        declared[name] = replace(declared.get(name, plain_attribute(name)), description=text)
    return constrained_attributes(declared, fields.get("attributeConstraints"))


def _read_names(node: Node | None) -> list[str]:
    names = [entry.string() for entry in node.entries("names of attributes")] if node else []
    return [name for name in names if name is not None]


def _read_descriptions(node: Node | None, what: str) -> dict[str, str | None]:
    return {name: entry.string() for name, entry in named(node, what)}


def read_tunables(fields: Fields) -> dict[str, Tunable]:
    """Read ``tunables`` and ``tunableDescriptions``, of the manifest or of a variant.

    Args:
        fields: the manifest or the variant.

    Returns:
        The tunables in the manifest's order.

    Source: FORMAT section 12.
    """
    descriptions = _read_descriptions(fields.get("tunableDescriptions"), "tunable descriptions")
    tunables = {}
    for name, entry in named(fields.get("tunables"), "tunables, name to default"):
        value = entry.value
        if not isinstance(value, int | float | str):
            entry.fail_kind("a number, a string, true or false")
            value = 0
        tunables[name] = Tunable(name=name, default=value, description=descriptions.get(name))
    return tunables
