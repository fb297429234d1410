"""Two runs side by side: what became slower or faster beyond the noise, what passes no more and what passes now."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from webgpu_kernels.tools.report.noise import LEAST_BETWEEN, Time, difference, noise, time_of
from webgpu_kernels.tools.report.text import moment, named, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from webgpu_kernels.tools.report.runs import Run
    from webgpu_kernels.tools.report.speed import Bench
    from webgpu_kernels.tools.results import BenchResult, RunResults, TestResult

Verdict: TypeAlias = Literal["slower", "faster", "same", "device"]
Turn: TypeAlias = Literal["broken", "repaired", "new", "gone", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A benchmark of both runs.

    Attributes:
        bench: as it is now.
        variant: which variant is compared.
        called: whether this is what a call takes; the base's choice may have been another one.
        was: the other variant that the base's call took, or None where it is the same.
        base: its time then.
        now: its time now.
        noise: the part of the base's time that means nothing.
        copy: how the copy's time changed, or None: a device that became slower as a whole shows here.
        verdict: whether it became slower or faster beyond the noise; ``device`` where it did, and the copy as well.
    """

    bench: Bench
    variant: str
    called: bool
    was: str | None
    base: Time
    now: Time
    noise: float
    copy: float | None
    verdict: Verdict

    @property
    def ratio(self) -> float:
        """The time now over the base's."""
        return self.now.median / self.base.median


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """Tests that end otherwise than they did.

    Attributes:
        run: in which run.
        package: the operator.
        case: the case's name.
        variant: its id.
        turn: what happened.
        before: the outcome then, or a dash.
        after: the outcome now, or a dash.
    """

    run: Run
    package: str
    case: str
    variant: str
    turn: Turn
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A run beside the base.

    Attributes:
        run: the one of the report.
        base: the other one's device and date.
        foreign: whether that was another device or another computer.
        changes: of benchmarks, the greatest slowdown first.
        tests: whose outcome changed.
        missing: benchmarks that only one of the two has.
        timed: whether both have benchmarks.
        tested: whether both have tests.
    """

    run: Run
    base: str
    foreign: bool
    changes: tuple[Change, ...]
    tests: tuple[Turned, ...]
    missing: tuple[str, ...]
    timed: bool
    tested: bool

    def count(self, verdict: Verdict) -> int:
        """Return how many benchmarks turned out so for a caller."""
        return sum(change.verdict == verdict and change.called for change in self.changes)


def compared(runs: Sequence[Run], benches: Sequence[Bench], bases: Sequence[RunResults]) -> tuple[Comparison, ...]:
    """Hold runs against earlier ones.

    Args:
        runs: of the report.
        benches: of these runs.
        bases: the earlier runs.

    Returns:
        One for each run that has a base on its device, the latest of them; where none has, each run with the only base.
    """
    pairs = [(run, base) for run in runs for base in _latest(run, bases) if _comparable(run.results, base)]
    if not pairs and len(bases) == 1:
        pairs = [(run, bases[0]) for run in runs if _comparable(run.results, bases[0])]
    return tuple(_comparison(run, [bench for bench in benches if bench.run is run], base) for run, base in pairs)


def _comparable(results: RunResults, base: RunResults) -> bool:
    return bool((results.tests and base.tests) or (results.benches and base.benches))


def _latest(run: Run, bases: Sequence[RunResults]) -> tuple[RunResults, ...]:
    like = [base for base in bases if _device(base) == _device(run.results)]
    here = [base for base in like if base.machine == run.results.machine]
    return tuple(sorted(here or like, key=lambda base: base.created)[-1:])


def _device(results: RunResults) -> tuple[str, str, str]:
    census = results.device.census
    return (census.engine, census.name, census.backend)


def _comparison(run: Run, benches: Sequence[Bench], base: RunResults) -> Comparison:
    then = {(bench.package, bench.case): bench for bench in base.benches}
    now = {
        (result.package, result.case): (result, bench)
        for result, bench in zip(run.results.benches, benches, strict=True)
    }
    changes = [change for key, pair in now.items() if key in then for change in _changes(*pair, then[key])]
    lost = [f"{named(case)} is only in the base" for package, case in then if (package, case) not in now]
    fresh = [f"{named(case)} is only in this run" for package, case in now if (package, case) not in then]
    census = base.device.census
    return Comparison(
        run=run,
        base=visible(f"{census.name}, {census.engine}, {moment(base.created)}"),
        foreign=_device(run.results) != _device(base) or run.results.machine != base.machine,
        changes=tuple(sorted(changes, key=lambda change: -change.ratio)),
        tests=tuple(_turned(run, base)),
        missing=(*lost, *fresh) if then and now else (),
        timed=bool(then and now),
        tested=bool(base.tests and run.results.tests),
    )  # fmt: skip


def _changes(result: BenchResult, bench: Bench, base: BenchResult) -> Iterator[Change]:
    """Compare what a call takes, and of the other variants those that changed."""
    then = _copy(base)
    copy = bench.copy.median / then.median if bench.copy and then else None
    for name, found in result.variants.items():
        called = name == result.chosen
        was = base.chosen if called and base.chosen in base.variants and base.chosen != name else None
        other = base.variants.get(was or name)
        new = time_of(found.median_us, found.spread_us)
        old = time_of(other.median_us, other.spread_us) if other else None
        if new is None or old is None or result.clock != base.clock:
            continue
        verdict = _verdict(new, old, bench.copy, then)
        if called or verdict != "same":
            yield Change(
                bench=bench,
                variant=named(name),
                called=called,
                was=named(was) if was else None,
                base=old,
                now=new,
                noise=max(noise(new, old) / old.median, LEAST_BETWEEN),
                copy=copy,
                verdict=verdict,
            )


def _copy(bench: BenchResult) -> Time | None:
    return time_of(bench.copy.median_us, bench.copy.spread_us) if bench.copy else None


def _verdict(new: Time, old: Time, copy: Time | None, then: Time | None) -> Verdict:
    """Compare two times; where they differ as those of the copy do, now and then, it is the device that changed."""
    found = difference(new, old, least=LEAST_BETWEEN)
    if found == "same" or copy is None or then is None or difference(copy, then, least=LEAST_BETWEEN) != found:
        return found
    ratio = copy.median / then.median
    # The copies' noise is noise of what they are a measure of, too.
    spread = math.hypot(
        old.spread * ratio, old.median * ratio * math.hypot(copy.spread / copy.median, then.spread / then.median)
    )
    as_then = Time(old.median * ratio, spread)
    beyond = difference(new, as_then, least=LEAST_BETWEEN)
    return found if beyond == found else "device"


def _turned(run: Run, base: RunResults) -> Iterator[Turned]:
    if not base.tests or not run.results.tests:
        return
    then, now = (_outcomes(results.tests) for results in (base, run.results))
    for key in [*now, *(key for key in then if key not in now)]:
        before, after = then.get(key), now.get(key)
        if before == after:
            continue
        package, case, variant = key
        yield Turned(
            run=run,
            package=named(package),
            case=named(case),
            variant=named(variant) if variant else "",
            turn=_turn(before, after),
            before=before or "—",
            after=after or "—",
        )


def _turn(before: str | None, after: str | None) -> Turn:
    if after in {"failed", "error"}:
        return "broken"
    if before in {"failed", "error"}:
        return "gone" if after is None else "repaired"
    if after == "skipped":
        return "skipped"
    return "gone" if after is None else "new"


def _outcomes(tests: Sequence[TestResult]) -> dict[tuple[str, str, str], str]:
    return {(test.package, test.case, test.variant): test.outcome for test in tests}
