"""Formulas as far as they can be compared: by their words, with what they derive their names from."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TYPE_CHECKING

from webgpu_kernels.errors import LanguageError
from webgpu_kernels.language import compile_value
from webgpu_kernels.language.conjuncts import conjuncts
from webgpu_kernels.language.lexer import Source, expression_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from webgpu_kernels.contract import Derived, Manifest
    from webgpu_kernels.language import Expression
    from webgpu_kernels.language.lexer import Token


@functools.lru_cache(maxsize=512)
def _tokens(source: str) -> tuple[Token, ...]:
    return tuple(expression_tokens(Source(source)))


class Formulas:
    """Tells formulas of one manifest apart, whatever their spaces and however its derived names are called.

    A formula's mark holds its words; in place of a derived name stands the mark of what it is derived from.

    Args:
        derive: the manifest's derived names, in order.
    """

    def __init__(self, derive: Iterable[Derived]) -> None:
        self._marks: dict[str, str] = {}
        for entry in derive:
            self._marks[entry.name] = _digest(self._words(entry.expression))
        self._whole = _digest(f"{name} {mark}" for name, mark in self._marks.items())

    def mark(self, expression: Expression | None) -> str | None:
        """Return what two formulas share that compute the same from the same; None for none."""
        return None if expression is None else _digest(self._words(expression))

    def clauses(self, when: Iterable[Expression]) -> Mapping[str, str]:
        """Return the parts of conditions that must all be true.

        Args:
            when: the clauses.

        Returns:
            Mark of each part to its text.
        """
        parts = [part for clause in when for part in conjuncts(clause.source)]
        return {_digest(self._text(part)): part for part in parts}

    def _words(self, expression: Expression) -> Iterable[str]:
        value = _json_of(expression)
        return self._text(expression.source) if value is None else self._json(value)

    def _json(self, value: object) -> Iterable[str]:
        """Yield the words of a formula that is written as a list or an object of formulas."""
        if isinstance(value, str):
            yield from self._text(value)
        elif isinstance(value, list):
            yield from ("[", *(word for entry in value for word in (*self._json(entry), ",")), "]")
        elif isinstance(value, dict):
            for key, entry in value.items():
                yield from (json.dumps(key), ":", *self._json(entry))
        else:
            yield json.dumps(value)

    def _text(self, source: str) -> Iterable[str]:
        before = ""
        try:
            tokens = _tokens(source)
        except LanguageError:
            return [source]
        words = []
        for token in tokens:
            if token.kind == "end":
                break
            word = json.dumps(token.text) if token.kind == "string" else token.text
            if token.kind == "name" and before != ".":
                word = self._whole if word == "derive" else self._marks.get(word, word)
            words.append(word)
            before = token.text if token.kind == "operator" else ""
        return words


def formulas_of(manifest: Manifest) -> Formulas:
    """Return what tells a manifest's formulas apart."""
    return Formulas(manifest.derive)


def _json_of(expression: Expression) -> object:
    """Return a formula's JSON where it is written as a list or an object of formulas, else None."""
    if not expression.source.startswith(("[", "{")):
        return None
    try:
        value = json.loads(expression.source)
        # A list of texts in the language looks the same, and names nothing.
        return value if compile_value(value).names == expression.names else None
    except (ValueError, LanguageError, RecursionError):
        return None


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()
