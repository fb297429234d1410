"""What changed in how an operator is computed: nobody who calls it is broken by that alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.language import Expression
from webgpu_kernels.tools.diff.changes import keeps, listed
from webgpu_kernels.tools.diff.formulas import formulas_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.tools.diff.changes import Change
    from webgpu_kernels.tools.diff.formulas import Formulas

_PARTS: Final[Mapping[str, str]] = {
    "priority": "priority",
    "when": "when",
    "demote_when": "demoteWhen",
    "superseded_by": "supersededBy",
    "requires": "requires",
    "tunables": "tunables",
    "derive": "derive",
    "intermediates": "intermediates",
    "passes": "passes",
}


def compare_variants(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compare the variants of two packages by their ids.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        One change for each variant that is gone, new or different.

    Source: FORMAT, sections 2 (``variants``) and 5.
    """
    marks = formulas_of(old), formulas_of(new)
    after = {variant.id: variant for variant in new.variants}
    for variant in old.variants:
        path = f"variants.{variant.id}"
        if variant.id not in after:
            yield keeps(path, "is gone")
            continue
        now = after[variant.id]
        different = [
            word
            for part, word in _PARTS.items()
            if _plain(getattr(variant, part), marks[0]) != _plain(getattr(now, part), marks[1])
        ]
        if different:
            yield keeps(path, f"other {listed(different)}")
    before = {variant.id for variant in old.variants}
    for variant in new.variants:
        if variant.id not in before:
            yield keeps(f"variants.{variant.id}", "is new")


def _plain(value: Any, formulas: Formulas) -> object:
    """Return a part of a variant as values that can be compared: formulas by their marks."""
    if isinstance(value, Expression):
        return formulas.mark(value)
    if isinstance(value, tuple):
        return tuple(_plain(entry, formulas) for entry in value)
    if isinstance(value, Mapping):
        return {key: _plain(entry, formulas) for key, entry in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name), formulas) for field in fields(value)}
    return value
