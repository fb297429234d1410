"""Cases are prepared by several threads at a time, and none of them works while a case is measured."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from bench_packages import write_benched

import webgpu_kernels as wk
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.tools.bench import ahead
from webgpu_kernels.tools.bench.ahead import Prepared, prepared_cases
from webgpu_kernels.tools.bench.preparing import CaseSkipped, ReadyCase, ready_case
from webgpu_kernels.tools.bench.reading import benches_of
from webgpu_kernels.tools.capabilities import load_capabilities
from webgpu_kernels.tools.results import SkippedBench

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.bench.model import BenchCase

PATIENCE_S = 30


class Recording:
    """Plans as a runner does, and counts what is prepared."""

    def __init__(self, together: int) -> None:
        self.begun = 0
        self.done = 0
        self._meeting = threading.Barrier(together)
        self._lock = threading.Lock()

    def plan(self, case: BenchCase, kernel: Kernel) -> ReadyCase | SkippedBench:
        """Without a device."""
        try:
            return ready_case(case, kernel, load_capabilities("h200"), most_bytes=10**6)
        except CaseSkipped as skipped:
            return SkippedBench(package=kernel.op_id, case=case.name, reason=skipped.reason)

    def prepare(self, ready: ReadyCase) -> Prepared:
        """Wait until as many threads as are expected are here."""
        with self._lock:
            self.begun += 1
        self._meeting.wait(PATIENCE_S)
        with self._lock:
            self.done += 1
        return Prepared(ready, None)


def pairs(root: Path, *elements: int) -> list[tuple[BenchCase, Kernel]]:
    """Cases of some sizes."""
    cases: list[dict[str, Any]] = [
        {"name": f"case{index}", "inputs": {"x": {"dtype": "float32", "shape": [count]}}}
        for index, count in enumerate(elements)
    ]
    kernel = wk.load_kernel(write_benched(root, None, cases))
    return [(case, kernel) for case in benches_of(kernel.package).cases]


def name_of(found: Prepared | SkippedBench) -> str:
    return found.ready.case.name if isinstance(found, Prepared) else f"{found.case} skipped"


def test_threads_prepare_together_and_rest_while_a_case_is_measured(tmp_path: Path) -> None:
    """Whoever gets a case measures it: nothing is half done then, and nothing begins before the next round."""
    runner = Recording(together=3)
    seen = []
    for found in prepared_cases(runner, pairs(tmp_path / "p", *[8] * 6), jobs=3):
        assert runner.begun == runner.done
        seen.append((name_of(found), runner.done))
    assert seen == [(f"case{index}", 3 if index < 3 else 6) for index in range(6)]


def test_one_thread_prepares_case_by_case(tmp_path: Path) -> None:
    """So only one case is in memory."""
    runner = Recording(together=1)
    seen = [runner.done for _ in prepared_cases(runner, pairs(tmp_path / "p", 8, 8, 8))]
    assert seen == [1, 2, 3]


def test_skipped_cases_keep_their_place(tmp_path: Path) -> None:
    """And take no thread."""
    runner = Recording(together=2)
    found = prepared_cases(runner, pairs(tmp_path / "p", 8, 10**6, 8, 10**6), jobs=2)
    assert list(map(name_of, found)) == ["case0", "case1 skipped", "case2", "case3 skipped"]


def test_large_cases_are_prepared_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory holds what one of them may take."""
    monkeypatch.setattr(ahead, "CHECKED_BYTES", 1000)
    runner = Recording(together=1)
    seen = [runner.done for _ in prepared_cases(runner, pairs(tmp_path / "p", 100, 50, 50, 200), jobs=4)]
    assert seen == [1, 3, 3, 4]


def test_what_comes_next_is_told(tmp_path: Path) -> None:
    """By the first case of a round."""
    said: list[str] = []
    list(prepared_cases(Recording(together=2), pairs(tmp_path / "p", 8, 8), jobs=2, say=said.append))
    assert said == ["test.Double: case0: data"]


def test_what_fails_in_a_thread_is_raised(tmp_path: Path) -> None:
    """Before anything of the round is measured."""

    class Failing(Recording):
        def prepare(self, ready: ReadyCase) -> Prepared:
            raise SuiteError("reference.py fails", where=ready.case.name)

    with pytest.raises(SuiteError, match=r"case0: reference\.py fails"):
        next(prepared_cases(Failing(1), pairs(tmp_path / "p", 8, 8), jobs=2))
