"""Strict JSON: what is refused at once, and what is left for a message with a path."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webgpu_kernels.contract import parse_manifest
from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES, NotANumber, as_host_number, load_json
from webgpu_kernels.errors import ManifestError


def refusal(text: str | bytes) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text)
    return [str(defect) for defect in caught.value.defects]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON: Expecting value at line 1, column 1"),
        ("{", "is not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        ('{"name": "A"}}', "is not JSON: Extra data at line 1, column 14"),
        (
            '{"name": "A",\n // no\n}',
            "is not JSON: Expecting property name enclosed in double quotes at line 2, column 2",
        ),
        (b'{"name": "\xe9"}', "is not UTF-8: invalid continuation byte at byte 10. Save it as UTF-8"),
        ('{"name": "A"}'.encode("utf-16"), "is not UTF-8: invalid start byte at byte 0. Save it as UTF-8"),
        ("[" * 10_000 + "]" * 10_000, "is nested too deep: 100 levels are the most"),
        (b" " * (MAX_TEXT_BYTES + 1), "is 2,097,153 bytes long: 2,097,152 are the most"),
    ],
)
def test_text_that_is_no_document_is_refused(text: str | bytes, message: str) -> None:
    """One defect of the whole document, with line and column where there is one."""
    assert refusal(text) == [message]


def test_the_message_says_what_was_read() -> None:
    """The place comes first."""
    with pytest.raises(ManifestError, match=r"^here/manifest.json: the manifest has 1 defect\n  is not JSON: Exp"):
        parse_manifest("", where="here/manifest.json")


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        (
            '{"name": "A", "tunables": {"W": {"default": 1, "default": 2}}}',
            "tunables.W.default: stands more than once: keep one of them",
        ),
        ('{"tunables": {"W": {"default": NaN}}}', "tunables.W.default: must be a number that a double holds, not NaN"),
        (
            '{"tunables": {"W": {"default": -Infinity}}}',
            "tunables.W.default: must be a number that a double holds, not -Infinity",
        ),
        (
            '{"tunables": {"W": {"default": 1e999}}}',
            "tunables.W.default: must be a number that a double holds, not inf",
        ),
        (
            '{"tunables": {"W": {"default": 1' + "0" * 320 + "}}}",
            "tunables.W.default: must be a number that a double holds, not 10000000000000000000",
        ),
        (
            '{"tunables": {"W": {"default": 1' + "0" * 9000 + "}}}",
            "tunables.W.default: must be a number that a double holds, not 10000000000000000000",
        ),
        ('{"name": "\\ud800"}', "name: holds half of a surrogate pair: write the whole character"),
        (
            '{"derive": {"deep": ' + "[" * 200 + "]" * 200 + "}}",
            "derive.deep" + "[0]" * 98 + ": is nested too deep: 100 levels are the most",
        ),
    ],
)
def test_what_json_lacks_is_reported_with_its_path(text: str, defect: str) -> None:
    """Among the other defects of the manifest."""
    assert defect in refusal(text)


def test_a_document_of_too_many_values_is_not_read() -> None:
    """Each could be an expression to compile."""
    values = ",".join(["{}"] * 100_000)
    assert refusal(f'{{"variants": [{values}]}}') == ["holds more than 100,000 values, the most that are read"]


def test_a_byte_order_mark_is_skipped() -> None:
    """Editors of one system write it; JSON parsers may ignore it."""
    assert load_json(b"\xef\xbb\xbf[1]") == [1]
    assert load_json("\ufeff[1]") == [1]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.0", 1), ("1e3", 1000), ("0.1", 0.1), ("9007199254740993", 9007199254740992), ("-0.0", 0), ("12", 12)],
)
def test_numbers_are_those_of_javascript(text: str, value: float) -> None:
    """A double each; an integral one is an integer."""
    loaded = load_json(text)
    assert loaded == value
    assert type(loaded) is type(value)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300))
def test_a_host_number_is_the_nearest_double(number: float) -> None:
    """Equal as doubles, an int where integral."""
    found = as_host_number(number)
    assert not isinstance(found, NotANumber)
    assert float(found) == float(number)
    assert isinstance(found, int) == float(number).is_integer()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400])
def test_numbers_beyond_doubles_are_marked(number: float) -> None:
    """The caller knows the path and reports it."""
    assert isinstance(as_host_number(number), NotANumber)
