"""The syntax tree of templates, of named tuples like that of expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from webgpu_kernels.language.syntax import Arguments, Name, Node


class Text(NamedTuple):
    """Text that is copied."""

    at: int
    text: str


class Output(NamedTuple):
    """``{{ value }}``."""

    at: int
    value: Node
    weight: int


class If(NamedTuple):
    """``{% if %}``: branches in order, the last without a condition where there is an else."""

    at: int
    branches: tuple[tuple[Node | None, Block], ...]
    weight: int


class For(NamedTuple):
    """``{% for target in items if condition %}``."""

    at: int
    target: Node
    items: Node
    condition: Node | None
    body: Block
    otherwise: Block
    weight: int


class Set(NamedTuple):
    """``{% set target = value %}``, or with a body in place of the value."""

    at: int
    target: Node
    value: Node | None
    body: Block
    weight: int


class Parameters(NamedTuple):
    """What a macro takes: names, and the defaults of the last of them."""

    names: tuple[str, ...]
    defaults: tuple[Node | None, ...]


class Macro(NamedTuple):
    """``{% macro name(parameters) %}``."""

    at: int
    name: str
    parameters: Parameters
    body: Block


class CallBlock(NamedTuple):
    """``{% call(parameters) name(arguments) %}``."""

    at: int
    parameters: Parameters
    callee: Name
    arguments: Arguments
    body: Block
    weight: int


class FilterBlock(NamedTuple):
    """``{% filter name(arguments) %}``."""

    at: int
    name: str
    arguments: Arguments | None
    body: Block
    weight: int


class Jump(NamedTuple):
    """``{% break %}`` or ``{% continue %}``."""

    at: int
    leave: bool


Statement: TypeAlias = Text | Output | If | For | Set | Macro | CallBlock | FilterBlock | Jump
Block: TypeAlias = tuple[Statement, ...]
