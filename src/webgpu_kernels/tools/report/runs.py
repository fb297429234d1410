"""The runs of a report: results of one device joined, each with a name of its own and what its device is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import ResultsError
from webgpu_kernels.tools.report.text import moment, named, size, visible
from webgpu_kernels.tools.results import merge_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.tools.results import Outcome, PackageFacts, RunResults

OUTCOMES: Final[tuple[Outcome, ...]] = ("failed", "error", "passed", "skipped")
_LIMITS: Final = {
    "maxBufferSize": "largest buffer",
    "maxStorageBufferBindingSize": "largest binding",
    "maxComputeWorkgroupStorageSize": "memory of a workgroup",
    "maxComputeInvocationsPerWorkgroup": "lanes of a workgroup",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run as the page shows it.

    Attributes:
        index: its place among the runs.
        name: the device's, told apart from others of that name.
        results: what it found.
        facts: what the device is: heading and text.
        features: of the device.
        limits: those that matter most: heading and text.
        counts: outcomes of tests that occur, and how many have them.
    """

    index: int
    name: str
    results: RunResults
    facts: tuple[tuple[str, str], ...]
    features: tuple[str, ...]
    limits: tuple[tuple[str, str], ...]
    counts: tuple[tuple[Outcome, int], ...]

    @property
    def software(self) -> bool:
        """Whether the device is a processor that stands in for a GPU."""
        return self.results.device.census.software

    @property
    def engine(self) -> str:
        """What ran the kernels."""
        return visible(self.results.device.census.engine)

    def package(self, op_id: str) -> PackageFacts | None:
        """Return what is known of a package."""
        return next((package for package in self.results.packages if package.op_id == op_id), None)


def joined(files: Sequence[RunResults]) -> tuple[RunResults, ...]:
    """Join the results of each device, as far as they are of the same packages.

    Args:
        files: one or more, in any order.

    Returns:
        One for each device and machine, and more where a package's contents changed between.
    """
    groups: dict[object, list[RunResults]] = {}
    for results in sorted(files, key=lambda results: results.created):
        places = groups.setdefault((results.device.census, results.machine), [])
        try:
            places[:] = [*places[:-1], merge_results([*places[-1:], results])]
        except ResultsError:
            places.append(results)
    order = {(results.device.census, results.machine): None for results in files}
    return tuple(results for key in order for results in groups[key])


def runs_of(files: Sequence[RunResults]) -> tuple[Run, ...]:
    """Return what the page shows of each run.

    Args:
        files: the results, one for each run.
    """
    names = _names(files)
    return tuple(
        Run(
            index=index,
            name=names[index],
            results=results,
            facts=_facts(results),
            features=tuple(map(visible, results.device.features)),
            limits=_limits(results),
            counts=tuple((outcome, results.count(outcome)) for outcome in OUTCOMES if results.count(outcome)),
        )
        for index, results in enumerate(files)
    )


def _names(files: Sequence[RunResults]) -> list[str]:
    """Name each run by its device; by engine, machine and date where others have that name."""
    names = [[named(results.device.census.name)] for results in files]
    engines = [results.device.census.engine for results in files]
    processors = [results.machine.processor for results in files]
    dates = [moment(results.created) for results in files]
    for facts in (engines, processors, dates):
        joint = [", ".join(name) for name in names]
        twice = [at for at, name in enumerate(joint) if joint.count(name) > 1]
        if len({facts[at] for at in twice}) > 1:
            for at in twice:
                names[at].append(named(facts[at]))
    joint = [", ".join(name) for name in names]
    return [name if joint.count(name) == 1 else f"{name} ({at + 1})" for at, name in enumerate(joint)]


def _facts(results: RunResults) -> tuple[tuple[str, str], ...]:
    census, machine = results.device.census, results.machine
    made = " ".join(filter(None, (census.vendor, census.architecture)))
    facts = {
        "engine": ", ".join(filter(None, (census.engine, census.version))),
        "kind": " · ".join(filter(None, (census.kind, census.backend))),
        "vendor": made,
        "driver": census.driver,
        "computer": f"{machine.processor}, {machine.cores} cores",
        "system": machine.system,
        "versions": ", ".join(f"{name} {text}" for name, text in results.versions.items()),
        "Python": machine.python,
        "run at": moment(results.created),
        "command": results.command,
    }
    return tuple((heading, visible(text.strip())) for heading, text in facts.items() if text.strip())


def _limits(results: RunResults) -> tuple[tuple[str, str], ...]:
    limits = results.device.limits
    return tuple(
        (words, f"{limits[name]:,}" if words.startswith("lanes") else size(limits[name]))
        for name, words in _LIMITS.items()
        if name in limits
    )
