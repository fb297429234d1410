"""A progress display that appears only where somebody looks, and only if the work takes long enough to watch."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from webgpu_kernels.cli.screen import PROGRESS_AFTER_SECONDS
from webgpu_kernels.legible import legible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress as RichProgress

    from webgpu_kernels.cli.screen import Progress


class _Silent:
    """Nobody looks."""

    def advance(self, count: int = 1, what: str | None = None) -> None:
        """Do nothing."""


class _Shown:
    """A bar with steps and time left, shown from the first step after ``PROGRESS_AFTER_SECONDS``."""

    def __init__(self, bars: RichProgress, what: str, total: int | None) -> None:
        self._bars = bars
        self._task = bars.add_task(legible(what), total=total)
        self._begin = time.monotonic()
        self._started = False

    def advance(self, count: int = 1, what: str | None = None) -> None:
        """Count steps and show the bar when it is time."""
        self._bars.advance(self._task, count)
        if what is not None:
            self._bars.update(self._task, description=legible(what))
        if not self._started and time.monotonic() - self._begin > PROGRESS_AFTER_SECONDS:
            self._started = True
            self._bars.start()


@contextmanager
def shown_progress(console: Console, what: str, total: int | None) -> Iterator[Progress]:
    """Show progress while a block runs.

    Args:
        console: where; a file or a pipe shows nothing.
        what: what is done.
        total: how many steps, or None.

    Yields:
        Something to advance.
    """
    if not console.is_terminal:
        yield _Silent()
        return
    from rich import progress as rich_progress  # noqa: PLC0415 - only terminals need it

    bars = rich_progress.Progress(
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        # What goes into a file or a pipe meanwhile is no line above the bar.
        redirect_stdout=sys.stdout.isatty(),
    )
    try:
        yield _Shown(bars, what, total)
    finally:
        bars.stop()
