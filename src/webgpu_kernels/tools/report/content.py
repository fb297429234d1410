"""Everything that the page says, as values: what the template writes out and the plots show."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webgpu_kernels.tools.report.comparing import compared
from webgpu_kernels.tools.report.matrix import matrices
from webgpu_kernels.tools.report.runs import joined, runs_of
from webgpu_kernels.tools.report.speed import benches_of
from webgpu_kernels.tools.report.text import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from webgpu_kernels.tools.report.comparing import Change, Comparison, Turned
    from webgpu_kernels.tools.report.matrix import Detail, Matrix
    from webgpu_kernels.tools.report.runs import Run
    from webgpu_kernels.tools.report.speed import Bench
    from webgpu_kernels.tools.results import Outcome, RunResults

TITLE: Final = "WebGPU kernels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What the page says.

    Attributes:
        title: its heading.
        runs: one for each device.
        matrices: cases and variants.
        benches: benchmarks.
        comparisons: with the base, one for each run; empty where no base was given.
        packages: the names that filters offer.
        variants: the names that filters offer.
    """

    title: str
    runs: tuple[Run, ...]
    matrices: tuple[Matrix, ...]
    benches: tuple[Bench, ...]
    comparisons: tuple[Comparison, ...]
    packages: tuple[str, ...]
    variants: tuple[str, ...]

    def count(self, outcome: Outcome) -> int:
        """Return how many tests of all runs ended so."""
        return sum(run.results.count(outcome) for run in self.runs)

    @property
    def tests(self) -> int:
        """How many tests there are."""
        return sum(len(run.results.tests) for run in self.runs)

    @property
    def failures(self) -> tuple[Detail, ...]:
        """Cells whose result is wrong or that could not be run."""
        cells = (cell for matrix in self.matrices for row in matrix.rows for cell in row.cells if cell)
        return tuple(cell for cell in cells if cell.outcome in {"failed", "error"})

    @property
    def wrong_choices(self) -> tuple[Bench, ...]:
        """Benchmarks where another variant is faster beyond the noise, the greatest loss first."""
        wrong = [bench for bench in self.benches if bench.better]
        return tuple(sorted(wrong, key=lambda bench: (bench.better and bench.better.ratio) or 1.0))

    @property
    def slowdowns(self) -> tuple[Change, ...]:
        """What a call takes longer for than in the base, beyond the noise."""
        return tuple(
            change
            for comparison in self.comparisons
            for change in comparison.changes
            if change.called and change.verdict == "slower"
        )

    @property
    def broken(self) -> tuple[Turned, ...]:
        """Tests that passed, or were not there, in the base and fail now."""
        return tuple(test for one in self.comparisons for test in one.tests if test.turn == "broken")

    @property
    def unused(self) -> tuple[tuple[Matrix, tuple[str, ...]], ...]:
        """Variants on which no case of the package's suite ran, by matrix."""
        found = ((m, tuple(c.name for c in m.columns if c.name and not c.cases)) for m in self.matrices)
        return tuple((matrix, names) for matrix, names in found if names)

    @property
    def of_copy(self) -> float | None:
        """The median of what the chosen variants reach of a copy's speed, None where nothing was measured."""
        parts = [bench.chosen.of_copy for bench in self.benches if bench.chosen and bench.chosen.of_copy]
        return statistics.median(parts) if parts else None

    def benches_of(self, run: Run) -> tuple[Bench, ...]:
        """Return the benchmarks of a run."""
        return tuple(bench for bench in self.benches if bench.run is run)


def content_of(files: Sequence[RunResults], *, title: str | None = None, bases: Sequence[RunResults] = ()) -> Content:
    """Work out what the page says.

    Args:
        files: results; those of one device are joined.
        title: the page's heading.
        bases: files of an earlier run to compare with; those of one device are joined, too.

    Returns:
        Values; nothing is drawn or written yet.
    """
    runs = runs_of(joined(files))
    found = matrices(runs)
    benches = benches_of(runs)
    columns = [column.name for matrix in found for column in matrix.columns if column.name]
    timings = [timing.name for bench in benches for timing in bench.variants]
    return Content(
        title=named(title) if title else TITLE,
        runs=runs,
        matrices=found,
        benches=benches,
        comparisons=compared(runs, benches, joined(bases)),
        packages=_once([*(matrix.package for matrix in found), *(bench.package for bench in benches)]),
        variants=_once([*columns, *timings]),
    )


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
