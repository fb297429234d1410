"""The command report: what it writes, prints and returns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from fabricated_results import results

from webgpu_kernels.cli import main

if TYPE_CHECKING:
    from pathlib import Path

ADD = ("ai.onnx.Add",)


def written(path: Path, document: dict[str, Any]) -> str:
    """Write results; return the file's name."""
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


@pytest.fixture
def tests(tmp_path: Path) -> str:
    document = results("h200", cases=3, benches=0, packages=ADD)
    for test in document["tests"]:
        test |= {"outcome": "passed", "reason": None}
    return written(tmp_path / "tests.json", document)


@pytest.fixture
def speed(tmp_path: Path) -> str:
    return written(tmp_path / "speed.json", results("h200", cases=0, benches=4, packages=ADD))


def test_the_page_is_written_and_its_gist_printed(
    tests: str, speed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of one device are one device."""
    page = tmp_path / "out" / "page.html"
    assert main(["report", tests, speed, "-o", str(page), "--title", "Nightly <1>"]) == 0
    text = page.read_text("utf-8")
    assert "<h1>Nightly &lt;1&gt;</h1>" in text
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["NVIDIA H200", "  6 tests: 6 passed"]
    assert lines[2].startswith("  4 benchmarks, ")
    assert lines[2].endswith(" of a copy's speed in the median, 0 wrong choices")
    assert lines[3].startswith(f"{page}: ")


def test_a_slowdown_is_counted_and_is_no_failure(
    speed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is what was asked for; it is ``test`` that fails."""
    base = written(tmp_path / "base.json", results("h200", cases=0, benches=4, packages=ADD, slower=0.5))
    assert main(["report", speed, "--compare", base, "-o", str(tmp_path / "page.html"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["slower"], found["broken"], found["benches"]) == (2, 0, 4)
    assert found["bytes"] == (tmp_path / "page.html").stat().st_size


def test_without_a_base_nothing_is_compared(speed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Null is not zero."""
    assert main(["report", speed, "-o", str(tmp_path / "page.html"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["slower"], found["broken"]) == (None, None)


def test_a_base_that_compares_with_nothing_is_told(
    tests: str, speed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever asked for a comparison must not take its absence for good news."""
    assert main(["report", tests, "--compare", speed, "-o", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().err == (
        "nothing is compared: no run of --compare is of one of these devices and has tests or benchmarks too\n"
    )


def test_results_that_are_none_end_in_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And no page is written."""
    document = results(cases=1, benches=0, packages=ADD)
    document["tests"][0]["outcome"] = "well"
    document["device"]["limits"] = 3
    bad = written(tmp_path / "bad.json", document)
    assert main(["report", bad, "-o", str(tmp_path / "page.html")]) == 3
    assert capsys.readouterr().err == (
        f"error: {bad}: the file of results has 2 defects\n"
        "  device.limits: must be an object of limits, not the number 3\n"
        '  tests[0].outcome: must be "passed" or "failed" or "skipped" or "error", not the string "well"\n'
    )
    assert not (tmp_path / "page.html").exists()


def test_a_page_that_cannot_be_written_is_one_error(
    tests: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a folder."""
    assert main(["report", tests, "-o", str(tmp_path)]) == 3
    assert capsys.readouterr().err == f"error: {tmp_path}: cannot be written: Is a directory\n"
