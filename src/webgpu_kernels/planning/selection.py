"""Which variant a request takes on a device, and why not the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from webgpu_kernels.errors import LanguageError
from webgpu_kernels.planning.attributes import unknown_name
from webgpu_kernels.planning.diagnosis import explain_failure
from webgpu_kernels.planning.scope import Scope, evaluate_in, manifest_scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Manifest, Pass, RepeatGroup, Requires, SubgroupMatrixConfig, Variant
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.request import Request

RejectionKind = Literal["requires", "bufferBudget", "whenError", "whenFailed", "superseded", "demoteError"]


class Candidate(NamedTuple):
    """What became of one variant.

    Attributes:
        id: the variant's id.
        accepted: whether it can run the request; a demoted one can.
        demoted: whether one of its ``demoteWhen`` clauses is true.
        reason: why it was rejected or demoted; empty otherwise.
        kind: the rejection's kind, or None.
        clause: the expression that decided, where one did.
    """

    id: str
    accepted: bool
    demoted: bool = False
    reason: str = ""
    kind: RejectionKind | None = None
    clause: Expression | None = None

    @property
    def able(self) -> bool:
        """Whether it can run the request where it is forced: one that another supersedes can, too."""
        return self.accepted or self.kind == "superseded"


class Selection(NamedTuple):
    """The outcome for a request.

    Attributes:
        request: what was asked.
        scope: the scope with every manifest-level derive.
        variant: the chosen variant, or None.
        candidates: the evaluated ones, best rank first; all of them where ``exhaustive`` was asked.
    """

    request: Request
    scope: Scope
    variant: Variant | None
    candidates: tuple[Candidate, ...]


def ranked(manifest: Manifest) -> list[Variant]:
    """Return the variants by priority, highest first, ties in the manifest's order."""
    return sorted(manifest.variants, key=lambda variant: -variant.priority)


def select_variant(request: Request, *, exhaustive: bool = False) -> Selection:
    """Choose the first variant that is eligible and not demoted, else the first eligible one.

    Args:
        request: the bound call, outputs known.
        exhaustive: evaluate every candidate, as an explanation wants; a call stops at the winner.

    Returns:
        The selection; its variant is None where no candidate is eligible.

    Raises:
        RequestError: a manifest-level derive fails.

    Source: FORMAT, section 5.
    """
    scope = manifest_scope(request)
    verdicts: dict[str, Candidate] = {}
    winner: Variant | None = None
    fallback: Variant | None = None
    for variant in ranked(request.manifest):
        verdict = judge(variant, scope, request, verdicts)
        verdicts[variant.id] = verdict
        if verdict.accepted and not verdict.demoted and winner is None:
            winner = variant
            if not exhaustive:
                break
        if verdict.accepted and fallback is None:
            fallback = variant
    return Selection(request=request, scope=scope, variant=winner or fallback, candidates=tuple(verdicts.values()))


def judge(variant: Variant, scope: Scope, request: Request, verdicts: Mapping[str, Candidate]) -> Candidate:
    """Decide about one variant.

    Args:
        variant: the candidate.
        scope: manifest-level scope.
        request: the bound call.
        verdicts: what became of the variants ranked higher.

    Returns:
        The verdict with its reason.

    Source: FORMAT, section 5, steps 1 to 6.
    """
    capabilities = request.capabilities
    lacking = missing_requirement(variant.requires, capabilities)
    if lacking:
        return _rejected(variant, "requires", lacking)
    over = _over_buffer_budget(variant, capabilities)
    if over:
        return _rejected(variant, "bufferBudget", over)
    for clause in variant.when:
        verdict = _failed_clause(variant, clause, scope, request)
        if verdict is not None:
            return verdict
    for better in variant.superseded_by:
        other = verdicts.get(better)
        if other is not None and other.accepted and not other.demoted:
            return _rejected(variant, "superseded", f"superseded by {better}")
    return _demotion(variant, scope)


def _rejected(variant: Variant, kind: RejectionKind, reason: str, clause: Expression | None = None) -> Candidate:
    return Candidate(id=variant.id, accepted=False, reason=reason, kind=kind, clause=clause)


def _failed_clause(variant: Variant, clause: Expression, scope: Scope, request: Request) -> Candidate | None:
    try:
        value = evaluate_in(clause, scope, where="when")
    except LanguageError as error:
        return _rejected(variant, "whenError", f"when `{clause.source}` fails: {error}", clause)
    if value is True:
        return None
    return _rejected(variant, "whenFailed", explain_failure(clause, scope, request).text, clause)


