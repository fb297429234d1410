"""Test results in the form that continuous integration reads: JUnit's XML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from webgpu_kernels.contract.files import reason_of
from webgpu_kernels.contract.writing import replace_text
from webgpu_kernels.errors import ResultsError
from webgpu_kernels.tools.suites.telling import worst_line

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from webgpu_kernels.tools.results.model import RunResults, TestResult

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS: Final = {"failed": "failure", "error": "error", "skipped": "skipped"}


def write_junit(path: str | os.PathLike[str], results: RunResults) -> None:
    """Write a run's tests as XML.

    Args:
        path: the file; its folder is there.
        results: a run's.

    Raises:
        ResultsError: it cannot be written.

    Source: the schema of Jenkins' xUnit plugin.
    """
    try:
        replace_text(Path(path), junit_xml(results))
    except (OSError, ValueError) as error:
        raise ResultsError(f"the JUnit file cannot be written: {reason_of(error)}", where=str(path)) from error


def junit_xml(results: RunResults) -> str:
    """Return a run's tests as XML: a suite for each package, a case for each case and variant.

    Args:
        results: a run's.

    Returns:
        The document.

    Source: the schema of Jenkins' xUnit plugin.
    """
    root = ET.Element("testsuites", {"name": "webgpu-kernels", **_counts(results.tests)})
    for package in results.packages:
        tests = [test for test in results.tests if test.package == package.op_id]
        suite = ET.SubElement(
            root, "testsuite", {"name": package.op_id, "timestamp": results.created, **_counts(tests)}
        )
        properties = ET.SubElement(suite, "properties")
        census = results.device.census
        for name, value in (("device", census.name), ("engine", census.engine), ("version", census.version)):
            ET.SubElement(properties, "property", name=name, value=_text(value))
        for test in tests:
            _add(suite, test)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _add(suite: ET.Element, test: TestResult) -> None:
    name = f"{test.case}[{test.variant}]" if test.variant else test.case
    case = ET.SubElement(suite, "testcase", classname=_text(test.package), name=_text(name), time=f"{test.seconds:.4f}")
    tag = _TAGS.get(test.outcome)
    if tag is None:
        return
    found = ET.SubElement(case, tag, message=_text(test.reason or test.outcome))
    if test.outcome != "skipped":
        lines = [test.request, test.reason or "", worst_line(test.worst) if test.worst else ""]
        found.text = _text("\n".join(line for line in lines if line))


def _counts(tests: Sequence[TestResult]) -> dict[str, str]:
    def ended(outcome: str) -> str:
        return str(sum(test.outcome == outcome for test in tests))

    return {
        "tests": str(len(tests)),
        "failures": ended("failed"),
        "errors": ended("error"),
        "skipped": ended("skipped"),
        "time": f"{sum(test.seconds for test in tests):.4f}",
    }


def _text(text: str) -> str:
    """Leave out what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
