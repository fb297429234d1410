"""The statements of a WGSL function, as far as loops need them; what is not understood is skipped, never refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from webgpu_kernels.device.wgsl_text import strip_comments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_TOKENS: Final = 60_000
MAX_DEPTH: Final = 60
_TOKEN: Final = re.compile(
    r"\n|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[iu]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[iufh]?"
    r"|<<=|>>=|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|\S"
)
_ASSIGNMENTS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})


class Token(NamedTuple):
    """A word and its line, counted from 1."""

    text: str
    line: int


Tokens: TypeAlias = tuple[Token, ...]


class Assign(NamedTuple):
    """``let x = value``, ``var x = value``, ``x op= value``; the operator is empty for declarations and ``=``."""

    name: str
    operator: str
    value: Tokens


class Evaluate(NamedTuple):
    """Anything else that is computed: a call, or an assignment to a part of something."""

    value: Tokens


class If(NamedTuple):
    """``if``: conditions with their blocks; the last condition is empty where there is an else."""

    branches: tuple[tuple[Tokens, Block], ...]


class Loop(NamedTuple):
    """A loop of any kind.

    Attributes:
        line: where it stands.
        begin: what a ``for`` starts with.
        condition: it goes on while this holds; empty for none.
        step: what a ``for`` does after each round, and what stands under ``continuing``.
        body: the rest.
    """

    line: int
    begin: Block
    condition: Tokens
    step: Block
    body: Block


class Leave(NamedTuple):
    """``return``, ``break`` or ``continue``, with the value that is returned."""

    word: str
    value: Tokens


class Nested(NamedTuple):
    """A block of its own, or the cases of a switch, none of which is known to be taken."""

    block: Block
    certain: bool


Statement: TypeAlias = Assign | Evaluate | If | Loop | Leave | Nested
Block: TypeAlias = tuple[Statement, ...]


class Function(NamedTuple):
    """A function: its parameters, each with the built-in value that it stands for or empty, and its body."""

    parameters: tuple[tuple[str, str], ...]
    body: Block


class Shader(NamedTuple):
    """A shader: functions, and the constants of the module with their values."""

    functions: Mapping[str, Function]
    constants: Mapping[str, Tokens]


class NotReadError(Exception):
    """The text is beyond this reader; it never leaves the loop check."""


def read_shader(wgsl: str) -> Shader:
    """Read the functions and constants of a shader.

    Args:
        wgsl: the complete text.

    Returns:
        What was understood.

    Raises:
        NotReadError: the text is too long or too deep, or not WGSL.
    """
    tokens: list[Token] = []
    line = 1
    for word in _TOKEN.findall(strip_comments(wgsl)):
        if word == "\n":
            line += 1
        else:
            tokens.append(Token(word, line))
    if len(tokens) > MAX_TOKENS:
        raise NotReadError
    return _Reader(tokens).shader()


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def shader(self) -> Shader:
        functions: dict[str, Function] = {}
        constants: dict[str, Tokens] = {}
        while self._at < len(self._tokens):
            word = self._take().text
            if word == "fn":
                name = self._take().text
                functions[name] = self._function()
            elif word in {"const", "override"}:
                statement = self._declaration()
                if isinstance(statement, Assign):
                    constants[statement.name] = statement.value
        return Shader(functions, constants)

    def _function(self) -> Function:
        parameters = []
        for part in _split(self._enclosed("(", ")"), ","):
            words = [token.text for token in part]
            builtin = words[words.index("builtin") + 2] if "builtin" in words[:-2] else ""
            after = words[words.index(")") + 1 :] if words[:1] == ["@"] and ")" in words else words
            parameters.append((after[0] if after else "", builtin))
        while self._peek() not in {"{", ""}:
            self._take()
        return Function(tuple(parameters), self._block())

    def _block(self) -> Block:
        self._depth += 1
        if self._depth > MAX_DEPTH or self._take().text != "{":
            raise NotReadError
        statements: list[Statement] = []
        while self._peek() != "}":
            statements += self._statement()
        self._take()
        self._depth -= 1
        return tuple(statements)

    def _statement(self) -> list[Statement]:
        word = self._peek()
        if word == "{":
            return [Nested(self._block(), certain=True)]
        readers: dict[str, Callable[[], Statement]] = {
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "loop": self._loop,
            "switch": self._switch,
            "let": self._declaration,
            "var": self._declaration,
            "const": self._declaration,
        }
        if word in readers:
            self._take()
            return [readers[word]()]
        if word in {"return", "break", "continue", "discard"}:
            self._take()
            return [Leave(word, self._ended())]
        if word in {"continuing", ";"}:
            self._take()
            return [Nested(self._block(), certain=True)] if word == "continuing" else []
        return [_simple(self._ended())]

    def _declaration(self) -> Statement:
        tokens = self._ended()
        if tokens[:1] and tokens[0].text == "<":
            tokens = tokens[next((i for i, token in enumerate(tokens) if token.text == ">"), 0) + 1 :]
        if not tokens:
            raise NotReadError
        at = next((index for index, token in enumerate(tokens) if token.text == "="), None)
        return Assign(tokens[0].text, "", tokens[at + 1 :] if at is not None else ())

    def _if(self) -> If:
        branches = [(self._until("{"), self._block())]
        while self._peek() == "else":
            self._take()
            if self._peek() == "if":
                self._take()
                branches.append((self._until("{"), self._block()))
            else:
                branches.append(((), self._block()))
                break
        return If(tuple(branches))

    def _while(self) -> Loop:
        line = self._line()
        condition = self._until("{")
        return Loop(line, (), condition, (), self._block())

    def _for(self) -> Loop:
        line = self._line()
        begin, condition, step = ([*_split(self._enclosed("(", ")"), ";"), (), (), ()])[:3]
        start = _Reader([*begin, Token(";", line)])._statement() if begin else []  # noqa: SLF001 - the same class
        return Loop(line, tuple(start), condition, (_simple(step),) if step else (), self._block())

    def _loop(self) -> Loop:
        """A loop that begins by leaving under a condition is a while; what is under ``continuing`` ends each round."""
        line = self._line()
        body = self._block()
        condition: Tokens = ()
        if body and isinstance(body[0], If) and len(body[0].branches) == 1:
            tokens, inner = body[0].branches[0]
            if len(inner) == 1 and isinstance(inner[0], Leave) and inner[0].word == "break":
                condition, body = (Token("!", line), Token("(", line), *tokens, Token(")", line)), body[1:]
        return Loop(line, (), condition, (), body)

    def _switch(self) -> Nested:
        self._until("{")
        self._take()
        blocks: list[Statement] = []
        while self._peek() != "}":
            while self._peek() != "{":
                self._take()
            blocks.append(Nested(self._block(), certain=False))
        self._take()
        return Nested(tuple(blocks), certain=False)

    def _until(self, end: str) -> Tokens:
        start = self._at
        while self._peek() != end:
            self._take()
        return tuple(self._tokens[start : self._at])

    def _ended(self) -> Tokens:
        tokens = self._until(";")
        self._take()
        return tokens

    def _enclosed(self, opening: str, closing: str) -> Tokens:
        if self._take().text != opening:
            raise NotReadError
        start, depth = self._at, 1
        while depth:
            word = self._take().text
            depth += (word == opening) - (word == closing)
        return tuple(self._tokens[start : self._at - 1])

    def _line(self) -> int:
        """Return the line of the word that was taken last."""
        return self._tokens[self._at - 1].line

    def _peek(self) -> str:
        if self._at >= len(self._tokens):
            raise NotReadError
        return self._tokens[self._at].text

    def _take(self) -> Token:
        self._peek()
        self._at += 1
        return self._tokens[self._at - 1]


def _simple(tokens: Tokens) -> Statement:
    """Read ``x = value``, ``x += value``, ``x++``; everything else is only evaluated."""
    words = [token.text for token in tokens]
    if len(words) == 2 and words[1] in {"++", "--"}:
        return Assign(words[0], words[1][0], (Token("1", tokens[0].line),))
    if len(words) > 2 and words[1] in _ASSIGNMENTS:
        return Assign(words[0], words[1][:-1], tokens[2:])
    return Evaluate(tokens)


def _split(tokens: Tokens, separator: str) -> list[Tokens]:
    parts: list[Tokens] = []
    depth = start = 0
    for index, token in enumerate(tokens):
        depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == separator and depth == 0:
            parts.append(tokens[start:index])
            start = index + 1
    if start < len(tokens) or separator == ";":
        parts.append(tokens[start:])
    return parts
