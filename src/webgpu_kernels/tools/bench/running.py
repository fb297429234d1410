"""Measures cases: a copy of the same traffic, every variant that takes the case, and peers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import KernelError, OutOfMemory
from webgpu_kernels.tools.bench.ahead import Prepared
from webgpu_kernels.tools.bench.checking import Checker, reference_checker, tolerances_of
from webgpu_kernels.tools.bench.copying import Copier
from webgpu_kernels.tools.bench.peers import PeerCase, PeerUnable
from webgpu_kernels.tools.bench.preparing import CaseSkipped, ReadyCase, ready_case
from webgpu_kernels.tools.bench.samples import sample_of
from webgpu_kernels.tools.bench.stands import Effort, EngineStand, NativeStand
from webgpu_kernels.tools.engines.native import NativeEngine
from webgpu_kernels.tools.results.model import BenchResult, CopyTime, PeerTime, SkippedBench, VariantTime
from webgpu_kernels.tools.suites.references import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.tools.bench.model import BenchCase
    from webgpu_kernels.tools.bench.peers import Peer
    from webgpu_kernels.tools.bench.preparing import Way
    from webgpu_kernels.tools.bench.samples import Sample
    from webgpu_kernels.tools.bench.stands import Stand
    from webgpu_kernels.tools.engines import Engine

SOFTWARE_MOST_BYTES: Final = 160 * 10**6
"""What a case's tensors may take together where a processor imitates a GPU, unless somebody says otherwise."""
_PAUSE_S: Final = 0.02
"""The threads of other libraries go on spinning for a while."""


