"""The syntax tree of expressions.

Its nodes are named tuples: defining one takes a fifth of what a dataclass takes, and all are defined on every import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from webgpu_kernels.language.values import Value


class Literal(NamedTuple):
    """A number or a string."""

    at: int
    value: Value


class Name(NamedTuple):
    """An identifier."""

    at: int
    name: str


class ListOf(NamedTuple):
    """``[a, b]``, or ``(a, b)`` where ``is_tuple``."""

    at: int
    items: tuple[Node, ...]
    is_tuple: bool


class DictOf(NamedTuple):
    """``{key: value}``."""

    at: int
    entries: tuple[tuple[Node, Node], ...]


class Unary(NamedTuple):
    """``-a``, ``+a`` or ``not a``."""

    at: int
    operator: str
    operand: Node


class Chain(NamedTuple):
    """Operators of one level, from the left: ``first op a op b``; also chains of ``and`` or of ``or``."""

    at: int
    first: Node
    rest: tuple[tuple[str, Node], ...]


class Choice(NamedTuple):
    """``a if c else b``: arms of (condition, value) in order, and what is taken where none holds."""

    at: int
    arms: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


class Member(NamedTuple):
    """``a[key]`` or ``a.key``, where ``dotted`` and the key is a literal."""

    at: int
    owner: Node
    key: Node
    dotted: bool


class Slice(NamedTuple):
    """``a[start:stop:step]``."""

    at: int
    owner: Node
    start: Node | None
    stop: Node | None
    step: Node | None


class Arguments(NamedTuple):
    """What stands in the parentheses of a call: (form, name, value); the form is "", "*", "**" or "="."""

    entries: tuple[tuple[str, str, Node], ...]


class Call(NamedTuple):
    """``callee(arguments)``."""

    at: int
    callee: Node
    arguments: Arguments


class Filter(NamedTuple):
    """``operand | name`` or ``operand | name(arguments)``."""

    at: int
    operand: Node
    name: str
    arguments: Arguments | None


class Test(NamedTuple):
    """``operand is [not] name``."""

    at: int
    operand: Node
    name: str
    negated: bool


Node: TypeAlias = Literal | Name | ListOf | DictOf | Unary | Chain | Choice | Member | Slice | Call | Filter | Test
