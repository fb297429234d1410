"""Batches: the calls of one thread, recorded and submitted together.

Calls are kept as bound programs and encoded when the batch ends, all in one compute pass where nothing has to come
between. So an exception leaves nothing half recorded, and memory destroyed meanwhile is noticed before it is submitted.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Self

from webgpu_kernels.device.encoding import Recorder, refuse_dead
from webgpu_kernels.errors import ForkedProcessError

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
        device = self._device
        device.check()
        device.refuse_in_batch("open a batch")
        with device.lock:
            device.open_batches += 1
            device.threads.batch = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Submit the calls; after an exception submit none, and give back what they would have written."""
        device = self._device
        if device.failure is ForkedProcessError:
            return
        submitted = False
        with device.lock:
            device.threads.batch = None
            device.open_batches -= 1
            try:
                if kind is None:
                    self._submit()
                    submitted = True
            finally:
                self._release()
                if not submitted:
                    self._abandon()

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

    def _submit(self) -> None:
        device = self._device
        device.check()
        refuse_dead(self._sets)
        recorder = Recorder(device.wgpu_device, device.synchronize)
        with device.translating("submitting a batch"):
            for bound in self._sets:
                recorder.add(bound)
            refuse_dead(self._sets)
            recorder.submit()

    def _release(self) -> None:
        """Let go of the memory that the calls use."""
        for allocation in self._pinned.values():
            if allocation.pending is self:
                allocation.pending = None
            self._device.pool.unpin(allocation)
        self._pinned.clear()
        self._sets.clear()

    def _abandon(self) -> None:
        """Give back the outputs of calls that were not submitted: nothing was written to them."""
        for reference in self._created:
            tensor = reference()
            if tensor is not None:
                tensor.abandon("its batch ended with an exception and was not submitted")
        self._created.clear()
