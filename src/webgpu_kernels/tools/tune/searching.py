"""Searches one case: a sampler proposes variants and tunables, and what they give is checked and timed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.errors import DeviceLost, ExtraMissing, KernelError
from webgpu_kernels.tools.bench.preparing import CaseSkipped, Way
from webgpu_kernels.tools.bench.samples import Sample, sample_of
from webgpu_kernels.tools.bench.stands import Effort
from webgpu_kernels.tools.report.noise import Time, difference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.tools.bench.checking import Checker
    from webgpu_kernels.tools.bench.preparing import ReadyCase
    from webgpu_kernels.tools.bench.running import Runner
    from webgpu_kernels.tools.bench.stands import Stand
    from webgpu_kernels.tools.tune.space import Knob

TRIAL: Final = Effort(runs=9, seconds=0.15)
DUEL: Final = Effort(runs=15, seconds=0.4)
_DUEL_ROUNDS: Final = 3
_MOST_REPEATS: Final = 60
"""So many proposals in a row that were measured before: there is nothing new to be found."""
_VARIANT: Final = "variant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What became of a case.

    Attributes:
        case: its name.
        before: the variant that a call took.
        before_us: how long it took, microseconds.
        way: the fastest way; the same as before where none was faster beyond the noise.
        us: how long that takes.
        tried: how many ways were measured.
        wrong: how many gave a wrong result, and are out.
        failed: how many could not be planned, compiled or run.
    """

    case: str
    before: str
    before_us: float
    way: Way
    us: float
    tried: int
    wrong: int
    failed: int

    @property
    def faster(self) -> bool:
        """Whether something was found."""
        return self.way != Way(self.before)

    @property
    def gain(self) -> float:
        """How many times as fast it is."""
        return self.before_us / self.us if self.us > 0 else 1.0


class _Score(NamedTuple):
    """What a way was worth: its time, or why it has none."""

    us: float | None
    fate: str = ""


