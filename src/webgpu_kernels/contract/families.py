"""Expands variant families: templates of variants with ``{name}`` placeholders, and the cases that fill them.

Published manifests come expanded, so the finer points are this reader's own decision: ``cases`` is a list of records;
with ``axes`` each cell's record is the first axis's record and then the second's, each axis's name standing for the
record's ``$key``, and an entry of ``exclude`` or ``cases`` selects the cells that match all axes it names. Families do
not nest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract.cursor import show
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.words import alternatives, name_fault

if TYPE_CHECKING:
    from webgpu_kernels.contract.cursor import Node

MAX_VARIANTS: Final = 4096
MAX_VALUES: Final = 200_000
_FAMILY_KEYS: Final = ("cases", "axes", "exclude", "variants", "description")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

Record = dict[str, object]


@dataclass(slots=True)
class _Budget:
    """How many values expansion may still make: a short text could ask for more than memory holds."""

    values: int = MAX_VALUES


class _Case(NamedTuple):
    label: str
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filling:
    record: Record
    budget: _Budget = field(default_factory=_Budget)


def expand_variants(node: Node) -> list[Node]:
    """Return one node for each variant, families expanded.

    Args:
        node: the manifest's ``variants``.

    Returns:
        Plain variants as they stand; those of a family with the template's path and a note of the case.

    Source: FORMAT section 2 (families).
    """
    nodes: list[Node] = []
    budget = _Budget()
    for entry in node.entries("variants", least=1):
        if isinstance(entry.value, dict) and ("cases" in entry.value or "axes" in entry.value):
            nodes += _expand(entry, budget)
        else:
            nodes.append(entry)
    if len(nodes) > MAX_VARIANTS or budget.values < 0:
        node.fail(f"expands to too much: {MAX_VARIANTS:,} variants and {MAX_VALUES:,} values are the most")
        return []
    return nodes


def _expand(node: Node, budget: _Budget) -> list[Node]:
    fields = Fields(node, _FAMILY_KEYS, "a variant family")
    fields.text("description")
    templates = fields.need("variants", "give the templates to expand")
    cases = _axis_cases(fields) if "axes" in fields else _plain_cases(fields)
    if not cases:
        node.fail("expands to nothing: give a case that is not excluded")
    expanded = []
    for case in cases:
        filling = _Filling(record=case.record, budget=budget)
        for template in templates.entries("variants", least=1) if templates else ():
            if isinstance(template.value, dict) and ("cases" in template.value or "axes" in template.value):
                template.fail("is a family inside a family: list all cases in one")
            elif budget.values >= 0:
                expanded.append(template.replaced(_fill(template, filling), f" (in the case {case.label})"))
    return expanded


def _plain_cases(fields: Fields) -> list[_Case]:
    if exclude := fields.get("exclude"):
        exclude.fail("is for families with 'axes': drop the case")
    return [
        _Case(label=str(record.pop("$key", number)), record=record)
        for number, record in enumerate(_records(fields.get("cases"), "cases"))
    ]


def _records(node: Node | None, what: str) -> list[Record]:
    records = []
    for entry in node.entries(what, least=1) if node else ():
        record = dict(entry.members("placeholders, name to value"))
        for name, member in record.items():
            if name != "$key" and (fault := name_fault(name)):
                member.fail(fault)
        records.append({name: member.value for name, member in record.items()})
    return records


def _axis_cases(fields: Fields) -> list[_Case]:
    axes = _read_axes(fields.get("axes"))
    if len(axes) != 2:
        return []
    (first, rows), (second, columns) = axes.items()
    excluded = _selections(fields.get("exclude"), axes)
    overrides = _selections(fields.get("cases"), axes)
    cases = []
    for row_key, row in rows.items():
        for column_key, column in columns.items():
            cell: Record = {first: row_key, second: column_key}
            if any(_selects(chosen, cell) for chosen, _ in excluded):
                continue
            record = {**row, **column, **cell}
            for chosen, extra in overrides:
                record.update(extra if _selects(chosen, cell) else {})
            cases.append(_Case(label=f"{row_key}, {column_key}", record=record))
    return cases


def _selects(chosen: Record, cell: Record) -> bool:
    return all(cell[axis] == key for axis, key in chosen.items())


def _read_axes(node: Node | None) -> dict[str, dict[str, Record]]:
    """Return the records of each axis by ``$key``; nothing where they are wrong, which is then reported."""
    axes: dict[str, dict[str, Record]] = {}
    members = node.members("axes, name to list of records") if node else []
    if node is not None and isinstance(node.value, dict) and len(members) != 2:
        node.fail(f"must name exactly two axes, not {len(members)}: use 'cases' for one list")
    for name, entry in members:
        axes[name] = {}
        for number, record in enumerate(_records(entry, "records")):
            key = record.pop("$key", None)
            if not isinstance(key, str) or key in axes[name]:
                entry.at(number, None).fail("must have a '$key' of its own, a string")
            else:
                axes[name][key] = record
    return axes


def _selections(node: Node | None, axes: dict[str, dict[str, Record]]) -> list[tuple[Record, Record]]:
    """Split each record into the axes that it selects by and the rest."""
    selections = []
    for number, record in enumerate(_records(node, "records")):
        chosen = {axis: record.pop(axis) for axis in axes if axis in record}
        assert node is not None
        if not chosen:
            node.at(number, None).fail(f"selects nothing: give {' or '.join(axes)}")
            continue
        for axis, key in chosen.items():
            if key not in axes[axis]:
                hint = alternatives(str(key), axes[axis], what=f"keys of {axis}")
                node.at(number, None).at(axis, None).fail(f"{show(key)} is no '$key' of the axis: {hint}")
        selections.append((chosen, record))
    return selections


def _fill(node: Node, filling: _Filling) -> object:
    filling.budget.values -= 1
    value = node.value
    if filling.budget.values < 0:
        return None
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value)
        return _whole(node, whole[1], filling) if whole else _fill_text(node, value, filling)
    if isinstance(value, list):
        return _fill_list(node, value, filling)
    if isinstance(value, dict):
        filled = {key: _fill(node.at(key, member), filling) for key, member in value.items()}
        return {key: member for key, member in filled.items() if member is not None or value[key] is None}
    return value


def _fill_list(node: Node, entries: list[object], filling: _Filling) -> list[object]:
    filled: list[object] = []
    for index, entry in enumerate(entries):
        value = _fill(node.at(index, entry), filling)
        if not isinstance(entry, str) or not isinstance(value, list | None):
            filled.append(value)
        elif value is not None:
            filled.extend(value)
    return filled


def _whole(node: Node, name: str, filling: _Filling) -> object:
    value = _lookup(node, name, filling)
    filling.budget.values -= _size(value)
    return value


def _size(value: object) -> int:
    """Count the values in a structure."""
    if isinstance(value, dict):
        return 1 + sum(map(_size, value.values()))
    return 1 + sum(map(_size, value)) if isinstance(value, list) else 1


def _lookup(node: Node, name: str, filling: _Filling) -> object:
    if name in filling.record:
        return filling.record[name]
    node.fail(f"has the unknown placeholder {{{name}}}: {alternatives(name, filling.record, what='placeholders')}")
    return ""


def _fill_text(node: Node, text: str, filling: _Filling) -> str:
    def text_of(match: re.Match[str]) -> str:
        value = _lookup(node, match[1], filling)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | float):
            return str(value)
        node.fail(f"has the placeholder {match[0]} inside a text, and its value is no text or number")
        return ""

    return _PLACEHOLDER.sub(text_of, text)
