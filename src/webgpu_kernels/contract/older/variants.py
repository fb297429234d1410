"""Reads variants and passes of the older dialect."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.contract.bindings import Place
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import formula_of
from webgpu_kernels.contract.model import Variant
from webgpu_kernels.contract.older.attributes import read_tunables
from webgpu_kernels.contract.older.bindings import read_bindings
from webgpu_kernels.contract.older.levels import (
    composed,
    derived_here,
    read_clauses,
    read_floors,
    read_level,
    read_source,
)
from webgpu_kernels.contract.older.requirements import read_requires
from webgpu_kernels.contract.older.vocabulary import DISPATCH, GRID_STRIDE, GROUP, PASS, VARIANT
from webgpu_kernels.contract.passes import (
    PassForm,
    compose_dispatch,
    compose_pass,
    read_dispatch,
    read_steps,
)
from webgpu_kernels.contract.requirements import merge_requires
from webgpu_kernels.contract.variants import (
    check_count,
    read_ids,
    read_intermediates,
    read_priority,
    read_variant_id,
)

if TYPE_CHECKING:
    from webgpu_kernels.contract.bindings import Contract
    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.contract.model import Dispatch, Pass
    from webgpu_kernels.contract.older.bindings import Sets
    from webgpu_kernels.contract.older.levels import Level
    from webgpu_kernels.contract.requirements import Requires
    from webgpu_kernels.language import Expression


class Outer(NamedTuple):
    """What the manifest gives to every variant.

    Attributes:
        level: its formulas.
        when: its clauses.
        requires: its requirements.
        contract: tensors, scalar arguments and type variables.
        sets: its binding sets.
    """

    level: Level
    when: tuple[Expression, ...]
    requires: Requires
    contract: Contract
    sets: Sets


class _Inside(NamedTuple):
    """What a variant gives to its passes: formulas, binding sets, and bindings for passes that have none."""

    level: Level
    sets: Sets
    bindings: Node | None


def read_variant(node: Node, default_id: str, outer: Outer) -> Variant:
    """Read one variant.

    Args:
        node: its object.
        default_id: what it is called by default.
        outer: what the manifest gives.

    Returns:
        The variant.

    Source: FORMAT section 12.
    """
    fields = Fields(node, VARIANT)
    passes = fields.get("passes")
    hidden = derived_here(fields)
    outside = outer.level.names.inner(hidden)
    level = read_level(fields, outer.level.names.inner(hidden), outer.level.constants)
    intermediates = read_intermediates(fields.get("intermediates"), level.names)
    place = Place(node=node, contract=outer.contract, intermediates=intermediates, names=level.names)
    inside = _Inside(level=level, sets=outer.sets, bindings=fields.get("bindings"))
    form = PassForm(table=PASS, group=GROUP, read=partial(_read_pass, inside=inside))
    variant = Variant(
        id=read_variant_id(fields, default_id),
        description=fields.text("description"),
        priority=read_priority(fields.get("priority")),
        when=outer.when + read_clauses(fields.get("when"), outside),
        demote_when=read_clauses(fields.get("demoteWhen"), outside) + read_floors(fields.get("selectAbove"), outside),
        superseded_by=read_ids(fields.get("supersededBy")),
        requires=merge_requires(fields.get("requires"), outer.requires, read_requires(fields)),
        tunables=MappingProxyType(read_tunables(fields)),
        derive=level.derive,
        intermediates=tuple(intermediates.values()),
        passes=read_steps(passes, place, form) if passes else (),
    )
    if passes is not None:
        check_count(passes, variant)
    return variant


def _read_pass(id_: str, fields: Fields, place: Place, *, inside: _Inside) -> Pass:
    level = read_level(fields, place.names.inner(derived_here(fields)), inside.level.constants)
    shader, source = read_source(fields, level.names)
    inner = replace(place, node=fields.node, names=level.names)
    bindings = fields.get("bindings") or inside.bindings or fields.need("bindings", "list what the shader uses")
    dispatch = fields.get("dispatch")
    return compose_pass(
        id_,
        fields,
        inner,
        shader=shader,
        derive=level.derive + source,
        bindings=read_bindings(bindings, inner, inside.sets) if bindings else (),
        dispatch=_read_dispatch(dispatch, level.names) if dispatch else compose_dispatch("grid", {}),
    )


def _read_dispatch(node: Node, names: Names) -> Dispatch:
    """Read a dispatch; ``gridStride`` never needs a second row of workgroups, as its shader loops."""
    if not DISPATCH.takes(node.value):
        return read_dispatch(node, names)
    fields = Fields(node, GRID_STRIDE)
    elements, size = (formula_of(fields, key, names) for key in ("gridStride", "workgroupSize"))
    if elements is None or size is None:
        return compose_dispatch("grid", {})
    return compose_dispatch("grid", {"x": composed(node, "min(ceilDiv(({}), ({})), 65535)", (elements, size), names)})
