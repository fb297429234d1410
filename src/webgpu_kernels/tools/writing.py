"""Writes the files that a person asks for: whole or not at all, and with one error where that cannot be."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from webgpu_kernels.contract.files import reason_of
from webgpu_kernels.contract.writing import replace_all, replace_bytes
from webgpu_kernels.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def write_file(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write one file; its folder is made if need be, and who reads it meanwhile finds the old contents or the new.

    Args:
        path: the file.
        content: what it shall hold; text becomes UTF-8.

    Returns:
        The file.

    Raises:
        OutputError: it cannot be written; what was there is there still.
    """
    target = Path(path)
    data = _encoded(target, content)
    with _told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(target, data)
    return target


def write_files(folder: str | os.PathLike[str], files: Mapping[str, str | bytes]) -> tuple[Path, ...]:
    """Write several files into a folder, which is made if need be; others that are there stay.

    Args:
        folder: the folder.
        files: name, with slashes, to text or bytes.

    Returns:
        The files.

    Raises:
        OutputError: one cannot be written; what was there is there still.
    """
    contents = {Path(folder) / name: _encoded(Path(folder) / name, content) for name, content in files.items()}
    for target in contents:
        with _told(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with _told(Path(folder)):
        replace_all(contents)
    return tuple(contents)


def _encoded(path: Path, content: str | bytes) -> bytes:
    try:
        return content.encode("utf-8") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        raise OutputError(f"cannot be written: {error.reason}", where=str(path)) from error


@contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot be written: {reason_of(error)}", where=str(target)) from error
