"""Run the cases of a package's test.json, each on every variant that takes it.

Every element of every output is held against the case's values or the package's reference.py. What the device cannot
run is skipped and counted. docs/suites.md says how to write cases.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Final

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.devices import adapter_of
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package
from webgpu_kernels.cli.suites import (
    add_engine,
    add_files,
    add_filter,
    check_targets,
    device_words,
    subjects_of,
    tell_skipped,
)
from webgpu_kernels.tools.engines import open_engine
from webgpu_kernels.tools.results import new_results, package_facts, results_json, write_results
from webgpu_kernels.tools.suites.junit import write_junit
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tools.suites.running import run_suite
from webgpu_kernels.tools.suites.telling import Rerun, failure_lines, same_faults

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from webgpu_kernels.cli.screen import Part, Screen
    from webgpu_kernels.cli.suites import Subject
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.results import PackageFacts, RunResults, TestResult
    from webgpu_kernels.tools.suites.model import Case

SHOWN_FAILURES: Final = 20
"""Failures that are told in full; a kernel that is wrong everywhere would fill the screen."""
_HEADINGS: Final = ("variant", "passed", "failed", "skipped", "chosen by", "error/allowed")
_STYLES: Final = {"passed": "green", "failed": "bold red", "error": "bold red", "skipped": "yellow"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments.

    Args:
        parser: the command's.
    """
    add_package(parser, many=True)
    which = parser.add_argument_group("what to run")
    add_filter(which, "rank7_*")
    which.add_argument("--variant", metavar="ID", help="only this variant")
    add_engine(parser, threads="meanwhile")
    add_files(parser, junit="the results")


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Run the suites.

    Args:
        arguments: parsed.
        screen: where to print.

    Returns:
        ``FOUND`` where a case failed.
    """
    if arguments.jobs < 1:
        raise Usage("-j takes a number from 1 on.")
    subjects = subjects_of(arguments, suite_of, "run")
    check_targets((arguments.output, arguments.junit), subjects)
    begin = time.monotonic()
    engine = open_engine(arguments.engine, adapter_of(arguments))
    try:
        results = _run(subjects, engine, arguments, screen)
    finally:
        engine.close()
    if arguments.output:
        write_results(arguments.output, results)
    if arguments.junit:
        write_junit(arguments.junit, results)
    _show(results, subjects, arguments, screen)
    _summary(results, time.monotonic() - begin, screen)
    screen.result(results_json(results))
    return Exit.FOUND if results.count("failed") or results.count("error") else Exit.GOOD


def _run(
    subjects: Sequence[Subject[Case]], engine: Engine, arguments: argparse.Namespace, screen: Screen
) -> RunResults:
    results = new_results(
        "test",
        command=_command(arguments),
        engine=engine,
        packages=[package_facts(subject.kernel, subject.source) for subject in subjects],
    )
    tests: list[TestResult] = []
    with screen.progress("test", sum(len(subject.cases) for subject in subjects)) as progress:
        for subject in subjects:
            ran = run_suite(subject.kernel, subject.cases, engine, variant=arguments.variant, jobs=arguments.jobs)
            for case in ran:
                tests += case.results
                progress.advance(1, f"{subject.kernel.op_id}: {case.case.name}")
    return dataclasses.replace(results, tests=tuple(tests))


def _command(arguments: argparse.Namespace) -> str:
    words = ["webgpu-kernels", "test", *(["--all"] if arguments.all else []), *arguments.packages]
    for pattern in arguments.filter:
        words += ["--filter", pattern]
    for option in ("variant", "adapter"):
        if getattr(arguments, option) is not None:
            words += [f"--{option}", getattr(arguments, option)]
    return " ".join([*words, "--engine", arguments.engine])


def _show(
    results: RunResults, subjects: Sequence[Subject[Case]], arguments: argparse.Namespace, screen: Screen
) -> None:
    """Tell each failure, and each reason to skip with how often it was met."""
    sources = {subject.kernel.op_id: subject.source for subject in subjects}
    failures = [test for test in results.tests if test.outcome in {"failed", "error"}]
    groups = same_faults(failures)
    for test, *others in groups[:SHOWN_FAILURES]:
        rerun = Rerun(
            source=sources[test.package],
            engine=arguments.engine,
            adapter=arguments.adapter,
            trust=_trust_words(arguments),
        )
        on = f" on {test.variant}" if test.variant else ""
        screen.text((test.outcome.upper(), _STYLES[test.outcome]), f" {test.package}: ", (test.case, "bold"), on)
        for line in failure_lines(test, rerun):
            screen.text(f"  {line}")
        if others:
            screen.text(f"  and {_others(test, others)}, for the same reason")
        screen.text()
    rest = sum(map(len, groups[SHOWN_FAILURES:]))
    if rest:
        screen.text(f"… and {rest:,} more; -o FILE keeps them all.\n")
    tell_skipped((test.reason or "" for test in results.tests if test.outcome == "skipped"), screen)


def _others(test: TestResult, others: Sequence[TestResult]) -> str:
    cases = len({other.case for other in others} - {test.case})
    runs = f"{len(others):,} more run{'' if len(others) == 1 else 's'}"
    return f"{runs} of {cases:,} other case{'' if cases == 1 else 's'}" if cases else f"{runs} of this case"


def _trust_words(arguments: argparse.Namespace) -> tuple[str, ...]:
    named = tuple(word for name in arguments.trust for word in ("--trust", name))
    return (*named, "--trust-remote-code") if arguments.trust_remote_code else named


def _summary(results: RunResults, seconds: float, screen: Screen) -> None:
    """Print a row for each variant, and the sum last."""
    tables = {package.op_id: _rows(package, results.tests) for package in results.packages}
    rows: list[list[Part]] = [[package, *row] for package, those in tables.items() for row in those]
    if screen.fits(["package", *_HEADINGS], rows):
        screen.table(["package", *_HEADINGS], rows, right=range(2, 7))
    else:
        for package, those in tables.items():
            screen.table(_HEADINGS, those, right=range(1, 6), title=package)
            screen.text()
    parts: list[Part] = []
    for outcome in ("passed", "failed", "error", "skipped"):
        count = sum(test.outcome == outcome for test in results.tests)
        if count or outcome == "passed":
            named = "errors" if outcome == "error" and count != 1 else outcome
            parts += [", " if parts else "", (f"{count:,} {named}", _STYLES[outcome] if count else "")]
    where = device_words(results.device.census)
    cases = len({(test.package, test.case) for test in results.tests})
    screen.text(*parts, f": {cases:,} case{'' if cases == 1 else 's'} on {where} in {seconds:.1f} s")


def _rows(package: PackageFacts, tests: Sequence[TestResult]) -> list[list[Part]]:
    """Return a row for each variant, before them one for what came to no variant."""
    own = [test for test in tests if test.package == package.op_id]
    variants = dict.fromkeys(["", *(entry.id for entry in package.variants), *(test.variant for test in own)])
    found = {variant: [test for test in own if test.variant == variant] for variant in variants}
    return [_row(variant, those) for variant, those in found.items() if those]


def _row(variant: str, tests: Sequence[TestResult]) -> list[Part]:
    def ended(*outcomes: str) -> int:
        return sum(test.outcome in outcomes for test in tests)

    errors = [float(test.error_of_allowed) for test in tests if test.error_of_allowed is not None]
    failed = ended("failed", "error")
    return [
        variant or "—",
        (str(ended("passed")), "green" if ended("passed") else ""),
        (str(failed), "bold red" if failed else ""),
        (str(ended("skipped")), "yellow" if ended("skipped") else ""),
        str(sum(test.chosen for test in tests)),
        f"{max(errors):.2g}" if errors else "—",
    ]
