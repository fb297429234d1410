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
    fresh = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        fresh.write_text(text, "utf-8")
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
