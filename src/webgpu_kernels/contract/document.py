"""The checks that hold for every object of a manifest, whatever it means; ``$comment`` ends here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.cursor import ReadingStopped, describe
from webgpu_kernels.contract.json_text import EXACT, MAX_DEPTH, NotANumber, RepeatedKeys, as_host_number
from webgpu_kernels.contract.words import PROTOTYPE_MEMBERS

if TYPE_CHECKING:
    from webgpu_kernels.contract.cursor import Node

MAX_VALUES: Final = 100_000


def checked(node: Node, *, most_values: int = MAX_VALUES) -> object:
    """Return the document as plain JSON without comments; what must not be in it is reported and left out.

    Args:
        node: the document's root, as parsed or as handed over by a caller.
        most_values: how many values it may hold.

    Returns:
        A copy made of dict, list, str, int, float, bool and None; integral numbers are ints.

    Raises:
        ReadingStopped: there is too much of it; that is reported.

    Source: FORMAT section 2 (general).
    """
    if _count(node.value, most_values) > most_values:
        node.fail(f"holds more than {most_values:,} values, the most that are read")
        raise ReadingStopped
    return _checked(node, 0)


def _count(document: object, most: int) -> int:
    """Count values until there are too many; reading costs time for each."""
    counted, stack = 0, [document]
    while stack and counted <= most:
        value = stack.pop()
        counted += 1
        if isinstance(value, dict):
            counted += len(value)
            stack.extend(member for member in value.values() if isinstance(member, dict | list | tuple))
        elif isinstance(value, list | tuple):
            counted += len(value)
            stack.extend(entry for entry in value if isinstance(entry, dict | list | tuple))
    return counted


def _checked(node: Node, depth: int) -> object:
    value = node.value
    if isinstance(value, dict | list | tuple):
        return _container(node, value, depth)
    if isinstance(value, str):
        return _text(node, value)
    if _is_plain(value):
        return value
    if isinstance(value, int | float | NotANumber):
        return _number(node, value)
    node.fail(f"is not JSON but {describe(value)}")
    return None


def _is_plain(value: object) -> bool:
    """Tell the values that need no look at all: nearly every one."""
    if isinstance(value, str):
        return value.isascii()
    if isinstance(value, int):  # or a boolean
        return -EXACT <= value <= EXACT
    if isinstance(value, float):
        return math.isfinite(value) and not value.is_integer()
    return value is None


def _container(node: Node, value: dict[object, object] | list[object] | tuple[object, ...], depth: int) -> object:
    if depth >= MAX_DEPTH:
        node.fail(f"is nested too deep: {MAX_DEPTH} levels are the most")
        return None
    if isinstance(value, dict):
        return _members(node, value, depth)
    return [
        entry if _is_plain(entry) else _checked(node.at(index, entry), depth + 1) for index, entry in enumerate(value)
    ]


def _members(node: Node, members: dict[object, object], depth: int) -> dict[str, object]:
    for repeated in members.repeated if isinstance(members, RepeatedKeys) else ():
        node.at(repeated, None).fail("stands more than once: keep one of them")
    plain: dict[str, object] = {}
    for key, member in members.items():
        if key == "$comment":
            if not isinstance(member, str):
                node.at("$comment", member).fail_kind("a string")
        elif _key_is_good(node, key):
            name = str(key)
            plain[name] = member if _is_plain(member) else _checked(node.at(name, member), depth + 1)
    return plain


def _key_is_good(node: Node, key: object) -> bool:
    if not isinstance(key, str):
        node.fail(f"has a key that is no string but {describe(key)}")
        return False
    if key in PROTOTYPE_MEMBERS:
        node.at(key, None).fail("is the name of a member of JavaScript's Object.prototype: choose another")
        return False
    return _text(node, key) == key


def _text(node: Node, text: str) -> str:
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    node.fail("holds half of a surrogate pair: write the whole character")
    return ""


def _number(node: Node, value: float | NotANumber) -> int | float:
    number = value if isinstance(value, NotANumber) else as_host_number(value)
    if not isinstance(number, NotANumber):
        return number
    node.fail(f"must be a number that a double holds, not {number.text[:20]}")
    return 0
