"""A place in a JSON document that knows its path and reports defects there."""

from __future__ import annotations

import json
import re
from typing import Final

from webgpu_kernels.contract.words import MAX_NAME
from webgpu_kernels.errors import Defect, ManifestError
from webgpu_kernels.legible import shortened

MAX_DEFECTS: Final = 250
MAX_FORMULAS: Final = 200_000
"""Characters of all formulas of a document that differ: compiling takes time for each."""
MAX_REPEATED: Final = 1_000_000
"""Characters of all its formulas, the same ones counted each time: whoever looks at them takes time for each."""
_FORMULA: Final = 40
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)


def join(path: str, key: str | int) -> str:
    """Append a key or an index to a JSON path.

    Args:
        path: the parent's path, empty for the document.
        key: the member's key or the entry's index.

    Returns:
        Such as ``variants[2].passes[0]``; keys that are no plain words stand in brackets and quotes.

    Source: DESIGN, contexts compose into a path.
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    if len(key) > MAX_NAME:
        key = shortened(key, MAX_NAME)
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{show(key)}]"
    return f"{path}.{key}" if path else key


def show(value: object) -> str:
    """Return a value as JSON text of at most 60 characters."""
    if isinstance(value, int) and abs(value) >= 1e21:
        return repr(float(value))
    text = json.dumps(value, ensure_ascii=False, default=repr) if not isinstance(value, list | dict) else "…"
    return text if len(text) <= 60 else f"{text[:56]}…{text[-1]}"


def describe(value: object) -> str:
    """Return what a JSON value is, in words."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else show(value)
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    kinds = {str: "the string", int: "the number", float: "the number"}
    kind = kinds.get(type(value))
    return f"{kind} {show(value)}" if kind else f"a {type(value).__name__}"


class ReadingStopped(Exception):
    """What is reported is enough: a hostile document must cost neither an hour nor a message of a million lines."""


class Report:
    """Collects the defects of one document.

    Attributes:
        extensions: those that the document declares: they decide which keys and dtypes it knows.
    """

    def __init__(self) -> None:
        self.extensions: frozenset[str] = frozenset()
        self._found: dict[tuple[str, str], Node] = {}
        self._formulas: set[str] = set()
        self._formulas_left = MAX_FORMULAS
        self._repeated_left = MAX_REPEATED

    def affords(self, value: object) -> bool:
        """Count the formulas of a value, those that were not met before twice.

        Args:
            value: a formula, or a list or object of formulas.

        Returns:
            Whether the document still may have them.
        """
        pending = [value]
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                self._repeated_left -= len(part)
                if part not in self._formulas:
                    self._formulas.add(part)
                    self._formulas_left -= len(part) + _FORMULA
            elif isinstance(part, list):
                pending += part
            elif isinstance(part, dict):
                pending += part.values()
        return self._formulas_left >= 0 and self._repeated_left >= 0

    def add(self, node: Node, message: str) -> None:
        """Keep a defect, once for each path and message.

        Args:
            node: where it is.
            message: what is wrong and what to do.

        Raises:
            ReadingStopped: these are enough.
        """
        self._found.setdefault((node.path, message), node)
        if len(self._found) >= MAX_DEFECTS:
            raise ReadingStopped

    def raise_any(self, document: object, where: str) -> None:
        """Raise what was collected.

        Args:
            document: the raw document, for the order.
            where: what the document is.

        Raises:
            ManifestError: there are defects; they stand in document order.
        """
        if not self._found:
            return
        order = _Order(document)
        found = [(order.position(node.keys()), path, text, node) for (path, text), node in self._found.items()]
        found.sort(key=lambda entry: entry[0])
        defects = [Defect(path=path, message=text + node.note) for _, path, text, node in found]
        if len(defects) == MAX_DEFECTS:
            defects.append(Defect(path="", message=f"reading stopped after {MAX_DEFECTS} defects"))
        raise ManifestError(defects, where=where or None)


