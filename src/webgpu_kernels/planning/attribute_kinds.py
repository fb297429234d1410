"""What kind of value an attribute takes, read off the formulas that ask: the format has no word for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import AttributeValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import UnionType

    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.planning.request import Request

_KINDS: Final[Mapping[str, tuple[str, type | UnionType]]] = {
    "number": ("a number", int | float),
    "integer": ("an integer", int),
    "string": ("a string", str),
    "boolean": ("true or false", bool),
    "iterable": ("a list", list),
    "sequence": ("a list", list),
}
_ASKED: Final = re.compile(rf"\battrs\.(\w+) is (not )?({'|'.join(_KINDS)})\b")
_WHOLE: Final = re.compile(r"\b((?:attrs\.)?\w+) % 1 == 0")
_STANDS_FOR: Final = re.compile(r"attrs\.(\w+)(?: if attrs\.\1 is number else [\w.-]+)?")


def wrong_kind(request: Request) -> AttributeValueError | None:
    """Return the error for an attribute that is of no kind which the contract asks for.

    Args:
        request: a call that nothing takes.

    Returns:
        The error, or None where kinds are not to blame.

    Source: FORMAT, sections 2 and 3 (tests).
    """
    manifest = request.manifest
    asked = _asked_kinds(manifest)
    for name, value in request.attrs.items():
        words = asked.get(name, {})
        if words and not any(_fits(word, value) for word in words):
            return AttributeValueError(
                "wrong kind of value",
                where=f"{manifest.op_id}: attribute {name!r}",
                expected=" or ".join(dict.fromkeys(_KINDS[word][0] for word in words)),
                got=repr(value),
            )
    return None


def _asked_kinds(manifest: Manifest) -> dict[str, dict[str, None]]:
    """Return which kinds formulas ask of each attribute, in order."""
    derived = {entry.name: entry.expression.source for entry in manifest.derive}
    asked: dict[str, dict[str, None]] = {}
    whole: set[str] = set()
    for source in [*derived.values(), *_clauses(manifest)]:
        for name, _, kind in _ASKED.findall(source):
            asked.setdefault(name, {})[kind] = None
        for term in _WHOLE.findall(source):
            found = _STANDS_FOR.fullmatch(derived.get(term, term))
            whole |= {found[1]} if found else set()
    for name in whole & asked.keys():
        asked[name] = {"integer" if kind == "number" else kind: None for kind in asked[name]}
    return asked


def _clauses(manifest: Manifest) -> Iterable[str]:
    return dict.fromkeys(clause.source for variant in manifest.variants for clause in variant.when)


def _fits(word: str, value: object) -> bool:
    kind = _KINDS[word][1]
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
