"""What the commands that run suites share: which cases, on which engine, with how many threads; what was skipped."""

from __future__ import annotations

import argparse
import math
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.devices import add_adapter
from webgpu_kernels.cli.packages import located, package_names
from webgpu_kernels.contract.files import suffix_fault
from webgpu_kernels.contract.words import alternatives
from webgpu_kernels.errors import OutputError
from webgpu_kernels.tools.engines import ENGINES
from webgpu_kernels.tools.suites.model import NamedCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.contract import Package
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.engines import DeviceCensus
    from webgpu_kernels.tools.suites.model import Suite

_MOST_JOBS: Final = 4
_BESIDE: Final = frozenset(
    {"manifest.json", "metadata.json", "test.json", "bench.json", "README.md", "reference.py", "peers.py"}
)


class Subject(NamedTuple, Generic[NamedCase]):
    """A package and the cases that are run of it.

    Attributes:
        source: what was typed to find it.
        kernel: made of it.
        cases: of its suite, those that are meant.
    """

    source: str
    kernel: Kernel
    cases: tuple[NamedCase, ...]


def add_filter(group: argparse._ArgumentGroup, such_as: str = "") -> None:
    """Add ``--filter``.

    Args:
        group: of the command's options.
        such_as: an example of a pattern.
    """
    example = f", such as '{such_as}'" if such_as else ""
    group.add_argument(
        "--filter",
        action="append",
        default=[],
        metavar="GLOB",
        help=f"only cases whose name matches{example}; may be repeated",
    )


def add_most_mb(group: argparse._ArgumentGroup) -> None:
    """Add ``--most-mb``.

    Args:
        group: of the command's options.
    """
    group.add_argument("--most-mb", type=_megabytes, metavar="N", help="skip cases whose tensors take more")


def _megabytes(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: write a number above 0")
    return found


def add_engine(parser: argparse.ArgumentParser, *, threads: str) -> None:
    """Add ``--engine``, ``--adapter`` and ``--jobs``.

    Args:
        parser: the command's.
        threads: what threads are for.
    """
    where = parser.add_argument_group("where")
    where.add_argument("--engine", choices=ENGINES, default="native", help="default: native")
    add_adapter(parser)
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=min(_MOST_JOBS, os.cpu_count() or 1),
        metavar="N",
        help=f"threads that make data and references {threads}",
    )


def add_files(parser: argparse.ArgumentParser, *, junit: str) -> None:
    """Add ``--output`` and ``--junit``.

    Args:
        parser: the command's.
        junit: what JUnit's XML holds.
    """
    written = parser.add_argument_group("files")
    written.add_argument("-o", "--output", metavar="FILE", help="write the results as JSON, for 'report'")
    written.add_argument("--junit", metavar="FILE", help=f"write {junit} as JUnit's XML")


def subjects_of(
    arguments: argparse.Namespace, read: Callable[[Package], Suite[NamedCase]], verb: str
) -> list[Subject[NamedCase]]:
    """Load packages and suites before anything runs: what is broken is said at once.

    Args:
        arguments: of a parser with several packages, ``--filter`` and ``--variant``.
        read: reads a package's suite.
        verb: what is done to packages.

    Returns:
        The packages, each with the cases that match.

    Raises:
        Usage: no case matches, there is no such variant, or two packages are of one operator.
        PackageError: a package or a suite cannot be read.
    """
    subjects: list[Subject[NamedCase]] = []
    known: list[str] = []
    for source in package_names(arguments):
        kernel = located(source, arguments)
        suite = read(kernel.package)
        known += [case.name for case in suite.cases]
        if any(subject.kernel.op_id == kernel.op_id for subject in subjects):
            raise Usage(f"Two of these packages are of {kernel.op_id}: {verb} them one after the other.")
        subjects.append(Subject(source, kernel, suite.matching(arguments.filter)))
    check_matched(arguments.filter, known, matched=any(subject.cases for subject in subjects))
    variants = [variant.id for subject in subjects for variant in subject.kernel.manifest.variants]
    if arguments.variant is not None and arguments.variant not in variants:
        hint = alternatives(arguments.variant, variants, what="variants")
        raise Usage(f"There is no variant {arguments.variant!r}: {hint}")
    return subjects


def check_matched(patterns: Sequence[str], known: Sequence[str], *, matched: bool) -> None:
    """Refuse patterns that no case's name matches.

    Args:
        patterns: what ``--filter`` gave.
        known: the names of all cases.
        matched: whether one matches.

    Raises:
        Usage: none does.
    """
    if not matched:
        raise Usage(f"No case matches {' or '.join(patterns)}: {alternatives(patterns[0], known, what='cases')}")


def check_targets(targets: Iterable[str | None], subjects: Sequence[Subject[NamedCase]]) -> None:
    """Refuse to write results over a package's own files, which ``-o test.json`` would in its folder.

    Args:
        targets: files to write, or None.
        subjects: the packages.

    Raises:
        Usage: one is a file of a package.
        OutputError: one cannot be a file.
    """
    for target in filter(None, targets):
        path = Path(target).resolve()
        # Found out before the run, whose results would be lost.
        if not path.parent.is_dir() or path.is_dir():
            what = "it is a folder" if path.is_dir() else "there is no such folder"
            raise OutputError(f"cannot be written: {what}", where=target)
        for subject in subjects:
            root = subject.kernel.package.root.resolve()
            names = _BESIDE if path.parent in {root, *root.parents[1:2]} else frozenset[str]()
            if path.name in names or (path.is_relative_to(root) and suffix_fault(path.name) is None):
                raise Usage(f"{target} is a file of {subject.kernel.op_id} itself: write the results to another one.")


def tell_skipped(reasons: Iterable[str], screen: Screen) -> None:
    """Tell each reason to skip something once, with how often it was met.

    Args:
        reasons: one for each that was skipped.
        screen: where to print.
    """
    for reason, count in Counter(reasons).items():
        screen.text((f"skipped {count}", "yellow"), f": {reason}")


def device_words(census: DeviceCensus) -> str:
    """Return a device as the last line of a run names it."""
    return f"{census.name} ({', '.join(word for word in (census.engine, census.backend) if word)})"
