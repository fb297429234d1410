"""Tunes a package on a device: its cases within a budget of time, and a profile of what became faster."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.errors import OutOfMemory
from webgpu_kernels.tools.bench.preparing import CaseSkipped, Way, ready_case
from webgpu_kernels.tools.results.model import SkippedBench
from webgpu_kernels.tools.tune.searching import CaseSearch, require_optuna
from webgpu_kernels.tools.tune.space import knobs_of
from webgpu_kernels.tuning.places import device_facts, package_digest
from webgpu_kernels.tuning.profile import Entry, Profile, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.bench.model import BenchCase
    from webgpu_kernels.tools.bench.preparing import ReadyCase
    from webgpu_kernels.tools.bench.running import Runner
    from webgpu_kernels.tools.tune.searching import Found

LEAST_SECONDS: Final = 2.0
"""Less than that for a case finds nothing: where there are too many cases, some are left out."""
_PASSED_ON: Final = 4


class TuningRun(NamedTuple):
    """What tuning found.

    Attributes:
        found: what became of each case that was searched.
        skipped: the cases that the device cannot run, and why.
        left_out: how many cases there was no time for.
        profile: of what became faster; it may be empty.
    """

    found: tuple[Found, ...]
    skipped: tuple[SkippedBench, ...]
    left_out: int
    profile: Profile


def tune_package(
    kernel: Kernel,
    cases: Sequence[BenchCase],
    runner: Runner,
    *,
    seconds: float,
    earlier: Profile | None = None,
    say: Callable[[str], None] | None = None,
) -> TuningRun:
    """Search the cases of a package.

    Args:
        kernel: the package's.
        cases: of its bench.json.
        runner: on the device.
        seconds: for how long.
        earlier: what was found before: it is tried first, and kept for the cases that are not searched now.
        say: is told what comes next, and how far it is.

    Returns:
        What was found.

    Raises:
        ExtraMissing: optuna is not installed.
        SuiteError: the package's own files are wrong.
        DeviceError: the device failed for good.

    Source: docs/command-line.md, "tune".
    """
    require_optuna()
    tell = say or _tell_nobody
    end = time.monotonic() + seconds
    ready, skipped = _ready(kernel, cases, runner)
    taken = _spread(ready, max(1, int(seconds / LEAST_SECONDS)))
    knobs = knobs_of(kernel.manifest)
    found: list[Found] = []
    entries: list[Entry] = []
    good: list[Way] = []
    before = {entry.case: entry for entry in (earlier.entries if earlier is not None else ())}
    for index, case in enumerate(taken):
        share = max(end - time.monotonic(), 0.0) / (len(taken) - index)
        name = f"{case.case.name} ({index + 1} of {len(taken)})"
        tell(name)
        known = before.pop(case.case.name, None)
        first = [*([Way(known.variant, known.tunables)] if known else []), *good]
        try:
            one = CaseSearch(runner, case, knobs).run(share, first, partial(_tell_of, tell, name))
        except CaseSkipped as skip:
            skipped.append(_skipped(kernel, case.case, skip.reason, fault=skip.fault))
            continue
        except OutOfMemory:
            skipped.append(_skipped(kernel, case.case, "too large for the device's memory"))
            continue
        found.append(one)
        if one.faster:
            entries.append(_entry(one, case))
            # What was good here is tried first where it may be good as well.
            good = [*(way for way in good if way != one.way), one.way][-_PASSED_ON:]
    profile = Profile(
        op_id=kernel.op_id,
        digest=package_digest(kernel.package),
        device=device_facts(runner.engine.capabilities),
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        entries=(*before.values(), *entries),
    )
    return TuningRun(tuple(found), tuple(skipped), len(ready) - len(taken), profile)


def _ready(kernel: Kernel, cases: Sequence[BenchCase], runner: Runner) -> tuple[list[ReadyCase], list[SkippedBench]]:
    ready: list[ReadyCase] = []
    skipped: list[SkippedBench] = []
    for case in cases:
        if case.call.tunables:
            skipped.append(_skipped(kernel, case, "it has tunables of its own"))
            continue
        try:
            ready.append(ready_case(case, kernel, runner.engine.capabilities, most_bytes=runner.most_bytes))
        except CaseSkipped as skip:
            skipped.append(_skipped(kernel, case, skip.reason, fault=skip.fault))
    return ready, skipped


def _tell_of(tell: Callable[[str], None], name: str, what: str) -> None:
    tell(f"{name}: {what}" if what else name)


def _tell_nobody(_: str) -> None:
    pass


def _skipped(kernel: Kernel, case: BenchCase, reason: str, *, fault: bool = False) -> SkippedBench:
    return SkippedBench(package=kernel.op_id, case=case.name, reason=reason, fault=fault)


def _spread(cases: Sequence[ReadyCase], most: int) -> list[ReadyCase]:
    """Take at most so many cases, from all over the list."""
    if len(cases) <= most:
        return list(cases)
    return [cases[index * len(cases) // most] for index in range(most)]


def _entry(found: Found, ready: ReadyCase) -> Entry:
    return Entry(
        case=found.case,
        inputs=dict(ready.request.inputs),
        attrs=plain(ready.request.attrs),
        args=dict(ready.request.args),
        outputs=tuple(ready.request.outputs),
        variant=found.way.variant,
        tunables=dict(found.way.tunables),
        untuned_variant=found.before,
        untuned_us=round(found.before_us, 3),
        tuned_us=round(found.us, 3),
    )
