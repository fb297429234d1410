"""Reads ``derive``: named formulas, each of which sees those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract.formulas import formula
from webgpu_kernels.contract.model import Derived
from webgpu_kernels.contract.words import RESERVED, name_fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names


def read_derive(node: Node | None, names: Names) -> tuple[Derived, ...]:
    """Read one ``derive``, of the manifest, of a variant or of a pass.

    Args:
        node: an object of name to formula, or None.
        names: what is visible before the first; each derived name is added to it.

    Returns:
        The formulas in order.

    Source: FORMAT sections 2 and 4.
    """
    derived = []
    for name, entry in node.members("formulas, name to expression or literal") if node else ():
        if fault := derived_fault(name, names):
            entry.fail(fault)
        derived.append(Derived(name=name, expression=formula(entry, names)))
        names.add(name)
    return tuple(derived)


def derived_at(node: Node | None) -> Mapping[str, Node]:
    """Return where each name of a ``derive`` is derived, for hints.

    Args:
        node: its object, or None.

    Returns:
        Name to place.
    """
    if node is None or not isinstance(node.value, dict):
        return {}
    return {name: node.at(name, value) for name, value in node.value.items()}


def derived_fault(name: str, names: Names) -> str | None:
    """Say what keeps a name from being derived.

    Args:
        name: the name.
        names: what is visible where it is derived.

    Returns:
        The fault, or None.

    Source: FORMAT section 2 (``derive``).
    """
    if name in RESERVED or name in names.constants:
        return "is a name that expressions reserve: choose another"
    if names.is_type(name):
        return "is the name of a type variable: choose another"
    return name_fault(name)
