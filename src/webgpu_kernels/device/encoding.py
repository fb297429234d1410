"""Recording bound programs, and what goes between them, for one submission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import TensorDestroyed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.native import Commands, Copy, Stage


class Recorder:
    """What is submitted together; nothing is given to wgpu before that.

    Args:
        commands: where it goes.
        wait: waits until everything submitted is done.
    """

    def __init__(self, commands: Commands, wait: Callable[[], None]) -> None:
        self._commands = commands
        self._wait = wait
        self._stages: list[Stage] = []

    def add(self, bound: BoundSet) -> None:
        """Record a bound program; a segment that waits is submitted at once.

        Args:
            bound: what to record.

        Raises:
            TensorDestroyed: some of its memory is gone: submitting that would end the process.

        Source: FORMAT, section 8.
        """
        if bound.stages is not None:
            self._stages += bound.stages
            return
        for segment in bound.segments:
            self._stages.append(segment.stage)
            if segment.waits:
                refuse_dead((bound,))
                self.submit()
                self._wait()

    def copy(self, copies: Sequence[Copy]) -> None:
        """Record copies from buffer to buffer.

        Args:
            copies: which.

        Source: WebGPU, section 13.4.
        """
        self._stages.append(((), (), copies))

    def submit(self) -> None:
        """Submit what was recorded, if anything was."""
        stages, self._stages = self._stages, []
        if stages:
            self._commands.submit(stages)


def refuse_dead(sets: Iterable[BoundSet]) -> None:
    """Refuse to submit memory that was destroyed since it was bound.

    Args:
        sets: what is about to be submitted, under the device's lock.

    Raises:
        TensorDestroyed: wgpu-native would abort the process.

    Source: GPU_NOTES, "Traps".
    """
    if any(bound.dead for bound in sets):
        raise TensorDestroyed("a tensor of this submission was destroyed before it was submitted")
