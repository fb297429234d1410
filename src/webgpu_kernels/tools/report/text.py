"""Words and figures of the page: foreign text made harmless, quantities with few digits and a fitting unit."""

from __future__ import annotations

import math
import unicodedata
from typing import Final

MINUS: Final = "\N{MINUS SIGN}"
TIMES: Final = "\N{MULTIPLICATION SIGN}"
LONGEST: Final = 1_000
_LONGEST_NAME: Final = 120
_MOST_MARKS: Final = 2
_MOST_LINES: Final = 40
_PICTURES: Final = 0x2400
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})


def visible(text: str, longest: int = LONGEST) -> str:
    """Make foreign text show all that is in it, and nothing that is not.

    Control characters become their pictures; characters that are invisible, turn the direction of what follows or
    pile up on others become their code points; what is longer than any honest text is cut.

    Args:
        text: such as a request.
        longest: characters that are kept.

    Returns:
        Text of one line; markup is left to the template, which escapes it.
    """
    cut = text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
    if cut.isascii() and cut.isprintable():
        return cut
    marks = 0
    shown: list[str] = []
    for character in cut:
        kind = unicodedata.category(character)
        marks = marks + 1 if kind in {"Mn", "Me"} else 0
        shown.append(_code(character) if kind in _INVISIBLE or marks > _MOST_MARKS else character)
    return "".join(shown)


def named(text: str) -> str:
    """Return what something is called, as ``visible`` makes it, at a name's length.

    Args:
        text: such as the name of a case.
    """
    return visible(text, _LONGEST_NAME) or "(no name)"


def paragraph(text: str) -> str:
    """Make foreign text of several lines harmless, line by line.

    Args:
        text: such as the reason of a failure.

    Returns:
        Lines as ``visible`` makes them.
    """
    return "\n".join(visible(line.replace("\t", "  ")) for line in text.splitlines()[:_MOST_LINES])


def short(text: str, longest: int) -> str:
    """Cut a text for a place where the whole one stands nearby, such as a plot.

    Args:
        text: a name.
        longest: characters that are kept.
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _code(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else f"<U+{code:04X}>"


def figure(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, thousands in groups.

    Args:
        value: any number.
        digits: how many count.

    Returns:
        Such as ``12.3``, ``0.0123`` or ``4,190``.
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else f"{MINUS}∞")
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    if places > digits + 4 or places < -12:
        return f"{value:.{digits - 1}e}".replace("-", MINUS)
    rounded = round(value, places)
    return f"{rounded:,.{max(0, places)}f}".replace("-", MINUS)


def duration(microseconds: float) -> str:
    """Return a time in the unit that keeps it short.

    Args:
        microseconds: the time.

    Returns:
        Such as ``850 ns``, ``12.3 µs`` or ``1.20 s``.
    """
    for limit, factor, unit in ((1, 1e3, "ns"), (1e3, 1, "µs"), (1e6, 1e-3, "ms")):
        if abs(microseconds) < limit:
            return f"{figure(microseconds * factor)} {unit}"
    return f"{figure(microseconds * 1e-6)} s"


def size(count: int) -> str:
    """Return a number of bytes in the unit that keeps it short, in powers of 1024.

    Args:
        count: bytes.

    Returns:
        Such as ``512 B`` or ``12.3 MiB``.
    """
    if count < 1024:
        return f"{count} B"
    value = float(min(count, 2**80))
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1000:
            return f"{figure(value)} {unit}"
    return f"{figure(value / 1024)} TiB"


def share(fraction: float) -> str:
    """Return a fraction as a percentage without decimals, or with one where it is under 10 %.

    Args:
        fraction: 1 is all.

    Returns:
        Such as ``87 %``.
    """
    percent = fraction * 100
    if percent == 0:
        return "0 %"
    return f"{percent:.1f} %" if abs(percent) < 9.95 else f"{percent:,.0f} %"


def change(ratio: float) -> str:
    """Return how a time differs from another, in words that say which way is slow.

    Args:
        ratio: the new time over the old one.

    Returns:
        A percentage with its sign, such as ``+12 %``, and a factor from about three on.
    """
    if ratio >= 2.95:
        return f"{TIMES}{figure(ratio, 2)}"
    percent = (ratio - 1) * 100
    text = f"{percent:+.1f} %" if abs(percent) < 9.95 else f"{percent:+.0f} %"
    return "0.0 %" if text in {"+0.0 %", "-0.0 %"} else text.replace("-", MINUS)


def moment(created: str) -> str:
    """Return a time of results as people write it.

    Args:
        created: such as ``2026-11-30T05:00:00Z``.
    """
    return visible(created.replace("T", " ").replace("Z", " UTC"))


def counted(count: int, what: str, several: str = "") -> str:
    """Return a number and its noun.

    Args:
        count: how many.
        what: the noun for one.
        several: the noun for more, by default with an s.

    Returns:
        Such as ``1 case`` or ``2,000 cases``.
    """
    return f"{count:,} {what if count == 1 else several or what + 's'}"
