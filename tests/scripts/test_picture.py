"""The README's picture is a well-formed drawing of text, aligned in any font."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "picture.py"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def picture() -> ModuleType:
    """Load the script."""
    spec = importlib.util.spec_from_file_location("picture_under_test", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_line_is_as_wide_as_its_characters(picture: ModuleType) -> None:
    """A line's start and width are whole columns, so that tables align whatever font the reader has."""
    texts = list(ET.fromstring(picture.terminal(["$ x", "ab", "", "  cde"])).iter(f"{SVG}text"))
    assert [text.text for text in texts] == ["$ x", "ab", "cde"]
    assert [float(text.attrib["textLength"]) / picture.COLUMN for text in texts] == pytest.approx([3, 2, 3])
    starts = [(float(text.attrib["x"]) - picture.MARGIN) / picture.COLUMN for text in texts]
    assert starts == pytest.approx([0, 0, 2])


def test_markup_in_the_text_is_escaped(picture: ModuleType) -> None:
    """Angle brackets and ampersands of the text are not markup."""
    (text,) = ET.fromstring(picture.terminal(["<a> & b"])).iter(f"{SVG}text")
    assert text.text == "<a> & b"
