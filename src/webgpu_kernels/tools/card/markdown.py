"""Pieces of Markdown as the Hub and GitHub read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def code(text: str) -> str:
    """Return text as code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def one_line(text: str) -> str:
    """Return prose on one line."""
    return " ".join(text.split())


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars in cells are escaped, also inside of code, as tables want it.

    Args:
        headings: one a column.
        rows: cells, as Markdown.

    Returns:
        Its lines.
    """
    lines = [headings, ["---"] * len(headings), *([one_line(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def block(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```"
