"""Formulas of the manifest: compiled while it is read, their names checked against what they will see."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.cursor import show
from webgpu_kernels.contract.words import CONSTANTS, NAMESPACES, alternatives, closest
from webgpu_kernels.errors import LanguageError
from webgpu_kernels.language import FUNCTIONS, compile_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.language import Expression

ONE: Final = compile_value(1)
_ALWAYS: Final = frozenset((*NAMESPACES, *CONSTANTS, *FUNCTIONS, "f16Ok"))


class Names:
    """The free identifiers that a formula may use at its place.

    Args:
        derived: the derived names that are visible there.
        types: the manifest's type variables.
        hidden: where further names are derived that are not visible there, for hints.
    """

    __slots__ = ("_derived", "_hidden", "_known", "_types")

    def __init__(
        self, derived: Iterable[str], types: frozenset[str], hidden: Mapping[str, Node] = MappingProxyType({})
    ) -> None:
        self._derived = set(derived)
        self._known = self._derived | _ALWAYS
        self._types = types
        self._hidden = hidden

    def copy(self, hidden: Mapping[str, Node] = MappingProxyType({})) -> Names:
        """Return the same names, to be widened one level further in.

        Args:
            hidden: where further names are derived that are not visible there.

        Returns:
            Names of its own.
        """
        return Names(self._derived, self._types, hidden)

    def add(self, name: str) -> None:
        """Make a derived name visible.

        Args:
            name: the name.
        """
        self._derived.add(name)
        self._known.add(name)

    def unknown(self, names: Collection[str]) -> list[str]:
        """Return those names that are not visible, in alphabetical order.

        Args:
            names: free identifiers of a formula.

        Returns:
            Mostly none.
        """
        return [] if self._known.issuperset(names) else sorted(set(names) - self._known)

    def values(self) -> set[str]:
        """Return what ``$name`` in a binding may refer to: derived names and type variables."""
        return self._derived | self._types

    def is_type(self, name: str) -> bool:
        """Return whether a name is a type variable."""
        return name in self._types

    def fault(self, name: str) -> str:
        """Compose what is wrong with an unknown name.

        Args:
            name: the identifier.

        Returns:
            A message with a remedy.
        """
        start = f"uses the unknown name {name!r}"
        if name in self._types:
            return f"{start}: write dtypes.{name} or logicalDtypes.{name}, type variables are names in templates only"
        if name in self._hidden:
            return f"{start}: it is derived at {self._hidden[name].path}, which does not reach here"
        if close := closest(name, (*sorted(self._derived), *NAMESPACES, *FUNCTIONS)):
            return f"{start}: did you mean {close!r}?"
        return f"{start}: there are derived names, {', '.join(NAMESPACES)} and functions"


def formula(node: Node, names: Names) -> Expression:
    """Compile an expression, a literal, or a list or object of both.

    Args:
        node: its JSON.
        names: what it may use.

    Returns:
        The compiled formula; the constant 1 where it is wrong, which is then reported.

    Source: FORMAT section 3.
    """
    try:
        expression = compile_value(node.value)
    except LanguageError as error:
        _fail_parts(node, names, error)
        return ONE
    if names.unknown(expression.names):
        _fail_parts(node, names, None)
    return expression


def _fail_parts(node: Node, names: Names, error: LanguageError | None) -> None:
    """Report at the innermost string of a list or an object, where its author will look."""
    if isinstance(node.value, list):
        for part in node.entries("expressions"):
            formula(part, names)
    elif isinstance(node.value, dict):
        for _, part in node.members("expressions"):
            formula(part, names)
    elif error is not None:
        # The message may show the text and underline the place below it.
        node.fail(f"is not an expression: {error.message}".replace("\n", "\n    "))
    else:
        for name in names.unknown(compile_value(node.value).names):
            node.fail(names.fault(name))


def number_or_text(node: Node, names: Names, *, least: int | None = None) -> Expression:
    """Compile an expression that stands for a number.

    Args:
        node: a string or an integer.
        names: what it may use.
        least: the least that a literal may be, or None.

    Returns:
        The compiled formula; the constant 1 where it is wrong, which is then reported.

    Source: FORMAT section 2 (``dispatch``, ``rank``, ``count``).
    """
    value = node.value
    if isinstance(value, str):
        return formula(node, names)
    if isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least):
        return formula(node, names)
    node.fail_kind("an expression or an integer" + ("" if least is None else f" of at least {least}"))
    return ONE


def shape_formula(node: Node, names: Names) -> Expression:
    """Compile an expression that gives a shape, or a list of expressions of its dimensions.

    Args:
        node: a string or a list.
        names: what it may use.

    Returns:
        The compiled formula; the constant 1 where it is wrong, which is then reported.

    Source: FORMAT section 2 (``shape``).
    """
    if isinstance(node.value, str):
        return formula(node, names)
    for dimension in node.entries("expressions, one a dimension"):
        number_or_text(dimension, names, least=0)
    return formula(node, names) if isinstance(node.value, list) else ONE


def clauses(node: Node | None, names: Names) -> tuple[Expression, ...]:
    """Compile the clauses of ``when`` and ``demoteWhen``.

    Args:
        node: a non-empty list of strings, or None.
        names: what they may use.

    Returns:
        The compiled clauses.

    Source: FORMAT section 2 (``when``).
    """
    if node is None:
        return ()
    if isinstance(node.value, str):
        node.fail(f"must be a list of clauses, not one string: write [{show(node.value)}]")
        return ()
    entries = node.entries("clauses", least=1)
    return tuple(formula(entry, names) for entry in entries if entry.string() is not None)


def resolvable(name: str, names: Names) -> str | None:
    """Say what keeps ``$name`` in a binding from being found.

    Args:
        name: without the dollar sign.
        names: what the pass knows.

    Returns:
        The fault, or None.

    Source: FORMAT section 4.3.
    """
    if name in names.values():
        return None
    return f"refers to '${name}', which is no derived name or type variable: " + alternatives(
        name, sorted(names.values()), what="values of this pass"
    )
