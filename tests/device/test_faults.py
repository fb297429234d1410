"""Devices that are lost, closed or out of memory."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from webgpu_kernels.device import Device, Executable, Tensor, default_device
from webgpu_kernels.device.failures import describe_state
from webgpu_kernels.device.lifecycle import ADAPTER_VARIABLE, _default
from webgpu_kernels.errors import DeviceClosed, DeviceError, DeviceLost, NoAdapterError, OutOfMemory, TensorDestroyed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from hand_made_programs import Programs

pytestmark = pytest.mark.device

X = np.arange(256, dtype=np.float32)
LOST = r"^the device was lost\. Open a new one; default_device\(\) does so by itself$"
WAYS: dict[str, Callable[[Device, Executable, Tensor], object]] = {
    "run": lambda device, executable, x: executable.run([x]),
    "run to host": lambda device, executable, x: executable.run_to_host([x]),
    "time": lambda device, executable, x: executable.time([x]),
    "read": lambda device, executable, x: x.numpy(),
    "upload": lambda device, executable, x: device.tensor(X),
    "large upload": lambda device, executable, x: device.tensor(np.zeros(1 << 20, np.float32)),
    "empty": lambda device, executable, x: device.empty((3,), "int8"),
    "zeros": lambda device, executable, x: device.zeros((3,), "int8"),
    "compile": lambda device, executable, x: Executable.compile(device, executable.program),
    "batch": lambda device, executable, x: device.batch().__enter__(),
    "synchronize": lambda device, executable, x: device.synchronize(),
    "trim": lambda device, executable, x: device.trim(),
}
SERVED_BY_CACHES = ("empty", "trim", "compile", "batch")
"""These touch nothing of wgpu's where pool and caches have what they need."""


@pytest.fixture
def default(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Device]]:
    """default_device, starting without one."""
    monkeypatch.setattr(_default, "device", None)
    yield default_device
    if _default.device is not None:
        _default.device.close()


@pytest.mark.parametrize(
    ("way", "noticed"),
    [*((way, True) for way in WAYS), *((way, False) for way in WAYS if way not in SERVED_BY_CACHES)],
)
def test_a_lost_device_says_so(own_device: Device, programs: Programs, way: str, noticed: bool) -> None:
    """Whatever is asked of it, also where wgpu only tells by its errors."""
    executable, x = Executable.compile(own_device, programs.scale()), own_device.tensor(X)
    own_device.synchronize()
    wgpu_device = own_device.wgpu_device
    if noticed:
        wgpu_device.destroy()
    else:
        type(wgpu_device).destroy(wgpu_device)
    with pytest.raises(DeviceLost, match=LOST if noticed else "lost"):
        WAYS[way](own_device, executable, x)
    assert own_device.failure is DeviceLost
    assert "lost" in repr(own_device)


def test_losing_a_device_in_a_batch(own_device: Device, programs: Programs) -> None:
    """Leaving the batch is DeviceLost; nothing aborts."""
    executable, x = Executable.compile(own_device, programs.scale()), own_device.tensor(X)
    with pytest.raises(DeviceLost), own_device.batch():  # noqa: PT012 - the error comes from leaving
        executable.run([x])
        own_device.wgpu_device.destroy()


def test_losing_a_device_while_another_thread_waits(own_device: Device, programs: Programs) -> None:
    """The waiting thread ends, with the result or with DeviceLost."""
    executable, x = Executable.compile(own_device, programs.spin(8)), own_device.tensor(X[:64])
    ended = threading.Event()

    def wait() -> None:
        with contextlib.suppress(DeviceLost):
            executable.run_to_host([x])
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    own_device.wgpu_device.destroy()
    assert ended.wait(30)
    thread.join()


