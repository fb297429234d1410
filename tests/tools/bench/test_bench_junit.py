"""Measured cases as tests: one for each case and variant."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from webgpu_kernels.tools.bench.junit import bench_tests, write_bench_junit
from webgpu_kernels.tools.engines import DeviceCensus
from webgpu_kernels.tools.results import (
    BenchResult,
    Machine,
    PackageFacts,
    ResultDevice,
    RunResults,
    SkippedBench,
    VariantFacts,
    VariantTime,
)

if TYPE_CHECKING:
    from pathlib import Path

BENCH = BenchResult(
    package="a.B",
    case="one",
    request="x float32[2]",
    bytes_read=8,
    bytes_written=8,
    clock="gpu",
    chosen="fast",
    variants={
        "fast": VariantTime(error="wrong: y: 1 of 2 elements is wrong"),
        "plain": VariantTime(median_us=10.0, runs_us=(10_000.0, 20_000.0)),
    },
)
RUN = RunResults(
    kind="bench",
    created="2026-11-30T05:00:00Z",
    command="webgpu-kernels bench a.B",
    machine=Machine(system="Linux", processor="CPU", cores=1, python="3.11"),
    versions={},
    device=ResultDevice(census=DeviceCensus(engine="native", version="wgpu", name="A GPU")),
    packages=(
        PackageFacts(
            op_id="a.B", source="a.B", variants=tuple(VariantFacts(id=name) for name in ("fast", "other", "plain"))
        ),
    ),
    benches=(BENCH,),
    skipped=(
        SkippedBench(package="a.B", case="large", reason="too large"),
        SkippedBench(package="a.B", case="bad", reason="wrong dtype", fault=True),
    ),
)


def test_each_case_and_variant_is_a_test() -> None:
    """Wrong ones have failed, left out ones are skipped, and a case that is no call is an error."""
    found = [(test.case, test.variant, test.outcome, test.reason) for test in bench_tests(RUN)]
    assert found == [
        ("one", "fast", "failed", "wrong: y: 1 of 2 elements is wrong"),
        ("one", "plain", "passed", None),
        ("one", "other", "skipped", "it does not take the case"),
        ("large", "fast", "skipped", "too large"),
        ("large", "other", "skipped", "too large"),
        ("large", "plain", "skipped", "too large"),
        ("bad", "", "error", "wrong dtype"),
    ]


def test_what_was_not_asked_for_is_skipped() -> None:
    """With another reason than what does not take the case."""
    reasons = {test.variant: test.reason for test in bench_tests(RUN, only="plain") if test.case == "one"}
    assert reasons["other"] == "only plain was asked for"
    assert {test.reason for test in bench_tests(RUN, only="other") if test.variant == "other"} == {
        "it does not take the case",
        "too large",
    }


def test_the_file_counts_them(tmp_path: Path) -> None:
    """And holds how long the timed runs took."""
    write_bench_junit(tmp_path / "junit.xml", RUN)
    root = ET.fromstring((tmp_path / "junit.xml").read_text())
    assert {name: root.attrib[name] for name in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "7",
        "failures": "1",
        "errors": "1",
        "skipped": "4",
        "time": "0.0300",
    }
    failure = root.find("./testsuite[@name='a.B']/testcase[@name='one[fast]']/failure")
    assert failure is not None
    assert failure.attrib["message"] == "wrong: y: 1 of 2 elements is wrong"
