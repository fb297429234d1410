"""The console of rich that the screen prints on; loaded at the first line that is printed."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Final, TextIO

from rich.console import Console

if TYPE_CHECKING:
    from webgpu_kernels.cli.screen import Color

_PLAIN_WIDTH: Final = 10_000


class PlainConsole(Console):
    """One that takes text as it is, and leaves it to the command line what a reader who has gone means.

    Args:
        stream: where it prints.
        color: whether to colour.
    """

    def __init__(self, stream: TextIO, color: Color) -> None:
        options: dict[str, Any] = {} if stream.isatty() else {"width": _width_of_pipe()}
        super().__init__(
            file=stream,
            force_terminal={"always": True, "never": False}.get(color),
            no_color=True if color == "never" else None,
            highlight=False,
            markup=False,
            emoji=False,
            **options,
        )

    def on_broken_pipe(self) -> None:
        """Tell the command line; rich would exit with 1.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError(errno.EPIPE, "nobody reads the output")


def _width_of_pipe() -> int:
    """Return how wide tables are that nobody sees: COLUMNS where it is set, else as wide as they need."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else _PLAIN_WIDTH
