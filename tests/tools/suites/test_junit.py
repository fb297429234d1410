"""Results as XML that any reader takes, whatever names and messages hold."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from webgpu_kernels.errors import ResultsError
from webgpu_kernels.tools.engines import DeviceCensus
from webgpu_kernels.tools.results import Machine, PackageFacts, ResultDevice, RunResults, TestResult
from webgpu_kernels.tools.suites.junit import junit_xml, write_junit
from webgpu_kernels.tools.suites.telling import Rerun

if TYPE_CHECKING:
    from pathlib import Path

TEST = TestResult(
    package="a.B", case="<one> & \x00two", request="x float32[2]", variant="v", chosen=True, outcome="passed"
)
RUN = RunResults(
    kind="test",
    created="2026-11-30T05:00:00Z",
    command="webgpu-kernels test a.B",
    machine=Machine(system="Linux", processor="CPU", cores=1, python="3.11"),
    versions={},
    device=ResultDevice(census=DeviceCensus(engine="native", version="wgpu", name="A GPU")),
    packages=(PackageFacts(op_id="a.B", source="a.B"),),
    tests=(
        TEST,
        dataclasses.replace(TEST, outcome="error", reason="line one\nline \x1b[31m two"),
        dataclasses.replace(TEST, variant="", outcome="skipped", reason=None),
    ),
)


def test_any_text_makes_good_xml() -> None:
    """What XML cannot hold is replaced."""
    root = ET.fromstring(junit_xml(RUN))
    names = [case.attrib["name"] for case in root.iter("testcase")]
    assert names == ["<one> & \ufffdtwo[v]", "<one> & \ufffdtwo[v]", "<one> & \ufffdtwo"]
    error = root.find("./testsuite/testcase/error")
    assert error is not None
    assert error.text == "x float32[2]\nline one\nline \ufffd[31m two"
    assert root.find("./testsuite/testcase/skipped") is not None
    assert root.attrib["errors"] == "1"


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    """It names the file."""
    with pytest.raises(ResultsError, match=r"junit\.xml: the JUnit file cannot be written"):
        write_junit(tmp_path / "none" / "junit.xml", RUN)


def test_a_command_names_engine_adapter_and_trust() -> None:
    """Where they are not the default."""
    rerun = Rerun(source="o/n@v1", engine="chromium", adapter="swift", trust=("--trust", "o/n"))
    assert rerun.command(dataclasses.replace(TEST, case="a*", variant="")) == (
        "webgpu-kernels test o/n@v1 --filter 'a[*]' --engine chromium --adapter swift --trust o/n"
    )
