"""What a person is told of a case that failed: the call, the worst element, and how to run it alone."""

from __future__ import annotations

import glob
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webgpu_kernels.tools.results.model import Number, TestResult, Worst

# What one fault says in several ways: the variant that met it, and where its shader's text has the line.
_OF_ONE_VARIANT: Final = re.compile(r"\bvariant \w+|\bline \d+ of the WGSL\b|\bpass [\w.\[\]]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """What a command line needs to run a case again.

    Attributes:
        source: the package as it was typed.
        engine: the engine.
        adapter: the adapter as it was typed, or None.
        trust: further words, such as those that trust a repository.
    """

    source: str
    engine: str = "native"
    adapter: str | None = None
    trust: tuple[str, ...] = ()

    def command(self, result: TestResult) -> str:
        """Return the command that runs one case on one variant, to be pasted into a shell."""
        words = ["webgpu-kernels", "test", self.source, "--filter", glob.escape(result.case)]
        if result.variant:
            words += ["--variant", result.variant]
        if self.engine != "native":
            words += ["--engine", self.engine]
        if self.adapter is not None:
            words += ["--adapter", self.adapter]
        return shlex.join([*words, *self.trust])


def same_faults(results: Iterable[TestResult]) -> list[list[TestResult]]:
    """Put errors together that are one fault, such as a template that does not compile for any case.

    Args:
        results: failed cases.

    Returns:
        Groups in the order of their first; a wrong result stands alone, since each is wrong in its own way.
    """
    groups: dict[object, list[TestResult]] = {}
    for result in results:
        key = (result.package, fault_of(result.reason or "")) if result.outcome == "error" else id(result)
        groups.setdefault(key, []).append(result)
    return list(groups.values())


def fault_of(reason: str) -> str:
    """Return what two errors have in common that are of one fault, whatever variant met it.

    Args:
        reason: why something could not be run.

    Returns:
        Its first line, less what tells variants apart.
    """
    return _OF_ONE_VARIANT.sub("", reason.partition("\n")[0])


def failure_lines(result: TestResult, rerun: Rerun) -> list[str]:
    """Say everything about a failure.

    Args:
        result: a failed case.
        rerun: how it was run.

    Returns:
        Lines: the request, what is wrong, the worst element, the command that runs the case alone.
    """
    lines = [result.request] if result.request else []
    lines += (result.reason or "").splitlines()
    if result.outcome == "failed" and result.worst is not None:
        lines.append(worst_line(result.worst))
    return [*lines, rerun.command(result)]


def worst_line(worst: Worst) -> str:
    """Return ``worst is c[0, 3]: got 1.5, expected 1.25, difference 0.25, allowed 1e-06``."""
    place = f"{worst.output}[{', '.join(map(str, worst.index))}]" if worst.index else worst.output
    return (
        f"worst is {place}: got {shown(worst.got)}, expected {shown(worst.expected)}, "
        f"difference {shown(worst.difference)}, allowed {shown(worst.allowed)}"
    )


def shown(value: Number) -> str:
    """Return an element: integers whole, floats with as many digits as tell two float32 apart."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)
