"""What changed in what every call needs, whichever variant takes it: operator, loader, device, conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import LanguageError
from webgpu_kernels.language import compile_expression
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS
from webgpu_kernels.tools.diff.changes import breaks, keeps, listed, turned
from webgpu_kernels.tools.diff.formulas import formulas_of
from webgpu_kernels.tools.diff.tensors import reworded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from webgpu_kernels.contract import Manifest, Requires
    from webgpu_kernels.tools.diff.changes import Change


def compare_heading(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compare which operator two contracts describe, and what a loader must know to read them.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        Each change.

    Source: FORMAT, section 2; docs/format.md, "Extensions".
    """
    if old.since_version != new.since_version:
        said = turned(old.since_version, new.since_version)
        # Whoever reads it takes the number for the operator's definition.
        yield (keeps if old.since_version is None else breaks)("sinceVersion", said)
    if old.conformance != new.conformance:
        yield keeps("conformance", turned(old.conformance, new.conformance))
    if added := sorted(new.extensions - old.extensions):
        yield breaks("extensions", f"loaders that do not know {listed(added)} refuse the package")
    if gone := sorted(old.extensions - new.extensions):
        yield keeps("extensions", f"no longer needs {listed(gone)}")
    if words := reworded(old, new):
        yield keeps("descriptions", f"other words: {listed(words)}")


def compare_needs(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compare what every variant needs: what one of them does without was, or is, not needed.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        Each change.

    Source: FORMAT, sections 2 (``requires``, ``when``) and 5.
    """
    before, after = _shared_needs(old), _shared_needs(new)
    for need, words in after.items():
        if need not in before or _is_more(need, before[need], words):
            yield breaks("requires", f"every variant needs {_said(need, words)} now")
    for need, words in before.items():
        if need not in after or _is_more(need, after[need], words):
            yield keeps("requires", f"no longer does every variant need {_said(need, words)}")
    yield from _compare_conditions(old, new)


def _compare_conditions(old: Manifest, new: Manifest) -> Iterator[Change]:
    before, after = _shared_conditions(old), _shared_conditions(new)
    for mark, text in after.items():
        if mark not in before:
            yield breaks("when", f"every variant asks for `{text}` now")
    for mark, text in before.items():
        if mark not in after:
            yield keeps("when", f"no longer does every variant ask for `{text}`")


def _shared_conditions(manifest: Manifest) -> Mapping[str, str]:
    formulas = formulas_of(manifest)
    first, *others = (formulas.clauses(variant.when) for variant in manifest.variants)
    shared = {mark: text for mark, text in first.items() if all(mark in other for other in others)}
    return {mark: text for mark, text in shared.items() if not _is_always_true(text)}


def _is_always_true(clause: str) -> bool:
    expression = compile_expression(clause)
    try:
        return expression.constant and expression.evaluate({}) is True
    except LanguageError:
        return False


def _shared_needs(manifest: Manifest) -> dict[str, int]:
    """Return the needs that all variants have, the least of each; a feature's number says nothing."""
    each = [_needs(variant.requires) for variant in manifest.variants]
    shared = [name for name in each[0] if all(name in needs for needs in each[1:])]
    return {name: _least(name, [needs[name] for needs in each]) for name in shared}


def _needs(requires: Requires) -> dict[str, int]:
    needs = {f"the feature {name}": 1 for name in sorted(requires.features)}
    needs.update({name: least for name, least in requires.limits.items() if not _is_granted(name, least)})
    if requires.subgroup_min_size:
        needs["subgroupMinSize"] = requires.subgroup_min_size
    if requires.subgroup_matrix_configs:
        needs[f"subgroup matrices {listed(_config(requires))}"] = 1
    return needs


def _config(requires: Requires) -> list[str]:
    return sorted(
        f"{config.component_type}->{config.result_component_type or 'any'} {config.m}x{config.n}x{config.k}"
        for config in requires.subgroup_matrix_configs
    )


def _is_granted(name: str, least: int) -> bool:
    """Tell whether every device has as much: no default of WebGPU's is ever undercut."""
    default = DEFAULT_LIMITS.get(name)
    return default is not None and not _is_more(name, default, least)


def _is_alignment(name: str) -> bool:
    """Tell the limits of which less is more."""
    return name.startswith("min")


def _least(name: str, values: Sequence[int]) -> int:
    return max(values) if _is_alignment(name) else min(values)


def _is_more(name: str, before: int, after: int) -> bool:
    return after < before if _is_alignment(name) else after > before


def _said(name: str, value: int) -> str:
    return name if " " in name else f"{name} {value:,}"
