"""Text that anybody may have written, as a message shows it: bounded, and without what a terminal would obey."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_MESSAGE: Final = 40_000
MAX_DEFECT: Final = 800
_MAX_LINE: Final = 1000
MAX_DEFECTS_SHOWN: Final = 50
_MAX_WHERE: Final = 400
_MAX_FACT: Final = 300
_MAX_HINT: Final = 800
_KEPT: Final = frozenset("\n\t")


def legible(text: str) -> str:
    """Escape control characters, and those that change what is seen, such as the marks of writing direction.

    Args:
        text: from a package, a path, a driver.

    Returns:
        The text; line breaks and tabs stay.
    """
    if is_legible(text):
        return text
    return "".join(character if _is_seen(character) else _escaped(character) for character in text)


def is_legible(text: str) -> bool:
    """Tell whether a text is seen as it is.

    Args:
        text: any text.

    Returns:
        Whether nothing in it would be escaped.
    """
    return text.isprintable() or all(map(_is_seen, text))


def _is_seen(character: str) -> bool:
    return character.isprintable() or character in _KEPT or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def shortened(text: str, most: int) -> str:
    """Cut the middle out of a text that is too long to be read.

    Args:
        text: any text.
        most: how many characters to keep.

    Returns:
        The text, or its begin and its end with an ellipsis between them.
    """
    if len(text) <= most:
        return text
    tail = most // 4
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def compose_message(where: str | None, message: str, expected: str | None, got: str | None, hint: str | None) -> str:
    """Compose what an error says.

    Args:
        where: what is concerned.
        message: what is wrong.
        expected: what would have been right.
        got: what came.
        hint: what to do.

    Returns:
        One line, unless the message has several.
    """
    text = shortened("\n".join(shortened(line, _MAX_LINE) for line in message.split("\n")), MAX_MESSAGE)
    if where:
        text = f"{shortened(where, _MAX_WHERE)}: {text}"
    facts = [f"{word} {shortened(fact, _MAX_FACT)}" for word, fact in (("expected", expected), ("got", got)) if fact]
    if facts:
        text += f": {', '.join(facts)}"
    return legible(f"{text}. {shortened(hint, _MAX_HINT)}" if hint else text)


def list_defects(defects: Sequence[object]) -> str:
    """Count defects, and list the first ones, which say what to look at.

    Args:
        defects: all of them.

    Returns:
        The count, then a line for each, indented.
    """
    lines = (shortened(str(defect), MAX_DEFECT) for defect in defects[:MAX_DEFECTS_SHOWN])
    more = len(defects) - MAX_DEFECTS_SHOWN
    listed = "".join(f"\n  {line}" for line in lines) + (f"\n  … and {more} more" if more > 0 else "")
    return f"{len(defects)} defect{'s' if len(defects) != 1 else ''}{listed}"
