"""The command bench: what it prints, writes and returns; what was timed is not asserted."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from bench_packages import BENCH_CASE, write_benched
from doubling_package import RIGHT

from webgpu_kernels.cli import main
from webgpu_kernels.cli.bench_table import microseconds, row_of
from webgpu_kernels.tools.results import BenchResult, CopyTime, PeerTime, VariantTime, read_results

if TYPE_CHECKING:
    from pathlib import Path

WRONG = "y[i] = x[i];"
TIMES = "\N{MULTIPLICATION SIGN}"
QUICK = ["--quick", "--seconds", "2"]


@pytest.fixture
def right(tmp_path: Path) -> Path:
    """A package with two variants, and a case that is too large for a quick look."""
    large = {"name": "large", "inputs": {"x": {"dtype": "float32", "shape": [10_000_000]}}}
    return write_benched(tmp_path / "right", {"fast": RIGHT, "plain": RIGHT}, [BENCH_CASE, large])


@pytest.mark.device
def test_a_package_is_measured(
    right: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a table of at most 80 columns, and what was skipped is counted."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["bench", str(right), *QUICK, "--against", "numpy"]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed[0] == "test.Double"
    assert printed[1].split() == ["case,", "chosen", "variant", "µs", "±", "GB/s", "copy", "others", "take"]
    assert printed[3].startswith("many ")
    assert printed[4].strip().startswith("fast")
    assert any(re.search(rf"plain \d+(\.\d+)?{TIMES}", line) for line in printed[3:6])
    assert "skipped 1: too large: tensors of more than 20 MB" in printed
    assert "numpy, 1 case: the package's reference, which is written to be exact, not fast" in "\n".join(printed)
    assert printed[-1].startswith("1 case on ")
    assert max(map(len, printed[:8])) <= 80


@pytest.mark.device
def test_results_are_written_and_printed_as_json(
    right: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same document."""
    file = tmp_path / "results.json"
    words = ["bench", str(right), *QUICK, "--filter", "m*", "--filter", "l*", "--against", "numpy", "-o", str(file)]
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(file.read_text())
    results = read_results(file)
    assert results.kind == "bench"
    assert results.command == (
        f"webgpu-kernels bench {right} --filter m* --filter l* --against numpy --seconds 2 --quick --engine native"
    )
    (bench,) = results.benches
    assert (bench.case, bench.chosen, list(bench.variants)) == ("many", "fast", ["fast", "plain"])
    assert list(bench.peers) == ["numpy"]
    assert [(skip.case, skip.fault) for skip in results.skipped] == [("large", False)]


@pytest.mark.device
def test_a_wrong_variant_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And is told."""
    root = write_benched(tmp_path / "p", {"fast": WRONG, "plain": RIGHT})
    assert main(["bench", str(root), *QUICK]) == 1
    assert "FAILED test.Double: many on fast: wrong: y: 4,096 of 4,096 elements are wrong" in capsys.readouterr().out


@pytest.mark.device
def test_one_fault_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong result is told of every variant, and what does not compile once a template."""
    cases = [BENCH_CASE, {**BENCH_CASE, "name": "more"}]
    root = write_benched(tmp_path / "p", {"fast": WRONG, "plain": "y[i] = nonsense;"}, cases)
    assert main(["bench", str(root), *QUICK]) == 1
    printed = capsys.readouterr().out.splitlines()
    failed = [line.split(": ")[1] for line in printed if line.startswith("FAILED ")]
    assert failed == ["many on fast", "many on plain", "more on fast"]
    assert "  and 1 more, for the same reason" in printed


@pytest.mark.device
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_junit_has_a_test_for_each_case_and_variant(tmp_path: Path, jobs: str) -> None:
    """However many threads prepared the cases."""
    cases = [{**BENCH_CASE, "name": f"many{index}"} for index in range(4)]
    root = write_benched(tmp_path / "p", {"fast": WRONG, "plain": RIGHT}, cases)
    file = tmp_path / "junit.xml"
    assert main(["bench", str(root), *QUICK, "-j", jobs, "--junit", str(file)]) == 1
    found = {
        case.attrib["name"]: [child.tag for child in case] for case in ET.fromstring(file.read_text()).iter("testcase")
    }
    assert found == {
        f"many{index}[{variant}]": ["failure"] if variant == "fast" else []
        for index in range(4)
        for variant in ("fast", "plain")
    }


