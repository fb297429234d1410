"""Writes the files that a person asks for: whole or not at all, and with one error where that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from webgpu_kernels.contract.files import reason_of
from webgpu_kernels.contract.writing import replace_bytes
from webgpu_kernels.errors import OutputError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


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
    try:
        data = content.encode("utf-8") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        raise OutputError(f"cannot be written: {error.reason}", where=str(path)) from error
    return _write_bytes(Path(path), data)


def write_files(folder: str | os.PathLike[str], files: Mapping[str, str | bytes]) -> tuple[Path, ...]:
    """Write several files into a folder, which is made if need be; others that are there stay.

    Args:
        folder: the folder.
        files: name, with slashes, to text or bytes.

    Returns:
        The files.

    Raises:
        OutputError: one cannot be written; those before it are.
    """
    return tuple(write_file(Path(folder) / name, content) for name, content in files.items())


def _write_bytes(target: Path, contents: bytes) -> Path:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(target, contents)
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot be written: {reason_of(error)}", where=str(target)) from error
    return target
