"""Submissions on wgpu-native's C functions, without wgpu-py's wrapper around each of them.

A call is about ten such functions; wgpu-py's wrappers, an object, a descriptor and an error scope for each, take as
long again. So this module, and no other, uses what wgpu-py keeps to itself: the functions, the pointers behind its
objects (``_internal``), and where it collects errors. wgpu is pinned to one minor version, and
``tests/device/test_native.py`` tells what changes in the next.

Pointers are taken from their objects when they are used. Once ``__del__`` has run, which is before other finalizers
where the interpreter ends or a cycle is collected, there is None in their place: an exception, where a pointer that was
kept would end the process.

Ctrl-C comes between two steps of Python, a C function's call and keeping what it returned among them. So what is
returned is kept, and released, by built-in functions that do all of it in one step.
"""

from __future__ import annotations

import importlib
import threading
import weakref
from functools import cache
from operator import call
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.device.seam import Wgpu

Handle: TypeAlias = Any
"""A pointer of wgpu-native's; wgpu-py's objects keep one in ``_internal``, until they are collected."""
Clear: TypeAlias = "tuple[Wgpu, int, int]"
"""Buffer, offset, size: bytes to zero, multiples of 4."""
Copy: TypeAlias = "tuple[Wgpu, int, Wgpu, int, int]"
"""Source, offset, target, offset, size: bytes to copy, multiples of 4."""
Dispatch: TypeAlias = "tuple[Wgpu, Wgpu, int, int, int]"
"""Pipeline, bind group, workgroups along x, y, z."""
Stage: TypeAlias = "tuple[Sequence[Clear], Sequence[Dispatch], Sequence[Copy]]"
"""What is done in this order; the dispatches in a compute pass."""

_interrupts: Final[dict[int, BaseException]] = {}


def gone(wgpu_object: Wgpu) -> bool:
    """Tell whether an object's ``__del__`` has run, though it is still at hand.

    Args:
        wgpu_object: a buffer, say.

    Returns:
        True where wgpu-native must not be given it.

    Source: see above.
    """
    return wgpu_object._internal is None  # noqa: SLF001 - see above


def keep_for(owner: object, wgpu_objects: Iterable[Wgpu]) -> None:
    """Keep objects usable for as long as somebody can reach their owner, in finalizers too.

    Collected in one cycle with it, they would be finalised in any order. Reached from elsewhere until the owner goes,
    they are not finalised before all of the cycle is.

    Args:
        owner: weakly.
        wgpu_objects: what it uses.

    Source: Python's ``weakref.finalize``, whose callbacks come before finalizers.
    """
    weakref.finalize(owner, _nothing, *wgpu_objects).atexit = False


def _nothing(*_objects: Wgpu) -> None:
    """Do nothing: they are let go of when this returns."""


class _Caught:
    """What wgpu reports while it lies on wgpu-py's stack of slots; the first report counts, the others follow from it.

    Attributes:
        first: kind and text of the first report, or None.
        type: kind of the last one.
    """

    __slots__ = ("first", "type")

    name: Final = "webgpu_kernels"

    def __init__(self) -> None:
        self.first: tuple[str, str] | None = None
        self.type = ""

    @property
    def message(self) -> str | None:
        """None: wgpu-py logs a message that another one takes the place of."""
        return None

    @message.setter
    def message(self, text: str) -> None:
        if self.first is None:
            self.first = (self.type, text)

    def check(self, error_types: Mapping[str, type[Exception]]) -> None:
        """Raise what was reported first, as wgpu-py would."""
        if self.first is not None:
            kind, text = self.first
            raise error_types.get(kind, error_types[""])(text)


def note_interrupt(error: BaseException) -> None:
    """Keep what was raised in a callback of wgpu's, Ctrl-C say, for the thread that it came to: Python drops it there.

    Args:
        error: what was raised.

    Source: cffi's ``onerror``.
    """
    _interrupts[threading.get_ident()] = error


def check_interrupt() -> None:
    """Raise what ``note_interrupt`` kept for this thread; to be called after whatever may answer callbacks."""
    if _interrupts:
        error = _interrupts.pop(threading.get_ident(), None)
        if error is not None:
            raise error


