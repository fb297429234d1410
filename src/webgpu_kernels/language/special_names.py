"""Which of the names that a macro may read without declaring them its body reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.language.statements import (
    Block,
    CallBlock,
    FilterBlock,
    For,
    If,
    Jump,
    Macro,
    Output,
    Parameters,
    Set,
    Statement,
    Text,
)
from webgpu_kernels.language.syntax import (
    Arguments,
    Call,
    Chain,
    Choice,
    DictOf,
    Filter,
    ListOf,
    Literal,
    Member,
    Name,
    Node,
    Slice,
    Test,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def special_names(body: Block, parameters: Parameters) -> frozenset[str]:
    """Return which of ``varargs`` and ``kwargs`` a body reads, macros and call blocks in it aside."""
    found = {name for statement in body for name in _names_read(statement)}
    return frozenset({"varargs", "kwargs"} & found - set(parameters.names))


def _names_read(node: Statement | Node | Arguments | None) -> Iterator[str]:
    if isinstance(node, Name):
        yield node.name
    elif node is not None:
        for part in _PARTS[type(node)](node):
            yield from _names_read(part)


def _argument_values(arguments: Arguments | None) -> list[Node]:
    return [] if arguments is None else [value for _, _, value in arguments.entries]


_PARTS: Final[dict[type, Callable[[Any], list[Any]]]] = {
    Literal: lambda _: [],
    Text: lambda _: [],
    Jump: lambda _: [],
    Macro: lambda _: [],
    ListOf: lambda node: list(node.items),
    DictOf: lambda node: [part for entry in node.entries for part in entry],
    Unary: lambda node: [node.operand],
    Chain: lambda node: [node.first, *(operand for _, operand in node.rest)],
    Choice: lambda node: [*(part for arm in node.arms for part in arm), node.otherwise],
    Member: lambda node: [node.owner, node.key],
    Slice: lambda node: [node.owner, node.start, node.stop, node.step],
    Call: lambda node: [node.callee, *_argument_values(node.arguments)],
    Filter: lambda node: [node.operand, *_argument_values(node.arguments)],
    Test: lambda node: [node.operand],
    Output: lambda node: [node.value],
    If: lambda node: [part for condition, body in node.branches for part in (condition, *body)],
    For: lambda node: [node.items, node.condition, *node.body, *node.otherwise],
    Set: lambda node: [node.value, *node.body],
    CallBlock: lambda node: _argument_values(node.arguments),
    FilterBlock: lambda node: [*_argument_values(node.arguments), *node.body],
}