class Runner:
    """Measures cases on one engine.

    Args:
        engine: where.
        effort: how much to spend on each measurement.
        most_bytes: what a case's tensors may take together, or None for the engine's own limit.
        peers: others to time.
        variant: the only variant to time, or None.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        effort: Effort | None = None,
        most_bytes: int | None = None,
        peers: Sequence[Peer] = (),
        variant: str | None = None,
    ) -> None:
        self.engine = engine
        self.effort = effort or Effort()
        self.most_bytes = most_bytes
        if most_bytes is None and engine.census.software:
            self.most_bytes = SOFTWARE_MOST_BYTES
        self._peers = tuple(peers)
        self._variant = variant
        self._copier = Copier(engine)
        self._references: dict[int, Reference] = {}

    def run(
        self, case: BenchCase, kernel: Kernel, say: Callable[[str], None] | None = None
    ) -> BenchResult | SkippedBench:
        """Measure a case.

        Args:
            case: the case.
            kernel: the package's.
            say: is told what comes next.

        Returns:
            Its times, or why there are none.

        Raises:
            SuiteError: the package's own files are wrong.
        """
        found = self.plan(case, kernel)
        return found if isinstance(found, SkippedBench) else self.measure(self.prepare(found), say)

    def plan(self, case: BenchCase, kernel: Kernel) -> ReadyCase | SkippedBench:
        """Find out how a case goes, and make no data yet.

        Args:
            case: the case.
            kernel: the package's.

        Returns:
            The case, or why it is not measured.

        Raises:
            SuiteError: the package's own files are wrong.
        """
        here = isinstance(self.engine, NativeEngine)
        try:
            return ready_case(case, kernel, self.engine.capabilities, most_bytes=self.most_bytes, here=here)
        except CaseSkipped as skipped:
            return SkippedBench(package=kernel.op_id, case=case.name, reason=skipped.reason, fault=skipped.fault)

    def prepare(self, ready: ReadyCase) -> Prepared:
        """Make a case's data and expected values; several threads may, each with its case.

        Args:
            ready: the case.

        Returns:
            It, and a checker where the package's reference can be run.

        Raises:
            SuiteError: the reference fails.
        """
        reference = self._reference(ready.kernel)
        return Prepared(ready, reference_checker(ready.case, ready.request, ready.arrays.of_set(0), reference))

    def measure(self, prepared: Prepared, say: Callable[[str], None] | None = None) -> BenchResult | SkippedBench:
        """Measure a case that is prepared.

        Args:
            prepared: the case.
            say: is told what comes next.

        Returns:
            Its times, or why there are none.

        Raises:
            DeviceError: the device failed.
        """
        try:
            return self._measured(prepared, say or (lambda _: None))
        except OutOfMemory:
            return SkippedBench(
                package=prepared.ready.kernel.op_id,
                case=prepared.ready.case.name,
                reason="too large for the device's memory",
            )

    def checker(self, ready: ReadyCase) -> Checker:
        """Return what holds results against what they should be.

        Args:
            ready: the case.

        Returns:
            A checker by the package's reference; where that cannot be run, by the variant of the lowest rank.

        Raises:
            SuiteError: the reference fails.
            DeviceError: the device does.
        """
        return self.prepare(ready).checker or self._by_last_variant(ready)

    def _by_last_variant(self, ready: ReadyCase) -> Checker:
        reference = self._reference(ready.kernel)
        last = ready.ways[-1]
        outcome = self.engine.run(ready.program(last), ready.arrays.of_set(0))
        why = "it is too large for the reference" if reference.there else "there is no reference that may be run"
        alone = len(ready.ways) == 1
        note = f"not checked: {why}" if alone else f"held against {last.variant}: {why}"
        tolerances = tolerances_of(ready.case, ready.request)
        return Checker({} if alone else outcome.outputs, tolerances, ends_only=True, note=note)

    def _reference(self, kernel: Kernel) -> Reference:
        return self._references.setdefault(id(kernel), Reference(kernel.package))

    def stand(self, ready: ReadyCase) -> Stand:
        """Return where a case's programs are timed; whoever asks closes it."""
        if not isinstance(self.engine, NativeEngine):
            return EngineStand(self.engine, ready.arrays)
        return NativeStand(self.engine.device, ready.first, ready.arrays, ready.moved, self._copier.busy)

    def _measured(self, prepared: Prepared, say: Callable[[str], None]) -> BenchResult:
        ready = prepared.ready
        name = f"{ready.kernel.op_id}: {ready.case.name}"
        say(f"{name}: copy")
        time.sleep(_PAUSE_S)  # the reference may have used a library's threads
        copy = self._copier.time(ready.moved, self.effort)
        checker = prepared.checker or self._by_last_variant(ready)
        stand = self.stand(ready)
        variants = {}
        try:
            for way in ready.ways:
                if self._variant in {None, way.variant}:
                    say(f"{name}: {way.name}")
                    variants[way.name] = self._variant_time(ready, way, checker, stand, copy)
        finally:
            stand.close()
        peers = {}
        for peer in self._peers:
            say(f"{name}: {peer.name}")
            peers[peer.name] = self._peer_time(peer, ready, checker)
        return BenchResult(
            package=ready.kernel.op_id,
            case=ready.case.name,
            request=ready.text,
            bytes_read=ready.moved.read,
            bytes_written=ready.moved.written,
            operations=ready.moved.operations,
            clock=stand.clock,
            copy=CopyTime(median_us=copy.median_us, spread_us=copy.spread_us, gb_per_s=_speed(ready.moved.bytes, copy)),
            chosen=ready.chosen.name,
            variants=variants,
            peers=peers,
        )

    def _variant_time(self, ready: ReadyCase, way: Way, checker: Checker, stand: Stand, copy: Sample) -> VariantTime:
        try:
            program = ready.program(way)
            if wrong := self.fault(program, ready, checker):
                return VariantTime(error=f"wrong: {wrong}")
            sample = stand.time(program, self.effort)
        except KernelError as error:
            return VariantTime(error=f"{type(error).__name__}: {error}")
        notes = "; ".join(note for note in (sample.note, checker.note) if note)
        known = sample.median_us > 0
        return VariantTime(
            median_us=sample.median_us,
            spread_us=sample.spread_us,
            runs_us=sample.runs_us,
            gb_per_s=_speed(ready.moved.bytes, sample) if known else None,
            of_copy=round(copy.median_us / sample.median_us, 4) if known else None,
            note=notes or None,
        )

    def fault(self, program: Program, ready: ReadyCase, checker: Checker) -> str | None:
        """Run a program once and say what is wrong with its results, None where nothing is.

        Args:
            program: one way to compute the case.
            ready: the case.
            checker: knows what is right.

        Returns:
            What is wrong, or None.

        Raises:
            DeviceError: the device failed, or refused a shader.
        """
        outcome = self.engine.run(program, ready.arrays.of_set(0))
        return checker.judge(outcome.outputs, outcome.unwritten).reason

    def _peer_time(self, peer: Peer, ready: ReadyCase, checker: Checker) -> PeerTime:
        facts = PeerTime(version=peer.version, device=peer.device, clock="wall", counted=False)
        case = PeerCase(
            package=ready.kernel.package,
            case=ready.case,
            request=ready.request,
            arrays=ready.arrays,
            moved_bytes=ready.moved.bytes,
        )
        try:
            work = peer.prepare(case)
            judgement = checker.judge(work.outputs())
            sample = sample_of(work.runs_us(self.effort))
        except PeerUnable as unable:
            return replace(facts, note=f"cannot: {unable}")
        except Exception as error:  # noqa: BLE001 - other libraries raise what they like, and none may end the run
            lines = str(error).strip().splitlines()
            said = f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
            return replace(facts, note=f"cannot: {said}")
        time.sleep(_PAUSE_S)
        wrong = f"computes something else: {judgement.reason}" if judgement.reason else None
        return replace(
            facts,
            clock=work.clock,
            median_us=sample.median_us,
            spread_us=sample.spread_us,
            error_of_allowed=judgement.error_of_allowed,
            counted=wrong is None,
            note="; ".join(note for note in (wrong, work.note, sample.note) if note) or None,
        )


def _speed(moved_bytes: int, sample: Sample) -> float:
    return round(moved_bytes / sample.median_us / 1e3, 3) if sample.median_us > 0 else 0.0
