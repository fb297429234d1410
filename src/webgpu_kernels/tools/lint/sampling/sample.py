"""The sample of a package: calls of its suites and made-up ones, each judged on several devices."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from webgpu_kernels.errors import KernelError
from webgpu_kernels.language import Bounded
from webgpu_kernels.planning.selection import select_variant
from webgpu_kernels.tools.bench.reading import BENCH_FILE, benches_of
from webgpu_kernels.tools.lint.findings import Place
from webgpu_kernels.tools.lint.formulas import formulas, tree
from webgpu_kernels.tools.lint.sampling.choices import choices
from webgpu_kernels.tools.lint.sampling.devices import EVERYTHING, sampled_devices
from webgpu_kernels.tools.lint.sampling.drafts import Solver
from webgpu_kernels.tools.lint.sampling.relations import relations
from webgpu_kernels.tools.lint.sampling.search import Search, bound, one_a_variant
from webgpu_kernels.tools.suites.reading import TEST_FILE, suite_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.planning.selection import Selection
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.sampling.devices import SampledDevice
    from webgpu_kernels.tools.lint.sampling.search import Trial
    from webgpu_kernels.tools.lint.subject import Subject

_Case = TypeVar("_Case")
MADE_UP: Final = 72
"""Made-up calls that are judged on every device."""
MAX_CASES: Final = 600
CASES_EVERYWHERE: Final = 40
"""Cases that are judged on every device; the others only where made-up calls are searched."""
SEARCHED_ON: Final = ("lavapipe", EVERYTHING)


class SampledCall(NamedTuple):
    """One call of the sample.

    Attributes:
        call: the call.
        origin: ``test.json``, ``bench.json`` or empty for one that was made up.
        name: the case's, or empty.
        set_apart: whether the case expects an error, or is skipped.
        force: the only variants that the case is for; empty for all.
    """

    call: CallDescription
    origin: str = ""
    name: str = ""
    set_apart: bool = False
    force: tuple[str, ...] = ()


class Judged(NamedTuple):
    """A call on a device.

    Attributes:
        sampled: the call.
        device: the device.
        selection: every variant judged; None where the call does not bind there.
        error: why it does not bind, or None.
    """

    sampled: SampledCall
    device: SampledDevice
    selection: Selection | None
    error: KernelError | None = None

    @property
    def request(self) -> Request:
        """The bound call."""
        assert self.selection is not None
        return self.selection.request

    @property
    def accepted(self) -> tuple[str, ...]:
        """Variants that can run it, superseded and demoted ones, too."""
        if self.selection is None:
            return ()
        return tuple(each.id for each in self.selection.candidates if each.able)

    @property
    def chosen(self) -> str | None:
        """The variant that is selected."""
        return self.selection.variant.id if self.selection is not None and self.selection.variant else None


class Sample(NamedTuple):
    """What a package was tried on.

    Attributes:
        judged: every call on every device.
        refused: made-up calls that no variant takes though the contract's own conditions hold.
        tries: made-up calls that were tried.
        valid: how many of those the contract takes.
        has_tests: whether there is a test.json that can be read.
        failure: why made-up calls do not bind, where none does.
        late: whether the time was over before everything was tried.
    """

    judged: tuple[Judged, ...]
    refused: tuple[Trial, ...]
    tries: int
    valid: int
    has_tests: bool
    failure: str
    late: bool


def take_sample(subject: Subject, findings: Findings, deadline: float, advance: Callable[[str], None]) -> Sample:
    """Gather calls and judge them.

    Args:
        subject: the package.
        findings: where suites that cannot be read are reported.
        deadline: when to stop, on ``time.monotonic``'s clock.
        advance: told what comes now.

    Returns:
        The sample.
    """
    advance("making up requests")
    sources = [formula.source for formula in formulas(subject.manifest, subject.paths)]
    trees = [found for found in map(tree, sources) if found is not None]
    devices = sampled_devices(subject.manifest, sources)
    able = choices(subject.manifest, trees)
    solver = Solver(subject.manifest, relations(subject.manifest, trees), able)
    few = [device for device in devices if device.name in SEARCHED_ON]
    search = Search(subject.manifest, solver, able, few, deadline)
    found = search.run()
    advance("judging requests on devices")
    cases, has_tests = _cases(subject, findings)
    spread = [SampledCall(trial.call) for trial in _spread([trial for trial in found if trial.chosen])]
    often, rarely = _dealt(cases)
    judged = [
        *_judged(subject, [*often, *spread], devices, deadline),
        *_judged(subject, rarely, few, deadline),
    ]
    return Sample(
        judged=tuple(judged),
        refused=tuple(trial for trial in found if not trial.chosen and not trial.guessed),
        tries=search.tries,
        valid=len(found),
        has_tests=has_tests,
        failure=next(iter(search.failures.values()), "") if not found else "",
        late=search.late or time.monotonic() > deadline,
    )


def _dealt(cases: Sequence[SampledCall]) -> tuple[list[SampledCall], list[SampledCall]]:
    """Choose some cases, evenly from first to last, that are judged on every device."""
    step = max(1, -(-len(cases) // CASES_EVERYWHERE))
    return list(cases[::step]), [case for index, case in enumerate(cases) if index % step]


def _spread(trials: Sequence[Trial]) -> list[Trial]:
    """Choose calls that differ: in variants, each of which one call takes, dtypes, tensors that are there, and size."""
    covering = one_a_variant(trials)
    kinds: dict[tuple[object, ...], list[Trial]] = {}
    for trial in trials:
        size = max((spec.size for spec in trial.call.inputs.values()), default=0)
        dtypes = tuple(spec.dtype for spec in trial.call.inputs.values())
        key = (trial.chosen, dtypes, trial.draft.outputs, min(3, size.bit_length() // 8))
        if trial not in covering:
            kinds.setdefault(key, []).append(trial)
    chosen = covering
    waiting = list(kinds.values())
    while waiting and len(chosen) < MADE_UP:
        chosen += [alike.pop(0) for alike in waiting]
        waiting = [alike for alike in waiting if alike]
    return chosen[:MADE_UP]


def _judged(
    subject: Subject, calls: Iterable[SampledCall], devices: Sequence[SampledDevice], deadline: float
) -> Iterable[Judged]:
    for sampled in calls:
        for device in devices:
            if time.monotonic() > deadline:
                return
            with Bounded() as work:
                judged = _judged_on(subject, sampled, device)
            yield judged
            if work.exhausted:
                return  # the next one would take as long


def _judged_on(subject: Subject, sampled: SampledCall, device: SampledDevice) -> Judged:
    try:
        request = bound(subject.manifest, sampled.call, device)
        return Judged(sampled, device, select_variant(request, exhaustive=True))
    except KernelError as error:
        return Judged(sampled, device, None, error)


def _cases(subject: Subject, findings: Findings) -> tuple[list[SampledCall], bool]:
    """Read the calls of test.json and bench.json; what cannot be read is reported."""
    tests = _read(lambda: suite_of(subject.package).cases, TEST_FILE, subject, findings)
    benches = _read(lambda: benches_of(subject.package).cases, BENCH_FILE, subject, findings)
    calls = [
        SampledCall(case.call, TEST_FILE, case.name, case.error is not None or case.skip_gpu is not None, case.force)
        for case in tests or ()
    ]
    calls += [SampledCall(case.call, BENCH_FILE, case.name) for case in benches or ()]
    return calls, tests is not None


def _read(
    read: Callable[[], tuple[_Case, ...]], file: str, subject: Subject, findings: Findings
) -> tuple[_Case, ...] | None:
    """Return the first cases of a suite; None where it is not there or cannot be read."""
    try:
        return read()[:MAX_CASES]
    except KernelError as error:
        if (subject.package.root / file).exists():
            findings.add("L002", Place(file), error.message)
        return None
