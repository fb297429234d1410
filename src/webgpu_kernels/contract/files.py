"""Reads a package's files without leaving its folder.

A package may come from anybody: names are refused that could lead out of it, links are followed only to where they may
lead, and no file is read without bound.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import PackageError

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILE_BYTES: Final = 4 * 2**20
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FORBIDDEN: Final = re.compile(r"[\\:\x00-\x1f\x7f]|(^|/)\.{0,2}(/|$)")


def path_fault(name: str) -> str | None:
    """Say what keeps a text from being a file's name inside a package.

    Args:
        name: relative to ``build/webgpu``, with slashes.

    Returns:
        The fault, or None.

    Source: FORMAT section 7.
    """
    if _FORBIDDEN.search(name):
        return (
            "must be a file's name inside the package: no '..', no leading slash, no backslash, no control characters"
        )
    return None


def read_some(path: Path, most: int) -> bytes:
    """Read a file that anybody may have named, but never more of it than one reads.

    Args:
        path: the file; it may be a device that never ends.
        most: how many bytes one reads.

    Returns:
        Its bytes; one more than ``most`` where there are more.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(most + 1)


def read_file(root: Path, name: str, *, where: str) -> bytes:
    """Read one file of a package.

    Args:
        root: the folder that holds the manifest.
        name: relative to it.
        where: what asks for the file, for messages.

    Returns:
        Its bytes.

    Raises:
        PackageError: the name or a link leads out of the package; it is no plain file, too large or unreadable.
        FileNotFoundError: it is not there.

    Source: FORMAT section 7.
    """
    if fault := path_fault(name):
        raise PackageError(f"{name!r} {fault}", where=where)
    path = root / name
    try:
        target = path.resolve(strict=True)
        if not _may_lead_to(root, target):
            raise PackageError(f"{name!r} is a link that leads out of the package, to {target}", where=where)
        if not target.is_file():
            raise PackageError(f"{name!r} is not a file", where=where)
        return _read(target, name, where)
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError) as error:
        raise PackageError(f"cannot read {name!r}: {reason_of(error)}", where=where) from error


def read_if_there(root: Path, name: str, *, where: str) -> bytes | None:
    """Read a file that a package may do without.

    Args:
        root: the folder that it belongs into.
        name: relative to it.
        where: what asks for the file, for messages.

    Returns:
        Its bytes, or None where it is not there.

    Raises:
        PackageError: as ``read_file`` does.
    """
    try:
        return read_file(root, name, where=where)
    except FileNotFoundError:
        return None


def reason_of(error: Exception) -> str:
    """Return why the system refuses a file, in its words.

    Args:
        error: what the attempt raised.

    Returns:
        What the error's number means, else its text.
    """
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)


def _read(target: Path, name: str, where: str) -> bytes:
    # Between the check and now it may have become a link, or a pipe that nobody writes to.
    with os.fdopen(os.open(target, _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise PackageError(f"{name!r} is not a file", where=where)
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise PackageError(
            f"{name!r} is larger than {MAX_FILE_BYTES:,} bytes, the most a package's file may have", where=where
        )
    return content


def _may_lead_to(root: Path, target: Path) -> bool:
    """Tell whether a file of the package may lie there: in its folder, or among the blobs of the Hub's cache."""
    folder = root.resolve()
    return target.is_relative_to(folder) or target.parent == blobs_of(folder)


def blobs_of(folder: Path) -> Path | None:
    """Return where the Hub's cache keeps the contents of a snapshot.

    Its files are links to ``<repository>/blobs/<hash>``. The blobs' folder must be real: were it a link, a package that
    mimics the cache could have any folder read.

    Args:
        folder: ``<repository>/snapshots/<revision>``, or a folder in it.

    Returns:
        ``<repository>/blobs``, or None where there is no such folder.

    Source: huggingface_hub, layout of the cache (``blobs``).
    """
    for parent in folder.parents:
        if parent.name == "snapshots":
            blobs = parent.parent / "blobs"
            return blobs if blobs.is_dir() and not blobs.is_symlink() else None
    return None


def suffix_fault(name: str) -> str | None:
    """Say what keeps a file's name from being a template's.

    Args:
        name: the name.

    Returns:
        The fault, or None.

    Source: FORMAT section 7.
    """
    return None if name.endswith((".wgsl", ".wgsl.jinja")) else "must end in .wgsl or .wgsl.jinja"
