"""Makes data and expected values of several cases at a time, and never while a clock runs."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Protocol

from webgpu_kernels.tools.bench.checking import CHECKED_BYTES, tensor_bytes
from webgpu_kernels.tools.bench.preparing import ReadyCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.bench.checking import Checker
    from webgpu_kernels.tools.bench.model import BenchCase
    from webgpu_kernels.tools.results.model import SkippedBench


class Prepared(NamedTuple):
    """A case with its data.

    Attributes:
        ready: the case; its arrays are made.
        checker: by the package's reference, or None where that cannot be run.
    """

    ready: ReadyCase
    checker: Checker | None


class Preparing(Protocol):
    """Gets single cases ready."""

    def plan(self, case: BenchCase, kernel: Kernel) -> ReadyCase | SkippedBench:
        """Return a case without its data, or why it is not measured."""

    def prepare(self, ready: ReadyCase) -> Prepared:
        """Make a case's data and expected values, in whatever thread."""


def prepared_cases(
    runner: Preparing,
    pairs: Iterable[tuple[BenchCase, Kernel]],
    *,
    jobs: int = 1,
    say: Callable[[str], None] | None = None,
) -> Iterator[Prepared | SkippedBench]:
    """Prepare the next cases together, then hand them out one after the other while all threads rest.

    Threads that work on while something is timed would take cores and memory bandwidth from it: from peers, from what
    passes work to a GPU, and from all where a processor imitates one.

    Args:
        runner: prepares.
        pairs: cases and their kernels.
        jobs: how many threads prepare; as many cases at most are held at once.
        say: is told what comes next.

    Yields:
        The cases in order, each with its data or the reason why it is skipped.

    Raises:
        SuiteError: a package's own files are wrong.

    Source: docs/suites.md, "How it is measured".
    """
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="prepare")
    try:
        for together in _rounds((runner.plan(case, kernel) for case, kernel in pairs), jobs):
            ready = [one for one in together if isinstance(one, ReadyCase)]
            if ready and say is not None:
                say(f"{ready[0].kernel.op_id}: {ready[0].case.name}: data")
            made = deque(pool.map(runner.prepare, ready))
            for one in together:
                yield made.popleft() if isinstance(one, ReadyCase) else one
    finally:
        pool.shutdown(cancel_futures=True)


def _rounds(found: Iterable[ReadyCase | SkippedBench], jobs: int) -> Iterator[list[ReadyCase | SkippedBench]]:
    """Put cases together, as many as there are threads, and no more than one large one may take in memory."""
    together: list[ReadyCase | SkippedBench] = []
    count = size = 0
    for one in found:
        more = tensor_bytes(one.request) if isinstance(one, ReadyCase) else 0
        if more and count and (count == jobs or size + more > CHECKED_BYTES):
            yield together
            together, count, size = [], 0, 0
        together.append(one)
        count, size = count + bool(more), size + more
    if together:
        yield together
