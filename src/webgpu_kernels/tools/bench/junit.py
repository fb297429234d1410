"""Measured cases as tests, for what reads JUnit's XML: whether each variant is right, not how fast it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from webgpu_kernels.tools.results.model import TestResult
from webgpu_kernels.tools.suites.junit import write_junit

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from webgpu_kernels.tools.results.model import BenchResult, PackageFacts, RunResults, SkippedBench, VariantTime


def write_bench_junit(path: str | os.PathLike[str], results: RunResults, *, only: str | None = None) -> None:
    """Write a run's measured cases as XML: a test for each case and variant.

    Args:
        path: the file; its folder is there.
        results: a run's.
        only: the only variant that was asked for, or None.

    Raises:
        ResultsError: it cannot be written.

    Source: docs/command-line.md, "bench".
    """
    write_junit(path, replace(results, tests=bench_tests(results, only=only)))


def bench_tests(results: RunResults, *, only: str | None = None) -> tuple[TestResult, ...]:
    """Return a run's measured cases as tests.

    Args:
        results: a run's.
        only: the only variant that was asked for, or None.

    Returns:
        One for each case and variant: failed where it is wrong or fails, skipped where it was left out. One without a
        variant where a case is no call of its package.

    Source: docs/command-line.md, "bench".
    """
    facts = {package.op_id: package for package in results.packages}
    return (
        *(test for bench in results.benches for test in _measured(bench, facts[bench.package], only)),
        *(test for skip in results.skipped for test in _skipped(skip, facts[skip.package])),
    )


def _measured(bench: BenchResult, package: PackageFacts, only: str | None) -> Iterator[TestResult]:
    for name, time in bench.variants.items():
        yield TestResult(
            package=bench.package,
            case=bench.case,
            request=bench.request,
            variant=name,
            chosen=name == bench.chosen,
            outcome="failed" if time.error is not None else "passed",
            reason=time.error,
            seconds=_seconds(time),
        )
    for variant in package.variants:
        if variant.id not in bench.variants:
            yield TestResult(
                package=bench.package,
                case=bench.case,
                request=bench.request,
                variant=variant.id,
                chosen=variant.id == bench.chosen,
                outcome="skipped",
                reason="it does not take the case" if only in {None, variant.id} else f"only {only} was asked for",
            )


def _skipped(skip: SkippedBench, package: PackageFacts) -> Iterator[TestResult]:
    for variant in ("",) if skip.fault else [variant.id for variant in package.variants]:
        yield TestResult(
            package=skip.package,
            case=skip.case,
            request="",
            variant=variant,
            chosen=False,
            outcome="error" if skip.fault else "skipped",
            reason=skip.reason,
        )


def _seconds(time: VariantTime) -> float:
    """Return how long all timed runs took together."""
    return sum(float(run) for run in time.runs_us) / 1e6
