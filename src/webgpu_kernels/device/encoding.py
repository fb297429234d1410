"""Recording bound programs into command buffers, and submitting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import TensorDestroyed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from webgpu_kernels.device.binding import BoundSet, Segment
    from webgpu_kernels.device.seam import Wgpu


class Recorder:
    """One command encoder, with one compute pass for as long as nothing has to come between dispatches.

    Args:
        wgpu_device: where commands go.
        wait: waits until everything submitted is done.
    """

    def __init__(self, wgpu_device: Wgpu, wait: Callable[[], None]) -> None:
        self._device = wgpu_device
        self._wait = wait
        self._encoder: Wgpu | None = None
        self._compute: Wgpu | None = None

    @property
    def encoder(self) -> Wgpu:
        """The command encoder, outside of any pass."""
        if self._compute is not None:
            self._compute.end()
            self._compute = None
        return self._open()

    def add(self, bound: BoundSet) -> None:
        """Record a bound program; a segment that waits is submitted at once.

        Args:
            bound: what to record.

        Raises:
            TensorDestroyed: some of its memory is gone: submitting that would end the process.

        Source: FORMAT, section 8.
        """
        for segment in bound.segments:
            self._segment(segment)
            if segment.waits:
                refuse_dead((bound,))
                self.submit()
                self._wait()

    def submit(self) -> None:
        """Submit what was recorded, if anything was."""
        if self._encoder is None:
            return
        encoder, self._encoder = self.encoder, None
        self._device.queue.submit([encoder.finish()])

    def _segment(self, segment: Segment) -> None:
        for buffer, offset, size in segment.clears:
            self.encoder.clear_buffer(buffer, offset, size)
        if not segment.dispatches:
            return
        if self._compute is None:
            self._compute = self._open().begin_compute_pass()
        for pipeline, group, x, y, z in segment.dispatches:
            self._compute.set_pipeline(pipeline)
            self._compute.set_bind_group(0, group)
            self._compute.dispatch_workgroups(x, y, z)

    def _open(self) -> Wgpu:
        if self._encoder is None:
            self._encoder = self._device.create_command_encoder()
        return self._encoder


def refuse_dead(sets: Sequence[BoundSet]) -> None:
    """Refuse to submit memory that was destroyed since it was bound.

    Args:
        sets: what is about to be submitted, under the device's lock.

    Raises:
        TensorDestroyed: wgpu-native would abort the process.

    Source: GPU_NOTES, "Traps".
    """
    if any(bound.dead for bound in sets):
        raise TensorDestroyed("a tensor of this submission was destroyed before it was submitted")
