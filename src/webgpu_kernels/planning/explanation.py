"""What was chosen for a request and why, as values and as text."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webgpu_kernels.legible import legible
from webgpu_kernels.planning.plan import Plan, build_plan
from webgpu_kernels.planning.scope import describe_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.language import Value
    from webgpu_kernels.planning.bindings import PlannedBinding
    from webgpu_kernels.planning.plan import PlannedIntermediate, PlannedPass
    from webgpu_kernels.planning.selection import Candidate, Selection

_WIDTH = 80
_MOST_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPass:
    """One dispatch of the chosen variant.

    Attributes:
        id: the pass id.
        label: what profilers show.
        shader: template file name.
        dispatch: workgroups along x, y, z.
        bindings: in binding order, with ``name``, ``target``, ``access``, ``element_type``, ``length``.
        values: derived values of the pass by name.
    """

    id: str
    label: str
    shader: str
    dispatch: tuple[int, int, int]
    bindings: tuple[PlannedBinding, ...]
    values: Mapping[str, Value] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The outcome of a request; ``str()`` gives it as text of at most 80 columns.

    Attributes:
        op_id: the operator.
        request: tensors and attributes in one line.
        variant: the chosen variant's id, None where none fits.
        candidates: every variant, best rank first, with its verdict.
        passes: what the chosen variant runs; empty where none fits or every output is empty.
        intermediates: its scratch buffers.
        tuned: which profile the variant and its tunables come from, None where they are the contract's.
    """

    op_id: str
    request: str
    variant: str | None
    candidates: tuple[Candidate, ...]
    passes: tuple[ExplainedPass, ...]
    intermediates: tuple[PlannedIntermediate, ...]
    tuned: str | None = None

    def __str__(self) -> str:
        """Lay the explanation out for a terminal."""
        lines = [f"{self.op_id}: {self.variant or 'no variant fits'}", *_wrapped(self.request, "  ")]
        if self.tuned is not None:
            lines += ["tuned", *_wrapped(self.tuned, "  ")]
        lines.append("candidates")
        width = max((len(candidate.id) for candidate in self.candidates), default=0)
        above = None
        for candidate in self.candidates:
            lines += _candidate_lines(candidate, width, above, chosen=candidate.id == self.variant)
            above = candidate
        if self.passes:
            lines.append("passes")
        for step in self.passes[:_MOST_SHOWN]:
            lines += _pass_lines(step)
        if len(self.passes) > _MOST_SHOWN:
            lines.append(f"  … and {len(self.passes) - _MOST_SHOWN:,} more")
        for scratch in self.intermediates:
            lines.append(f"  scratch {scratch.id}: {scratch.dtype}{list(scratch.shape)}, {scratch.size_bytes} bytes")
        return legible("\n".join(lines))


def explain_selection(selection: Selection, *, tuned: str | None = None) -> Explanation:
    """Describe an exhaustive selection, planning the chosen variant.

    Args:
        selection: evaluated over every candidate.
        tuned: which profile it goes by, in words, or None.

    Returns:
        The explanation.

    Raises:
        PlanError: the chosen variant cannot be planned.
    """
    request = selection.request
    plan: Plan | None = build_plan(selection) if selection.variant is not None else None
    return Explanation(
        op_id=request.manifest.op_id,
        request=describe_request(request),
        variant=selection.variant.id if selection.variant is not None else None,
        candidates=selection.candidates,
        passes=tuple(_explained(step) for step in plan.passes) if plan is not None else (),
        intermediates=plan.intermediates if plan is not None else (),
        tuned=tuned,
    )


def _explained(step: PlannedPass) -> ExplainedPass:
    return ExplainedPass(
        id=step.id,
        label=step.label,
        shader=step.shader,
        dispatch=step.dispatch,
        bindings=step.bindings,
        values=step.values,
    )


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=True, break_on_hyphens=False
    )


def _candidate_lines(candidate: Candidate, width: int, above: Candidate | None, *, chosen: bool) -> list[str]:
    if chosen:
        verdict = "chosen, though demoted" if candidate.demoted else "chosen"
    elif candidate.accepted:
        verdict = "accepted, demoted" if candidate.demoted else "accepted"
    else:
        verdict = "rejected"
        if above is not None and not above.accepted and above.reason == candidate.reason:
            # Of a call that fits no variant, one reason many times over hides that there is one.
            return [f"  - {candidate.id:<{width}}  rejected likewise"]
    mark = "*" if chosen else "+" if candidate.accepted else "-"
    head = f"  {mark} {candidate.id:<{width}}  {verdict}"
    return [head, *(_wrapped(candidate.reason, "      ") if candidate.reason else [])]


def _pass_lines(step: ExplainedPass) -> list[str]:
    grid = " x ".join(str(axis) for axis in step.dispatch)
    lines = _wrapped(f"{step.id} ({step.shader}): {grid} workgroups", "  ")
    for index, binding in enumerate(step.bindings):
        target = "" if binding.target == binding.name else f" = {binding.target}"
        length = f", {binding.length}" if binding.length is not None else ""
        kind = binding.element_type if binding.struct is not None else f"array<{binding.element_type}{length}>"
        lines += _wrapped(f"{index} {binding.access:<17} {binding.name}{target}: {kind}{_window(binding)}", "    ")
    return lines


def _window(binding: PlannedBinding) -> str:
    if binding.size_bytes is None:
        return ""
    return f", bytes {binding.offset_bytes} to {binding.offset_bytes + binding.size_bytes - 1}"