class Capture:
    """Raises at the end of a block what wgpu-native reported in it, as wgpu-py does for each function."""

    __slots__ = ("_caught", "_slots")

    def __init__(self) -> None:
        self._slots = _slots_of_thread()()
        self._caught = _Caught()

    def __enter__(self) -> None:
        """Begin."""
        self._slots.append(self._caught)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise the first report as a GPUError."""
        if self._slots and self._slots[-1] is self._caught:
            del self._slots[-1]
        if kind is None and self._caught.first is not None:
            self._caught.check(importlib.import_module("wgpu.backends.wgpu_native._helpers").ERROR_TYPES)
        if kind is None:
            check_interrupt()


@cache
def _slots_of_thread() -> Callable[[], Any]:
    errors = importlib.import_module("wgpu.backends.wgpu_native._api").error_handler
    slots: Callable[[], Any] = errors._get_proxy_stack  # noqa: SLF001 - see above
    return slots


class Commands:
    """Records commands and submits them; the caller holds the device's lock.

    Args:
        wgpu_device: wgpu's device.
    """

    def __init__(self, wgpu_device: Wgpu) -> None:
        native = importlib.import_module("wgpu.backends.wgpu_native")
        helpers = importlib.import_module("wgpu.backends.wgpu_native._helpers")
        lib, ffi = native.lib, native.ffi
        self._device = wgpu_device
        self._queue = wgpu_device.queue
        self._slots = _slots_of_thread()
        self._error_types: Any = helpers.ERROR_TYPES
        self._null = ffi.NULL
        self._one_buffer = ffi.typeof("WGPUCommandBuffer[1]")
        self._new = ffi.new
        self._as_encoder = (ffi.new("WGPUCommandEncoderDescriptor *"),)
        self._as_pass = (ffi.new("WGPUComputePassDescriptor *"),)
        self._as_buffer = (ffi.new("WGPUCommandBufferDescriptor *"),)
        self._create = lib.wgpuDeviceCreateCommandEncoder
        self._begin = lib.wgpuCommandEncoderBeginComputePass
        self._set_pipeline = lib.wgpuComputePassEncoderSetPipeline
        self._set_group = lib.wgpuComputePassEncoderSetBindGroup
        self._dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
        self._end = lib.wgpuComputePassEncoderEnd
        self._finish = lib.wgpuCommandEncoderFinish
        self._submit = lib.wgpuQueueSubmit
        self._release_encoder = lib.wgpuCommandEncoderRelease
        self._release_pass = lib.wgpuComputePassEncoderRelease
        self._release_buffer = lib.wgpuCommandBufferRelease
        self._write = lib.wgpuQueueWriteBuffer
        self._from_buffer = ffi.from_buffer
        self._clear = lib.wgpuCommandEncoderClearBuffer
        self._copy = lib.wgpuCommandEncoderCopyBufferToBuffer

    def submit(self, stages: Iterable[Stage]) -> None:
        """Record stages into one command buffer and submit it.

        Args:
            stages: what to do, in order; no buffer of it may be destroyed.

        Raises:
            GPUError: what wgpu-py would raise, the first thing that wgpu-native reports; nothing was submitted, unless
                it was the submission that failed.
            TypeError: an object was collected already; nothing was submitted.

        Source: WebGPU, section 19.2; wgpu-py 0.32.
        """
        handles: list[Handle] = []
        releases = [self._release_encoder]
        releasing = map(call, releases, handles)
        slots, caught = self._slots(), _Caught()
        try:
            slots.append(caught)
            handles.extend(map(self._create, (self._device._internal,), self._as_encoder))  # noqa: SLF001
            # An encoder of a lost device is none: what is recorded on it, or submitted, would end the process.
            if caught.first is None:
                self._record(handles, releases, stages)
                self._finish_and_submit(handles, releases, caught)
        finally:
            if slots and slots[-1] is caught:
                del slots[-1]  # a statement: after a method's call, Ctrl-C would come before the next line
            any(releasing)
        caught.check(self._error_types)
        check_interrupt()  # a submission answers the mappings that are done

    def _finish_and_submit(self, handles: list[Handle], releases: list[Any], caught: _Caught) -> None:
        """Submit what was finished, after Ctrl-C too: wgpu-native never frees a command buffer that was not."""
        releases.append(self._release_buffer)
        buffers, finished = self._new(self._one_buffer), list[Handle]()
        try:
            finished.extend(map(self._finish, handles, self._as_buffer))
        finally:
            # Statements without a call, so that Ctrl-C does not come before the submission.
            if finished:
                handles += finished
                if caught.first is None:
                    buffers[0] = finished[0]
                    self._submit(self._queue._internal, 1, buffers)  # noqa: SLF001

    def write(self, buffer: Wgpu, offset: int, data: Array) -> None:
        """Copy an array into a buffer before anything that is submitted later.

        Args:
            buffer: wgpu's buffer.
            offset: in bytes, a multiple of 4.
            data: contiguous, a multiple of 4 bytes; copied before this returns.

        Raises:
            GPUError: what wgpu-py would raise.

        Source: WebGPU, section 19.2.
        """
        with Capture():
            self._write(self._queue._internal, buffer._internal, offset, self._from_buffer(data), data.nbytes)  # noqa: SLF001

    def probe(self) -> None:
        """Raise where the device is lost.

        Raises:
            GPUError: what wgpu-py would raise.

        Source: wgpu-py 0.32, which has no ``device.lost``.
        """
        handles: list[Handle] = []
        slots, caught = self._slots(), _Caught()
        try:
            slots.append(caught)
            handles.extend(map(self._create, (self._device._internal,), self._as_encoder))  # noqa: SLF001
        finally:
            if slots and slots[-1] is caught:
                del slots[-1]
            any(map(self._release_encoder, handles))
        caught.check(self._error_types)

    def _record(self, handles: list[Handle], releases: list[Any], stages: Iterable[Stage]) -> None:
        """Record stages, those with nothing between their dispatches in one compute pass."""
        encoder, null, compute, current = handles[0], self._null, None, None
        set_pipeline, set_group, dispatch = self._set_pipeline, self._set_group, self._dispatch
        for clears, dispatches, copies in stages:
            if compute is not None and (clears or not dispatches):
                self._end(compute)
                compute = None
            for buffer, offset, size in clears:
                self._clear(encoder, buffer._internal, offset, size)  # noqa: SLF001
            if dispatches and compute is None:
                releases.append(self._release_pass)
                handles.extend(map(self._begin, handles, self._as_pass))
                compute, current = handles[-1], None
            for pipeline, group, x, y, z in dispatches:
                if pipeline is not current:
                    set_pipeline(compute, pipeline._internal)  # noqa: SLF001
                    current = pipeline
                set_group(compute, 0, group._internal, 0, null)  # noqa: SLF001
                dispatch(compute, x, y, z)
            if copies and compute is not None:
                self._end(compute)
                compute = None
            for source, start, target, offset, size in copies:
                self._copy(encoder, source._internal, start, target._internal, offset, size)  # noqa: SLF001
        if compute is not None:
            self._end(compute)
