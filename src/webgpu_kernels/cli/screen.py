"""What the commands print on: text and tables for people, or one JSON document for programs."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, Literal, Protocol, TextIO, TypeAlias

from webgpu_kernels.legible import is_legible, legible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from contextlib import AbstractContextManager

    from rich.console import Console
    from rich.segment import Segment, Segments
    from rich.text import Text

    from webgpu_kernels.cli.progress import Bar
    from webgpu_kernels.errors import KernelError

Color: TypeAlias = Literal["auto", "always", "never"]
Part: TypeAlias = "str | tuple[str, str]"
"""A piece of a line: plain text, or text and a style such as ``bold``, ``green``, ``dim``."""

PROGRESS_AFTER_SECONDS: Final = 1.0
"""Work that ends sooner shows no progress bar."""
_BETWEEN_COLUMNS: Final = 3
"""Blanks and edges that a table puts between two columns."""


class Progress(Protocol):
    """A progress display."""

    def advance(self, count: int = 1, what: str | None = None) -> None:
        """Say that work was done.

        Args:
            count: how many steps.
            what: what comes now.
        """


class Screen:
    """Standard output and standard error of a command.

    Args:
        json: whether standard output is for programs; then text and tables are dropped and ``result`` counts.
        color: whether to colour; ``auto`` colours terminals, and respects NO_COLOR.
    """

    def __init__(self, *, json: bool = False, color: Color = "auto") -> None:
        self.json = json
        self._color = color
        # Not what stands there later: while a command runs, other people's code prints to standard error.
        self._out = sys.stdout
        self._answered = False
        self._consoles: dict[TextIO, Console] = {}
        self._bar: Bar | None = None

    def text(self, *parts: Part) -> None:
        """Print a line to standard output, for people only.

        Args:
            parts: pieces of the line; they are never read as markup.
        """
        if not self.json:
            with self._aside():
                self._console().print(_line(parts), soft_wrap=True)

    def raw(self, text: str) -> None:
        """Print text to standard output exactly as it is, for people only; a terminal gets what it would obey escaped.

        Args:
            text: such as WGSL.
        """
        if not self.json:
            with self._aside():
                self._out.write(legible(text) if self._out.isatty() else text)

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[Part]],
        *,
        right: Collection[int] = (),
        title: str | None = None,
    ) -> None:
        """Print a table to standard output, for people only; it wraps cells to the terminal's width.

        Args:
            headings: one a column.
            rows: cells, each a piece of a line.
            right: indices of columns that align right, such as numbers.
            title: a line above it.
        """
        if self.json:
            return
        from rich import box  # noqa: PLC0415 - only commands that print tables load it
        from rich.table import Table  # noqa: PLC0415

        table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False, show_edge=False)
        for index, heading in enumerate(headings):
            table.add_column(heading, justify="right" if index in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*[_line((cell,)) for cell in row])
        lines = self._console().render_lines(table, pad=False)
        with self._aside():
            self._console().print(_without_blanks(lines))

    def fits(self, headings: Sequence[str], rows: Sequence[Sequence[Part]]) -> bool:
        """Tell whether a table is as narrow as standard output, so that no cell is wrapped.

        Args:
            headings: as for ``table``.
            rows: as for ``table``.

        Returns:
            True where it fits.
        """
        widths = [max(_line((cell,)).cell_len for cell in column) for column in zip(headings, *rows, strict=True)]
        return sum(widths) + _BETWEEN_COLUMNS * (len(widths) - 1) <= self._console().width

    def result(self, value: object) -> None:
        """Print the answer as JSON where ``--json`` asks for it; a command calls this once.

        Args:
            value: anything that JSON has.
        """
        if self.json:
            assert not self._answered, "a command gives one document"
            self._answered = True
            text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
            # What a terminal would obey stands in strings only, where JSON has escapes for it.
            text = text if is_legible(text) else json.dumps(value, indent=2, allow_nan=False)
            with self._aside():
                self._out.write(f"{text}\n")

    def note(self, *parts: Part) -> None:
        """Print a line to standard error: what happens meanwhile, warnings.

        Args:
            parts: pieces of the line.
        """
        with self._aside():
            self._console(stderr=True).print(_line(parts), soft_wrap=True)

    def error(self, error: KernelError) -> None:
        """Say what cannot be done.

        Args:
            error: the reason.
        """
        self.note(("error: ", "bold red"), str(error))
        self._failed(type(error).__name__, error)

    def defect(self, error: BaseException) -> None:
        """Say that this program is at fault.

        Args:
            error: what it stumbled over.
        """
        said = f"{type(error).__name__}: {error}"
        self.note(("defect of this program: ", "bold red"), said, "; run it again with --traceback and report it")
        self._failed(type(error).__name__, error)

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Progress]:
        """Show progress on standard error while a block runs, where that is a terminal and it takes over a second.

        A block inside of another one shows its own in the other's place.

        Args:
            what: what is done.
            total: how many steps, None where that is not known.

        Yields:
            Something to advance.
        """
        if not sys.stderr.isatty():
            yield _Unseen()
            return
        from webgpu_kernels.cli.progress import Bar  # noqa: PLC0415 - only terminals need it

        outer = self._bar
        if outer is not None:
            outer.end()
        self._bar = bar = Bar(lambda: self._console(stderr=True), what, total)
        try:
            yield bar
        finally:
            # Not always the one that was begun here: a block inside may have begun it anew.
            self._bar.end()
            self._bar = outer.again() if outer is not None else None

    def _aside(self) -> AbstractContextManager[None]:
        return self._bar.aside() if self._bar is not None else nullcontext()

    def _failed(self, kind: str, error: BaseException) -> None:
        if self.json and not self._answered:
            facts = {name: getattr(error, name, None) for name in ("where", "expected", "got", "hint")}
            self.result({"error": {"kind": kind, "message": str(error), **{k: str(v) for k, v in facts.items() if v}}})

    def _console(self, *, stderr: bool = False) -> Console:
        from webgpu_kernels.cli.console import PlainConsole  # noqa: PLC0415 - rich is loaded at the first line

        stream = sys.stderr if stderr else self._out
        if stream not in self._consoles:
            self._consoles[stream] = PlainConsole(stream, self._color)
        return self._consoles[stream]


class _Unseen:
    """Progress where nobody looks."""

    def advance(self, count: int = 1, what: str | None = None) -> None:
        """Do nothing."""


def _without_blanks(lines: Sequence[Sequence[Segment]]) -> Segments:
    """Leave away what fills the last column up: nobody sees it but who copies or compares the text."""
    from rich.segment import Segment, Segments  # noqa: PLC0415 - as above

    kept: list[Segment] = []
    for line in lines:
        seen = next((index for index in reversed(range(len(line))) if line[index].text.strip()), -1)
        kept += line[: max(0, seen)]
        if seen >= 0:
            kept.append(Segment(line[seen].text.rstrip(), line[seen].style))
        kept.append(Segment.line())
    return Segments(kept)


def _line(parts: Sequence[Part]) -> Text:
    from rich.text import Text  # noqa: PLC0415 - as above

    return Text.assemble(*(legible(part) if isinstance(part, str) else (legible(part[0]), part[1]) for part in parts))
