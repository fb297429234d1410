"""What happens to devices when processes fork, and the device that calls use by default."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from typing import TYPE_CHECKING, Final, TypeVar

from webgpu_kernels.device.seam import forget_lock
from webgpu_kernels.errors import NoAdapterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from webgpu_kernels.device.device import Device

_T = TypeVar("_T")

ADAPTER_VARIABLE: Final = "WEBGPU_KERNELS_ADAPTER"
"""Part of the name of the adapter that ``default_device`` opens."""

_devices: weakref.WeakSet[Device] = weakref.WeakSet()


class _Default:
    """The default device of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.device: Device | None = None


_default = _Default()


def default_device() -> Device:
    """Return the device that calls use where none is named; opened on first use, and again once it is lost or closed.

    Returns:
        The same device to every thread.

    Raises:
        NoAdapterError: no suitable adapter; the message says what to install.
        ForkedProcessError: it was opened before this process was forked.

    Source: FORMAT, section 10 (one shared runtime).
    """
    from webgpu_kernels.device.device import Device  # noqa: PLC0415 - Device registers itself here

    device = _default.device
    if device is not None and device.usable:
        return device
    with _default.lock:
        device = _default.device
        if device is None or not device.usable:
            device = _default.device = by_environment(Device)
        return device


def by_environment(choose: Callable[[str | None], _T]) -> _T:
    """Choose the adapter that the environment names, the best where it names none.

    Args:
        choose: takes part of an adapter's name, or None.

    Returns:
        What that returns.

    Raises:
        NoAdapterError: as ``choose``; where there is no adapter of that name the error says who named it.

    Source: none.
    """
    try:
        return choose(os.environ.get(ADAPTER_VARIABLE) or None)
    except NoAdapterError as error:
        if error.got is not None:
            error.where = f"the environment variable {ADAPTER_VARIABLE}"
        raise


def register(device: Device) -> None:
    """Remember a device for the fork hook; weakly.

    Args:
        device: a new device.

    Source: none.
    """
    _devices.add(device)


def _after_fork_in_child() -> None:
    """Make the parent's devices refuse work here, and never release them.

    The driver's threads are not in the child, so a device that is released there, at ``sys.exit`` say, waits for them
    for ever. One reference too many keeps each device and all that it made as they are until the process ends.
    """
    forget_lock()
    _default.lock = threading.Lock()
    devices = list(_devices)
    for device in devices:
        device.orphan()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))
    if devices:
        _skip_driver_exit()


def _skip_driver_exit() -> None:
    """End this process before the driver's own exit handlers run: some wait for the parent's threads for ever.

    Handlers run last in, first out, glibc's ``on_exit`` hands the status on, and Python has finalised by then.
    """
    process = ctypes.CDLL(None)
    if hasattr(process, "on_exit"):
        process.on_exit(process["_exit"], None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
