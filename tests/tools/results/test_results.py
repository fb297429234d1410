"""Files of results are written and read without loss, and what is wrong with one is said at its place."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from webgpu_kernels.errors import ResultsError
from webgpu_kernels.tools.engines import DeviceCensus
from webgpu_kernels.tools.results import (
    BenchResult,
    CopyTime,
    Machine,
    PackageFacts,
    PeerTime,
    ResultDevice,
    RunResults,
    TestResult,
    VariantFacts,
    VariantTime,
    Worst,
    machine_facts,
    merge_results,
    read_results,
    results_json,
    write_results,
)

if TYPE_CHECKING:
    from pathlib import Path

CENSUS = DeviceCensus(engine="native", version="wgpu 0.32.0", name="A GPU", vendor="acme", kind="discrete")
WORST = Worst(output="c", index=(1, 2), got=math.nan, expected=2**60 + 1, difference=math.inf, allowed=0.5)
TEST = TestResult(
    package="ai.onnx.Add",
    case="one",
    request="a float32[2]",
    variant="plain",
    chosen=True,
    outcome="failed",
    reason="wrong",
    error_of_allowed=-math.inf,
    worst=WORST,
    seconds=0.25,
)
BENCH = BenchResult(
    package="ai.onnx.Add",
    case="big",
    request="a float32[2]",
    bytes_read=16,
    bytes_written=8,
    operations=2,
    clock="gpu",
    copy=CopyTime(median_us=1.5, spread_us=0.5, gb_per_s=10),
    chosen="plain",
    variants={"plain": VariantTime(median_us=2.5, spread_us=0.5, runs_us=(2.5, 3), gb_per_s=9, of_copy=0.9)},
    peers={"numpy": PeerTime(version="2.0", device="CPU", clock="wall", median_us=5, spread_us=1, counted=False)},
)
RUN = RunResults(
    kind="both",
    created="2026-11-30T05:00:00Z",
    command="webgpu-kernels test ai.onnx.Add",
    machine=Machine(system="Linux 6", processor="A CPU", cores=2, python="3.11.7"),
    versions={"wgpu": "0.32.0"},
    device=ResultDevice(census=CENSUS, features=("shader-f16",), limits={"maxBufferSize": 2**31}),
    packages=(
        PackageFacts(op_id="ai.onnx.Add", source="ai.onnx.Add", digest="00", variants=(VariantFacts(id="plain"),)),
    ),
    tests=(TEST,),
    benches=(BENCH,),
)


def changed(path: Path, **members: Any) -> Path:
    """Write a run with other members at its top."""
    path.write_text(json.dumps({**results_json(RUN), **members}))
    return path


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    """Every member, also numbers that JSON lacks and integers that no double holds."""
    path = tmp_path / "results.json"
    write_results(path, RUN)
    # NaN is equal to nothing, so the texts are compared.
    assert repr(read_results(path)) == repr(RUN).replace("{", "mappingproxy({").replace("}", "})")


def test_the_file_is_plain_json(tmp_path: Path) -> None:
    """In the documented words."""
    path = tmp_path / "results.json"
    write_results(path, RUN)
    data = json.loads(path.read_text())
    assert list(data)[:3] == ["format", "version", "kind"]
    assert data["device"]["engine"] == "native"
    assert data["device"]["software"] is False
    assert data["tests"][0]["worst"] == {
        "output": "c",
        "index": [1, 2],
        "got": "NaN",
        "expected": "1152921504606846977",
        "difference": "Infinity",
        "allowed": 0.5,
    }
    assert data["benches"][0]["copy"] == {"medianUs": 1.5, "spreadUs": 0.5, "gbPerS": 10}


def test_all_defects_are_listed(tmp_path: Path) -> None:
    """Together, each with its place."""
    path = changed(tmp_path / "bad.json", format="other", machine={"system": 3}, tests=[{"outcome": "fine"}])
    with pytest.raises(ResultsError) as caught:
        read_results(path)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{path}: the file of results has 11 defects"
    assert '  format: must be "webgpu-kernels-results", not the string "other"' in lines
    assert "  machine.system: must be a string, not the number 3" in lines
    assert "  machine.cores: is missing: give an integer" in lines
    assert any(line.startswith('  tests[0].outcome: must be "passed" or "failed"') for line in lines)


def test_a_later_version_is_refused(tmp_path: Path) -> None:
    """Its numbers might mean something else."""
    path = changed(tmp_path / "new.json", version=2)
    with pytest.raises(ResultsError, match=r"version: is 2: this version of the library reads up to 1; update it"):
        read_results(path)


def test_keys_of_other_tools_are_let_be(tmp_path: Path) -> None:
    """As long as the version is known."""
    assert read_results(changed(tmp_path / "more.json", colour="green")).command == RUN.command


def test_a_file_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    """Which names it."""
    with pytest.raises(ResultsError, match=r"none\.json: there is no such file"):
        read_results(tmp_path / "none.json")


def test_a_folder_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    """When writing, too."""
    with pytest.raises(ResultsError, match="the results cannot be written"):
        write_results(tmp_path / "none" / "results.json", RUN)


def test_merging_keeps_the_latest_of_each_case() -> None:
    """And everything else that only one run has."""
    again = dataclasses.replace(
        RUN,
        kind="test",
        benches=(),
        tests=(dataclasses.replace(TEST, outcome="passed"), dataclasses.replace(TEST, case="two")),
    )
    merged = merge_results([RUN, again])
    assert [(test.case, test.outcome) for test in merged.tests] == [("one", "passed"), ("two", "failed")]
    assert (merged.kind, merged.benches) == ("both", (BENCH,))
    assert merged.count("passed") == 1


def test_other_devices_are_not_merged() -> None:
    """Nor is another version of the same package."""
    other = dataclasses.replace(RUN, device=ResultDevice(census=dataclasses.replace(CENSUS, name="B")))
    with pytest.raises(ResultsError, match="results of different devices cannot be merged: expected B, got A GPU"):
        merge_results([RUN, other])
    moved = dataclasses.replace(RUN, packages=(dataclasses.replace(RUN.packages[0], digest="11"),))
    with pytest.raises(ResultsError, match=r"ai\.onnx\.Add: results of different contents of a package"):
        merge_results([RUN, moved])


def test_the_machine_is_described() -> None:
    """With a processor, whoever names it."""
    facts = machine_facts()
    assert facts.cores >= 1
    assert all((facts.system, facts.processor, facts.python))
