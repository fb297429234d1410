"""Which files a package's folder holds, and how many there may be: it may come from anybody."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.files import reason_of, suffix_fault
from webgpu_kernels.errors import PackageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_ENTRIES: Final = 10_000
"""Files and folders that are looked through."""
MAX_FILES: Final = 1000
"""Files that digests cover: the Hub lists as many at once."""
MAX_BYTES: Final = 64 * 2**20
"""Bytes of all of these together."""


def file_names(root: Path, *, where: str) -> tuple[str, ...]:
    """List what lies in a folder and those below it, but for folders; a link is one name, also one to a folder.

    Args:
        root: the folder that holds the manifest.
        where: the package, for messages.

    Returns:
        Names relative to it, with slashes, sorted.

    Raises:
        PackageError: there are too many files and folders, or one of the folders cannot be listed.

    Source: FORMAT section 1.
    """
    found: list[str] = []
    folders = [""]
    left = MAX_ENTRIES
    while folders:
        inner = folders.pop()
        for entry in _entries(root / inner, where):
            left -= 1
            if left < 0:
                raise PackageError(f"holds more than {MAX_ENTRIES:,} files and folders", where=where)
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{inner}{entry.name}/")
            else:
                found.append(f"{inner}{entry.name}")
    return tuple(sorted(found))


def _entries(folder: Path, where: str) -> Iterable[os.DirEntry[str]]:
    """Read one entry more than is ever looked at."""
    try:
        with os.scandir(folder) as entries:
            return [entry for _, entry in zip(range(MAX_ENTRIES + 1), entries, strict=False)]
    except OSError as error:
        raise PackageError(f"a folder of it cannot be listed: {reason_of(error)}", where=where) from error


def check_amount(root: Path, names: Iterable[str], *, where: str) -> None:
    """Let files pass that are not too many or too large, together, to be gone through.

    Args:
        root: the folder that holds the manifest.
        names: relative to it; one that is not there counts for nothing.
        where: the package, for messages.

    Raises:
        PackageError: they are.
    """
    names = tuple(names)
    if len(names) > MAX_FILES:
        raise PackageError(f"has {len(names):,} files: {MAX_FILES:,} are the most", where=where)
    size = sum((root / name).stat().st_size for name in names if (root / name).is_file())
    if size > MAX_BYTES:
        raise PackageError(f"has {size:,} bytes in all: {MAX_BYTES:,} are the most", where=where)


def template_names(root: Path, *, where: str) -> tuple[str, ...]:
    """Return the templates of a package.

    Args:
        root: the folder that holds the manifest.
        where: the package, for messages.

    Returns:
        Their names relative to it, sorted.

    Raises:
        PackageError: as ``file_names`` does.

    Source: FORMAT section 1.
    """
    return tuple(name for name in file_names(root, where=where) if suffix_fault(name) is None)
