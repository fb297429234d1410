"""Writes small files so that nobody ever reads half of one."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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
    replace_all({path: content})


def replace_all(files: Mapping[Path, bytes]) -> None:
    """Write several files of bytes: all of them, or, as far as the system lets one tell beforehand, none.

    Args:
        files: path to contents; their folders are there.

    Raises:
        OSError: one cannot be written; what was there is there still, unless only the last step, a renaming, failed.
    """
    fresh = {path: path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp") for path in files}
    try:
        for path, content in files.items():
            fresh[path].write_bytes(content)
        with uninterrupted():
            for path, written in fresh.items():
                written.replace(path)
    except BaseException:  # Ctrl-C, too
        for written in fresh.values():
            written.unlink(missing_ok=True)
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until something short has ended that must not be done by halves.

    Raises:
        KeyboardInterrupt: it came meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        # None: whoever set it was not Python, and there is no way to set it again.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
    if came and callable(before):
        before(came[0], None)
