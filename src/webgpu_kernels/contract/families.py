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

from webgpu_kernels.contract.cursor import MAX_DEFECTS, show
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.vocabulary import ANY_VARIANT, FAMILY
from webgpu_kernels.contract.words import alternatives, name_fault

if TYPE_CHECKING:
    from webgpu_kernels.contract.cursor import Node

MAX_VARIANTS: Final = 4096
MAX_VALUES: Final = 200_000
MAX_TEXT: Final = 4 * 2**20
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

Record = dict[str, object]
# The axes that a record selects by, and the rest of it.
_Selection = tuple[Record, Record]


@dataclass(slots=True)
class _Budget:
    """What expansion may still make: a short text could ask for more than memory holds.

    Attributes:
        variants: how many.
        values: how many values, in them and in the records of cells.
        text: characters of their texts and keys.
        faults: placeholders that do not fit; more of them in further cases would say nothing new.
    """

    variants: int = MAX_VARIANTS
    values: int = MAX_VALUES
    text: int = MAX_TEXT
    faults: int = MAX_DEFECTS

    @property
    def exceeded(self) -> bool:
        """Whether more was asked for than there is."""
        return self.variants < 0 or self.values < 0 or self.text < 0

    @property
    def spent(self) -> bool:
        """Whether nothing more is made."""
        return self.exceeded or self.faults < 0

    def take(self, value: object) -> None:
        """Pay for a structure that is copied as it is."""
        self.values -= 1
        if isinstance(value, str):
            self.text -= len(value)
        elif isinstance(value, dict):
            self.text -= sum(map(len, value))
            for member in value.values():
                self.take(member)
        elif isinstance(value, list):
            for entry in value:
                self.take(entry)


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
        if ANY_VARIANT.takes(entry.value):
            nodes += _expand(entry, budget)
        else:
            budget.variants -= 1
            nodes.append(entry)
        if budget.exceeded:
            node.fail(
                f"expands to too much: {MAX_VARIANTS:,} variants, {MAX_VALUES:,} values "
                f"and {MAX_TEXT // 2**20} MiB of text are the most"
            )
        if budget.spent:
            return []
    return nodes


def _expand(node: Node, budget: _Budget) -> list[Node]:
    fields = Fields(node, FAMILY)
    fields.text("description")
    templates = fields.get("variants")
    cases = _axis_cases(fields, budget) if "axes" in fields else _plain_cases(fields)
    if not cases and not budget.spent:
        node.fail("expands to nothing: give a case that is not excluded")
    entries = templates.entries("variants", least=1) if templates else []
    budget.variants -= len(cases) * len(entries)
    expanded = []
    for case in () if budget.spent else cases:
        filling = _Filling(record=case.record, budget=budget)
        for template in entries:
            if ANY_VARIANT.takes(template.value):
                template.fail("is a family inside a family: list all cases in one")
            else:
                expanded.append(template.replaced(_fill(template, filling), f" (in the case {case.label})"))
            if budget.spent:
                return []
    return expanded


def _plain_cases(fields: Fields) -> list[_Case]:
    if exclude := fields.get("exclude"):
        exclude.fail("is for families with 'axes': drop the case")
    return [
        _Case(label=_short(record.pop("$key", number)), record=record)
        for number, record in enumerate(_records(fields.get("cases"), "cases"))
    ]


def _short(key: object) -> str:
    """Return what a message calls a case by, which each of its variants carries."""
    text = str(key)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _records(node: Node | None, what: str) -> list[Record]:
    records = []
    for entry in node.entries(what, least=1) if node else ():
        record = dict(entry.members("placeholders, name to value"))
        for name, member in record.items():
            if name != "$key" and (fault := name_fault(name)):
                member.fail(fault)
        records.append({name: member.value for name, member in record.items()})
    return records


def _axis_cases(fields: Fields, budget: _Budget) -> list[_Case]:
    axes = _read_axes(fields.get("axes"))
    if len(axes) != 2:
        return []
    (first, rows), (second, columns) = axes.items()
    excluded = _selections(fields.get("exclude"), axes)
    overrides = _selections(fields.get("cases"), axes)
    budget.values -= _crossing(rows, columns, excluded, overrides)
    if budget.spent:
        return []
    cases = []
    for row_key, row in rows.items():
        for column_key, column in columns.items():
            cell: Record = {first: row_key, second: column_key}
            if any(_selects(chosen, cell) for chosen, _ in excluded):
                continue
            record = {**row, **column, **cell}
            for chosen, extra in overrides:
                record.update(extra if _selects(chosen, cell) else {})
            cases.append(_Case(label=f"{_short(row_key)}, {_short(column_key)}", record=record))
    return cases


def _crossing(
    rows: dict[str, Record], columns: dict[str, Record], excluded: list[_Selection], overrides: list[_Selection]
) -> int:
    """Count the values that crossing two axes makes or compares at most, before it is done."""
    in_rows, in_columns = sum(map(len, rows.values())), sum(map(len, columns.values()))
    each = 2 + len(excluded) + len(overrides) + sum(len(extra) for _, extra in overrides)
    return in_rows * len(columns) + in_columns * len(rows) + each * len(rows) * len(columns)


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


def _selections(node: Node | None, axes: dict[str, dict[str, Record]]) -> list[_Selection]:
    """Split each record into the axes that it selects by and the rest."""
    selections = []
    for number, record in enumerate(_records(node, "records")):
        chosen = {axis: record.pop(axis) for axis in axes if axis in record}
        assert node is not None
        if not chosen:
            node.at(number, None).fail(f"selects nothing: give {' or '.join(axes)}")
            continue
        for axis, key in chosen.items():
            if not isinstance(key, str) or key not in axes[axis]:
                hint = alternatives(str(key), axes[axis], what=f"keys of {axis}")
                node.at(number, None).at(axis, None).fail(f"{show(key)} is no '$key' of the axis: {hint}")
        selections.append((chosen, record))
    return selections


def _fill(node: Node, filling: _Filling) -> object:
    filling.budget.values -= 1
    value = node.value
    if filling.budget.spent:
        return None
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value)
        return _whole(node, whole[1], filling) if whole else _fill_text(node, value, filling)
    if isinstance(value, list):
        return _fill_list(node, value, filling)
    if isinstance(value, dict):
        filling.budget.text -= sum(map(len, value))
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
    filling.budget.take(value)
    return value


def _lookup(node: Node, name: str, filling: _Filling) -> object:
    if name in filling.record:
        return filling.record[name]
    filling.budget.faults -= 1
    node.fail(f"has the unknown placeholder {{{name}}}: {alternatives(name, filling.record, what='placeholders')}")
    return ""


def _fill_text(node: Node, text: str, filling: _Filling) -> str:
    def text_of(match: re.Match[str]) -> str:
        if filling.budget.spent:
            return ""
        value = _lookup(node, match[1], filling)
        if isinstance(value, bool):
            value = "true" if value else "false"
        if isinstance(value, str | int | float):
            filled = str(value)
            filling.budget.text -= len(filled)
            return filled
        filling.budget.faults -= 1
        node.fail(f"has the placeholder {match[0]} inside a text, and its value is no text or number")
        return ""

    filling.budget.text -= len(text)
    return _PLACEHOLDER.sub(text_of, text)
