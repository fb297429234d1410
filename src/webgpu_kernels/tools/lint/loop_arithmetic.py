"""Arithmetic of loops: how often a condition holds, and what a block assigns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.tools.lint.wgsl_statements import Assign, Block, If, Loop, Nested, Token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.tools.lint.wgsl_statements import Tokens

FLIPPED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
"""What ``a op b`` is for ``b op a``."""
_OPPOSITE: Final = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!="}


def applied(statement: Assign) -> Tokens:
    """Return ``x op (value)`` for ``x op= value``."""
    if not statement.value:
        return ()
    line = statement.value[0].line
    name, operator = Token(statement.name, line), Token(statement.operator, line)
    return (name, operator, Token("(", line), *statement.value, Token(")", line))


def comparison(tokens: Tokens) -> tuple[Tokens, str, Tokens] | None:
    """Split ``a < b``; ``!(a >= b)`` is that, too."""
    texts = [token.text for token in tokens]
    if texts[:2] == ["!", "("] and texts[-1:] == [")"]:
        inner = comparison(tokens[2:-1])
        return (inner[0], _OPPOSITE.get(inner[1], ""), inner[2]) if inner else None
    if texts[:1] == ["("] and texts[-1:] == [")"]:
        return comparison(tokens[1:-1])
    depth = 0
    for index, word in enumerate(texts):
        depth += (word in "([") - (word in ")]")
        if depth == 0 and word in {"<", ">", "<=", ">=", "!=", "=="}:
            rest = texts[index + 1 :]
            single = not any(other in {"<", ">", "<=", ">=", "&&", "||"} for other in rest)
            return (tokens[:index], word, tokens[index + 1 :]) if single else None
        if depth < 0 or (depth == 0 and word in {"&&", "||"}):
            return None
    return None


def rounds_of(start: int, end: int, operator: str, change: int) -> int | None:
    """Return how often start, start + change, … stays on the right side of the end."""
    if operator in {">", ">="}:
        start, end, change = -start, -end, -change
    if operator in {"<=", ">="}:
        end += 1
    if operator == "!=":
        if change < 0:
            start, end, change = -start, -end, -change
        return (end - start) // change if end >= start and (end - start) % change == 0 else None
    if operator not in {"<", ">", "<=", ">="} or change <= 0:
        return 0 if operator in {"<", ">", "<=", ">="} and start >= end else None
    return max(0, -(-(end - start) // change))


def plain(block: Block) -> Iterator[Assign]:
    """Give the assignments that every round makes."""
    for statement in block:
        if isinstance(statement, Assign):
            yield statement
        elif isinstance(statement, Nested) and statement.certain:
            yield from plain(statement.block)


def assignments(block: Block) -> Iterator[Assign]:
    """Give every assignment of a block, those of nested ones, too."""
    for statement in block:
        if isinstance(statement, Assign):
            yield statement
        elif isinstance(statement, If):
            for _, inner in statement.branches:
                yield from assignments(inner)
        elif isinstance(statement, Loop):
            yield from assignments((*statement.begin, *statement.body, *statement.step))
        elif isinstance(statement, Nested):
            yield from assignments(statement.block)


def assigned(block: Block) -> set[str]:
    """Return the variables that a block assigns."""
    return {entry.name for entry in assignments(block)}