def _demotion(variant: Variant, scope: Scope) -> Candidate:
    demoted: list[str] = []
    for clause in variant.demote_when:
        try:
            value = evaluate_in(clause, scope, where="demoteWhen")
        except LanguageError as error:
            return _rejected(variant, "demoteError", f"demoteWhen `{clause.source}` fails: {error}", clause)
        if value is True:
            demoted.append(f"demoted: `{clause.source}`")
    return Candidate(id=variant.id, accepted=True, demoted=bool(demoted), reason="; ".join(demoted))


def missing_requirement(requires: Requires, capabilities: Capabilities) -> str:
    """Say what a device lacks of a variant's requirements; empty where nothing is missing.

    Source: FORMAT, sections 2 and 5.
    """
    features = sorted(requires.features - frozenset(capabilities.features))
    if features:
        return f"needs the feature{'s' if len(features) > 1 else ''} {', '.join(features)}"
    for name, needed in requires.limits.items():
        have = capabilities.limits.get(name, 0)
        if (have > needed) if name.startswith("min") else (have < needed):
            return f"needs {name} {needed}, the device has {have}"
    return _missing_subgroups(requires, capabilities)


def _missing_subgroups(requires: Requires, capabilities: Capabilities) -> str:
    size = capabilities.adapter_info.get("subgroupMinSize")
    if requires.subgroup_min_size and not (isinstance(size, int) and size >= requires.subgroup_min_size):
        return f"needs subgroupMinSize {requires.subgroup_min_size}, the device reports {size or 'none'}"
    reported = capabilities.adapter_info.get("subgroupMatrixConfigs")
    if reported is None or not isinstance(reported, list | tuple):
        return ""  # a check against configs that the device does not report is skipped (FORMAT, section 2)
    for config in requires.subgroup_matrix_configs:
        if not any(_config_matches(config, entry) for entry in reported):
            return f"needs the subgroup matrix config {config}"
    return ""


def _config_matches(config: SubgroupMatrixConfig, reported: object) -> bool:
    if not isinstance(reported, dict):
        return False
    wanted = {
        "componentType": config.component_type,
        "resultComponentType": config.result_component_type,
        "M": config.m,
        "N": config.n,
        "K": config.k,
    }
    return all(value is None or reported.get(key) == value for key, value in wanted.items())


def _over_buffer_budget(variant: Variant, capabilities: Capabilities) -> str:
    for step in every_pass(variant.passes):
        uniforms = sum(binding.access == "uniform" for binding in step.bindings)
        storage = len(step.bindings) - uniforms
        for count, limit in (
            (storage, "maxStorageBuffersPerShaderStage"),
            (uniforms, "maxUniformBuffersPerShaderStage"),
        ):
            if count > capabilities.limits[limit]:
                return f"pass {step.id} binds {count} buffers, the device's {limit} is {capabilities.limits[limit]}"
    return ""


def every_pass(passes: tuple[Pass | RepeatGroup, ...]) -> Iterator[Pass]:
    """Walk the declared passes, those of repeat groups once."""
    for entry in passes:
        nested = getattr(entry, "passes", None)
        if nested is None:
            yield entry  # type: ignore[misc]  # only a group has passes
        else:
            yield from every_pass(nested)


def force_variant(request: Request, variant_id: str, *, exhaustive: bool = False) -> Selection:
    """Take the named variant if it is eligible, whatever ranks above it.

    Args:
        request: the bound call, outputs known.
        variant_id: the variant.
        exhaustive: also evaluate the other candidates, as an explanation wants.

    Returns:
        The selection; its variant is None where the named one is rejected. Being demoted or superseded does not count.

    Raises:
        UnknownNameError: the contract has no such variant.
        RequestError: a manifest-level derive fails.

    Source: FORMAT, section 5.
    """
    variants = {variant.id: variant for variant in request.manifest.variants}
    if variant_id not in variants:
        raise unknown_name("variant", variant_id, variants, request.manifest.op_id)
    scope = manifest_scope(request)
    judged = ranked(request.manifest) if exhaustive else [variants[variant_id]]
    verdicts: dict[str, Candidate] = {}
    for variant in judged:
        verdicts[variant.id] = judge(variant, scope, request, {} if variant.id == variant_id else verdicts)
    chosen = variants[variant_id] if verdicts[variant_id].accepted else None
    return Selection(request=request, scope=scope, variant=chosen, candidates=tuple(verdicts.values()))
