"""Text into tokens: of an expression, or of a template and its tags.

A sign in front of digits belongs to the number unless it follows something that can be an operand: ``-2 ** 2`` is 4,
``i -1`` is a subtraction.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from webgpu_kernels.errors import LanguageSyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterator

WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript calls white space."""

Kind: TypeAlias = Literal["name", "number", "string", "operator", "text", "open", "close", "end"]


class Token(NamedTuple):
    """One token.

    Attributes:
        kind: "text" is template text; "open" and "close" are the delimiters of a tag; "end" is the end of the source.
        text: as written, with a string's escapes resolved; an unary sign is ``u-`` or ``u+``.
        at: offset in the source.
    """

    kind: Kind
    text: str
    at: int


_TOKEN: Final = re.compile(
    rf"(?P<space>[{WHITESPACE}]+)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<quote>['\"])"
    r"|(?P<close>-?%\}|-?\}\})"
    r"|(?P<operator>\*\*|//|==|!=|<=|>=|[-+*/%~<>=|(),.:\[\]{}])"
)
_INTEGER: Final = re.compile(r"[0-9]+")
_OPENING: Final = re.compile(r"\{[{%#]")
_PLAIN: Final = {quote: re.compile(rf"[^{quote}\\]*") for quote in "'\""}
_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "'": "'", '"': '"', "\\": "\\",
}  # fmt: skip


class Source:
    """A text, and how to say where in it something is.

    Args:
        text: the whole text.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def where(self, at: int) -> str:  # noqa: ARG002 - a template tells the line
        """Name the place of an offset: the text itself, cut where it is long."""
        return self.text if len(self.text) <= 120 else self.text[:117] + "..."

    def error(self, message: str, at: int) -> LanguageSyntaxError:
        """Return a syntax error that shows the line and marks the place."""
        start = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        line = self.text[start : end if end >= 0 else len(self.text)]
        column = at - start
        cut = max(0, column - 60)
        shown = line[cut : column + 60]
        return LanguageSyntaxError(f"{message}\n  {shown}\n  {' ' * (column - cut)}^", where=self.where(at))


def expression_tokens(source: Source, at: int = 0, *, in_tag: bool = False) -> Iterator[Token]:
    """Split an expression into tokens.

    Args:
        source: the text.
        at: offset to start at.
        in_tag: whether to stop after the closing delimiter of a tag; where not, the source ends with the expression.

    Yields:
        The tokens; the last is "close" or "end".

    Raises:
        LanguageSyntaxError: a character, string or escape that the language does not have.

    FORMAT section 3, Lexing.
    """
    text = source.text
    previous = Token("operator", "", at)
    curly = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise source.error(f"unexpected character {text[at]!r}", at)
        group = match.lastgroup
        if group == "close" and curly and match[0].endswith("}}"):
            # Inside a dict two braces close two dicts.
            previous = Token("operator", match[0][0], at)
            curly -= match[0][0] == "}"
            at += 1
            yield previous
            continue
        if group == "space":
            at = match.end()
            continue
        if group == "close":
            if not in_tag:
                raise source.error("an expression ends here, but its text goes on", at)
            yield Token("close", match[0], at)
            return
        if group == "quote":
            previous, at = _string(source, at)
        else:
            previous, at = _simple(text, match, previous)
            curly += (previous.text == "{") - (previous.text == "}") if previous.kind == "operator" else 0
        yield previous
    yield Token("end", "", at)


def _simple(source: str, match: re.Match[str], previous: Token) -> tuple[Token, int]:
    at, text = match.start(), match[0]
    if match.lastgroup == "name":
        return Token("name", text, at), match.end()
    if match.lastgroup == "number":
        return _number(source, at, previous)
    if text in "+-" and not _ends_operand(previous):
        digits = _INTEGER.match(source, at + 1)
        if digits is None:
            return Token("operator", f"u{text}", at), match.end()
        number, end = _number(source, at + 1, previous)
        return Token("number", text + number.text, at), end
    return Token("operator", text, at), match.end()


def _number(source: str, at: int, previous: Token) -> tuple[Token, int]:
    # After a dot the number is an index, and a dot after it is another member: `a.0.1`.
    after_dot = previous.kind == "operator" and previous.text == "."
    match = _INTEGER.match(source, at) if after_dot else _TOKEN.match(source, at)
    assert match is not None
    return Token("number", match[0], at), match.end()


def _ends_operand(token: Token) -> bool:
    return token.kind in ("name", "number", "string") or (token.kind == "operator" and token.text in (")", "]"))


def _string(source: Source, at: int) -> tuple[Token, int]:
    text = source.text
    quote, start = text[at], at
    parts = []
    at += 1
    while True:
        match = _PLAIN[quote].match(text, at)
        assert match is not None
        parts.append(match[0])
        at = match.end()
        if at >= len(text):
            raise source.error("a string is not closed", start)
        if text[at] == quote:
            return Token("string", "".join(parts), start), at + 1
        escape = text[at + 1 : at + 2]
        if escape not in _ESCAPES:
            raise source.error(f"unknown escape \\{escape} in a string", at)
        parts.append(_ESCAPES[escape])
        at += 2


def template_tokens(source: Source) -> Iterator[Token]:
    """Split a template into tokens: text, and the tokens of its tags.

    Args:
        source: the template, its includes expanded.

    Yields:
        The tokens; the last is "end".

    Raises:
        LanguageSyntaxError: a comment, a string or a character in a tag is wrong.

    FORMAT section 7.
    """
    text = source.text
    at, strip = 0, False
    while True:
        opening = _OPENING.search(text, at)
        end = opening.start() if opening else len(text)
        dashed = opening is not None and text.startswith("-", end + 2)
        yield from _text(text, at, end, before=strip, after=dashed)
        if opening is None:
            break
        if opening[0] == "{#":
            at, strip = _comment(source, end)
            continue
        yield Token("open", opening[0], end)
        close = Token("end", "", end)
        for close in expression_tokens(source, end + 2 + dashed, in_tag=True):
            yield close
        if close.kind == "end":
            return
        at, strip = close.at + len(close.text), close.text.startswith("-")
    yield Token("end", "", len(text))


def _text(text: str, start: int, end: int, *, before: bool, after: bool) -> Iterator[Token]:
    part = text[start:end]
    if before:
        part = part.lstrip(WHITESPACE)
        start = end - len(part)
    if after:
        part = part.rstrip(WHITESPACE)
    if part:
        yield Token("text", part, start)


def _comment(source: Source, start: int) -> tuple[int, bool]:
    end = source.text.find("#}", start + 2)
    if end < 0:
        raise source.error("a comment is not closed", start)
    body = source.text[start + 2 : end].removeprefix("-")
    return end + 2, body.endswith("-")
