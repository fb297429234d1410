"""Writes small files so that nobody ever reads half of one."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write a file in a way that its readers find the old contents or the new.

    Args:
        path: the file; its folder is there.
        text: what it shall hold, as UTF-8.

    Raises:
        OSError: it cannot be written; what was there is there still.
    """
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file of bytes, as ``replace_text`` writes one of text.

    Args:
        path: the file; its folder is there. A device or a pipe, which cannot be replaced, is written to.
        content: what it shall hold.

    Raises:
        OSError: it cannot be written; what was there is there still.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(content)
        return
    fresh = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    except BaseException:  # Ctrl-C, too
        fresh.unlink(missing_ok=True)
        raise
