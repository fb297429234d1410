"""The text of a template before it is parsed: includes put in, white space around tags taken out.

Everything here is textual. Whatever is cut or put in, each character still knows its template and line.
"""

from __future__ import annotations

import bisect
import posixpath
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.errors import LanguageSyntaxError, WorkLimitExceeded
from webgpu_kernels.language.lexer import WHITESPACE, Source
from webgpu_kernels.language.limits import MAX_TEMPLATE_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_INCLUDES: Final = 1000
_MAX_INCLUDE_DEPTH: Final = 32

_S: Final = f"[{WHITESPACE}]"
_INCLUDE: Final = re.compile(rf"\{{%{_S}*include{_S}+(?P<quote>[\"'])(?P<name>[^\"'\n]*)(?P=quote){_S}*%\}}")
_ALONE_AFTER: Final = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_LINE_START: Final = "(?:\\A|(?<=[\n\r\u2028\u2029]))"
_CUTS: Final = (
    # lstrip_blocks: blanks between the start of a line and a block or comment; a brace and a dash count as one.
    re.compile(rf"{_LINE_START}(?P<cut>[ \t]+)(?=\{{[#%-])"),
    # trim_blocks: the newline after a block or comment.
    re.compile(r"(?<=[#%-]\})(?P<cut>\n)"),
)
# Chat templates mark generated text with this tag; it renders nothing.
_GENERATION: Final = re.compile(rf"\{{%-?{_S}*(?:end)?generation{_S}*-?%\}}")


class _Piece(NamedTuple):
    text: str
    name: str
    line: int
    file: str
    start: int


class TemplateSource(Source):
    """A template's text as the parser reads it.

    Args:
        pieces: its parts in order, each with the template that it is from, and the line and offset that it starts at.
    """

    def __init__(self, pieces: list[_Piece]) -> None:
        super().__init__("".join(piece.text for piece in pieces))
        self._pieces = pieces or [_Piece(text="", name="", line=1, file="", start=0)]
        self._starts = [0]
        for piece in pieces[:-1]:
            self._starts.append(self._starts[-1] + len(piece.text))
        # Every line of what is rendered is looked up: counting them from the start each time would take its square.
        self._breaks = [found.start() for found in re.finditer("\n", self.text)]

    def error(self, message: str, at: int) -> LanguageSyntaxError:
        """Return a syntax error that shows the line as its author wrote it and marks the place."""
        index = bisect.bisect_right(self._starts, at) - 1
        piece = self._pieces[index]
        error = Source(piece.file).error(message, piece.start + at - self._starts[index])
        error.where = self.where(at)
        return error

    def origin(self, at: int) -> tuple[str, int]:
        """Return the template and its line, counted from 1, of an offset."""
        index = bisect.bisect_right(self._starts, at) - 1
        piece = self._pieces[index]
        lines = bisect.bisect_left(self._breaks, at) - bisect.bisect_left(self._breaks, self._starts[index])
        return piece.name, piece.line + lines

    def where(self, at: int) -> str:
        """Name the place of an offset: template and line."""
        name, line = self.origin(at)
        return f"{name}:{line}"


def read_source(source: str, *, name: str, include: Callable[[str], str] | None) -> TemplateSource:
    """Put the includes of a template in and take the white space around its tags out.

    Args:
        source: the template.
        name: its name, relative to the package's root.
        include: gives the text of another template by its name relative to the root; None: nothing can be included.

    Returns:
        The text to parse.

    Raises:
        LanguageSyntaxError: an include leaves the root or includes itself.
        WorkLimitExceeded: the text grows too long.

    FORMAT section 7.
    """
    expander = _Expander(include)
    return TemplateSource(list(_cleaned(list(expander.expand(source, (name,))))))


