"""The declarations of a shader, as far as its memory and its workgroup's size depend on them.

Shaders of packages may be made to be slow to read, so every declaration is bounded, and what lies between two words is
found by where the words that end it are.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.device.wgsl_text import Tokens

MAX_WORDS: Final = 4096
"""Words of one declaration."""
_ENDS: Final = (";", "}", "=", "(")
_WORK: Final = 20
_LEAST_WORK: Final = 100_000


class TooLongError(Exception):
    """The declarations are longer than anybody writes them; it never leaves the shader check."""


@dataclass(slots=True)
class Declarations:
    """What a shader declares.

    Attributes:
        constants: name to value.
        aliases: name to type.
        structs: name to members.
        workgroup: name to type, of variables in workgroup memory.
        private: name to type, of private variables.
        functions: name, and name and type of each of its variables.
        size: the workgroup's size along each axis that is given.
        uses: how often each word occurs.
        work: words that may still be looked at.
    """

    constants: dict[str, Tokens] = field(default_factory=dict)
    aliases: dict[str, Tokens] = field(default_factory=dict)
    structs: dict[str, Tokens] = field(default_factory=dict)
    workgroup: dict[str, Tokens] = field(default_factory=dict)
    private: dict[str, Tokens] = field(default_factory=dict)
    functions: list[tuple[str, list[tuple[str, Tokens]]]] = field(default_factory=list)
    size: tuple[Tokens, ...] = ()
    uses: dict[str, int] = field(default_factory=dict)
    work: int = _LEAST_WORK

    def spend(self, words: int) -> None:
        """Count words that are looked at.

        Args:
            words: how many.

        Raises:
            TooLongError: it is more than a shader of this length needs.
        """
        self.work -= words
        if self.work < 0:
            raise TooLongError


def read_declarations(words: Tokens) -> Declarations:
    """Read the declarations of a shader.

    Args:
        words: its tokens.

    Returns:
        What it declares; what is written in a way that this reader does not know is left out.

    Raises:
        TooLongError: a declaration is too long.

    Source: WGSL, sections 6 "Types" and 7 "Variable and value declarations".
    """
    return _Reading(words).declarations()


class _Reading:
    def __init__(self, words: Tokens) -> None:
        self._words = words
        self._found = Declarations(work=_LEAST_WORK + _WORK * len(words))
        self._places: dict[str, list[int]] = {end: [] for end in _ENDS}

    def declarations(self) -> Declarations:
        uses, marked = self._found.uses, []
        for index, word in enumerate(self._words):
            uses[word] = uses.get(word, 0) + 1
            if word in self._places:
                self._places[word].append(index)
            elif word in _READERS:
                marked.append(index)
        for index in marked:
            _READERS[self._words[index]](self, index + 1)
        return self._found

    def _word(self, index: int) -> str:
        return self._words[index] if index < len(self._words) else ""

    def _next(self, end: str, start: int) -> int:
        places = self._places[end]
        at = bisect_left(places, start)
        return places[at] if at < len(places) else len(self._words)

    def _until(self, start: int, *ends: str) -> Tokens:
        """Return the words from a place to the first of some others."""
        stop = min(self._next(end, start) for end in ends)
        if stop - start > MAX_WORDS:
            raise TooLongError
        self._found.spend(max(0, stop - start))
        return self._words[start:stop]

    def _constant(self, start: int) -> None:
        value = self._next("=", start)
        if value < self._next(";", start):
            self._found.constants[self._word(start)] = self._until(value + 1, ";")

    def _alias(self, start: int) -> None:
        self._found.aliases[self._word(start)] = self._until(start + 2, ";")

    def _struct(self, start: int) -> None:
        self._found.structs[self._word(start)] = self._until(start + 2, "}")

    def _function(self, start: int) -> None:
        self._found.functions.append((self._word(start), []))

    def _workgroup_size(self, start: int) -> None:
        some = self._words[start : start + MAX_WORDS]
        inside = enclosed(some)
        self._found.spend(len(inside))
        self._found.size = tuple(split(inside, ","))

    def _variable(self, start: int) -> None:
        found, space = self._found, ""
        if self._word(start) == "<" and self._word(start + 2) == ">":
            space, start = self._word(start + 1), start + 3
        name = self._word(start)
        if not name:
            return
        kind = self._type_at(start + 1)
        if space == "workgroup":
            found.workgroup[name] = kind
        elif space == "private":
            found.private[name] = kind
        elif space in {"", "function"} and found.functions:
            found.functions[-1][1].append((name, kind))

    def _type_at(self, start: int) -> Tokens:
        """Return a variable's type: as it is declared, or the type whose value it is made with."""
        if self._word(start) == ":":
            return self._until(start + 1, ";", "=")
        return self._until(start + 1, "(", ";") if self._word(start) == "=" else ()


_READERS: Final = {
    "fn": _Reading._function,  # noqa: SLF001 - its own
    "const": _Reading._constant,  # noqa: SLF001
    "override": _Reading._constant,  # noqa: SLF001
    "alias": _Reading._alias,  # noqa: SLF001
    "struct": _Reading._struct,  # noqa: SLF001
    "var": _Reading._variable,  # noqa: SLF001
    "workgroup_size": _Reading._workgroup_size,  # noqa: SLF001
}


def enclosed(words: Tokens) -> Tokens:
    """Return what stands between the bracket at the beginning and the one that closes it; nothing where none does.

    Args:
        words: tokens.

    Returns:
        The tokens between them.

    Source: WGSL, section 3 "Textual structure".
    """
    depth = 0
    for index, word in enumerate(words):
        depth += (word in "(<") - (word in ")>")
        if depth == 0:
            return words[1:index]
    return ()


def split(words: Tokens, separator: str) -> Iterator[Tokens]:
    """Split a list at its separators, those inside brackets not counted.

    Args:
        words: tokens.
        separator: such as a comma.

    Yields:
        The tokens of each entry; an empty last one is left out.

    Source: WGSL, section 3 "Textual structure".
    """
    depth, start = 0, 0
    for index, word in enumerate(words):
        depth += (word in "(<[") - (word in ")>]")
        if word == separator and depth == 0:
            yield words[start:index]
            start = index + 1
    if start < len(words):
        yield words[start:]