class CaseSearch:
    """Searches one case.

    Args:
        runner: checks and times.
        ready: the case.
        knobs: what there is to turn.
    """

    def __init__(self, runner: Runner, ready: ReadyCase, knobs: Mapping[str, Knob]) -> None:
        self._runner = runner
        self._ready = ready
        self._knobs = knobs
        self._known: dict[object, _Score] = {}
        self._checker: Checker | None = None
        self._stand: Stand | None = None

    def run(self, seconds: float, first: Sequence[Way] = (), say: Callable[[str], None] | None = None) -> Found:
        """Search.

        Args:
            seconds: for how long.
            first: ways that were good for other cases, tried first.
            say: is told how far it is.

        Returns:
            What was found.

        Raises:
            CaseSkipped: what a call takes is wrong or fails: there is nothing to compare with.
            SuiteError: the package's reference fails.
            DeviceError: the device failed for good.
        """
        end = time.monotonic() + seconds
        self._checker = self._runner.checker(self._ready)
        self._stand = self._runner.stand(self._ready)
        try:
            best = self._search(end, first, say or (lambda _: None))
            return self._decided(best)
        finally:
            self._stand.close()

    def _search(self, end: float, first: Sequence[Way], say: Callable[[str], None]) -> Way:
        study = _new_study()
        plain = self._ready.chosen
        for way in (plain, *self._ready.ways, *first):
            study.enqueue_trial(self._parameters(way), skip_if_exists=True)
        best, best_us, repeats = plain, float("inf"), 0
        while repeats < _MOST_REPEATS and (time.monotonic() < end or not self._known):
            trial = study.ask()
            way, known = self._proposed(trial), len(self._known)
            score = self._score(way)
            repeats = 0 if len(self._known) > known else repeats + 1
            if score.us is None:
                study.tell(trial, state=_failed_state())
                continue
            study.tell(trial, score.us)
            if score.us < best_us:
                best, best_us = way, score.us
                base_us = self._known[_sameness(self._ready.first)].us
                say(f"{base_us / best_us:.2f} times as fast" if base_us else "")
        return best

    def _parameters(self, way: Way) -> dict[str, str]:
        """Return a way as a trial's parameters."""
        known = {ready.variant for ready in self._ready.ways}
        values = {name: str(way.tunables.get(name, knob.default)) for name, knob in self._knobs.items()}
        return {**values, _VARIANT: way.variant if way.variant in known else self._ready.chosen.variant}

    def _proposed(self, trial: Any) -> Way:
        """Make a way of a trial; tunables that are as the contract has them are not named."""
        variant = trial.suggest_categorical(_VARIANT, [way.variant for way in self._ready.ways])
        tunables = {}
        for name, knob in self._knobs.items():
            by_text = {str(value): value for value in knob.values}
            value = by_text[trial.suggest_categorical(name, list(by_text))]
            if value != knob.default:
                tunables[name] = value
        return Way(variant, tunables)

    def _score(self, way: Way) -> _Score:
        """Check and time a way; one that runs the same shaders as another is that one."""
        assert self._checker is not None
        assert self._stand is not None
        try:
            program = self._ready.program(way)
        except KernelError:
            return self._refused(("unplanned", way.variant, tuple(way.tunables.items())), "failed")
        key = _sameness(program)
        if key in self._known:
            return self._known[key]
        try:
            if self._runner.fault(program, self._ready, self._checker):
                return self._refused(key, "wrong")
            sample = self._stand.time(program, TRIAL)
        except DeviceLost:
            raise
        except KernelError:
            return self._refused(key, "failed")
        score = _Score(max(sample.median_us, 1e-3))
        self._known[key] = score
        return score

    def _refused(self, key: object, fate: str) -> _Score:
        return self._known.setdefault(key, _Score(None, fate))

    def _decided(self, best: Way) -> Found:
        """Time the best way and the one before it in turns, and keep the best where it is faster beyond the noise."""
        ready, plain = self._ready, self._ready.chosen
        best = self._shortened(best)
        same = _sameness(ready.program(best)) == _sameness(ready.first)
        known = self._known[_sameness(ready.first)].us
        if known is None:
            raise CaseSkipped(f"{plain.variant}, which a call takes, is wrong or fails", fault=True)
        before, after = (known, known) if same else self._duel(best)
        fates = [score.fate for score in self._known.values()]
        return Found(
            case=ready.case.name,
            before=plain.variant,
            before_us=before,
            way=plain if before == after else best,
            us=after,
            tried=fates.count(""),
            wrong=fates.count("wrong"),
            failed=fates.count("failed"),
        )

    def _duel(self, best: Way) -> tuple[float, float]:
        assert self._stand is not None
        old_runs: list[float] = []
        new_runs: list[float] = []
        program = self._ready.program(best)
        for _ in range(_DUEL_ROUNDS):
            old_runs += self._stand.time(self._ready.first, DUEL).runs_us
            new_runs += self._stand.time(program, DUEL).runs_us
        old, new = sample_of(old_runs), sample_of(new_runs)
        if difference(_time(new), _time(old)) != "faster":
            return old.median_us, old.median_us
        return old.median_us, new.median_us

    def _shortened(self, way: Way) -> Way:
        """Leave out the tunables that change nothing here."""
        wanted = _sameness(self._ready.program(way))
        tunables = dict(way.tunables)
        for name in way.tunables:
            fewer = {other: value for other, value in tunables.items() if other != name}
            try:
                same = _sameness(self._ready.program(Way(way.variant, fewer))) == wanted
            except KernelError:
                continue
            tunables = fewer if same else tunables
        return Way(way.variant, tunables)


def _time(sample: Sample) -> Time:
    return Time(sample.median_us, sample.spread_us)


def _sameness(program: Program) -> object:
    """Return what two ways have in common that do the same."""
    steps = tuple((step.wgsl, step.grid, step.slots, step.submit_after) for step in program.passes)
    return repr((steps, program.scratch))


def require_optuna() -> None:
    """Check that there is an optimiser.

    Raises:
        ExtraMissing: there is none.
    """
    if find_spec("optuna") is None:
        raise ExtraMissing("tuning needs optuna", hint="It comes with: pip install 'webgpu-kernels[tune]'.")


def _new_study() -> Any:
    import optuna  # noqa: PLC0415 - an extra, and slow to load

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0, n_startup_trials=12))


def _failed_state() -> Any:
    from optuna.trial import TrialState  # noqa: PLC0415 - as above

    return TrialState.FAIL