def test_the_default_device_is_one_for_all_threads(default: Callable[[], Device]) -> None:
    """Eight threads get the same one."""
    found: list[Device] = []
    threads = [threading.Thread(target=lambda: found.append(default())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize("end", ["lost", "closed"])
def test_a_new_default_device_follows(default: Callable[[], Device], end: str) -> None:
    """After the default device was lost or closed, the next call opens another one, which works."""
    first = default()
    assert default() is first
    if end == "lost":
        first.wgpu_device.destroy()
    else:
        first.close()
    second = default()
    assert second is not first
    np.testing.assert_array_equal(second.tensor(X).numpy(), X)


def test_the_environment_names_the_default_adapter(
    default: Callable[[], Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    """WEBGPU_KERNELS_ADAPTER is part of a name; a wrong one is an error that lists what there is."""
    monkeypatch.setenv(ADAPTER_VARIABLE, "no such adapter")
    with pytest.raises(
        NoAdapterError, match=r"^the environment variable WEBGPU_KERNELS_ADAPTER: no such adapter: expected one of 0: "
    ):
        default()


def test_a_closed_device_says_so(programs: Programs) -> None:
    """Its tensors are gone, it can be closed again, and leaving ``with`` closes it."""
    with Device() as device:
        executable, x = Executable.compile(device, programs.scale()), device.tensor(X)
        (y,) = executable.run([x])
    device.close()
    for way in WAYS.values():
        with pytest.raises(DeviceClosed, match=r"^the device was closed\. Open a new one"):
            way(device, executable, x)
    assert y.destroyed
    y.destroy()
    assert repr(device).endswith(": the device was closed>")


def test_somebody_elses_device_is_not_destroyed(own_device: Device) -> None:
    """from_wgpu uses it; closing frees what was made on it and leaves it alone."""
    borrowed = Device.from_wgpu(own_device.wgpu_device)
    tensor = borrowed.tensor(X)
    np.testing.assert_array_equal(tensor.numpy(), X)
    borrowed.close()
    assert tensor.destroyed
    assert own_device.usable
    np.testing.assert_array_equal(own_device.tensor(X).numpy(), X)


def test_a_lost_device_is_noticed_by_all_who_share_it(own_device: Device) -> None:
    """Two Devices on one wgpu device."""
    borrowed = Device.from_wgpu(own_device.wgpu_device)
    own_device.wgpu_device.destroy()
    assert (own_device.failure, borrowed.failure) == (DeviceLost, DeviceLost)


class OutOfMemoryDevice:
    """A wgpu device whose allocations fail."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.fails = True

    def __getattr__(self, name: str) -> Any:
        """Do everything else."""
        return getattr(self._real, name)

    def create_buffer(self, **arguments: Any) -> Any:
        """Fail as wgpu-py does."""
        if self.fails:
            raise RuntimeError(
                "Validation Error\n\nCaused by:\n  In wgpuDeviceCreateBuffer\n    Not enough memory left."
            )
        return self._real.create_buffer(**arguments)


@pytest.mark.parametrize("size", [100, 1 << 20])
def test_a_failed_allocation_is_out_of_memory(own_device: Device, size: int) -> None:
    """For the tensor or for the staging buffers; the device works on."""
    failing = OutOfMemoryDevice(own_device.wgpu_device)
    array = np.ones(size, np.float32)
    own_device.pool._device = failing
    own_device.transfers._device = failing
    with pytest.raises(OutOfMemory, match="the device has not enough memory left") as caught:
        own_device.tensor(array)
    assert isinstance(caught.value, MemoryError)
    failing.fails = False
    tensor = own_device.tensor(array)
    failing.fails = True
    with pytest.raises(OutOfMemory):
        tensor.numpy()
    failing.fails = False
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_a_buffer_destroyed_by_hand_is_noticed(own_device: Device, programs: Programs) -> None:
    """Tensor.buffer.destroy() is the caller's right; the tensor says so afterwards, and nothing aborts."""
    executable, x = Executable.compile(own_device, programs.scale()), own_device.tensor(X)
    executable.run([x])
    x.buffer.destroy()
    with pytest.raises(TensorDestroyed):
        executable.run([x])
    with pytest.raises(TensorDestroyed):
        x.numpy()
    np.testing.assert_array_equal(executable.run([own_device.tensor(X)])[0].numpy(), 2 * X)


def test_a_dropped_device_is_freed(programs: Programs) -> None:
    """Nothing here keeps a device that nobody uses."""
    device = Device()
    executable = Executable.compile(device, programs.scale())
    executable.run_to_host([device.tensor(X)])
    device.close()
    gone = weakref.ref(device)
    del device, executable
    gc.collect()
    assert gone() is None


def test_what_fails_once_the_device_is_lost_is_that_it_was_lost(own_device: Device) -> None:
    """The thread of wgpu that polls has other words for it."""
    own_device.wgpu_device.destroy()
    stopped = RuntimeError("Cannot use PollThread because it has stopped.")
    error = own_device.failed(stopped, "reading")
    assert type(error) is DeviceLost
    assert str(error) == "the device was lost while reading. Open a new one; default_device() does so by itself"


def test_what_was_finalised_before_its_user_says_so(own_device: Device) -> None:
    """In a cycle wgpu's objects may be the first that are."""
    tensor = own_device.tensor(X)
    tensor.allocation.buffer.__del__()
    with pytest.raises(DeviceError) as caught:
        tensor.numpy()
    assert str(caught.value) == (
        "what is needed for reading was collected already. Do not use the device in finalizers"
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_thread_that_meets_close_hears_that_the_device_was_closed(programs: Programs, way: str) -> None:
    """Whatever it was doing: never that the device was lost, nor that its tensor was destroyed."""
    caught: list[BaseException] = []
    for _ in range(4):
        device = Device()
        executable, x = Executable.compile(device, programs.scale()), device.tensor(X)
        started = threading.Event()

        def work(device: Device, executable: Executable, x: Tensor, started: threading.Event) -> None:
            try:
                while True:
                    if way == "batch":
                        with device.batch():
                            executable.run([x])
                    else:
                        WAYS[way](device, executable, x)
                    started.set()
            except Exception as error:  # noqa: BLE001 - which one it is, is asserted below
                caught.append(error)
                started.set()

        threads = [threading.Thread(target=work, args=(device, executable, x, started)) for _ in range(3)]
        for thread in threads:
            thread.start()
        started.wait(30)
        device.close()
        for thread in threads:
            thread.join(30)
    assert {str(error) for error in caught} == {str(describe_state(DeviceClosed))}
    assert {type(error) for error in caught} == {DeviceClosed}


def test_an_interrupt_while_the_polling_thread_is_woken_leaves_no_lock_held(
    own_device: Device, programs: Programs
) -> None:
    """Ctrl-C in any call of a read: the next read does not wait for ever."""
    executable, x = Executable.compile(own_device, programs.scale()), own_device.tensor(X)
    executable.run_to_host([x])
    interrupted = 0
    for turn in range(20):
        left = [turn]

        def interrupt(frame: FrameType, _event: str, _argument: object, left: list[int] = left) -> None:
            if frame.f_code.co_filename.endswith(("threading.py", "seam.py", "mapping.py")):
                left[0] -= 1
                if left[0] < 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt

        sys.settrace(interrupt)
        try:
            executable.run_to_host([x])
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(None)
        reader = threading.Thread(target=executable.run_to_host, args=([x],), daemon=True)
        reader.start()
        reader.join(30)
        assert not reader.is_alive()
    assert interrupted > 0