@pytest.mark.device
def test_a_case_that_is_no_call_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And is told."""
    case = {"name": "bad", "inputs": {"x": {"dtype": "int64", "shape": [8]}}}
    assert main(["bench", str(write_benched(tmp_path / "p", None, [case])), *QUICK]) == 1
    assert "FAILED test.Double: bad: test.Double: 'x': wrong dtype" in capsys.readouterr().out


@pytest.mark.device
def test_a_peer_that_is_not_installed_is_left_out(
    right: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a word on stderr."""
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert main(["bench", str(right), *QUICK, "--against", "torch", "--filter", "many"]) == 0
    assert capsys.readouterr().err.startswith("left out: torch is not installed (")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--filter", "mnay"], "No case matches mnay: did you mean 'many'?\n"),
        (["--variant", "fats"], "There is no variant 'fats': did you mean 'fast'?\n"),
        (["--against", "torhc"], "There is no peer 'torhc': did you mean 'torch'?\n"),
        (["--seconds", "0"], "--seconds takes a number above 0.\n"),
        (["-j", "0"], "-j takes a number from 1 on.\n"),
        *(
            (
                ["--most-mb", number],
                (
                    f"webgpu-kernels bench: argument --most-mb: '{number}': write a number above 0\n"
                    "See webgpu-kernels bench --help.\n"
                ),
            )
            for number in ("0", "nan", "inf", "many")
        ),
    ],
)
def test_what_makes_no_sense_ends_with_2(
    right: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """Before anything runs."""
    assert main(["bench", str(right), *words]) == 2
    assert capsys.readouterr().err == said


def test_no_suite_ends_with_3(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a defect of the package."""
    (right / "build" / "webgpu" / "bench.json").unlink()
    assert main(["bench", str(right)]) == 3
    assert capsys.readouterr().err == f"error: {right}: there is no file 'bench.json'\n"


def bench(**changes: object) -> BenchResult:
    usual = {
        "package": "o",
        "case": "c",
        "request": "",
        "bytes_read": 8,
        "bytes_written": 8,
        "clock": "gpu",
        "copy": CopyTime(median_us=5.0, spread_us=0.1, gb_per_s=3.0),
        "chosen": "a",
        "variants": {
            "a": VariantTime(median_us=10.0, spread_us=0.5, gb_per_s=1.6, of_copy=0.5),
            "b": VariantTime(median_us=5.0, spread_us=0.5, gb_per_s=3.2, of_copy=1.0),
            "broken": VariantTime(error="ShaderError"),
        },
    }
    return BenchResult(**{**usual, **changes})  # type: ignore[arg-type]  # what a test changes fits


def test_a_row_holds_others_against_the_chosen_one() -> None:
    """A faster variant stands out; a peer that is wrong or cannot has no time."""
    peers = {
        "torch": PeerTime(version="1", device="CPU", clock="wall", median_us=200.0),
        "numpy": PeerTime(version="1", device="CPU", clock="wall", median_us=2.0, counted=False),
        "onnxruntime": PeerTime(version="1", device="CPU", clock="wall", counted=False, note="cannot: no"),
    }
    assert row_of(bench(peers=peers)) == [
        "c\n  a",
        "10.0",
        ("5%", ""),
        "1.6",
        ("50%", ""),
        (f"b 0.50{TIMES}\ntorch 20{TIMES}\nnumpy wrong\nonnxruntime —", "bold yellow"),
    ]


def test_a_note_marks_the_spread() -> None:
    """So that nobody trusts it unawares."""
    noisy = VariantTime(median_us=10.0, spread_us=4.0, gb_per_s=1.6, of_copy=0.5, note="too wide")
    assert row_of(bench(variants={"a": noisy}))[2] == ("40%?", "yellow")


def test_a_chosen_variant_without_a_time_leaves_a_gap() -> None:
    """Others show their own time then."""
    broken = {"a": VariantTime(error="wrong"), "b": VariantTime(median_us=1234.5)}
    assert row_of(bench(variants=broken)) == ["c\n  a", "—", "", "", "", "b 1,234 µs"]


def test_times_have_three_figures() -> None:
    """Or all before the point."""
    assert [microseconds(value) for value in (1.234, 12.34, 123.4, 12345.6)] == ["1.23", "12.3", "123", "12,346"]
