"""Batches: the calls of one thread, recorded and submitted together.

Calls are kept as bound programs and encoded when the batch ends, all in one compute pass where nothing has to come
between. So an exception leaves nothing half recorded, and memory destroyed meanwhile is noticed before it is submitted.

Ctrl-C can come between any two steps, before the first one of ``__exit__`` too, and no ``except`` sees it there. So
nothing here has to be undone for a batch to be over: it is open for as long as somebody can still end it.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from webgpu_kernels.device.encoding import Recorder, refuse_dead
from webgpu_kernels.errors import DeviceError, ForkedProcessError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.device import Device
    from webgpu_kernels.device.memory import Allocation, Pool
    from webgpu_kernels.device.tensor import Tensor

_WHY_ABANDONED: Final = "its batch ended with an exception and was not submitted"


class Calls:
    """What an open batch has recorded; the thread that opened it finds it.

    Args:
        device: where they will run.
        ender: refers to what can still end the batch; the batch is over with it.
    """

    def __init__(self, device: Device, ender: weakref.ref[object]) -> None:
        self.sets: list[BoundSet] = []
        self._pool: Pool = device.pool
        self._seen: set[BoundSet] = set()
        self._pinned: dict[int, Allocation] = {}
        self._created: list[weakref.ref[Tensor]] = []
        self._open_batches = device.batches
        self._ender = ender

    @property
    def open(self) -> bool:
        """Whether somebody can still end the batch, and has not."""
        return self._ender in self._open_batches

    def begin(self) -> None:
        """Count the batch as open."""
        self._open_batches.add(self._ender)

    def end(self) -> None:
        """Count the batch as over; a second time too."""
        self._open_batches.discard(self._ender)

    def record(self, bound: BoundSet, created: Sequence[Tensor]) -> None:
        """Keep a call; the caller holds the device's lock.

        Args:
            bound: the call.
            created: outputs made for it.

        Source: FORMAT, section 8.
        """
        if created:
            self._created.extend(map(weakref.ref, created))
        if bound not in self._seen:
            self._seen.add(bound)
            for allocation in bound.allocations:
                if allocation.uid not in self._pinned:
                    self._pinned[allocation.uid] = allocation
                    allocation.pins += 1
        for allocation in bound.written:
            allocation.pending = self
        self.sets.append(bound)

    def release(self) -> None:
        """Let go of the memory that the calls use; the caller holds the device's lock."""
        while self._pinned:
            _, allocation = self._pinned.popitem()
            if allocation.pending is self:
                allocation.pending = None
            self._pool.unpin(allocation)
        self.sets.clear()
        self._seen.clear()

    def forget_created(self) -> None:
        """Leave the outputs as they are: the calls that write them were submitted."""
        self._created.clear()

    def give_up(self) -> None:
        """Let go of everything, and give back the outputs: nothing was written to them. The caller holds the lock."""
        self.release()
        while self._created:
            tensor = self._created.pop()()
            if tensor is not None:
                tensor.abandon(_WHY_ABANDONED)


class _Leaving:
    """``__exit__`` as a ``with`` statement finds it: something that only the statement itself refers to.

    Where Ctrl-C comes as ``__exit__`` is called, the batch may live on in a traceback or a variable; this does not.
    """

    def __init__(self, leave: Callable[..., None]) -> None:
        self._leave = leave

    def __get__(self, batch: Batch | None, owner: type[Batch]) -> Callable[..., None]:
        """Return a new reference for each statement."""
        if batch is None:
            return self._leave
        bound = partial(self._leave, batch)
        batch.ender = batch.referring(bound)
        return bound


class Batch:
    """What one thread's calls leave to be submitted together; made by ``Device.batch``.

    Args:
        device: where it runs.

    Attributes:
        ender: refers to what the ``with`` statement that enters it will leave it by.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._calls: Calls | None = None
        self.ender = self.referring(self)

    def __enter__(self) -> Self:
        """Open the batch for this thread.

        Raises:
            DeviceError: it is open, this thread has another one open, or the device cannot be used.
        """
        device = self._device
        device.check()
        device.refuse_in_batch("open a batch")
        if self._calls is not None and self._calls.open:
            raise DeviceError("the batch is open in another thread", hint="Open a batch for each thread")
        if device.threads.calls is not None:
            device.returned.append(device.threads.calls)
        # No variable here holds what the reference refers to: a traceback would keep it, and with it the batch open.
        ender = self.ender if self.ender() is not None else self.referring(self)
        self._calls = device.threads.calls = Calls(device, ender)
        self._calls.begin()
        return self

    def referring(self, target: object) -> weakref.ref[object]:
        """Return a reference that leaves the open batches with its target; in C, where no Ctrl-C comes between."""
        reference = weakref.ref(target, self._device.batches.discard)
        hash(reference)  # it keeps its hash from now on; without one it could not be looked up once its target is gone
        return reference

    def _leave(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        """Submit the calls; after an exception submit none, and give back what they would have written."""
        del error, trace
        device, calls = self._device, self._calls
        if calls is None or device.failure is ForkedProcessError:
            return
        with device.lock:
            was_open = calls.open
            calls.end()
            try:
                if kind is None and was_open:
                    self._submit(calls)
                    calls.forget_created()
            finally:
                calls.give_up()
                self._calls = None

    __exit__ = _Leaving(_leave)

    def _submit(self, calls: Calls) -> None:
        device = self._device
        device.check()
        refuse_dead(calls.sets)
        recorder = Recorder(device.commands, device.synchronize)
        with device.translating("submitting a batch"):
            for bound in calls.sets:
                recorder.add(bound)
            refuse_dead(calls.sets)
            recorder.submit()

    def __del__(self) -> None:
        """Let go of the calls where nobody has ended the batch; without a lock, as for a dropped tensor."""
        if self._calls is not None:
            self._device.returned.append(self._calls)
