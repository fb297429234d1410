"""What lint says of reference.py, which it reads and never runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from lint_packages import TESTS, found, write_package

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def reference(:", "reference.py:1: L007 does not parse: invalid syntax"),
        ("def other(): ...", "reference.py: L007 has no function reference"),
        ("\nasync def reference(a, b, c): ...", "reference.py:2: L007 the function reference is a coroutine"),
        (
            "def reference(a, b, c, d): ...",
            "reference.py:1: L007 the function reference does not take (inputs, attrs, outputs)",
        ),
        (
            "def reference(a, b, c, *, d): ...",
            "reference.py:1: L007 the function reference does not take (inputs, attrs, outputs)",
        ),
    ],
)
def test_a_reference_that_cannot_be_called_is_told(tmp_path: Path, text: str, said: str) -> None:
    """With its line, and what a reference is."""
    (finding,) = found(write_package(tmp_path, files={"../../reference.py": text}), "L007")
    assert str(finding) == said
    assert finding.remedy == "Write reference.py as docs/suites.md says: def reference(inputs, attrs, outputs)."


@pytest.mark.parametrize(
    "text",
    [
        "def reference(inputs, attrs, outputs): ...",
        "def reference(*all): ...",
        "def reference(inputs, attrs, outputs=(), *, much=1): ...",
        "from somewhere import reference",
        "from somewhere import *",
        "reference = lambda inputs, attrs, outputs: {}",
        "x = 1\n" * 100_000,
        "'\\d'\ndef reference(inputs, attrs, outputs): ...",
        "raise SystemExit('never run')\ndef reference(inputs, attrs, outputs): ...",
    ],
)
def test_a_reference_that_can_be_called_is_left_alone(tmp_path: Path, text: str) -> None:
    """However it comes to be."""
    assert found(write_package(tmp_path, files={"../../reference.py": text}), "L007") == []


def test_a_reference_that_a_case_needs_is_missed(tmp_path: Path) -> None:
    """Tests would fail for want of it."""
    case = {**TESTS["cases"][0], "outputs": {"y": {"tolerance": 0}}}
    folder = write_package(tmp_path, files={"test.json": json.dumps({"cases": [*TESTS["cases"][1:], case]})})
    (finding,) = found(folder, "L008")
    assert str(finding) == "reference.py: L008 is not there, and the case of_8 has no values to expect"


def test_features_and_limits_that_are_required_are_known(tmp_path: Path) -> None:
    """Each is told once, where it stands, in whole sentences."""
    folder = write_package(
        tmp_path,
        lambda manifest: (
            manifest.update(requires={"limits": {"maxBufferSise": 1}}),
            manifest["variants"][0].update(requires={"features": ["shader_f16"]}),
        ),
    )
    (limit,) = found(folder, "L102")
    assert str(limit) == "manifest.json: requires.limits: L102 there is no limit 'maxBufferSise'"
    assert limit.remedy == "Did you mean 'maxBufferSize'?"
    (feature,) = found(folder, "L103")
    assert str(feature) == "manifest.json: variants[0].requires.features: L103 there is no feature 'shader_f16'"
    assert feature.remedy == "Did you mean 'shader-f16'?"
