"""The command test: what it prints, writes and returns, and that the command it advises works."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from doubling_package import CASE, EIGHT, REFERENCE, RIGHT, write_doubling

from webgpu_kernels.cli import main
from webgpu_kernels.tools.results import read_results

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.device

WRONG = "y[i] = x[i] * select(2.0, 2.5, i == 5u);"
ODD = "odd [name] isn't easy*"


@pytest.fixture
def right(tmp_path: Path) -> Path:
    """A package that passes."""
    return write_doubling(tmp_path / "right", {"fast": RIGHT, "plain": RIGHT})


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A package of which one variant is wrong."""
    cases = [{**CASE, "name": ODD}, {**CASE, "name": "skipped", "skipGpu": {"category": "todo", "reason": "later"}}]
    return write_doubling(tmp_path / "wrong one", {"fast": WRONG, "plain": RIGHT}, cases)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_package_that_passes_ends_with_0(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And a row for each variant."""
    assert main(["test", str(right)]) == 0
    printed = lines(capsys)
    assert " ".join(printed[0].split()) == "package variant passed failed skipped chosen by error/allowed"
    assert [line.split() for line in printed[2:4]] == [
        ["test.Double", "fast", "1", "0", "0", "1", "0"],
        ["test.Double", "plain", "1", "0", "0", "0", "0"],
    ]
    assert printed[4].startswith("2 passed: 1 case on ")
    assert len(printed) == 5


def test_a_narrow_terminal_gets_a_table_for_each_package(
    right: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No name is broken: what does not fit beside the variants stands above them."""
    monkeypatch.setenv("COLUMNS", "70")
    assert main(["test", str(right)]) == 0
    printed = lines(capsys)
    assert printed[0] == "test.Double"
    assert " ".join(printed[1].split()) == "variant passed failed skipped chosen by error/allowed"
    assert [line.split() for line in printed[3:5]] == [
        ["fast", "1", "0", "0", "1", "0"],
        ["plain", "1", "0", "0", "0", "0"],
    ]
    assert max(map(len, printed[:5])) <= 70


def test_a_failure_is_told_in_full(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Request, variant, worst element, and the command that runs it alone; the command ends with 1."""
    assert main(["test", str(wrong)]) == 1
    printed = lines(capsys)
    assert printed[:6] == [
        f"FAILED test.Double: {ODD} on fast",
        "  x float32[8]",
        "  y: 1 of 8 elements is wrong",
        "  worst is y[5]: got 15, expected 12, difference 3, allowed 0",
        "  "
        + shlex.join(
            ["webgpu-kernels", "test", str(wrong), "--filter", "odd [[]name] isn't easy[*]", "--variant", "fast"]
        ),
        "",
    ]
    assert printed[6] == "skipped 1: skipGpu, todo: later"
    assert printed[-1].startswith("1 passed, 1 failed, 1 skipped: 2 cases on ")


def test_the_advised_command_runs_that_case_alone(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """When it is pasted into a shell."""
    main(["test", str(wrong)])
    advised = lines(capsys)[4].strip()
    assert advised.startswith("webgpu-kernels ")
    pasted = advised.replace("webgpu-kernels", f"{shlex.quote(sys.executable)} -m webgpu_kernels", 1)
    result = subprocess.run(pasted, shell=True, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    assert "worst is y[5]: got 15, expected 12" in result.stdout
    assert "\n0 passed, 1 failed: 1 case on " in result.stdout


def test_json_is_one_document(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as the file's."""
    assert main(["test", str(wrong), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["kind"]) == ("webgpu-kernels-results", "test")
    assert [(test["variant"], test["outcome"]) for test in document["tests"]] == [
        ("fast", "failed"),
        ("plain", "passed"),
        ("", "skipped"),
    ]


def test_results_are_written(wrong: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON and as JUnit's XML."""
    files = [tmp_path / "results.json", tmp_path / "junit.xml"]
    assert main(["test", str(wrong), "-o", str(files[0]), "--junit", str(files[1])]) == 1
    results = read_results(files[0])
    assert (results.count("failed"), results.count("passed"), results.count("skipped")) == (1, 1, 1)
    assert [package.source for package in results.packages] == [str(wrong)]
    assert len(results.packages[0].digest) == 64
    assert results.command == f"webgpu-kernels test {wrong} --engine native"
    root = ET.parse(files[1]).getroot()
    assert {key: root.attrib[key] for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }
    failure = root.find("./testsuite/testcase/failure")
    assert failure is not None
    assert failure.attrib["message"] == "y: 1 of 8 elements is wrong"
    assert "worst is y[5]" in (failure.text or "")


@pytest.mark.parametrize("option", ["-o", "--junit"])
@pytest.mark.parametrize("name", ["build/webgpu/test.json", "build/webgpu/main.wgsl.jinja", "reference.py"])
def test_results_are_not_written_over_the_package(
    right: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    """A slip of completion costs nobody a suite, and nothing is run first."""
    monkeypatch.chdir(right.parent)
    target = f"{right.name}/{name}"
    before = (right / name).read_bytes() if (right / name).exists() else None
    assert main(["test", right.name, option, target]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{target} is a file of test.Double itself: write the results to another one." in said
    assert before == ((right / name).read_bytes() if (right / name).exists() else None)


@pytest.mark.parametrize("option", ["-o", "--junit"])
def test_a_place_for_results_that_is_none_is_found_out_first(
    right: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    """Not after the run, whose results would be lost."""
    assert main(["test", str(right), option, str(tmp_path / "none" / "x")]) == 3
    assert capsys.readouterr() == (
        "",
        f"error: {tmp_path / 'none' / 'x'}: cannot be written: there is no such folder\n",
    )
    assert main(["test", str(right), option, str(tmp_path)]) == 3
    assert capsys.readouterr() == ("", f"error: {tmp_path}: cannot be written: it is a folder\n")


def test_one_fault_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A template that compiles for no case would fill the screen with what is one thing."""
    cases = [{**CASE, "name": f"case{i}"} for i in range(4)]
    package = write_doubling(tmp_path / "p", {"only": "y[i] = nonsense;"}, cases)
    assert main(["test", str(package)]) == 1
    printed = lines(capsys)
    assert sum(line.startswith("ERROR ") for line in printed) == 1
    assert printed.count("  and 3 more runs of 3 other cases, for the same reason") == 1
    assert printed[-1].startswith("0 passed, 4 errors: 4 cases on ")


def test_what_a_reference_prints_is_not_the_answer(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It goes to standard error, and the document stays one."""
    (right / "reference.py").write_text(f"print('loaded')\n{REFERENCE}")
    assert main(["test", str(right), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["kind"] == "test"
    assert printed.err.startswith("loaded\n")


def test_a_variant_and_cases_can_be_chosen(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By id and by pattern."""
    assert main(["test", str(right), "--variant", "plain", "--filter", "ei*"]) == 0
    assert lines(capsys)[-1].startswith("1 passed: 1 case on ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--filter", "eigth"], "No case matches eigth: did you mean 'eight'?\n"),
        (["--variant", "fats"], "There is no variant 'fats': did you mean 'fast'?\n"),
        (["-j", "0"], "-j takes a number from 1 on.\n"),
    ],
)
def test_what_makes_no_sense_ends_with_2(
    right: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """And a hint."""
    assert main(["test", str(right), *words]) == 2
    assert capsys.readouterr().err == said


def test_a_package_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Or all of them."""
    assert main(["test"]) == 2
    assert capsys.readouterr().err.startswith("Name a package, or give --all for every bundled one: ai.onnx.Add, ")


def test_a_broken_suite_ends_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything runs, with all its defects."""
    root = write_doubling(tmp_path / "p", None, [{"name": "a", "inputs": {"x": EIGHT}}, {"inputs": {}}])
    assert main(["test", str(root)]) == 3
    assert capsys.readouterr().err.splitlines() == [
        f"error: {root}: test.json has 3 defects",
        "  cases[0].outputs: is missing: say what is expected: {name: {tolerance, …}}",
        "  cases[1].name: is missing: name the case",
        "  cases[1].outputs: is missing: say what is expected: {name: {tolerance, …}}",
    ]


def test_no_suite_ends_with_3(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a defect of the package."""
    (right / "build" / "webgpu" / "test.json").unlink()
    assert main(["test", str(right)]) == 3
    assert capsys.readouterr().err == f"error: {right}: there is no file 'test.json'\n"


def test_many_failures_do_not_fill_the_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty are told."""
    cases: list[dict[str, Any]] = [{**CASE, "name": f"case{index}"} for index in range(25)]
    assert main(["test", str(write_doubling(tmp_path / "p", {"plain": WRONG}, cases))]) == 1
    printed = lines(capsys)
    assert sum(line.startswith("FAILED") for line in printed) == 20
    assert "… and 5 more; -o FILE keeps them all." in printed


@pytest.mark.parametrize("name", ["ai.onnx.Add", "ai.onnx.Identity"])
def test_bundled_packages_pass(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every case, on every variant."""
    assert main(["test", name]) == 0
