"""The syntax tree of expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from webgpu_kernels.language.values import Value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Literal:
    """A number or a string."""

    at: int
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Name:
    """An identifier."""

    at: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListOf:
    """``[a, b]``, or ``(a, b)`` where ``is_tuple``."""

    at: int
    items: tuple[Node, ...]
    is_tuple: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DictOf:
    """``{key: value}``."""

    at: int
    entries: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unary:
    """``-a``, ``+a`` or ``not a``."""

    at: int
    operator: str
    operand: Node


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chain:
    """Operators of one level, from the left: ``first op a op b``; also chains of ``and`` or of ``or``."""

    at: int
    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """``a if c else b``: arms of (condition, value) in order, and what is taken where none holds."""

    at: int
    arms: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Member:
    """``a[key]`` or ``a.key``, where ``dotted`` and the key is a literal."""

    at: int
    owner: Node
    key: Node
    dotted: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """``a[start:stop:step]``."""

    at: int
    owner: Node
    start: Node | None
    stop: Node | None
    step: Node | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arguments:
    """What stands in the parentheses of a call: (form, name, value); the form is "", "*", "**" or "="."""

    entries: tuple[tuple[str, str, Node], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Call:
    """``callee(arguments)``."""

    at: int
    callee: Node
    arguments: Arguments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Filter:
    """``operand | name`` or ``operand | name(arguments)``."""

    at: int
    operand: Node
    name: str
    arguments: Arguments | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Test:
    """``operand is [not] name``."""

    at: int
    operand: Node
    name: str
    negated: bool


Node: TypeAlias = Literal | Name | ListOf | DictOf | Unary | Chain | Choice | Member | Slice | Call | Filter | Test
