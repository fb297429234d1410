"""Batches: the calls of one thread, recorded and submitted together.

Calls are kept as bound programs and encoded when the batch ends, all in one compute pass where nothing has to come
between. So an exception leaves nothing half recorded, and memory destroyed meanwhile is noticed before it is submitted.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Self

from webgpu_kernels.device.encoding import Recorder, refuse_dead

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.device import Device
    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.tensor import Tensor


class Batch:
    """What one thread's calls leave to be submitted together; made by ``Device.batch``.

    Args:
        device: where it runs.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._sets: list[BoundSet] = []
        self._pinned: dict[int, Allocation] = {}
        self._created: list[weakref.ref[Tensor]] = []

    def __enter__(self) -> Self:
        """Open the batch for this thread.

        Raises:
            DeviceError: this thread has one open already, or the device cannot be used.
        """
        self._device.enter_batch(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Submit the calls; after an exception submit none, and give back what they would have written."""
        self._device.leave_batch(self, submit=kind is None)

    def record(self, bound: BoundSet, created: Iterable[Tensor]) -> None:
        """Keep a call; the caller holds the device's lock.

        Args:
            bound: the call.
            created: outputs made for it.

        Source: FORMAT, section 8.
        """
        for allocation in bound.allocations:
            if allocation.uid not in self._pinned:
                self._pinned[allocation.uid] = allocation
                allocation.pins += 1
        for allocation in bound.written:
            allocation.pending = self
        self._created.extend(weakref.ref(tensor) for tensor in created)
        self._sets.append(bound)

    def submit(self) -> None:
        """Encode and submit every call; the caller holds the device's lock."""
        refuse_dead(self._sets)
        recorder = Recorder(self._device.wgpu_device, self._device.synchronize)
        for bound in self._sets:
            recorder.add(bound)
        refuse_dead(self._sets)
        recorder.submit()

    def release(self) -> None:
        """Let go of the memory that the calls use; the caller holds the device's lock."""
        for allocation in self._pinned.values():
            if allocation.pending is self:
                allocation.pending = None
            self._device.pool.unpin(allocation)
        self._pinned.clear()
        self._sets.clear()

    def abandon(self) -> None:
        """Give back the outputs of calls that were not submitted: nothing was written to them."""
        for reference in self._created:
            tensor = reference()
            if tensor is not None:
                tensor.abandon("its batch ended with an exception and was not submitted")
        self._created.clear()
