"""What a device is made of, for the other modules of this package: its state, its lock and its submissions."""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from webgpu_kernels.device.adapters import capabilities_of
from webgpu_kernels.device.encoding import Recorder
from webgpu_kernels.device.failures import REOPEN_HINT, describe_state, translate
from webgpu_kernels.device.memory import Pool
from webgpu_kernels.device.native import Commands
from webgpu_kernels.device.pipelines import Pipelines
from webgpu_kernels.device.residency import with_residency
from webgpu_kernels.device.scratch import ScratchArena
from webgpu_kernels.device.transfer import Transfers
from webgpu_kernels.device.watching import watch
from webgpu_kernels.errors import DeviceError, DeviceLost, ForkedProcessError, KernelError

if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import Hashable, Iterator, Mapping

    from webgpu_kernels.device.batch import Calls
    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.executable import Executable
    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.seam import Wgpu
    from webgpu_kernels.planning.capabilities import Capabilities


class _Threads(threading.local):
    """What each thread has recorded last; whether that batch is open, it says itself."""

    calls: Calls | None = None


class DeviceCore:
    """State, memory and queue of one device.

    One lock guards every use of wgpu: between recording a command and submitting it no thread may destroy what it uses
    (wgpu-native would end the process), and caches and pool change in step with the queue. Waiting for the GPU holds it
    only where a program asks for that between two passes.

    Args:
        wgpu_device: wgpu's device.
        pool_limit_bytes: how much memory of dropped tensors is kept.

    Attributes:
        wgpu_device: wgpu's device.
        capabilities: features, limits and adapter facts in WebGPU's words.
        name: the adapter's name.
        lock: re-entrant; held around every use of wgpu.
        commands: records and submits.
        failure: why the device cannot be used any more, or None.
        returned: where dropped tensors leave their memory, without a lock, for the next call to collect.
        batches: the open batches, each by a reference to what can end it; one that nothing can end leaves by itself.
        planned: the planned calls of each kernel, by a token of the kernel's, which removes them when it goes.
    """

    def __init__(self, wgpu_device: Wgpu, pool_limit_bytes: int) -> None:
        self.wgpu_device = wgpu_device
        said = capabilities_of(wgpu_device)
        self.capabilities: Capabilities = replace(said, adapter_info=with_residency(said.adapter_info, wgpu_device))
        self.name = str(self.capabilities.adapter_info["device"])
        self.lock = threading.RLock()
        self.failure: type[DeviceError] | None = None
        self.commands = Commands(wgpu_device)
        self.pool = Pool(wgpu_device, self.capabilities.limits, pool_limit_bytes, self.failed)
        self.pipelines = Pipelines(wgpu_device, self.capabilities.limits, self.failed)
        self.transfers = Transfers(wgpu_device, self.commands, self.probe, self.failed)
        self.scratch = ScratchArena(self.pool)
        self.returned = self.pool.returned
        self.batches: set[weakref.ref[object]] = set()
        self.threads = _Threads()
        self.executables: weakref.WeakSet[Executable] = weakref.WeakSet()
        self.planned: dict[object, OrderedDict[Hashable, Any]] = {}
        self._orphans: list[Executable] = []
        watch(wgpu_device, self, self.lock)

    @property
    def adapter_info(self) -> Mapping[str, object]:
        """WebGPU's adapter facts: vendor, architecture, device, description and more."""
        return self.capabilities.adapter_info

    @property
    def usable(self) -> bool:
        """Whether it is neither closed nor lost, nor another process's."""
        return self.failure is None

    def synchronize(self) -> None:
        """Wait until everything that was submitted is done.

        Raises:
            DeviceError: the device cannot be used.

        Source: GPU_NOTES, "Traps".
        """
        self.check()
        with self.lock, self.translating("waiting"):
            self.check()
            copied = self.transfers.mark()
            pending = self.transfers.start(copied)
        with self.translating("waiting"):
            self.transfers.mappings.wait(pending)
            with self.lock:
                self.check()
                self.transfers.finish(copied)

    def check(self) -> None:
        """Raise where the device cannot be used: before taking its lock, which a forked child might never get."""
        if self.failure is not None:
            raise describe_state(self.failure)

    def probe(self) -> None:
        """Raise where the device cannot be used, also where only wgpu knows: a waiting thread asks now and then."""
        self.check()
        with self.translating("waiting"):
            self.commands.probe()

    def failed(self, error: BaseException, doing: str) -> DeviceError:
        """Translate an error of wgpu's, and remember a lost device; one that was closed meanwhile says only that."""
        state = self.failure
        if state is not None and state is not DeviceLost:
            return describe_state(state)
        failure = translate(error, doing)
        if state is DeviceLost and not isinstance(failure, DeviceLost):
            return DeviceLost(f"the device was lost while {doing}", hint=REOPEN_HINT)  # whatever wgpu makes of that
        if isinstance(failure, DeviceLost):
            self.failure = DeviceLost
        return failure

    @contextmanager
    def translating(self, doing: str) -> Iterator[None]:
        """Translate wgpu's errors of a block; this library's own pass."""
        try:
            yield
        except KernelError:
            raise
        except Exception as error:
            raise self.failed(error, doing) from error

    def submit(self, bound: BoundSet) -> None:
        """Encode and submit one call; the caller holds the lock. The shortest way for the commonest program."""
        stages = bound.stages
        if stages is None:
            with self.translating("submitting"):
                recorder = Recorder(self.commands, self.synchronize)
                recorder.add(bound)
                recorder.submit()
            return
        try:
            self.commands.submit(stages)
        except Exception as error:
            raise self.failed(error, "submitting") from error

    @property
    def open_batches(self) -> int:
        """How many batches are open, in all threads."""
        return len(self.batches)

    def current_batch(self) -> Calls | None:
        """Return what the batch that this thread has open has recorded."""
        calls = self.threads.calls if self.batches else None
        return calls if calls is not None and calls.open else None

    def refuse_in_batch(self, what: str) -> None:
        """Raise where this thread has a batch open."""
        if self.current_batch() is not None:
            raise DeviceError(f"cannot {what} in an open batch", hint="Leave the batch first.")

    def watch_executable(self, executable: Executable) -> None:
        """Remember an executable, weakly: closing drops its bind groups."""
        self.executables.add(executable)

    def give_back(self, allocation: Allocation) -> None:
        """Take memory back at once, or when the batches that use it are submitted."""
        if self.failure is None:
            with self.lock:
                self.pool.returned.append(allocation)
                self.pool.collect()

    def expose(self, allocation: Allocation) -> None:
        """Show a buffer to the caller: it is never handed out again, and may be destroyed by whoever sees it."""
        with self.lock:
            allocation.reusable = False
            watch(allocation.buffer, allocation, self.lock)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: the copy would not hear that the other one was closed."""
        raise TypeError("a device can be neither copied nor pickled; share it, or open it again in the other process")

    def lose(self) -> None:
        """Note that somebody destroys wgpu's device."""
        if self.failure is None:
            self.failure = DeviceLost

    def orphan(self) -> None:
        """Note that this process is a fork of the one that opened the device."""
        self.failure = ForkedProcessError
        self._orphans = list(self.executables)
