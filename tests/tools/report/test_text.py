"""Foreign text is shown and does no harm; quantities are short and exact enough."""

from __future__ import annotations

import pytest

from webgpu_kernels.tools.report.text import (
    MINUS,
    TIMES,
    change,
    counted,
    duration,
    figure,
    named,
    paragraph,
    share,
    short,
    size,
    visible,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sd15 <b>&amp;", "sd15 <b>&amp;"),
        ("a\0b\x1b[31m", "a␀b␛[31m"),
        ("two\r\nlines\x7f", "two␍␊lines␡"),
        ("x\u202ey\u2066", "x<U+202E>y<U+2066>"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("separated\u2028", "separated<U+2028>"),
        ("half \ud800", "half <U+D800>"),
        ("grüße 日本 🙂", "grüße 日本 🙂"),
        ("e\u0301\u0301\u0301\u0301", "e\u0301\u0301<U+0301><U+0301>"),
    ],
)
def test_text_shows_all_that_is_in_it(text: str, shown: str) -> None:
    """Controls become pictures; what is invisible, turns direction or piles up becomes code points."""
    assert visible(text) == shown


def test_what_is_too_long_is_cut_and_says_so() -> None:
    """A name of a million characters costs a line."""
    assert named("n" * 1_000_000) == "n" * 120 + "… (1,000,000 characters)"
    assert visible("r" * 1_001) == "r" * 1_000 + "… (1,001 characters)"
    assert short("exactly", 7) == "exactly"
    assert short("exactly so", 7) == "exactl…"


def test_what_has_no_name_can_still_be_pointed_at() -> None:
    """An empty name would be a link that nobody can click."""
    assert named("") == "(no name)"


def test_reasons_keep_their_lines() -> None:
    """At most forty of them."""
    assert paragraph("one\n\ttwo\x07") == "one\n  two␇"
    assert len(paragraph("line\n" * 1_000).splitlines()) == 40


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (12.345, "12.3"),
        (0.0123456, "0.0123"),
        (999.7, "1,000"),
        (4190, "4,190"),
        (41904, "41,900"),
        (-2.5, f"{MINUS}2.50"),
        (1e-9, f"1.00e{MINUS}09"),
        (1e308, "1.00e+308"),
        (float("inf"), "∞"),
        (float("-inf"), f"{MINUS}∞"),
        (float("nan"), "NaN"),
    ],
)  # fmt: skip
def test_figures_have_three_digits_that_count(value: float, text: str) -> None:
    """Thousands stand in groups, and minus is a minus."""
    assert figure(value) == text


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(0.85, "850 ns"), (12.34, "12.3 µs"), (1234, "1.23 ms"), (1.2e6, "1.20 s")],
)
def test_times_are_told_in_a_fitting_unit(microseconds: float, text: str) -> None:
    """Nanoseconds to seconds."""
    assert duration(microseconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (340_000, "332 KiB"), (2**31, "2.00 GiB"), (2**50, "1,020 TiB")],
)
def test_sizes_are_told_in_powers_of_1024(count: int, text: str) -> None:
    """As devices' limits are."""
    assert size(count) == text


def test_a_size_that_no_memory_has_is_no_accident() -> None:
    """Integers of JSON may exceed a double."""
    assert size(10**400).endswith(" TiB")


def test_shares_and_changes_are_percentages() -> None:
    """A decimal where it matters, and a factor where percentages mean little."""
    assert [share(part) for part in (0, 0.014, 0.873, 12.5)] == ["0 %", "1.4 %", "87 %", "1,250 %"]
    assert [change(ratio) for ratio in (1, 1.18, 0.919, 1.00001, 3.42)] == [
        "0.0 %",
        "+18 %",
        f"{MINUS}8.1 %",
        "0.0 %",
        f"{TIMES}3.4",
    ]


def test_counts_agree_with_their_nouns() -> None:
    """One case, two cases."""
    assert [counted(1, "case"), counted(2000, "case"), counted(2, "entry", "entries")] == [
        "1 case",
        "2,000 cases",
        "2 entries",
    ]
