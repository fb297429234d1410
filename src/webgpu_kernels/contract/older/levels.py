"""Formulas of the older dialect, level by level: the manifest's, a variant's, a pass's.

``constants`` are derived names that formulas may also write ``constants.x``. They become ``derive``, and the namespace
becomes one more derived name that holds them all: what comes after the reader needs no word for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.contract.derive import derived_at, derived_fault
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import ONE, clauses, formula
from webgpu_kernels.contract.model import Derived
from webgpu_kernels.contract.older.vocabulary import CONSTANTS, LEVEL_KEYS, SOURCE, SOURCE_TABLE
from webgpu_kernels.contract.passes import read_shader
from webgpu_kernels.contract.words import name_fault
from webgpu_kernels.language import compile_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.language import Expression


class Level(NamedTuple):
    """The formulas of one level.

    Attributes:
        derive: its own, in order.
        names: what formulas at this level may use, the levels outside it included.
        constants: what ``constants.x`` knows here.
    """

    derive: tuple[Derived, ...]
    names: Names
    constants: tuple[str, ...]


def derived_here(fields: Fields) -> Mapping[str, Node]:
    """Return where each name of a level is derived, for hints.

    Args:
        fields: the manifest, the variant or the pass.

    Returns:
        Name to place.
    """
    return {name: node for key in LEVEL_KEYS for name, node in derived_at(fields.get(key)).items()}


def read_level(fields: Fields, names: Names, constants: tuple[str, ...] = ()) -> Level:
    """Read ``constants`` and ``derive`` of one level, in the order in which the document has them.

    Args:
        fields: the manifest, the variant or the pass.
        names: what is visible before the first; each name is added to it.
        constants: what ``constants.x`` knows outside.

    Returns:
        The level.

    Source: FORMAT section 12.
    """
    known, derive = dict.fromkeys(constants), list[Derived]()
    for key, name, entry in _entries(fields):
        if fault := _fault(name, names):
            entry.fail(fault)
        expression = formula(entry, names)
        if CONSTANTS in expression.names:
            _refresh(derive, known)
        derive.append(Derived(name=name, expression=expression))
        names.add(name)
        if key == CONSTANTS and fault is None:
            known[name] = None
            names.add(CONSTANTS)
    if known.keys() != set(constants) or CONSTANTS in fields:
        _refresh(derive, known)
    return Level(derive=tuple(derive), names=names, constants=tuple(known))


def _entries(fields: Fields) -> list[tuple[str, str, Node]]:
    value = fields.node.value
    levels = (
        [(key, fields.node.at(key, value[key])) for key in value if key in LEVEL_KEYS]
        if isinstance(value, dict)
        else []
    )
    return [
        (key, name, entry)
        for key, level in levels
        for name, entry in level.members("formulas, name to expression or literal")
    ]


def _fault(name: str, names: Names) -> str | None:
    if name in {CONSTANTS, SOURCE}:
        return "is a name that spec 1.0 reserves: choose another"
    return derived_fault(name, names)


def _refresh(derive: list[Derived], known: Mapping[str, object]) -> None:
    """Derive the namespace again: it holds the values that the constants have at this point."""
    if known and not (derive and derive[-1].name == CONSTANTS):
        derive.append(Derived(name=CONSTANTS, expression=compile_value({name: name for name in known})))


def read_source(fields: Fields, names: Names) -> tuple[str, tuple[Derived, ...]]:
    """Read which template a pass renders: ``shader``, or ``source`` with what only this template sees.

    Args:
        fields: the pass.
        names: what the formulas of ``source.inputs`` may use; ``source`` is added to it.

    Returns:
        The template's file name, and the namespace ``source`` as a derived name where there is one.

    Source: FORMAT section 12.
    """
    node = fields.get(SOURCE)
    if node is None:
        return read_shader(fields), ()
    if "shader" in fields:
        fields.node.at("shader", None).fail("stands beside 'source': keep one of them")
    source = Fields(node, SOURCE_TABLE)
    inputs = source.get("inputs")
    for name, entry in inputs.members("formulas, name to expression or literal") if inputs else ():
        if fault := name_fault(name):
            entry.fail(fault)
    namespace = inputs if inputs is not None and isinstance(inputs.value, dict) else node.at("inputs", {})
    derived = Derived(name=SOURCE, expression=formula(namespace, names))
    names.add(SOURCE)
    return read_shader(source), (derived,)


def read_clauses(node: Node | None, names: Names) -> tuple[Expression, ...]:
    """Read clauses, of which one may stand alone.

    Args:
        node: a string, a non-empty list of strings, or None.
        names: what they may use.

    Returns:
        The compiled clauses.

    Source: FORMAT section 12 (``when``).
    """
    if node is not None and isinstance(node.value, str):
        return (formula(node, names),)
    return clauses(node, names)


def read_floors(node: Node | None, names: Names) -> tuple[Expression, ...]:
    """Read ``selectAbove``: conditions without which a variant is not preferred.

    Args:
        node: a string, a non-empty list of strings, or None.
        names: what they may use.

    Returns:
        Clauses of ``demoteWhen``: a variant is demoted where a floor is not met.

    Source: FORMAT sections 5 and 12 (``selectAbove``).
    """
    if node is None:
        return ()
    floors = [node] if isinstance(node.value, str) else node.entries("clauses", least=1)
    texts = [floor for floor in floors if floor.string() is not None]
    return tuple(composed(floor, "not ({})", (formula(floor, names),), names) for floor in texts)


def composed(node: Node, template: str, parts: tuple[Expression, ...], names: Names) -> Expression:
    """Compile a formula that is made of others.

    Args:
        node: where it stands.
        template: its text, a pair of braces for each part.
        parts: compiled already, and reported where they are wrong.
        names: what it may use.

    Returns:
        The formula; the constant 1 where a part is wrong.

    Source: FORMAT section 12.
    """
    if any(names.unknown(part.names) for part in parts):
        return ONE
    return formula(node.replaced(template.format(*(part.source for part in parts)), node.note), names)
