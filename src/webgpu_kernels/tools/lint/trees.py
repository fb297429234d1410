"""Walks syntax trees of expressions and templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.language.syntax import Call, Literal, Member, Name, Test

if TYPE_CHECKING:
    from collections.abc import Iterator

_ASKED: Final = frozenset({"defined", "undefined"})


class Reference(NamedTuple):
    """A member of a namespace that is asked for: ``shapes.x``, ``shapes["x"]`` or ``has(shapes, "x")``.

    Attributes:
        at: offset in the text.
        namespace: such as ``shapes``; a dotted path for deeper ones: ``device.limits``.
        member: such as ``x``.
        guarded: whether it is only asked whether it is defined.
    """

    at: int
    namespace: str
    member: str
    guarded: bool


def nodes(node: object, *, guarded: bool = False) -> Iterator[tuple[Any, bool]]:
    """Give every node of a tree, those of expressions and of statements.

    Args:
        node: an expression, a statement, or a tuple of some.
        guarded: whether it stands under ``is defined``.

    Yields:
        Node, and whether it stands under ``is defined`` or ``is undefined``.
    """
    pending: list[tuple[object, bool]] = [(node, guarded)]
    while pending:
        current, inside = pending.pop()
        if not isinstance(current, tuple):
            continue
        if hasattr(current, "_fields"):
            yield current, inside
            inside = inside or (isinstance(current, Test) and current.name in _ASKED)
        pending.extend((part, inside) for part in reversed(current))


def references(node: object) -> Iterator[Reference]:
    """Give the members of namespaces that a tree asks for.

    Args:
        node: an expression, a statement, or a tuple of some.

    Yields:
        Each of them.
    """
    for current, guarded in nodes(node):
        if isinstance(current, Member) and isinstance(current.key, Literal) and isinstance(current.key.value, str):
            owner = dotted(current.owner)
            if owner:
                yield Reference(current.at, owner, current.key.value, guarded)
        elif isinstance(current, Call):
            yield from _asked(current)


def _asked(call: Call) -> Iterator[Reference]:
    """Read ``has(attrs, "x")`` and ``device.features.has("x")``."""
    values = [value for _, _, value in call.arguments.entries]
    texts = [value.value for value in values if isinstance(value, Literal) and isinstance(value.value, str)]
    if isinstance(call.callee, Name) and call.callee.name == "has" and len(values) == 2 and len(texts) == 1:
        owner = dotted(values[0])
        if owner:
            yield Reference(call.at, owner, texts[0], guarded=True)
    elif (
        len(values) == 1 and texts and dotted(call.callee) in {"device.features.has", "device.wgslLanguageFeatures.has"}
    ):
        yield Reference(call.at, dotted(call.callee).removesuffix(".has"), texts[0], guarded=False)


def dotted(node: object) -> str:
    """Return ``a.b.c`` for a chain of members of a name; empty for anything else.

    Args:
        node: an expression.

    Returns:
        The path.
    """
    parts: list[str] = []
    while isinstance(node, Member):
        if not (isinstance(node.key, Literal) and isinstance(node.key.value, str)):
            return ""
        parts.append(node.key.value)
        node = node.owner
    return ".".join([node.name, *reversed(parts)]) if isinstance(node, Name) else ""


def names(node: object) -> frozenset[str]:
    """Return every identifier of a tree, wherever it stands.

    Args:
        node: an expression, a statement, or a tuple of some.

    Returns:
        The identifiers.
    """
    return frozenset(current.name for current, _ in nodes(node) if isinstance(current, Name))
