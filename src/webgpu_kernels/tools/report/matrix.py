"""Which case passed on which variant: a matrix for each package and run, and what each of its cells knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webgpu_kernels.tools.report.text import MINUS, TIMES, figure, named, paragraph, share, visible
from webgpu_kernels.tools.suites.telling import Rerun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.tools.report.runs import Run
    from webgpu_kernels.tools.results import Number, Outcome, TestResult

_WORST_FIRST: Final[tuple[Outcome, ...]] = ("failed", "error", "skipped", "passed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """All that is known of one case on one variant, as text that is harmless.

    Attributes:
        index: its place among all details of the page.
        run: the run's place.
        package: the operator.
        case: the case's name.
        request: tensors and attributes.
        variant: its id; empty where the case ended before variants mattered.
        chosen: whether a call takes it.
        outcome: how it ended.
        reason: why, or None.
        error: the greatest error as a part of what is allowed, or None.
        seconds: wall time.
        worst: the worst element, heading and text; empty where nothing was compared.
        command: what runs this alone.
    """

    index: int
    run: int
    package: str
    case: str
    request: str
    variant: str
    chosen: bool
    outcome: Outcome
    reason: str | None
    error: str | None
    seconds: str
    worst: tuple[tuple[str, str], ...]
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A variant.

    Attributes:
        name: its id; empty for what ended before variants mattered.
        description: a sentence.
        cases: how many cases ran on it.
    """

    name: str
    description: str
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A case.

    Attributes:
        case: its name.
        request: tensors and attributes.
        cells: one a column, None where the variant does not take the case.
        rank: 0 for the worst outcome, for sorting.
    """

    case: str
    request: str
    cells: tuple[Detail | None, ...]
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A package's cases on one device.

    Attributes:
        run: whose they are.
        package: the operator.
        origin: where the package came from.
        columns: its variants.
        rows: its cases.
        counts: outcomes that occur, and how often.
    """

    run: Run
    package: str
    origin: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    counts: tuple[tuple[Outcome, int], ...]


def matrices(runs: Sequence[Run]) -> tuple[Matrix, ...]:
    """Return the matrix of each package of each run that has tests of it.

    Args:
        runs: of the report.
    """
    pairs = dict.fromkeys((test.package, run.index) for run in runs for test in run.results.tests)
    packages = list(dict.fromkeys(package for package, _ in pairs))
    found: list[Matrix] = []
    first = 0
    # A package's devices stand below each other, as they are what one compares.
    for package, index in sorted(pairs, key=lambda pair: packages.index(pair[0])):
        tests = [test for test in runs[index].results.tests if test.package == package]
        found.append(_matrix(runs[index], package, tests, first))
        first += len(tests)
    return tuple(found)


def details(found: Sequence[Matrix]) -> tuple[Detail, ...]:
    """Return the cells of all matrices in the order of their indices.

    Args:
        found: every matrix of the page.
    """
    cells = (cell for matrix in found for row in matrix.rows for cell in row.cells if cell)
    return tuple(sorted(cells, key=lambda cell: cell.index))


def _matrix(run: Run, package: str, tests: list[TestResult], first: int) -> Matrix:
    facts = run.package(package)
    known = {variant.id: variant.description or "" for variant in facts.variants} if facts else {}
    ids = dict.fromkeys([*([""] if any(not test.variant for test in tests) else []), *known])
    ids |= dict.fromkeys(test.variant for test in tests)
    cells: dict[str, dict[str, Detail]] = {}
    for at, test in enumerate(tests):
        cells.setdefault(test.case, {})[test.variant] = _detail(
            run, test, first + at, facts.source if facts else package
        )
    rows = tuple(_row(ids, of_case) for of_case in cells.values())
    outcomes = [cell.outcome for row in rows for cell in row.cells if cell]
    return Matrix(
        run=run,
        package=named(package),
        origin=visible(_origin(run, package)),
        columns=tuple(
            Column(
                name=named(name) if name else "",
                description=visible(known.get(name, "")),
                cases=sum(name in of_case for of_case in cells.values()),
            )
            for name in ids
        ),
        rows=rows,
        counts=tuple((outcome, outcomes.count(outcome)) for outcome in _WORST_FIRST if outcome in outcomes),
    )


def _row(ids: dict[str, None], cells: dict[str, Detail]) -> Row:
    some = next(iter(cells.values()))
    rank = min(_WORST_FIRST.index(cell.outcome) for cell in cells.values())
    return Row(case=some.case, request=some.request, cells=tuple(cells.get(name) for name in ids), rank=rank)


def _origin(run: Run, op_id: str) -> str:
    facts = run.package(op_id)
    if facts is None:
        return ""
    said = [facts.source] if facts.source != op_id else []
    said += [f"version {facts.version}"] if facts.version is not None else []
    said += [f"commit {facts.revision[:12]}"] if facts.revision else []
    said += [f"digest {facts.digest[:12]}"] if facts.digest else []
    return " · ".join(said)


def _detail(run: Run, test: TestResult, index: int, source: str) -> Detail:
    return Detail(
        index=index,
        run=run.index,
        package=named(test.package),
        case=named(test.case),
        request=visible(test.request),
        variant=named(test.variant) if test.variant else "",
        chosen=test.chosen,
        outcome=test.outcome,
        reason=paragraph(test.reason) if test.reason else None,
        error=None if test.error_of_allowed is None else _part(test.error_of_allowed),
        seconds=f"{figure(_real(test.seconds), 2)} s",
        worst=_worst(test),
        command=_command(run, test, source),
    )


def _worst(test: TestResult) -> tuple[tuple[str, str], ...]:
    worst = test.worst
    if worst is None:
        return ()
    place = f"{worst.output}[{', '.join(map(str, worst.index[:16]))}]" if worst.index else worst.output
    numbers = {"got": worst.got, "expected": worst.expected, "apart by": worst.difference, "allowed": worst.allowed}
    return (("element", visible(place)), *((words, _exact(value)) for words, value in numbers.items()))


def _exact(value: Number) -> str:
    """Return a number as it was, as one digit may be what is wrong."""
    if isinstance(value, int):
        return visible(str(value) if abs(value) < 10**40 else figure(_real(value)))
    return f"{value:.9g}".replace("-", MINUS).replace("inf", "∞").replace("nan", "NaN")


def _part(value: Number) -> str:
    known = _real(value)
    return share(known) if abs(known) < 10 else f"{TIMES}{figure(known, 2)}"


def _real(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _command(run: Run, test: TestResult, source: str) -> str:
    return visible(Rerun(source=source, engine=run.results.device.census.engine).command(test))
