"""How deep a shader's text may nest: wgpu's compiler recurses over it, and ends the process where its stack ends.

The bounds are far above what anybody writes and far below what the compiler, or a driver behind it, can take.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webgpu_kernels.device.wgsl_text import refused, strip_comments

if TYPE_CHECKING:
    from webgpu_kernels.planning.program import ProgramPass

MAX_BRACKETS: Final = 256
"""Brackets of any kind inside one another, operators in front of one operand, and types inside one another."""
MAX_OPERATORS: Final = 4096
"""Operators, member accesses and brackets on the way from an expression to one of its operands."""
MAX_BRANCHES: Final = 1024
"""Branches of one ``if``."""

_TOKEN: Final = re.compile(r"\n|[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9A-Za-z_.]*|\S")
_OPERATORS: Final = frozenset("+-*/%&|^<>=!~.")
_PREFIXES: Final = frozenset("-!~&*")
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")


@dataclass(slots=True)
class _Level:
    """What lies between two brackets: the depth of the operand that is read, of those before it, and branches."""

    depth: int = 0
    done: int = 0
    branches: int = 0


class _Nesting:
    """Follows a shader word by word; ``defect`` says what is too deep so far."""

    def __init__(self) -> None:
        self._levels = [_Level()]
        self._previous = ""
        self._prefixes = 0
        self._types = 0

    def defect(self, word: str) -> str | None:
        """Take one word in, and return what it makes too much of."""
        self._prefixes = self._prefixes + 1 if word in _PREFIXES else 0
        self._types = self._types + (word == "<") if word == "<" or self._previous == "<" else 0
        level = self._levels[-1]
        if word in _OPENING:
            self._levels.append(_Level())
        elif word in _CLOSING:
            level = self._close(word)
        elif word in {";", ","}:
            level.done, level.depth = max(level.done, level.depth), 0
        elif word in _OPERATORS:
            level.depth += 1
        elif word == "else":
            level.branches += 1
        elif self._previous == "}":
            level.branches = 0
        self._previous = word
        return self._too_much(level)

    def _close(self, word: str) -> _Level:
        inner = self._levels.pop() if len(self._levels) > 1 else _Level()
        level = self._levels[-1]
        level.depth = 0 if word == "}" else max(level.depth, inner.depth, inner.done) + 1
        return level

    def _too_much(self, level: _Level) -> str | None:
        if len(self._levels) > MAX_BRACKETS + 1:
            return f"it nests more than {MAX_BRACKETS} brackets"
        if self._prefixes > MAX_BRACKETS:
            return f"it has more than {MAX_BRACKETS} operators in front of one operand"
        if self._types > MAX_BRACKETS:
            return f"it nests more than {MAX_BRACKETS} types"
        if level.depth > MAX_OPERATORS:
            return f"an expression has more than {MAX_OPERATORS} operators"
        if level.branches > MAX_BRANCHES:
            return f"an if has more than {MAX_BRANCHES} branches"
        return None


def check_nesting(program_pass: ProgramPass, *, where: str) -> None:
    """Refuse a shader that is too deep for the compiler.

    Args:
        program_pass: the pass whose shader it is.
        where: operator and variant, for the message.

    Raises:
        ShaderError: names what is too deep, and the line of the template where it becomes so.

    Source: none; WGSL, section 2.4 "Limits", bounds only braces.
    """
    line, nesting = 1, _Nesting()
    for word in _TOKEN.findall(strip_comments(program_pass.wgsl)):
        if word == "\n":
            line += 1
            continue
        defect = nesting.defect(word)
        if defect is not None:
            raise refused(defect, program_pass, line, where=where)
