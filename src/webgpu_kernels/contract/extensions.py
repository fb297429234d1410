"""What a manifest may ask for beyond the published format, once it says so.

Published packages read exactly as before: without its name in ``extensions``, a key or dtype of an extension is as
unknown as any other. docs/format.md, section "Extensions", says what each of them means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.dtypes import LOGICAL_DTYPES, NIBBLE_DTYPES
from webgpu_kernels.contract.words import alternatives

if TYPE_CHECKING:
    from webgpu_kernels.contract.cursor import Node

EXTENSIONS: Final = ("valueRange", "int4", "split")
SPLIT_WINDOW: Final = "SPLIT_WINDOW_BYTES"
"""The constant of expressions and templates that says how many bytes one window of a split tensor covers."""


def read_extensions(node: Node | None) -> frozenset[str]:
    """Read ``extensions``.

    Args:
        node: a non-empty list of names, or None.

    Returns:
        The extensions that the manifest declares.

    Source: docs/format.md, "Extensions".
    """
    declared: set[str] = set()
    for entry in node.entries("extensions", least=1) if node else ():
        name = entry.string()
        if name is None:
            continue
        if name not in EXTENSIONS:
            entry.fail(f"is no extension: {alternatives(name, EXTENSIONS, what='extensions')}")
        elif name in declared:
            entry.fail("stands more than once: keep one of them")
        declared.add(name)
    return frozenset(declared)


def undeclared(extension: str) -> str:
    """Compose the hint for what an extension would allow.

    Args:
        extension: its name.

    Returns:
        What to declare, or to leave out.
    """
    return f"it belongs to the extension {extension!r}, which the manifest has to declare in 'extensions'"


def known_dtypes(node: Node) -> tuple[str, ...]:
    """Return the logical dtypes that a manifest may name.

    Args:
        node: any place of the manifest.

    Returns:
        The published ones, and int4 and uint4 where the extension is declared.
    """
    return (*LOGICAL_DTYPES, *NIBBLE_DTYPES) if "int4" in node.report.extensions else LOGICAL_DTYPES


def dtype_hint(name: str, known: tuple[str, ...], *, what: str) -> str:
    """Compose the hint that follows an unknown dtype.

    Args:
        name: what was written.
        known: what could have been meant.
        what: the plural of what these are.

    Returns:
        The extension that has it, the closest name, or a list of all.
    """
    return undeclared("int4") if name in NIBBLE_DTYPES else alternatives(name, known, what=what)
