"""Looks for requests that a contract takes, and for some that each variant takes: tries, and changes what came closest.

Nothing is left to chance: the same package gives the same requests every time.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.errors import KernelError, WorkLimitExceeded
from webgpu_kernels.language import Bounded, compile_expression
from webgpu_kernels.language.conjuncts import conjuncts
from webgpu_kernels.planning.limits import check_tensors
from webgpu_kernels.planning.outputs import infer_outputs
from webgpu_kernels.planning.request import bind_request
from webgpu_kernels.planning.selection import select_variant
from webgpu_kernels.tools.lint.sampling.choices import SHAPES, Choices
from webgpu_kernels.tools.lint.sampling.drafts import Draft, Shape, Solver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from webgpu_kernels.contract import Manifest, Variant
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.planning.scope import Scope
    from webgpu_kernels.planning.selection import Selection
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.lint.sampling.devices import SampledDevice

_TRIES_FOR_ANY: Final = 240
_ENOUGH: Final = 100
"""Requests that the contract takes; more are only looked for where a variant is not reached."""
_TRIES_A_VARIANT: Final = 48
_MAX_TRIES: Final = 1200
_BEST: Final = 6
_MAX_CONDITIONS: Final = 200
_LARGE_TRIALS: Final = 40
_LARGE_ELEMENTS: Final = 2**25
"""Elements of large requests: of float32 they fill the default binding of 128 MiB."""


class Trial(NamedTuple):
    """A draft, and what became of it on the devices of the search.

    Attributes:
        draft: what was tried.
        call: the call that it gives.
        guessed: as ``Completed`` says.
        request: the call bound, on the last of the devices.
        valid: whether every clause that all variants share holds on it.
        shared: how many of those hold.
        own: variant id to how many of its clauses speak for it.
        accepted: variants that take it on one of the devices.
        chosen: variants that are selected on one of the devices.
    """

    draft: Draft
    call: CallDescription
    guessed: bool
    request: Request
    valid: bool
    shared: int
    own: dict[str, int]
    accepted: frozenset[str]
    chosen: frozenset[str]


class Search:
    """A search over the requests of one contract.

    Args:
        manifest: the contract.
        solver: makes calls of drafts.
        choices: what a call may choose.
        devices: where each request is tried; the last one has everything.
        deadline: when to stop, on ``time.monotonic``'s clock.
    """

    def __init__(
        self, manifest: Manifest, solver: Solver, choices: Choices, devices: Sequence[SampledDevice], deadline: float
    ) -> None:
        self._manifest = manifest
        self._solver = solver
        self._choices = choices
        self._devices = devices
        self._deadline = deadline
        self._random = random.Random(manifest.op_id)  # noqa: S311 - variety, not secrecy
        self._shared = shared_conditions(manifest)
        self._lead_sizes = solver.lead_sizes()
        self._tried: dict[Draft, Trial | None] = {}
        self._exhausted = False
        self.failures: dict[str, str] = {}

    def run(self) -> list[Trial]:
        """Search.

        Returns:
            The requests that bind and that the contract takes, in the order they were found.
        """
        for draft in self._first():
            self._try(draft)
        self._improve(_TRIES_FOR_ANY, None)
        for variant in self._manifest.variants:
            if not any(trial.valid and variant.id in trial.chosen for trial in self._trials()):
                self._improve(_TRIES_A_VARIANT, variant)
        for trial in one_a_variant(trial for trial in self._trials() if trial.valid)[:_LARGE_TRIALS]:
            for draft in self._large(trial.draft):
                self._try(draft)
        return [trial for trial in self._trials() if trial.valid]

    @property
    def tries(self) -> int:
        """How many drafts were tried."""
        return len(self._tried)

    @property
    def late(self) -> bool:
        """Whether the time is over, or the work that one request may take."""
        return self._exhausted or time.monotonic() > self._deadline

    def _trials(self) -> list[Trial]:
        return [trial for trial in self._tried.values() if trial is not None]

    def _first(self) -> Iterator[Draft]:
        """Begin with every shape: plain, then with every optional tensor, and the other inputs as they may be, too."""
        choices, manifest = self._choices, self._manifest
        plain = Draft(
            lead=(),
            picks=(0,) * max(0, len(manifest.inputs) - 1),
            dtypes=(0,) * len(choices.dtypes),
            attrs=(0,) * len(choices.attrs),
            args=(0,) * len(choices.args),
            inputs=frozenset(),
            outputs=frozenset(),
        )
        full = replace(plain, inputs=frozenset(choices.inputs), outputs=frozenset(choices.outputs))
        for index, shape in enumerate(self._lead_shapes()):
            yield replace(plain, lead=shape)
            others = tuple(1 + (index + place) % 3 for place in range(len(plain.picks)))
            dtypes = tuple(1 + (index + place) % 2 for place in range(len(plain.dtypes)))
            yield replace(full, lead=shape, dtypes=dtypes)
            if others:
                yield replace(plain, lead=shape, picks=others)

    def _lead_shapes(self) -> list[Shape]:
        port = next(iter(self._manifest.inputs.values()), None)
        if port is None:
            return [()]
        rank = port.rank.evaluate({}) if port.rank is not None and port.rank.constant else None
        fitting = [shape for shape in SHAPES if rank is None or len(shape) == rank]
        return fitting or [(2,) * rank if isinstance(rank, int) and 0 <= rank <= 16 else ()]

    def _improve(self, tries: int, variant: Variant | None) -> None:
        """Change one or two things of the drafts that came closest to a variant, or to any."""
        for count in range(tries):
            if variant is None and sum(trial.valid for trial in self._trials()) >= _ENOUGH:
                return
            if self.late or len(self._tried) >= _MAX_TRIES:
                return
            trials = self._trials()
            if not trials:
                return
            best = sorted(trials, key=lambda trial: _score(trial, variant), reverse=True)[:_BEST]
            if variant is not None and best[0].valid and variant.id in best[0].chosen:
                return
            draft = best[count % len(best)].draft if count % 4 else self._random.choice(trials).draft
            for _ in range(1 + count % 3):
                draft = self._changed(draft)
            self._try(draft)

    def _changed(self, draft: Draft) -> Draft:
        """Change one thing at random."""
        choices, pick = self._choices, self._random
        counts = {"lead": 3 if self._manifest.inputs else 0, "size": 4 * bool(draft.lead), "picks": len(draft.picks)}
        counts |= {"dtypes": len(draft.dtypes), "attrs": 2 * len(draft.attrs), "args": 2 * len(draft.args)}
        counts |= {"inputs": len(choices.inputs), "outputs": len(choices.outputs)}
        kinds = [kind for kind, weight in counts.items() for _ in range(weight)]
        kind = pick.choice(kinds) if kinds else "none"
        if kind == "lead":
            return replace(draft, lead=pick.choice(self._lead_shapes()))
        if kind == "size":
            at, size = pick.randrange(len(draft.lead)), pick.choice(choices.sizes)
            if self._lead_sizes and pick.random() < 0.5:
                axis, size = pick.choice(self._lead_sizes)
                at = axis % len(draft.lead)
            return replace(draft, lead=(*draft.lead[:at], size, *draft.lead[at + 1 :]))
        if kind in {"inputs", "outputs"}:
            name = pick.choice(getattr(choices, kind))
            return replace(draft, **{kind: getattr(draft, kind) ^ {name}})
        if kind == "none":
            return draft
        values: tuple[int, ...] = getattr(draft, kind)
        at = pick.randrange(len(values))
        changed: dict[str, Any] = {kind: (*values[:at], pick.randrange(12), *values[at + 1 :])}
        return replace(draft, **changed)

    def _large(self, draft: Draft) -> Iterator[Draft]:
        """Make one axis of the first input as long as a default device allows, and one longer than a grid."""
        for axis, size in enumerate(draft.lead):
            rest = math.prod(draft.lead[:axis] + draft.lead[axis + 1 :])
            longest = _LARGE_ELEMENTS // max(1, rest)
            for length in {longest, longest // 4 * 4 - 1, 65_540} if rest else ():
                if length > size:
                    yield replace(draft, lead=(*draft.lead[:axis], length, *draft.lead[axis + 1 :]))

    def _try(self, draft: Draft) -> None:
        if draft in self._tried or self.late:
            return
        with Bounded() as work:
            self._tried[draft] = self._judged(draft)
        if work.exhausted:
            # The next one would take as long.
            self._note(WorkLimitExceeded("judging one request takes too many steps"))
            self._exhausted = True

    def _judged(self, draft: Draft) -> Trial | None:
        call, guessed = self._solver.completed(draft)
        selections: list[Selection] = []
        for device in self._devices:
            try:
                selections.append(select_variant(bound(self._manifest, call, device), exhaustive=True))
            except KernelError as error:
                self._note(error)
                return None
        scope = selections[-1].scope
        shared = sum(_true(condition, scope) for condition in self._shared)
        able = [frozenset(each.id for each in selection.candidates if each.accepted) for selection in selections]
        return Trial(
            draft=draft,
            call=call,
            guessed=guessed,
            request=selections[-1].request,
            valid=shared == len(self._shared),
            shared=shared,
            own={variant.id: _held(variant, scope) for variant in self._manifest.variants},
            accepted=frozenset().union(*able),
            chosen=frozenset(each.variant.id for each in selections if each.variant is not None),
        )

    def _note(self, error: KernelError) -> None:
        """Remember why calls do not bind: where none does, that is the best hint."""
        self.failures.setdefault(type(error).__name__, str(error))


def one_a_variant(trials: Iterable[Trial]) -> list[Trial]:
    """Return for each variant the first trial that selects it.

    Args:
        trials: in the order they were found.

    Returns:
        The trials, each once.
    """
    found: dict[str, Trial] = {}
    for trial in trials:
        for name in trial.chosen:
            found.setdefault(name, trial)
    return list({id(trial): trial for trial in found.values()}.values())


def bound(manifest: Manifest, call: CallDescription, device: SampledDevice) -> Request:
    """Bind a call.

    Args:
        manifest: the contract.
        call: the call.
        device: where.

    Returns:
        The request with its outputs.

    Raises:
        KernelError: it does not bind, or its tensors are too large for the device.
    """
    request = bind_request(
        manifest,
        call.inputs,
        attrs=call.attrs,
        args=call.args,
        tunables=call.tunables,
        capabilities=device.capabilities,
    )
    request = infer_outputs(request, call.outputs)
    check_tensors(request)
    return request


def shared_conditions(manifest: Manifest) -> tuple[Expression, ...]:
    """Return the conditions that every variant has: what the contract itself asks of a request.

    Args:
        manifest: the contract.

    Returns:
        The parts of their clauses, through the derived names that these name.
    """
    if len(manifest.variants) < 2:
        return tuple(manifest.variants[0].when) if manifest.variants else ()
    derives = {entry.name: entry.expression.source for entry in manifest.derive}
    known = [_conditions(variant, derives) for variant in manifest.variants]
    shared = [source for source in known[0] if all(source in other for other in known[1:])]
    return tuple(compile_expression(source) for source in shared)


def _conditions(variant: Variant, derives: Mapping[str, str]) -> dict[str, None]:
    found: dict[str, None] = {}
    pending = [clause.source for clause in variant.when]
    while pending:
        source = pending.pop(0).strip()
        if source in found or len(found) > _MAX_CONDITIONS:
            continue
        found[source] = None
        parts = conjuncts(derives.get(source, source))
        pending += [part for part in parts if part != source]
    return {source: None for source in found if source not in derives and conjuncts(source) == (source,)}


def _true(condition: Expression, scope: Scope) -> bool:
    try:
        return condition.evaluate(scope) is True
    except (KernelError, RecursionError):
        return False


def _held(variant: Variant, scope: Scope) -> int:
    """Count what speaks for a variant: clauses that hold, and demotions that do not."""
    return sum(_true(clause, scope) for clause in variant.when) + sum(
        not _true(clause, scope) for clause in variant.demote_when
    )


def _score(trial: Trial, variant: Variant | None) -> tuple[int, ...]:
    if variant is None:
        return (trial.shared, len(trial.chosen), max(trial.own.values(), default=0))
    return (variant.id in trial.chosen, variant.id in trial.accepted, trial.own[variant.id], trial.shared)
