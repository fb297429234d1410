"""Mapping buffers, and waiting until they are: on wgpu-native's C functions, like ``native``, and for the same reason.

What a small call computes is there after some tens of microseconds. A thread that polls for it, as wgpu-py's does,
takes as long again to wake up and to wake the one that waits. So whoever waits polls, and lets others run in between:
first whoever wants to, since a software adapter's threads may need this very CPU, later, in pauses, all of them.
Ctrl-C gets through at once.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import weakref
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.device.native import Capture, check_interrupt, note_interrupt
from webgpu_kernels.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from webgpu_kernels.device.seam import Wgpu

READ: Final = 1
WRITE: Final = 2
_EAGER_SECONDS: Final = 0.0005
_CHECK_SECONDS: Final = 0.25
_LEAST_PAUSE_SECONDS: Final = 0.00005
_MOST_PAUSE_SECONDS: Final = 0.001
_PAUSE_OF_WAITED: Final = 0.05
_EXIT_WAIT_SECONDS: Final = 20
# Lets a thread run that waits for this CPU, if there is one. Windows and macOS have it by another name.
_give_way: Final[Callable[[], object]] = getattr(os, "sched_yield", partial(time.sleep, 0))

_numbers = count(1)
_pending: weakref.WeakValueDictionary[int, Pending] = weakref.WeakValueDictionary()


class Pending:
    """A mapping that was asked for.

    Attributes:
        done: whether wgpu has answered.
        error: what is wrong, or None.
    """

    __slots__ = ("__weakref__", "done", "error")

    def __init__(self) -> None:
        self.done = False
        self.error: str | None = None

    def answer(self, error: str | None) -> None:
        """Note wgpu's answer, in whichever thread polls; a second time where the first one was interrupted."""
        if not self.done:
            self.error = error
            self.done = True

    def check(self) -> None:
        """Raise what is wrong."""
        if self.error is not None:
            raise RuntimeError(self.error)


class Mappings:
    """Maps the buffers of one device.

    Args:
        wgpu_device: wgpu's device.
        check: raises where the device cannot be used any more; called while waiting.
    """

    def __init__(self, wgpu_device: Wgpu, check: Callable[[], None]) -> None:
        native = importlib.import_module("wgpu.backends.wgpu_native")
        self._device = wgpu_device
        self._check = check
        self._lib: Any = native.lib
        self._ffi: Any = native.ffi

    def start(self, buffer: Wgpu, mode: int, size: int) -> Pending:
        """Ask for the beginning of a buffer to be mapped once all that was submitted is done.

        Args:
            buffer: wgpu's buffer, not mapped.
            mode: ``READ`` or ``WRITE``.
            size: in bytes.

        Returns:
            What ``wait`` waits for.

        Raises:
            GPUError: what wgpu-py would raise.

        Source: WebGPU, section 5.3.
        """
        number, pending = next(_numbers), Pending()
        info = self._ffi.new("WGPUBufferMapCallbackInfo *")
        info.mode = self._lib.WGPUCallbackMode_AllowProcessEvents
        info.callback = _callback()
        info.userdata1 = self._ffi.cast("void *", number)
        _pending[number] = pending
        with Capture():
            self._lib.wgpuBufferMapAsync(buffer._internal, mode, 0, size, info[0])  # noqa: SLF001 - see native
        return pending

    def wait(self, pending: Pending) -> None:
        """Wait for a mapping, looking up now and then whether the device is still there; without the device's lock.

        Args:
            pending: what ``start`` returned.

        Raises:
            DeviceError: the device was lost or closed.
            RuntimeError: wgpu does not map the buffer.

        Source: WebGPU, section 5.3.
        """
        begin = time.monotonic()
        next_check = _CHECK_SECONDS
        with Capture():
            self._poll()
            while not pending.done:
                waited = time.monotonic() - begin
                if waited > next_check:
                    self._check()
                    next_check = waited + _CHECK_SECONDS
                _let_others_run(waited)
                self._poll()
        pending.check()

    def view(self, buffer: Wgpu, size: int) -> Any:
        """Return the mapped bytes of a buffer, valid until it is unmapped.

        Args:
            buffer: wgpu's buffer, mapped from its beginning.
            size: in bytes.

        Returns:
            Something that numpy makes an array of without a copy.

        Source: WebGPU, section 5.3.
        """
        start = self._lib.wgpuBufferGetMappedRange(buffer._internal, 0, size)  # noqa: SLF001 - see native
        return self._ffi.buffer(start, size)

    def unmap(self, buffer: Wgpu) -> None:
        """Give a mapped buffer back to the GPU.

        Args:
            buffer: wgpu's buffer.

        Source: WebGPU, section 5.3.
        """
        with Capture():
            self._lib.wgpuBufferUnmap(buffer._internal)  # noqa: SLF001 - see native

    def _poll(self) -> None:
        self._lib.wgpuDevicePoll(self._device._internal, 0, self._ffi.NULL)  # noqa: SLF001 - see native
        check_interrupt()  # whichever mapping was answered as it came


def _let_others_run(waited: float) -> None:
    if waited < _EAGER_SECONDS:
        _give_way()
        return
    if waited > _EXIT_WAIT_SECONDS and sys.is_finalizing():
        raise DeviceError("the interpreter is ending and the device no longer answers")
    time.sleep(max(_LEAST_PAUSE_SECONDS, min(_MOST_PAUSE_SECONDS, _PAUSE_OF_WAITED * waited)))


@cache
def _callback() -> Any:
    """Return the C function that wgpu calls with its answers; one for the process, since it must outlive them all."""
    native = importlib.import_module("wgpu.backends.wgpu_native")
    ffi, success = native.ffi, native.lib.WGPUMapAsyncStatus_Success

    def resolve(status: int, message: Any, number: Any) -> None:
        pending = _pending.get(int(ffi.cast("uintptr_t", number)))
        if pending is not None:
            text = ffi.string(message.data, message.length).decode(errors="replace") if message.length else ""
            pending.answer(None if status == success else f"Could not map buffer ({status} : {text}).")

    def answer(status: int, message: Any, number: Any, _: object) -> None:
        resolve(status, message, number)

    def interrupted(_: type[BaseException], error: BaseException, trace: TracebackType) -> None:
        note_interrupt(error)
        given = trace.tb_frame.f_locals
        resolve(given["status"], given["message"], given["number"])

    return ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)", answer, onerror=interrupted)
