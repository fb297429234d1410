"""Device memory: allocations, and the pool that hands dropped ones out again.

A warm call creates no buffer: the outputs that a caller dropped come back through the pool, most recent first, so a
repeated call meets the same buffers and with them the same bind groups. The pool is bounded and can be emptied.
"""

from __future__ import annotations

import weakref
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Final, Protocol

from webgpu_kernels.device.failures import is_out_of_memory
from webgpu_kernels.device.seam import TENSOR_USAGE, Wgpu
from webgpu_kernels.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.batch import Calls
    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.failures import Failed

POOL_LIMIT_BYTES: Final = 1 << 30
"""Bytes of dropped buffers that a device keeps for the next calls."""
_SMALLEST_CLASS: Final = 256
_STEPS_PER_OCTAVE: Final = 8
_MAX_KEYS: Final = 64

_uids = count(1)


class Allocation:
    """One range of a GPU buffer, and who still needs it.

    Attributes:
        uid: never reused in this process, so a cache key cannot mistake a new buffer for an old one.
        buffer: wgpu's buffer.
        offset: where the range starts, in bytes; 0 but in a wrapped buffer.
        capacity: bytes from there that may be bound.
        owned: whether this library made the buffer.
        reusable: whether the pool may hand it out again: not where a caller has seen the buffer itself.
        destroyed: the memory is gone.
        bound: the binding sets that hold it, dropped with it; weakly, they leave with their executable.
        pins: open batches and reads that will use it; it is not reused before they are done.
        returned: its tensor is gone; it is reused once nothing pins it.
        freed: when the pool took it back, in returns.
        pending: the calls of the batch that writes it, or None.
    """

    __slots__ = (
        "__weakref__",
        "_key",
        "_keys",
        "_spec",
        "bound",
        "buffer",
        "capacity",
        "destroyed",
        "freed",
        "offset",
        "owned",
        "pending",
        "pins",
        "returned",
        "reusable",
        "uid",
    )

    def __init__(self, buffer: Wgpu, capacity: int, *, offset: int = 0, owned: bool = True) -> None:
        self.uid = next(_uids)
        self.buffer = buffer
        self.offset = offset
        self.capacity = capacity
        self.owned = owned
        self.reusable = owned
        self.destroyed = False
        self.bound: weakref.WeakSet[BoundSet] = weakref.WeakSet()
        self.pins = 0
        self.returned = False
        self.freed = 0
        self.pending: Calls | None = None
        self._keys: dict[object, int] = {}
        self._spec: object = None
        self._key = 0

    def key(self, spec: object) -> int:
        """Return a number that stands for this memory seen as ``spec``, the same one every time.

        Args:
            spec: what the tensor on it looks like, hashable.

        Returns:
            A number unique in this process.

        Source: none; binding sets are found by it.
        """
        if spec is self._spec:
            return self._key
        key = self._keys.get(spec)
        if key is None:
            if len(self._keys) >= _MAX_KEYS:
                self._keys.clear()
            key = self._keys[spec] = next(_uids)
        self._spec, self._key = spec, key
        return key

    def unbind(self) -> None:
        """Drop every bind group that holds this memory: wgpu keeps it alive through them."""
        for bound in tuple(self.bound):
            bound.drop()

    def retire(self) -> None:
        """Let no later call find the bind groups that hold this memory; an open batch submits those it recorded."""
        for bound in tuple(self.bound):
            bound.release()

    def lose(self) -> None:
        """Note that somebody else destroys the buffer."""
        self.destroyed = True
        self.reusable = False
        self.unbind()

    def destroy(self) -> None:
        """Give the memory back to the driver, unless it belongs to somebody else."""
        free = self.reusable
        self.lose()
        if free:
            self.buffer.destroy()


class Abandoned(Protocol):
    """The calls of a batch that nobody can end any more."""

    def give_up(self) -> None:
        """Let go of the memory that they use; the caller holds the device's lock."""


