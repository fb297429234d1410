"""The one door to wgpu: loading it, and asking it for adapters.

wgpu loads a native library and takes about 60 ms to import, so it is imported on first use. Everything above sees its
objects as opaque values.
"""

from __future__ import annotations

import importlib
import os
import threading
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from webgpu_kernels.device.failures import FORKED_HINT
from webgpu_kernels.errors import ForkedProcessError, NoAdapterError

if TYPE_CHECKING:
    from collections.abc import Iterator

Wgpu: TypeAlias = Any
"""An object of wgpu's; it ships no type information."""

MAP_READ: Final = 0x0001
MAP_WRITE: Final = 0x0002
COPY_SRC: Final = 0x0004
COPY_DST: Final = 0x0008
UNIFORM: Final = 0x0040
STORAGE: Final = 0x0080
QUERY_RESOLVE: Final = 0x0200
TENSOR_USAGE: Final = STORAGE | COPY_SRC | COPY_DST
COMPUTE_STAGE: Final = 0x4

INSTALL_HINT: Final = (
    "Install a Vulkan driver: on Debian and Ubuntu, apt-get install mesa-vulkan-drivers libvulkan1 "
    "gives one that runs on the CPU"
)

_instance_lock = threading.Lock()
_instance_pid: int | None = None


@cache
def load_wgpu() -> Wgpu:
    """Import wgpu with its native backend.

    Returns:
        The module ``wgpu``.

    Raises:
        NoAdapterError: wgpu is not installed, or its native library does not load.

    Source: wgpu-py 0.32.
    """
    try:
        module = importlib.import_module("wgpu")
        importlib.import_module("wgpu.backends.wgpu_native")
    except (ImportError, OSError, RuntimeError) as error:
        message = f"wgpu does not load ({error})"
        raise NoAdapterError(message, hint="Install it with pip install 'wgpu>=0.32,<0.33'") from error
    return module


def native_version() -> str:
    """Return the version of wgpu-native, the library below wgpu.

    Returns:
        Such as ``29.0.1.1``.

    Raises:
        NoAdapterError: wgpu is not installed, or its native library does not load.

    Source: wgpu-py 0.32.
    """
    load_wgpu()
    native = importlib.import_module("wgpu.backends.wgpu_native")
    return ".".join(map(str, native.lib_version_info))


def enumerate_adapters() -> list[Wgpu]:
    """Ask wgpu for the adapters of this machine.

    Returns:
        wgpu's adapter objects, in its own order, which is stable within a process.

    Raises:
        ForkedProcessError: wgpu was used before this process was forked; its threads are gone.
        NoAdapterError: wgpu cannot be loaded.

    Source: WebGPU, section 4.2.
    """
    global _instance_pid  # noqa: PLW0603 - wgpu keeps one instance a process, and so does this fact about it
    wgpu = load_wgpu()
    with _instance_lock:
        if _instance_pid not in (None, os.getpid()):
            raise ForkedProcessError("wgpu was opened before this process was forked", hint=FORKED_HINT)
        with _runtime_dir():
            if _instance_pid is None:
                _leave_opengl_out()
                _instance_pid = os.getpid()
            return list(wgpu.gpu.enumerate_adapters_sync())


def _leave_opengl_out() -> None:
    """Make wgpu's instance without OpenGL, unless other code has made one already.

    OpenGL cannot run kernels, and Mesa's driver for it leaves an exit handler behind that waits for threads: it crashes
    every forked child that ends by ``sys.exit``.
    """
    extras = importlib.import_module("wgpu.backends.wgpu_native.extras")
    with suppress(RuntimeError):
        extras.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])


@contextmanager
def _runtime_dir() -> Iterator[None]:
    """Keep Mesa's window-system probing from printing four errors where XDG_RUNTIME_DIR is unset.

    The variable is looked at while adapters are enumerated and only then, so it is set for that long; it points at a
    path that cannot hold a socket, so nothing can answer there.
    """
    if os.environ.get("XDG_RUNTIME_DIR"):
        yield
        return
    os.environ["XDG_RUNTIME_DIR"] = os.path.join(os.devnull, "none")  # noqa: PTH118 - not a path to open
    try:
        yield
    finally:
        del os.environ["XDG_RUNTIME_DIR"]


def forget_lock() -> None:
    """Replace the instance lock in a forked child, where another thread may have held it."""
    global _instance_lock  # noqa: PLW0603 - see enumerate_adapters
    _instance_lock = threading.Lock()


def timestamp_period_ns(wgpu_device: Wgpu) -> float:
    """Return how long a tick of this device's timestamps is.

    Args:
        wgpu_device: wgpu's device.

    Returns:
        Nanoseconds; 1.0 where wgpu does not tell. WebGPU's timestamps are nanoseconds, wgpu-native's are raw ticks.

    Source: wgpu-native, ``wgpuQueueGetTimestampPeriod``, which wgpu-py 0.32 does not wrap.
    """
    native = importlib.import_module("wgpu.backends.wgpu_native")
    queue = getattr(wgpu_device.queue, "_internal", None)
    return float(native.lib.wgpuQueueGetTimestampPeriod(queue)) if queue is not None else 1.0
