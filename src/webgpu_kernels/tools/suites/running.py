"""Runs the cases of a suite on an engine, each on every variant that takes it."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.errors import KernelError, LimitError, OutOfMemory
from webgpu_kernels.tools.results.model import TestResult
from webgpu_kernels.tools.suites.comparison import compare
from webgpu_kernels.tools.suites.preparing import Prepared, prepare_case
from webgpu_kernels.tools.suites.references import Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.engines import Outcome as Ran
    from webgpu_kernels.tools.results.model import Outcome
    from webgpu_kernels.tools.suites.model import Case
    from webgpu_kernels.tools.suites.preparing import Way


class CaseRun(NamedTuple):
    """One case after it was run.

    Attributes:
        case: the case.
        results: one for each variant; a single one without a variant where it did not come to that.
    """

    case: Case
    results: tuple[TestResult, ...]


def run_suite(
    kernel: Kernel, cases: Sequence[Case], engine: Engine, *, variant: str | None = None, jobs: int = 1
) -> Iterator[CaseRun]:
    """Run cases; what is wrong with one is in its results, never raised.

    Arrays and references are made by other threads while the engine runs what is ready.

    Args:
        kernel: the package's.
        cases: of its suite.
        engine: where to run.
        variant: the only variant to run, or None for every one that takes a case.
        jobs: how many threads prepare.

    Yields:
        The cases in order.

    Source: docs/suites.md.
    """
    reference = Reference(kernel.package)
    prepare = partial(prepare_case, kernel=kernel, capabilities=engine.capabilities, reference=reference)
    runner = SuiteRunner(kernel, engine)
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="prepare") as pool:
        ahead: deque[Future[Prepared]] = deque()
        try:
            for case in cases:
                ahead.append(pool.submit(prepare, case))
                # A few ahead keep the engine busy; more would only fill the memory.
                if len(ahead) > jobs + 1:
                    yield runner.run(ahead.popleft().result(), variant)
            while ahead:
                yield runner.run(ahead.popleft().result(), variant)
        finally:
            for future in ahead:
                future.cancel()


class SuiteRunner:
    """Runs prepared cases.

    Args:
        kernel: the package's.
        engine: where to run.
    """

    def __init__(self, kernel: Kernel, engine: Engine) -> None:
        self._kernel = kernel
        self._engine = engine

    def run(self, ready: Prepared, variant: str | None = None) -> CaseRun:
        """Run a case on the variants that it asks for.

        Args:
            ready: the case.
            variant: the only variant to run, or None.

        Returns:
            What became of it.
        """
        case = ready.case
        if case.skip_gpu is not None:
            skip = case.skip_gpu
            found = [self._result(ready, "", "skipped", f"skipGpu, {skip.category}: {skip.reason}")]
        elif case.error is not None:
            found = [self._expecting_error(ready, variant)]
        elif ready.lacking is not None:
            found = [self._result(ready, "", "skipped", ready.lacking)]
        elif ready.problem is not None:
            found = [self._result(ready, "", "error", _said(ready.problem))]
        else:
            ways = [way for way in ready.ways if variant in {None, way.variant}]
            found = self._with_choice(ready, [self._on_variant(ready, way) for way in ways], variant)
        return CaseRun(case, tuple(found))

    def _with_choice(self, ready: Prepared, found: list[TestResult], variant: str | None) -> list[TestResult]:
        """Fail the variant that should have been chosen, and was not."""
        wanted = ready.case.variant
        if ready.misled is None or wanted is None or variant not in {None, wanted}:
            return found
        return [
            *(result for result in found if result.variant != wanted or result.outcome != "passed"),
            self._result(ready, wanted, "failed", ready.misled),
        ]

    def _on_variant(self, ready: Prepared, way: Way) -> TestResult:
        if way.refusal is not None:
            return self._result(ready, way.variant, "skipped" if way.skipped else "error", way.refusal)
        begin = time.perf_counter()
        try:
            program = ready.case.call.program(self._kernel, self._engine.capabilities, way.variant)
            ran = self._engine.run(program, ready.inputs)
        except (LimitError, OutOfMemory) as error:
            return self._result(ready, way.variant, "skipped", f"too large for the device: {error}")
        except KernelError as error:
            return self._result(ready, way.variant, "error", _said(error), seconds=time.perf_counter() - begin)
        return self._judged(ready, way.variant, program, ran, time.perf_counter() - begin)

    def _judged(self, ready: Prepared, variant: str, program: Program, ran: Ran, seconds: float) -> TestResult:
        """Hold every output that the case names against what it expects, and keep the worst verdict."""
        verdicts = []
        for name, output in ready.case.outputs.items():
            got = ran.outputs[name]
            dtype = next(use.dtype for use in program.outputs if use.name == name)
            if output.dtype not in {None, dtype}:
                reason = f"{name} is {dtype}, the case expects {output.dtype}"
                return self._result(ready, variant, "failed", reason, seconds=seconds)
            verdicts.append(
                compare(name, got, ready.expected[name], output.tolerance, output.allow_nan, ran.unwritten.get(name))
            )
        worst = max(verdicts, key=lambda one: (one.reason is not None, one.error_of_allowed or 0.0))
        reasons = "; ".join(verdict.reason for verdict in verdicts if verdict.reason is not None)
        return TestResult(
            package=self._kernel.op_id,
            case=ready.case.name,
            request=ready.request,
            variant=variant,
            chosen=variant == ready.chosen,
            outcome="failed" if reasons else "passed",
            reason=reasons or None,
            error_of_allowed=worst.error_of_allowed,
            worst=worst.worst,
            seconds=seconds,
        )

    def _expecting_error(self, ready: Prepared, only: str | None) -> TestResult:
        expected = ready.case.error
        assert expected is not None
        forced = ready.case.force[0] if ready.case.force else only
        raised = ready.problem
        begin = time.perf_counter()
        if raised is None:
            try:
                program = ready.case.call.program(self._kernel, self._engine.capabilities, forced)
                self._engine.run(program, ready.inputs)
            except KernelError as error:
                raised = error
        seconds = time.perf_counter() - begin
        variant = forced or ""
        if raised is None:
            reason = f"{expected.kind} was expected, and the call ran"
            return self._result(ready, variant, "failed", reason, seconds=seconds)
        kinds = {kind.__name__ for kind in type(raised).__mro__}
        if expected.kind in kinds and expected.message in str(raised):
            return self._result(ready, variant, "passed", None, seconds=seconds)
        if ready.lacking is not None:
            return self._result(ready, variant, "skipped", ready.lacking)
        wanted = f"{expected.kind} with {expected.message!r}" if expected.message else expected.kind
        return self._result(ready, variant, "failed", f"{wanted} was expected, and came {_said(raised)}")

    def _result(
        self, ready: Prepared, variant: str, outcome: Outcome, reason: str | None, *, seconds: float = 0.0
    ) -> TestResult:
        return TestResult(
            package=self._kernel.op_id,
            case=ready.case.name,
            request=ready.request,
            variant=variant,
            chosen=bool(variant) and variant == ready.chosen,
            outcome=outcome,
            reason=reason,
            seconds=seconds,
        )


def _said(error: KernelError) -> str:
    kind = type(error).__name__
    return f"{kind}: {error}"
