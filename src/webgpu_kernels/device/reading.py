"""Reading tensors back, in one submission with the calls that write them where that is possible."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webgpu_kernels.arrays import np
from webgpu_kernels.device.codec import numpy_dtype
from webgpu_kernels.device.encoding import Recorder, refuse_dead
from webgpu_kernels.device.seam import COPY_SRC
from webgpu_kernels.device.transfer import Source, plan_reads
from webgpu_kernels.errors import DeviceError, LayoutError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.device.device import Device
    from webgpu_kernels.device.mapping import Pending
    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.tensor import Tensor
    from webgpu_kernels.device.transfer import Copied, Piece

_IN_FLIGHT = 2
"""Groups under way at once: one is decoded while the next one is copied."""


@dataclass(slots=True)
class Reading:
    """A read under way.

    Attributes:
        tensors: what is read, kept alive.
        arrays: where to, one for each tensor.
        held: their memory, pinned until the end.
        groups: what has not been submitted.
        started: what has, with what says when it is there.
    """

    tensors: tuple[Tensor, ...]
    arrays: tuple[Array, ...]
    held: tuple[Allocation, ...]
    groups: deque[tuple[Piece, ...]]
    started: deque[tuple[Copied, Pending]]


def begin_read(device: Device, tensors: Sequence[Tensor], bound: BoundSet | None = None) -> Reading:
    """Submit a call, if one is given, and the first copies; the caller holds the device's lock.

    Args:
        device: where the tensors are.
        tensors: what to read.
        bound: the call that writes them.

    Returns:
        What ``end_read`` finishes without the lock.

    Raises:
        TensorDestroyed: one of them is gone.
        LayoutError: a wrapped buffer that cannot be copied from.
        DtypeError: the array needs ml_dtypes, which is not installed.
        DeviceError: an open batch has yet to write one of them, or the device fails.

    Source: FORMAT, section 9.
    """
    if device.returned:
        device.pool.collect()
    held = tuple([_readable(tensor) for tensor in tensors])
    arrays = tuple([np.empty(tensor.shape, numpy_dtype(tensor.dtype)) for tensor in tensors])
    sources = [
        Source(allocation, tensor.spec, array.reshape(-1))
        for allocation, tensor, array in zip(held, tensors, arrays, strict=True)
    ]
    reading = Reading(tuple(tensors), arrays, held, deque(plan_reads(sources)), deque())
    recorder = Recorder(device.commands, device.synchronize)
    with device.translating("reading"):
        if bound is not None:
            refuse_dead((bound,))
            recorder.add(bound)
        _submit_group(device, reading, recorder)
    for allocation in held:
        allocation.pins += 1
    return reading


def end_read(device: Device, reading: Reading) -> tuple[Array, ...]:
    """Wait for the copies and decode them; called without the lock, so that other threads go on.

    Args:
        device: where the tensors are.
        reading: what ``begin_read`` returned.

    Returns:
        One array for each tensor.

    Raises:
        DeviceError: the device was lost or closed meanwhile.

    Source: FORMAT, section 9.
    """
    try:
        with device.translating("reading"):
            _finish_groups(device, reading)
    finally:
        with device.lock:
            for allocation in reading.held:
                device.pool.unpin(allocation)
    return reading.arrays


def _finish_groups(device: Device, reading: Reading) -> None:
    while reading.started:
        if reading.groups and len(reading.started) < _IN_FLIGHT:
            _submit_next(device, reading)
        copied, pending = reading.started.popleft()
        device.transfers.mappings.wait(pending)
        with device.lock:
            device.check()
            device.transfers.finish(copied)


def _submit_next(device: Device, reading: Reading) -> None:
    with device.lock:
        device.check()
        for tensor in reading.tensors:
            if tensor.destroyed:
                tensor.allocation  # noqa: B018 - raises with the reason
        _submit_group(device, reading, Recorder(device.commands, device.synchronize))


def _submit_group(device: Device, reading: Reading, recorder: Recorder) -> None:
    if not reading.groups:
        recorder.submit()
        return
    copied = device.transfers.copy_out(recorder, reading.groups.popleft())
    recorder.submit()
    reading.started.append((copied, device.transfers.start(copied)))


def _readable(tensor: Tensor) -> Allocation:
    allocation = tensor.allocation
    if allocation.pending is not None and not allocation.pending.open:
        allocation.pending.give_up()
        allocation = tensor.allocation
    if allocation.pending is not None:
        raise DeviceError(
            "the tensor is written by an open batch", where=str(tensor.spec), hint="Leave the batch first."
        )
    if not allocation.buffer.usage & COPY_SRC:
        raise LayoutError("the wrapped buffer cannot be read", where=str(tensor.spec), expected="usage COPY_SRC")
    return allocation
