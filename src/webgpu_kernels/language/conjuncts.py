"""The parts of an and-chain or an or-chain, so that a reader can be told which one decides."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from webgpu_kernels.errors import LanguageError
from webgpu_kernels.language.lexer import Source, expression_tokens

if TYPE_CHECKING:
    from webgpu_kernels.language.lexer import Token

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_LOOSER = {"and": frozenset({"or", "if", "else"}), "or": frozenset({"if", "else"})}


def conjuncts(source: str) -> tuple[str, ...]:
    """Split an expression at the ``and`` of its outermost level.

    Args:
        source: the text of an expression.

    Returns:
        The operands from left to right, outer parentheses removed; the text alone where it is no and-chain.

    FORMAT section 3, Precedence.
    """
    return _operands(source, "and")


def disjuncts(source: str) -> tuple[str, ...]:
    """Split an expression at the ``or`` of its outermost level; otherwise as ``conjuncts``."""
    return _operands(source, "or")


@lru_cache(maxsize=1024)
def _operands(source: str, operator: str) -> tuple[str, ...]:
    try:
        tokens = [token for token in expression_tokens(Source(source)) if token.kind != "end"]
    except LanguageError:
        return (source,)
    depths = _depths(tokens)
    outer = [token for token, depth in zip(tokens, depths, strict=True) if depth == 0 and token.kind == "name"]
    if any(token.text in _LOOSER[operator] for token in outer):
        return (source,)
    cuts = [token.at for token in outer if token.text == operator]
    if cuts:
        starts, ends = [0, *(cut + len(operator) for cut in cuts)], [*cuts, len(source)]
        return tuple(source[start:end].strip() for start, end in zip(starts, ends, strict=True))
    inner = _unwrapped(source, tokens, depths)
    return _operands(inner, operator) if inner != source.strip() else (inner,)


def _depths(tokens: list[Token]) -> list[int]:
    """Return how many brackets stand around each token; a bracket counts as inside itself."""
    depths: list[int] = []
    depth = 0
    for token in tokens:
        opens = token.kind == "operator" and token.text in _OPENING
        closes = token.kind == "operator" and token.text in _CLOSING
        depth += opens
        depths.append(depth)
        depth -= closes
    return depths


def _unwrapped(source: str, tokens: list[Token], depths: list[int]) -> str:
    """Remove one pair of parentheses around the whole text, if there is one."""
    if len(tokens) > 2 and tokens[0].text == "(" and tokens[0].kind == "operator" and min(depths) > 0:
        opened = sum(depth == 1 and token.text == "(" for token, depth in zip(tokens, depths, strict=True))
        commas = any(depth == 1 and token.text == "," for token, depth in zip(tokens, depths, strict=True))
        if opened == 1 and tokens[-1].text == ")" and not commas:
            return source[tokens[0].at + 1 : tokens[-1].at].strip()
    return source.strip()