class _Order:
    """Where places stand in a document."""

    def __init__(self, document: object) -> None:
        self._document = document
        self._indices: dict[int, dict[object, int]] = {}

    def position(self, keys: tuple[str | int, ...]) -> tuple[int, ...]:
        """Return the index at each level; a key that is missing stands after those that are there."""
        position = []
        value = self._document
        for key in keys:
            if isinstance(value, dict):
                position.append(self._index_of(value).get(key, len(value)))
                value = value.get(key)
            elif isinstance(value, list | tuple) and isinstance(key, int):
                position.append(key)
                value = value[key] if key < len(value) else None
            else:
                break
        return tuple(position)

    def _index_of(self, members: dict[object, object]) -> dict[object, int]:
        if id(members) not in self._indices:
            self._indices[id(members)] = {key: index for index, key in enumerate(members)}
        return self._indices[id(members)]


class Node:
    """One value of the document.

    Attributes:
        value: plain JSON.
        report: collects the defects.
        note: which of several readings of this place this is, for messages; empty for a plain one.
    """

    __slots__ = ("_key", "_parent", "note", "report", "value")

    def __init__(
        self, value: object, report: Report, *, parent: Node | None = None, key: str | int = "", note: str = ""
    ) -> None:
        self.value = value
        self.report = report
        self.note = note
        self._parent = parent
        self._key = key

    @property
    def path(self) -> str:
        """The JSON path; composed when asked for, as most nodes are never reported."""
        path = ""
        for key in self.keys():
            path = join(path, key)
        return path

    def keys(self) -> tuple[str | int, ...]:
        """Return the keys and indices that lead from the document to this place."""
        node, keys = self, []
        while node._parent is not None:
            keys.append(node._key)
            node = node._parent
        return tuple(reversed(keys))

    def at(self, key: str | int, value: object) -> Node:
        """Return the node of a member or an entry.

        Args:
            key: its key or index.
            value: its value.

        Returns:
            A node one level down.
        """
        return Node(value, self.report, parent=self, key=key, note=self.note)

    def replaced(self, value: object, note: str) -> Node:
        """Return this place with another value, as the expansion of a family sees it.

        Args:
            value: the value after substitution.
            note: which case it is.

        Returns:
            A node with the same path.
        """
        return Node(value, self.report, parent=self._parent, key=self._key, note=note)

    def fail(self, message: str) -> None:
        """Report a defect here.

        Args:
            message: what is wrong and what to do.
        """
        self.report.add(self, message)

    def fail_kind(self, wanted: str) -> None:
        """Report that the value is of the wrong kind.

        Args:
            wanted: what it must be, such as ``a string``.
        """
        self.fail(f"must be {wanted}, not {describe(self.value)}")

    def entries(self, what: str, *, least: int = 0) -> list[Node]:
        """Return the entries of a list.

        Args:
            what: what they are, in the plural, for messages.
            least: how many there must be.

        Returns:
            One node an entry; none where the value is no list, which is then reported.
        """
        if not isinstance(self.value, list):
            self.fail_kind(f"a list of {what}")
            return []
        if len(self.value) < least:
            self.fail(f"must name at least {least} of {what}" if least > 1 else f"must not be empty: give {what}")
        return [self.at(index, entry) for index, entry in enumerate(self.value)]

    def members(self, what: str) -> list[tuple[str, Node]]:
        """Return the members of an object whose keys are names.

        Args:
            what: what they are, in the plural, for messages.

        Returns:
            Key and node of each; none where the value is no object, which is then reported.
        """
        if not isinstance(self.value, dict):
            self.fail_kind(f"an object of {what}")
            return []
        return [(key, self.at(key, member)) for key, member in self.value.items()]

    def string(self) -> str | None:
        """Return the value where it is a string; report it and return None else."""
        if isinstance(self.value, str):
            return self.value
        self.fail_kind("a string")
        return None
