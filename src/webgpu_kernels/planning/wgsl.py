"""What the runtime has to know of WGSL text: comments, directives it needs, and misuse of opaque int64 buffers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webgpu_kernels.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SUBGROUP_CALLS = (
    "Add|ExclusiveAdd|InclusiveAdd|Mul|ExclusiveMul|InclusiveMul|And|Or|Xor|Min|Max|All|Any|Ballot|Elect|Broadcast|"
    "BroadcastFirst|Shuffle|ShuffleXor|ShuffleUp|ShuffleDown"
)
# No part of these can match the same text in two ways: they take linear time, whatever a package renders.
_DIRECTIVES = (
    (
        "f16",
        re.compile(
            r"\bf16\b|\b(?:0[xX][0-9a-fA-F.]++(?:[pP][+-]?\d++)?|\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?)h\b|"
            r"\B\.\d++(?:[eE][+-]?\d++)?h\b"
        ),
    ),
    (
        "subgroups",
        re.compile(
            rf"\bsubgroup(?:{_SUBGROUP_CALLS})\s*+\(|\bquad(?:Broadcast|SwapX|SwapY|SwapDiagonal)\s*+\("
            r"|\bbuiltin\s*+\(\s*+(?:subgroup_invocation_id|subgroup_size|subgroup_id|num_subgroups)\s*+,?\s*+\)"
        ),
    ),
    ("subgroup_size_control", re.compile(r"@\s*+subgroup_size\s*+\(")),
)
_FEATURES = {
    "f16": "shader-f16",
    "subgroups": "subgroups",
    "subgroup_size_control": "subgroup-size-control",
    "chromium_experimental_subgroup_matrix": "chromium-experimental-subgroup-matrix",
}
"""WGSL's names of extensions to WebGPU's of the features that bring them."""
_ENABLE = re.compile(r"\s*+enable\s++([\w\s,]++)")
_KEPT = re.compile(r"^// kept: (\w++)$", re.MULTILINE)
_COMMENT_EDGE = re.compile(r"//|/\*|\*/|\n")
_OPERATORS = frozenset("+-*/%<>&|^~!")
_COMPARISONS = frozenset({"==", "!=", "<=", ">="})


def without_comments(text: str) -> str:
    """Blank out comments, keeping every line break and column.

    Args:
        text: WGSL; block comments nest.

    Returns:
        Text of the same length.

    Source: WGSL, section "Comments".
    """
    if "//" not in text and "/*" not in text:
        return text
    pieces: list[str] = []
    depth, in_line, last = 0, False, 0
    for edge in _COMMENT_EDGE.finditer(text):
        mark = edge.group()
        inside = depth > 0 or in_line
        pieces.append(_blank(text[last : edge.start()]) if inside else text[last : edge.start()])
        pieces.append(mark if mark == "\n" or (mark == "*/" and not inside) else "  ")
        depth += (mark == "/*" and not in_line) - (mark == "*/" and depth > 0)
        in_line = mark != "\n" and (in_line or (mark == "//" and not inside))
        last = edge.end()
    pieces.append(_blank(text[last:]) if depth or in_line else text[last:])
    return "".join(pieces)


def _blank(text: str) -> str:
    return " " * len(text)


def kept_names(text: str) -> frozenset[str]:
    """Return the intermediates that a shader takes as its program's last run left them, as well as cleared.

    Args:
        text: the rendered WGSL; a line ``// kept: board`` says it of the intermediate ``board``.

    Returns:
        Their ids.

    Source: docs/format.md, "Intermediates that stay".
    """
    return frozenset(_KEPT.findall(text))


def missing_directives(text: str) -> tuple[str, ...]:
    """Return the ``enable`` lines that a rendered shader needs and lacks.

    Args:
        text: the rendered WGSL.

    Returns:
        Lines to put in front, in the format's order.

    Source: FORMAT, section 6.
    """
    present, code = _enabled(text)
    return tuple(f"enable {name};" for name, needs in _DIRECTIVES if name not in present and needs.search(code))


def enabled_features(text: str) -> frozenset[str]:
    """Return the features that a shader asks for.

    Args:
        text: a complete shader, as a program has it.

    Returns:
        WebGPU's names of those that its ``enable`` lines name.

    Source: WGSL, section 4.1.1 "Enable Directives".
    """
    return frozenset(_FEATURES[name] for name in _enabled(text)[0] if name in _FEATURES)


def _enabled(text: str) -> tuple[set[str], str]:
    """Return the names that a shader enables, and the rest of it."""
    code = without_comments(text)
    if "enable" not in code:
        return set(), code
    statements = code.split(";")
    enabled = [_ENABLE.fullmatch(statement) for statement in statements[:-1]] + [None]
    present = {name.strip() for found in enabled if found for name in found[1].split(",")}
    code = ";".join(statement for statement, found in zip(statements, enabled, strict=True) if not found)
    return present, code


def check_opaque_int64(text: str, names: Iterable[str], where: str) -> None:
    """Refuse shaders that look into the words of int64 elements: only whole elements may be copied.

    Args:
        text: the rendered WGSL.
        names: WGSL variables bound to int64 tensors.
        where: operator, variant and pass, for the message.

    Raises:
        PlanError: an element is computed with, compared, or taken apart.

    Source: FORMAT, section 6.
    """
    names = sorted(names)
    if not names:
        return
    code = without_comments(text)
    closing = _closing(code)
    for use in re.finditer(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})(?=\s*\[)", code):
        opening = code.index("[", use.end())
        before, after = _before(code, use.start()), _after(code, closing.get(opening, len(code)))
        if before[-1:] in _OPERATORS or before in _COMPARISONS or after[:1] in _OPERATORS | {".", "["} or after == "==":
            line = code.count("\n", 0, use.start()) + 1
            raise PlanError(
                f"line {line} computes with an element of the int64 buffer {use.group()!r}",
                where=where,
                hint="Elements of int64 buffers can only be copied whole; project the port to int32 or uint32.",
            )


def _closing(code: str) -> dict[int, int]:
    """Return for each opening bracket where its closing one ends."""
    ends, opened = dict[int, int](), list[int]()
    for bracket in re.finditer(r"[\[\]]", code):
        if bracket.group() == "[":
            opened.append(bracket.start())
        elif opened:
            ends[opened.pop()] = bracket.end()
    return ends


def _before(code: str, end: int) -> str:
    """Return the two characters before a place, spaces not counted."""
    start = end
    while start > 0 and code[start - 1].isspace():
        start -= 1
    return code[max(0, start - 2) : start]


def _after(code: str, start: int) -> str:
    """Return the two characters after a place, spaces not counted."""
    while start < len(code) and code[start].isspace():
        start += 1
    return code[start : start + 2]
