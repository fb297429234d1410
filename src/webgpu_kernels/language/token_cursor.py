"""A place in a list of tokens: what is next, what to read, and how much has been read.

The grammars of expressions and of templates are read off the same tokens with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.language.limits import MAX_NESTING, too_deep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webgpu_kernels.language.lexer import Source, Token


class TokenCursor:
    """Reads a list of tokens one by one.

    Args:
        source: the whole text, for messages.
        tokens: its tokens, of which the last is "close" or "end".

    Attributes:
        position: the index of the token that is read next.
        depth: how many brackets and operators are open around it.
        nodes: how many syntax nodes have been read, which is what evaluating them costs.
    """

    def __init__(self, source: Source, tokens: Iterable[Token]) -> None:
        self.source = source
        self.tokens = list(tokens)
        self.position = 0
        self.depth = 0
        self.nodes = 0

    @property
    def token(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.position]

    def take(self) -> Token:
        """Read one token."""
        token = self.tokens[self.position]
        self.position += 1
        return token

    def at_operator(self, text: str) -> bool:
        """Return whether an operator is next."""
        token = self.tokens[self.position]
        return token.kind == "operator" and token.text == text

    def at_name(self, text: str, offset: int = 0) -> bool:
        """Return whether a certain name is next, or ``offset`` tokens after it."""
        token = self.tokens[min(self.position + offset, len(self.tokens) - 1)]
        return token.kind == "name" and token.text == text

    def accept(self, text: str) -> bool:
        """Read an operator where it is next, and say whether it was."""
        if self.at_operator(text):
            self.position += 1
            return True
        return False

    def accept_name(self, text: str) -> bool:
        """Read a certain name where it is next, and say whether it was."""
        if self.at_name(text):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Read an operator that must come next."""
        if not self.at_operator(text):
            raise self.error(f"expected {text!r}, found {self.found()}")
        return self.take()

    def found(self) -> str:
        """Name the next token for a message."""
        token = self.token
        if token.kind in ("end", "close"):
            return "the end"
        return repr(token.text.removeprefix("u") if token.kind == "operator" else token.text)

    def error(self, message: str, at: int | None = None) -> Exception:
        """Return a syntax error at the next token, or at an offset."""
        return self.source.error(message, self.token.at if at is None else at)

    def enter(self) -> None:
        """Go one level of nesting deeper."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise too_deep("the expression")

    def step(self, steps: int) -> int:
        """Count one more step of a postfix chain, each of which nests what is left of it."""
        if steps >= MAX_NESTING:
            raise too_deep("the expression")
        self.nodes += 1
        return steps + 1
