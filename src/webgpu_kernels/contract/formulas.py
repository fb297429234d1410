"""Formulas of the manifest: compiled while it is read, their names checked against what they will see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.cursor import MAX_FORMULAS, MAX_REPEATED, ReadingStopped, show
from webgpu_kernels.contract.extensions import SPLIT_WINDOW, undeclared
from webgpu_kernels.contract.kinds import Formula
from webgpu_kernels.contract.words import CONSTANTS, NAMESPACES, alternatives, closest
from webgpu_kernels.errors import LanguageError
from webgpu_kernels.language import FUNCTIONS, compile_value

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.fields import Fields
    from webgpu_kernels.language import Expression

ONE: Final = compile_value(1)
_ALWAYS: Final = frozenset((*NAMESPACES, *CONSTANTS, *FUNCTIONS, "f16Ok"))


class Names:
    """The free identifiers that a formula may use at its place: those of the levels above and its own.

    Args:
        types: the manifest's type variables.
        hidden: where further names are derived that are not visible here, for hints.
        outer: the level above, or None for the manifest's.
        constants: what the manifest's extensions add to the names of its formulas; an inner level has the outer's.
    """

    __slots__ = ("_hidden", "_own", "_types", "constants", "levels")

    def __init__(
        self,
        types: frozenset[str],
        hidden: Mapping[str, Node],
        outer: Names | None = None,
        constants: frozenset[str] = frozenset(),
    ) -> None:
        self._own: set[str] = set()
        self.constants: frozenset[str] = outer.constants if outer else constants
        self.levels: tuple[Container[str], ...] = (self._own, *(outer.levels if outer else (_ALWAYS | constants,)))
        self._types = types
        self._hidden = hidden

    def inner(self, hidden: Mapping[str, Node]) -> Names:
        """Return the names one level further in, none of its own yet.

        Args:
            hidden: where further names are derived that are not visible there.

        Returns:
            A level that sees this one.
        """
        return Names(self._types, hidden, self)

    def add(self, name: str) -> None:
        """Make a derived name visible.

        Args:
            name: the name.
        """
        self._own.add(name)

    def unknown(self, names: Iterable[str]) -> list[str]:
        """Return those names that are not visible, in alphabetical order.

        Args:
            names: free identifiers of a formula.

        Returns:
            Mostly none.
        """
        return sorted(name for name in names if not any(name in level for level in self.levels))

    def derived(self) -> list[str]:
        """Return the visible derived names in alphabetical order."""
        levels = [level for level in self.levels if isinstance(level, set)]
        return sorted(set().union(*levels))

    def is_type(self, name: str) -> bool:
        """Return whether a name is a type variable."""
        return name in self._types

    def value_fault(self, name: str) -> str | None:
        """Say what keeps ``$name`` in a binding from being found: it means a derived name or a type variable.

        Args:
            name: without the dollar sign.

        Returns:
            The fault, or None.

        Source: FORMAT section 4.3.
        """
        if name in self._types or any(name in level for level in self.levels if isinstance(level, set)):
            return None
        hint = alternatives(name, sorted({*self.derived(), *self._types}), what="values of this pass")
        return f"refers to '${name}', which is no derived name or type variable: {hint}"

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
        if name == SPLIT_WINDOW:
            return f"{start}: {undeclared('split')}"
        if close := closest(name, (*self.derived(), *self.constants, *NAMESPACES, *FUNCTIONS)):
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
    if not node.report.affords(node.value):
        node.fail(
            f"is one formula too many: all have {MAX_REPEATED:,} characters at most, those that differ {MAX_FORMULAS:,}"
        )
        raise ReadingStopped
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


def formula_of(fields: Fields, key: str, names: Names) -> Expression | None:
    """Compile a member that stands for a number; its bounds are those of the table.

    Args:
        fields: the object.
        key: a key of the kind ``Formula``.
        names: what it may use.

    Returns:
        The compiled formula, or None where it is absent.

    Source: FORMAT section 2 (``dispatch``, ``rank``, ``count``).
    """
    node, kind = fields.get(key), fields.table.keys[key].kind
    assert isinstance(kind, Formula)
    if node is None:
        return None
    if kind.most is not None and isinstance(node.value, int) and node.value > kind.most:
        node.fail(f"must be at most {kind.most:,}")
    return number_or_text(node, names, least=kind.least)


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