class _Expander:
    def __init__(self, include: Callable[[str], str] | None) -> None:
        self.include = include
        self.chars = 0
        self.includes = 0

    def expand(self, source: str, stack: tuple[str, ...]) -> Iterator[_Piece]:
        done, line = 0, 1
        for match in _INCLUDE.finditer(source) if self.include else ():
            start, end = _whole_line(source, match)
            yield self._piece(source, done, start, stack[-1], line)
            line += source.count("\n", done, match.start())
            yield from self._included(match["name"], stack, line)
            line += source.count("\n", match.start(), end)
            done = end
        yield self._piece(source, done, len(source), stack[-1], line)

    def _piece(self, file: str, start: int, end: int, name: str, line: int) -> _Piece:
        self.chars += end - start
        if self.chars > MAX_TEMPLATE_CHARS:
            raise WorkLimitExceeded(
                "the template is too long", where=name, expected=f"at most {MAX_TEMPLATE_CHARS} characters"
            )
        return _Piece(text=file[start:end], name=name, line=line, file=file, start=start)

    def _included(self, written: str, stack: tuple[str, ...], line: int) -> Iterator[_Piece]:
        where = f"{stack[-1]}:{line}"
        name = _resolved(written, stack[-1], where)
        if name in stack:
            raise LanguageSyntaxError("a template includes itself", where=where, got=" → ".join((*stack, name)))
        self.includes += 1
        if self.includes > _MAX_INCLUDES or len(stack) > _MAX_INCLUDE_DEPTH:
            raise WorkLimitExceeded(
                "there are too many includes",
                where=where,
                expected=f"at most {_MAX_INCLUDES}, {_MAX_INCLUDE_DEPTH} deep",
            )
        assert self.include is not None
        yield from self.expand(self.include(name), (*stack, name))


def _whole_line(source: str, match: re.Match[str]) -> tuple[int, int]:
    # An include alone on its line takes its indentation and newline with it.
    start = source.rfind("\n", 0, match.start()) + 1
    after = _ALONE_AFTER.match(source, match.end())
    if source[start : match.start()].strip(" \t") or after is None:
        return match.start(), match.end()
    return start, after.end()


def _resolved(written: str, including: str, where: str) -> str:
    base = posixpath.dirname(including) if written.startswith(".") else ""
    name = posixpath.normpath(posixpath.join(base, written)) if written else ""
    if not name or name in (".", "..") or name.startswith(("/", "../")) or "\\" in name or "\0" in name:
        raise LanguageSyntaxError(
            "an include leaves the package", where=where, expected="a file below the package's root", got=repr(written)
        )
    return name


def _cleaned(pieces: list[_Piece]) -> Iterator[_Piece]:
    text = "".join(piece.text for piece in pieces)
    cuts = _cuts(text)
    start = 0
    for piece in pieces:
        end = start + len(piece.text)
        kept = start
        for cut_start, cut_end in cuts:
            if cut_end > start and cut_start < end:
                yield _part(piece, start, kept, min(max(cut_start, kept), end))
                kept = min(max(cut_end, kept), end)
        yield _part(piece, start, kept, end)
        start = end


def _part(piece: _Piece, start: int, kept: int, end: int) -> _Piece:
    cut = kept - start
    return piece._replace(
        text=piece.text[cut : end - start],
        line=piece.line + piece.text.count("\n", 0, cut),
        start=piece.start + cut,
    )


def _cuts(text: str) -> list[tuple[int, int]]:
    end = len(text)
    cuts = []
    if text.endswith("\n"):
        end -= 1
        cuts.append((end, end + 1))
    for pattern in _CUTS:
        cuts.extend(match.span("cut") for match in pattern.finditer(text, 0, end))
    cuts.extend(_generation_cut(text, match) for match in _GENERATION.finditer(text, 0, end))
    return sorted(cuts)


def _generation_cut(text: str, match: re.Match[str]) -> tuple[int, int]:
    start, end = match.span()
    if text.startswith("{%-", start):
        while start and text[start - 1] in WHITESPACE:
            start -= 1
    if text.startswith("-%}", end - 3):
        while end < len(text) and text[end] in WHITESPACE:
            end += 1
    return start, end
