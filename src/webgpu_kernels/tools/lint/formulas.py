"""The formulas of a manifest, each with its JSON path and the level whose names it sees."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.contract import Pass
from webgpu_kernels.errors import LanguageError
from webgpu_kernels.language.parser import parse_expression

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.contract import Derived, Dispatch, Manifest, RepeatGroup, Variant
    from webgpu_kernels.language import Expression
    from webgpu_kernels.language.syntax import Node


class Formula(NamedTuple):
    """One formula.

    Attributes:
        path: its JSON path.
        source: its text.
        variant: the variant whose names it sees, None for the manifest's.
        derives: the name that it gives a value, or empty.
    """

    path: str
    source: str
    variant: Variant | None = None
    derives: str = ""


class Paths:
    """JSON paths of variants and passes, as their author finds them.

    Args:
        manifest: the contract.
        document: the raw JSON: a family's variants have no path of their own.
    """

    def __init__(self, manifest: Manifest, document: object) -> None:
        raw = document.get("variants") if isinstance(document, dict) else None
        plain = isinstance(raw, list) and len(raw) == len(manifest.variants)
        self._indices = {variant.id: index for index, variant in enumerate(manifest.variants)} if plain else {}
        shared = document.get("when") if isinstance(document, dict) else None
        self.shared_when = len(shared) if isinstance(shared, list) else 0

    def variant(self, variant: Variant) -> str:
        """Return the path of a variant.

        Args:
            variant: the variant.

        Returns:
            Such as ``variants[2]``.
        """
        index = self._indices.get(variant.id)
        return f"variants[{variant.id!r}]" if index is None else f"variants[{index}]"

    def steps(self, variant: Variant) -> Iterator[tuple[str, str, Pass]]:
        """Give the passes of a variant, those of repeat groups once.

        Args:
            variant: the variant.

        Yields:
            JSON path, id with the ids of the groups around it, and the pass.
        """
        yield from _steps(variant.passes, f"{self.variant(variant)}.passes", "")


def _steps(entries: tuple[Pass | RepeatGroup, ...], path: str, prefix: str) -> Iterator[tuple[str, str, Pass]]:
    for index, entry in enumerate(entries):
        here = f"{path}[{index}]"
        if isinstance(entry, Pass):
            yield here, f"{prefix}{entry.id}", entry
        else:
            yield from _steps(entry.passes, f"{here}.passes", f"{prefix}{entry.id}.")


def formulas(manifest: Manifest, paths: Paths) -> Iterator[Formula]:
    """Give every formula of a manifest once.

    Args:
        manifest: the contract.
        paths: where its parts stand.

    Yields:
        The formulas, those of lists and objects member by member.
    """
    yield from _contract(manifest)
    shared = manifest.variants[0].when[: paths.shared_when] if manifest.variants else ()
    for index, clause in enumerate(shared):
        yield from _parts(clause, f"when[{index}]", None)
    for variant in manifest.variants:
        yield from _variant(variant, paths)


def _contract(manifest: Manifest) -> Iterator[Formula]:
    yield from _derived(manifest.derive, "derive", None)
    for group, ports in (("inputs", manifest.inputs), ("outputs", manifest.outputs)):
        for name, port in ports.items():
            bounds = (port.value_range.least, port.value_range.most) if port.value_range else (None, None)
            for key, formula in (
                ("rank", port.rank),
                ("shape", port.shape),
                ("range.min", bounds[0]),
                ("range.max", bounds[1]),
            ):
                if formula is not None:
                    yield from _parts(formula, f"{group}.{name}.{key}", None)


def _variant(variant: Variant, paths: Paths) -> Iterator[Formula]:
    path = paths.variant(variant)
    for index, clause in enumerate(variant.when[paths.shared_when :]):
        yield from _parts(clause, f"{path}.when[{index}]", None)
    for index, clause in enumerate(variant.demote_when):
        yield from _parts(clause, f"{path}.demoteWhen[{index}]", None)
    yield from _derived(variant.derive, f"{path}.derive", variant)
    for index, entry in enumerate(variant.intermediates):
        yield from _parts(entry.shape, f"{path}.intermediates[{index}].shape", variant)
    yield from _counts(variant.passes, f"{path}.passes", variant)
    for here, _, step in paths.steps(variant):
        yield from _pass(step, here, variant)


def _counts(entries: tuple[Pass | RepeatGroup, ...], path: str, variant: Variant) -> Iterator[Formula]:
    for index, entry in enumerate(entries):
        if not isinstance(entry, Pass):
            yield from _parts(entry.count, f"{path}[{index}].repeat.count", variant)
            yield from _counts(entry.passes, f"{path}[{index}].passes", variant)


def _pass(step: Pass, path: str, variant: Variant) -> Iterator[Formula]:
    yield from _derived(step.derive, f"{path}.derive", variant)
    for key, expression in _dispatch(step.dispatch):
        yield from _parts(expression, f"{path}.dispatch.{key}", variant)
    for index, binding in enumerate(step.bindings):
        if binding.split is not None:
            yield from _parts(binding.split, f"{path}.bindings[{index}].split", variant)
        for field in binding.struct.fields if binding.struct else ():
            if field.value is not None:
                yield from _parts(field.value, f"{path}.bindings[{index}].struct.{field.name}", variant)


def _dispatch(dispatch: Dispatch) -> list[tuple[str, Expression]]:
    if dispatch.form == "grid":
        return [("x", dispatch.x), ("y", dispatch.y), ("z", dispatch.z)]
    if dispatch.form == "threads":
        return [("threads", dispatch.threads), ("workgroupSize", dispatch.workgroup_size)]
    return [("workgroups", dispatch.workgroups)]


def _derived(derived: tuple[Derived, ...], path: str, variant: Variant | None) -> Iterator[Formula]:
    for entry in derived:
        for part in _parts(entry.expression, f"{path}.{entry.name}", variant):
            yield part._replace(derives=entry.name)


def _parts(expression: Expression, path: str, variant: Variant | None) -> Iterator[Formula]:
    """Give an expression, or the expressions in a list or an object, which are kept as their JSON text."""
    if expression.source[:1] in {"[", "{"}:
        try:
            yield from _members(json.loads(expression.source), path, variant)
        except (ValueError, RecursionError):
            pass
        else:
            return
    yield Formula(path, expression.source, variant)


def _members(value: object, path: str, variant: Variant | None) -> Iterator[Formula]:
    if isinstance(value, str):
        yield Formula(path, value, variant)
    entries = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, entry in entries:
        yield from _members(entry, f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}", variant)


def tree(source: str) -> Node | None:
    """Parse a formula.

    Args:
        source: its text.

    Returns:
        Its syntax tree; None where it does not parse, as the JSON text of a literal may not.
    """
    try:
        return parse_expression(source)
    except (LanguageError, RecursionError):
        return None
