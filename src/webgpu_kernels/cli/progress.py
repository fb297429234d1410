"""A progress display that appears only where somebody looks, and only if the work takes long enough to watch."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from webgpu_kernels.cli.screen import PROGRESS_AFTER_SECONDS
from webgpu_kernels.legible import legible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class Bar:
    """A bar with steps and time left, shown from ``PROGRESS_AFTER_SECONDS`` on, also while a single step lasts.

    Args:
        console: makes the console that it is shown on, once it is shown.
        what: what is done.
        total: how many steps, or None.
    """

    def __init__(self, console: Callable[[], Console], what: str, total: int | None) -> None:
        self._console = console
        self._what = legible(what)
        self._total = total
        self._done = 0
        self._lock = threading.RLock()
        self._shown: tuple[Bars, TaskID] | None = None
        self._hidden = False
        self._timer = threading.Timer(PROGRESS_AFTER_SECONDS, self._show)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, count: int = 1, what: str | None = None) -> None:
        """Count steps.

        Args:
            count: how many were done.
            what: what comes now.
        """
        with self._lock:
            self._done += count
            self._what = legible(what) if what is not None else self._what
            if self._shown is not None:
                bars, task = self._shown
                bars.update(task, advance=count, description=self._what)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the bar away while something else is printed."""
        with self._lock:
            if self._shown is None:
                yield
                return
            bars, _ = self._shown
            bars.stop()
            try:
                yield
            finally:
                bars.start()

    def end(self) -> None:
        """Take the bar away for good."""
        self._timer.cancel()
        with self._lock:
            self._hidden = True
            if self._shown is not None:
                self._shown[0].stop()
                self._shown = None

    def again(self) -> Bar:
        """Begin anew, with as many seconds to wait."""
        return Bar(self._console, self._what, self._total)

    def _show(self) -> None:
        with self._lock:
            console = self._console()
            if self._hidden or not console.is_terminal or console.is_dumb_terminal:
                return
            bars = _bars(console, counted=self._total is not None)
            task = bars.add_task(self._what, total=self._total, completed=self._done)
            bars.start()
            self._shown = bars, task


def _bars(console: Console, *, counted: bool) -> Bars:
    from rich import progress  # noqa: PLC0415 - only terminals need it, and only slow commands

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *((progress.MofNCompleteColumn(), progress.TimeRemainingColumn()) if counted else ()),
        *(() if counted else (progress.TimeElapsedColumn(),)),
        console=console,
        transient=True,
    )
