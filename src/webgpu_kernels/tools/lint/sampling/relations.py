"""What a contract's formulas say of its inputs' shapes: equations that give the shape of one from those of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.errors import KernelError
from webgpu_kernels.language.compiler import Compiler
from webgpu_kernels.language.syntax import Call, Chain, Literal, Name, Unary
from webgpu_kernels.planning.quantities import as_counts
from webgpu_kernels.tools.lint.trees import dotted, nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.language import Value
    from webgpu_kernels.language.syntax import Node

_MAX_RELATIONS: Final = 400
_INVERSE: Final = {"*": "/", "/": "*", "+": "-", "-": "+"}


class Relation(NamedTuple):
    """One equation.

    Attributes:
        tensor: name of the input in ``shapes``.
        part: ``"shape"``, ``"rank"``, ``"count"`` (number of elements), or the axis of one size.
        value: computes the other side in a scope; the constant 1 where it is no formula.
        names: the names that the other side uses.
    """

    tensor: str
    part: str | int
    value: Callable[[Mapping[str, Value]], Value]
    names: frozenset[str]


def relations(manifest: Manifest, trees: Iterable[Node]) -> dict[str, tuple[Relation, ...]]:
    """Read the equations about shapes out of formulas.

    Args:
        manifest: the contract.
        trees: syntax trees of its formulas.

    Returns:
        Input name, as ``shapes`` knows it, to its relations.
    """
    inputs = {port.semantic for port in manifest.inputs.values()}
    found: dict[str, list[Relation]] = {}
    count = 0
    for tree in trees:
        for node, _ in nodes(tree):
            for left, right in _equations(node):
                relation = _relation(left, right, inputs)
                if relation is not None and count < _MAX_RELATIONS:
                    found.setdefault(relation.tensor, []).append(relation)
                    count += 1
    return {name: tuple(entries) for name, entries in found.items()}


def _equations(node: object) -> list[tuple[Node, Node]]:
    """Return both directions of ``sameShape(a, b)`` and ``a == b``."""
    if isinstance(node, Call) and isinstance(node.callee, Name) and node.callee.name == "sameShape":
        values = [value for form, _, value in node.arguments.entries if not form]
        if len(values) == 2:
            return [(values[0], values[1]), (values[1], values[0])]
    if isinstance(node, Chain) and len(node.rest) == 1 and node.rest[0][0] in {"==", ">="}:
        operator, right = node.rest[0]
        pairs = [(node.first, right), *_solved(node.first, right), (right, node.first), *_solved(right, node.first)]
        # A least rank is as good as an exact one: it is one of those that fit.
        return pairs if operator == "==" else [pair for pair in pairs[:1] if dotted(pair[0]).startswith("ranks.")]
    return []


def _solved(left: Node, right: Node) -> list[tuple[Node, Node]]:
    """Solve ``a * b == c`` for a and for b: ``a == c / b``; likewise for the other operations of two."""
    if not (isinstance(left, Chain) and len(left.rest) == 1 and left.rest[0][0] in _INVERSE):
        return []
    operator, second = left.rest[0]
    first = Chain(left.at, right, ((_INVERSE[operator], second),))
    if operator in {"*", "+"}:
        return [(left.first, first), (second, Chain(left.at, right, ((_INVERSE[operator], left.first),)))]
    return [(left.first, first)]


def _relation(left: Node, right: Node, inputs: set[str]) -> Relation | None:
    path = dotted(left)
    namespace, _, tensor = path.partition(".")
    part: str | int
    if namespace == "shapes":
        part = "shape"
    elif namespace == "ranks":
        part = "rank"
    else:
        tensor, found = _measured(left)
        if found is None:
            return None
        part = found
    if tensor not in inputs:
        return None
    compiler = Compiler({}, fold_constants=False)
    try:
        run = compiler.compile(right)
    except KernelError:
        return None
    return Relation(tensor, part, run, frozenset(compiler.names))


def _measured(node: Node) -> tuple[str, str | int | None]:
    """Read ``dim(shapes.x, 1)`` and ``numel(shapes.x)``."""
    if not (isinstance(node, Call) and isinstance(node.callee, Name)):
        return "", None
    values = [value for _, _, value in node.arguments.entries]
    namespace, _, tensor = dotted(values[0]).partition(".") if values else ("", "", "")
    if namespace != "shapes":
        return "", None
    if node.callee.name == "numel" and len(values) == 1:
        return tensor, "count"
    axis = _integer(values[1]) if node.callee.name == "dim" and len(values) == 2 else None
    return tensor, axis


def _integer(node: Node) -> int | None:
    if isinstance(node, Unary) and node.operator == "-":
        inner = _integer(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, Literal) and type(node.value) is int else None


def evaluated(relation: Relation, scope: Mapping[str, Value]) -> Value:
    """Compute the other side of a relation.

    Args:
        relation: the equation.
        scope: what is known.

    Returns:
        The value; None where it cannot be computed.
    """
    try:
        return relation.value(scope)
    except (KernelError, RecursionError):
        return None


def as_shape(value: Value) -> tuple[int, ...] | None:
    """Return a value as a shape.

    Args:
        value: a list of counts.

    Returns:
        The shape; None where it is none.
    """
    return as_counts(value) if isinstance(value, list) and len(value) <= 16 else None