class Pool:
    """Buffers by size class, most recently dropped first.

    Args:
        wgpu_device: where buffers are made.
        limits: the device's limits under WebGPU's names.
        limit_bytes: how many bytes of unused buffers are kept.
        failed: translates wgpu's errors.
    """

    def __init__(self, wgpu_device: Wgpu, limits: Mapping[str, int], limit_bytes: int, failed: Failed) -> None:
        self._device = wgpu_device
        self._failed = failed
        self._limits = limits
        self.limit_bytes = limit_bytes
        self.free_bytes = 0
        self.created = 0
        self.returned: deque[Allocation | Abandoned] = deque()
        self._live: dict[int, Allocation] = {}
        self._free: dict[int, list[Allocation]] = {}
        self._returns = count()

    def acquire(self, size_bytes: int, what: str) -> Allocation:
        """Hand out memory, reused where possible; its contents are undefined.

        Args:
            size_bytes: a positive multiple of 4.
            what: what it is for, for messages.

        Returns:
            An allocation of at least that capacity.

        Raises:
            LimitError: more than the device can hold in one buffer; what may be bound is the bindings' business.
            OutOfMemory: the device has no room for it, even after the pool was emptied.

        Source: FORMAT, section 9; WebGPU, section 5.1.
        """
        if self.returned:
            self.collect()
        size_class = self.class_of(size_bytes)
        reused = self.reuse(size_class)
        if reused is not None:
            return reused
        self._check(size_bytes, what)
        allocation = Allocation(self._create(size_class, what), size_class)
        self._live[allocation.uid] = allocation
        return allocation

    def reuse(self, size_class: int) -> Allocation | None:
        """Hand out memory that was taken back, the last one first.

        Args:
            size_class: what ``class_of`` gave.

        Returns:
            An allocation, or None where there is none of that class.

        Source: none.
        """
        stack = self._free.get(size_class)
        if not stack:
            return None
        allocation = stack.pop()
        allocation.returned = False
        self.free_bytes -= size_class
        return allocation

    def class_of(self, size_bytes: int) -> int:
        """Return the size that is allocated for one that is asked: an eighth of a power of two, so sizes meet again.

        Args:
            size_bytes: a positive number of bytes.

        Returns:
            At least as many, at most an eighth more (or 256).

        Source: none.
        """
        if size_bytes <= _SMALLEST_CLASS:
            return _SMALLEST_CLASS
        step = max(_SMALLEST_CLASS, (1 << (size_bytes - 1).bit_length()) // (2 * _STEPS_PER_OCTAVE))
        rounded = -(-size_bytes // step) * step
        return rounded if rounded <= self._limits["maxBufferSize"] else size_bytes

    def collect(self) -> None:
        """Take back what tensors have dropped since the last call; dropping itself takes no lock."""
        while self.returned:
            entry = self.returned.popleft()
            if not isinstance(entry, Allocation):
                entry.give_up()
                continue
            entry.returned = True
            if not entry.pins:
                self._recycle(entry)
        if self.free_bytes > self.limit_bytes:
            self._shrink(self.limit_bytes)

    def unpin(self, allocation: Allocation) -> None:
        """Release one batch's hold on memory, and take it back where its tensor is gone.

        Args:
            allocation: what the batch used.

        Source: none.
        """
        allocation.pins -= 1
        if allocation.returned and not allocation.pins:
            self._recycle(allocation)

    def trim(self) -> None:
        """Give every unused buffer back to the driver."""
        self.collect()
        self._shrink(0)

    def close(self) -> None:
        """Destroy every buffer that this pool made, in use or not."""
        for allocation in tuple(self._live.values()):
            allocation.destroy()
        self._live.clear()
        self._free.clear()
        self.returned.clear()
        self.free_bytes = 0

    def _recycle(self, allocation: Allocation) -> None:
        if not allocation.reusable:
            self._live.pop(allocation.uid, None)
            allocation.destroy()
            return
        allocation.freed = next(self._returns)
        self._free.setdefault(allocation.capacity, []).append(allocation)
        self.free_bytes += allocation.capacity

    def _shrink(self, keep_bytes: int) -> None:
        """Destroy unused buffers, the longest unused first: the bottom of a stack is its oldest."""
        while self.free_bytes > keep_bytes:
            stack = min((stack for stack in self._free.values() if stack), key=lambda stack: stack[0].freed)
            allocation = stack.pop(0)
            self.free_bytes -= allocation.capacity
            self._live.pop(allocation.uid, None)
            allocation.destroy()

    def _check(self, size_bytes: int, what: str) -> None:
        limit, available = "maxBufferSize", self._limits["maxBufferSize"]
        if size_bytes > available:
            raise LimitError("the tensor is too large", limit=limit, asked=size_bytes, available=available, where=what)

    def _create(self, size_bytes: int, what: str) -> Wgpu:
        try:
            return self._create_once(size_bytes)
        except Exception as error:
            if not is_out_of_memory(error):
                raise self._failed(error, f"allocating {size_bytes} bytes for {what}") from error
        self.trim()
        try:
            return self._create_once(size_bytes)
        except Exception as error:
            raise self._failed(error, f"allocating {size_bytes} bytes for {what}") from error

    def _create_once(self, size_bytes: int) -> Wgpu:
        self.created += 1
        return self._device.create_buffer(size=size_bytes, usage=TENSOR_USAGE)
