"""Reads variants: what each one needs, when it serves, and what it runs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.contract.attributes import read_tunables
from webgpu_kernels.contract.bindings import Contract, Place
from webgpu_kernels.contract.derive import derived_at, read_derive
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import ONE, clauses, shape_formula
from webgpu_kernels.contract.model import Intermediate, Variant
from webgpu_kernels.contract.passes import MAX_PASSES, least_passes, read_steps
from webgpu_kernels.contract.requirements import merge_requires, read_requires
from webgpu_kernels.contract.vocabulary import INTERMEDIATE, SCRATCH_DTYPES, VARIANT
from webgpu_kernels.contract.words import VARIANT_ID, alternatives, wgsl_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.contract.requirements import Requires
    from webgpu_kernels.language import Expression


class Outer(NamedTuple):
    """What the manifest gives to every variant.

    Attributes:
        names: the names that formulas see, the manifest's derived ones included.
        when: the manifest's clauses.
        requires: the manifest's requirements.
        contract: what bindings may refer to.
    """

    names: Names
    when: tuple[Expression, ...]
    requires: Requires
    contract: Contract


def read_variants(nodes: list[Node], outer: Outer) -> tuple[Variant, ...]:
    """Read all variants.

    Args:
        nodes: one a variant, families expanded.
        outer: what the manifest gives.

    Returns:
        The variants in the manifest's order.

    Source: FORMAT section 2 (``variants``).
    """
    return collect_variants(nodes, lambda node, default_id: _read_variant(node, default_id, outer))


def collect_variants(nodes: list[Node], read: Callable[[Node, str], Variant]) -> tuple[Variant, ...]:
    """Read each variant and check what they say of each other.

    Args:
        nodes: one a variant, families expanded.
        read: reads one, given the id that it has by default.

    Returns:
        The variants in the manifest's order.

    Source: FORMAT section 2 (``variants``).
    """
    variants: dict[str, tuple[Node, Variant]] = {}
    for number, node in enumerate(nodes):
        variant = read(node, f"variant_{number}")
        if variant.id in variants:
            node.at("id", None).fail(f"is taken: another variant is called {variant.id!r}")
        variants[variant.id] = (node, variant)
    ranks = _ranks([variant for _, variant in variants.values()])
    for node, variant in variants.values():
        _check_superseders(node, variant, ranks)
    return tuple(variant for _, variant in variants.values())


def _ranks(variants: list[Variant]) -> dict[str, int]:
    """Return the order in which variants are tried: by falling priority, then as they stand."""
    ranked = sorted(variants, key=lambda variant: -variant.priority)
    return {variant.id: rank for rank, variant in enumerate(ranked)}


def _check_superseders(node: Node, variant: Variant, ranks: Mapping[str, int]) -> None:
    if not variant.superseded_by:
        return
    listed = node.at("supersededBy", node.value["supersededBy"] if isinstance(node.value, dict) else [])
    for entry in listed.entries("ids of variants"):
        name = str(entry.value)
        if name not in ranks:
            entry.fail(f"is no variant: {alternatives(name, ranks, what='variants')}")
        elif name == variant.id:
            entry.fail("is the variant itself: leave it out")
        elif ranks[name] > ranks[variant.id]:
            entry.fail(f"ranks lower than {variant.id!r}: give it a higher priority, or put it first")


def _read_variant(node: Node, default_id: str, outer: Outer) -> Variant:
    fields = Fields(node, VARIANT)
    derive, passes = fields.get("derive"), fields.get("passes")
    outside, names = outer.names.inner(derived_at(derive)), outer.names.inner(derived_at(derive))
    formulas = read_derive(derive, names)
    requires = fields.get("requires")
    intermediates = read_intermediates(fields.get("intermediates"), names)
    place = Place(node=node, contract=outer.contract, intermediates=intermediates, names=names)
    variant = Variant(
        id=read_variant_id(fields, default_id),
        description=fields.text("description"),
        priority=read_priority(fields.get("priority")),
        when=outer.when + clauses(fields.get("when"), outside),
        demote_when=clauses(fields.get("demoteWhen"), outside),
        superseded_by=read_ids(fields.get("supersededBy")),
        requires=merge_requires(requires, outer.requires, read_requires(requires)),
        tunables=read_tunables(fields.get("tunables")),
        derive=formulas,
        intermediates=tuple(intermediates.values()),
        passes=read_steps(passes, place) if passes else (),
    )
    if passes is not None:
        check_count(passes, variant)
    return variant


def check_count(passes: Node, variant: Variant) -> None:
    """Report a variant that runs more passes than the format allows."""
    if (count := least_passes(variant.passes)) > MAX_PASSES:
        passes.fail(f"runs {count:,} passes: {MAX_PASSES:,} are the most")


def read_variant_id(fields: Fields, default: str) -> str:
    """Read a variant's ``id``; by default it is called by its position."""
    node, text = fields.get("id"), fields.text("id")
    if node is None or text is None:
        return default
    if not VARIANT_ID.fullmatch(text):
        node.fail("is not a variant id: use letters, digits and underscores, no underscore first")
    return text


def read_priority(node: Node | None) -> float:
    """Read a variant's ``priority``, by default 0."""
    if node is None:
        return 0
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    node.fail_kind("a number")
    return 0


def read_ids(node: Node | None) -> tuple[str, ...]:
    """Read ``supersededBy``; whether the variants exist is known later."""
    entries = node.entries("ids of variants", least=1) if node else []
    texts = [entry.string() for entry in entries]
    return tuple(text for text in texts if text is not None)


def read_intermediates(node: Node | None, names: Names) -> Mapping[str, Intermediate]:
    """Read a variant's ``intermediates``.

    Args:
        node: a list of intermediates, or None.
        names: what their shapes may use.

    Returns:
        The intermediates by id.

    Source: FORMAT section 2 (``intermediates``).
    """
    read: dict[str, Intermediate] = {}
    for entry in node.entries("intermediates") if node else ():
        intermediate = _read_intermediate(Fields(entry, INTERMEDIATE), names)
        if intermediate.id in read:
            entry.at("id", None).fail(f"is taken: another intermediate is called {intermediate.id!r}")
        read[intermediate.id] = intermediate
    return MappingProxyType(read)


def _read_intermediate(fields: Fields, names: Names) -> Intermediate:
    id_node, shape = fields.get("id"), fields.get("shape")
    id_ = id_node.string() if id_node else None
    if id_node is not None and id_ is not None and (fault := wgsl_fault(id_)):
        id_node.fail(fault)
    return Intermediate(
        id=id_ or "",
        dtype=_read_dtype(fields),
        shape=shape_formula(shape, names) if shape else ONE,
        zero_init=fields.flag("zeroInit"),
    )


def _read_dtype(fields: Fields) -> str:
    node = fields.get("dtype")
    text = node.string() if node else None
    if node is None or text is None or text in SCRATCH_DTYPES:
        return text or "float32"
    if text == "int64":
        node.fail("must not be int64: shaders cannot compute with it")
    else:
        node.fail(f"is no storage dtype: {alternatives(text, SCRATCH_DTYPES, what='storage dtypes')}")
    return "float32"
