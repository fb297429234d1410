"""Reads one JSON document with a reader of nodes: all its defects together, in an error that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from webgpu_kernels.contract.cursor import Node, ReadingStopped, Report
from webgpu_kernels.contract.document import MAX_VALUES, checked
from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES, load_json
from webgpu_kernels.errors import ManifestError
from webgpu_kernels.legible import list_defects

if TYPE_CHECKING:
    from collections.abc import Callable

    from webgpu_kernels.errors import KernelError

_T = TypeVar("_T")


def read_root(data: object, read: Callable[[Node], _T], *, where: str = "", most_values: int = MAX_VALUES) -> _T:
    """Read a document that is parsed.

    Args:
        data: its JSON.
        read: makes a value of the root; what is wrong it reports there, and then its value does not count.
        where: what the document is, for messages.
        most_values: how many values it may hold.

    Returns:
        What ``read`` returned.

    Raises:
        ManifestError: the document has defects, which are all listed, in its order.
    """
    report = Report()
    try:
        value = read(Node(checked(Node(data, report), most_values=most_values), report))
    except ReadingStopped:
        report.raise_any(data, where)
        raise
    report.raise_any(data, where)
    return value


def read_document(
    content: str | bytes,
    read: Callable[[Node], _T],
    *,
    what: str,
    where: str | None,
    error: Callable[..., KernelError],
    times: int = 1,
) -> _T:
    """Parse a document and read it.

    Args:
        content: its text; bytes are UTF-8.
        read: makes a value of the root; what is wrong it reports there, and then its value does not count.
        what: the document's name, for messages, such as ``test.json``.
        where: the package, or None.
        error: the class of what is raised.
        times: how many times as large as a manifest it may be.

    Returns:
        What ``read`` returned.

    Raises:
        KernelError: of the class ``error``; the document is no JSON, or has defects, which are all listed.
    """
    try:
        return read_root(load_json(content, most_bytes=times * MAX_TEXT_BYTES), read, most_values=times * MAX_VALUES)
    except ManifestError as found:
        raise error(f"{what} has {list_defects(found.defects)}", where=where) from found
