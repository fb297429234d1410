"""A GPU opened for kernels."""

from __future__ import annotations

import threading
import weakref
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from webgpu_kernels.device.adapters import AdapterInfo, adapters, capabilities_of, choose_adapter, open_device
from webgpu_kernels.device.batch import Batch
from webgpu_kernels.device.codec import as_array, encoded_bytes, make_spec
from webgpu_kernels.device.encoding import Recorder
from webgpu_kernels.device.lifecycle import register
from webgpu_kernels.device.memory import POOL_LIMIT_BYTES, Allocation, Pool
from webgpu_kernels.device.pipelines import Pipelines
from webgpu_kernels.device.reading import begin_read, end_read
from webgpu_kernels.device.scratch import ScratchArena
from webgpu_kernels.device.seam import FORKED_HINT, Wgpu, translate
from webgpu_kernels.device.tensor import Tensor
from webgpu_kernels.device.transfer import Transfers
from webgpu_kernels.device.watching import watch
from webgpu_kernels.device.wrapping import wrap_buffer
from webgpu_kernels.errors import (
    DeviceClosed,
    DeviceError,
    DeviceLost,
    ForeignTensor,
    ForkedProcessError,
    KernelError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.codec import Array, Narrowing
    from webgpu_kernels.device.executable import Executable
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.spec import TensorSpec


class Device:
    """A GPU opened for kernels, with its memory, its compiled shaders and its queue. Threads may share it.

    One lock guards every use of wgpu: between recording a command and submitting it no thread may destroy what it uses
    (wgpu-native would end the process), and caches and pool change in step with the queue. Waiting holds no lock.

    Args:
        adapter: part of an adapter's name, its index, its description, or None for the best.
        power_preference: ``"high-performance"`` (also None) or ``"low-power"``.
        pool_limit_bytes: how much memory of dropped tensors is kept for the next ones.

    Raises:
        NoAdapterError: no suitable adapter on this machine; the message says what to install.
    """

    def __init__(
        self,
        adapter: str | int | AdapterInfo | None = None,
        *,
        power_preference: str | None = None,
        pool_limit_bytes: int = POOL_LIMIT_BYTES,
    ) -> None:
        chosen = choose_adapter(adapters(), adapter, power_preference)
        self._set_up(open_device(chosen), owned=True, pool_limit_bytes=pool_limit_bytes)

    @classmethod
    def from_wgpu(cls, wgpu_device: Wgpu, *, pool_limit_bytes: int = POOL_LIMIT_BYTES) -> Self:
        """Use a device that other code opened; it is never destroyed here.

        Args:
            wgpu_device: wgpu's ``GPUDevice``.
            pool_limit_bytes: as for the class.

        Returns:
            A device on it.

        Source: wgpu-py 0.32.
        """
        device = cls.__new__(cls)
        device._set_up(wgpu_device, owned=False, pool_limit_bytes=pool_limit_bytes)
        return device

    def _set_up(self, wgpu_device: Wgpu, *, owned: bool, pool_limit_bytes: int) -> None:
        self.wgpu_device = wgpu_device
        self.capabilities: Capabilities = capabilities_of(wgpu_device)
        self.name = str(self.capabilities.adapter_info["device"])
        self.lock = threading.RLock()
        self.failure: type[DeviceError] | None = None
        self.pool = Pool(wgpu_device, self.capabilities.limits, pool_limit_bytes)
        self.pipelines = Pipelines(wgpu_device, self.capabilities.limits)
        self.transfers = Transfers(wgpu_device, self.check)
        self.scratch = ScratchArena(self.pool)
        self.open_batches = 0
        self._owned = owned
        self._threads = threading.local()
        self._executables: weakref.WeakSet[Executable] = weakref.WeakSet()
        watch(wgpu_device, self, self.lock)
        register(self)

    @property
    def adapter_info(self) -> Mapping[str, object]:
        """WebGPU's adapter facts: vendor, architecture, device, description and more."""
        return self.capabilities.adapter_info

    @property
    def usable(self) -> bool:
        """Whether it is neither closed nor lost, nor another process's."""
        return self.failure is None

    def tensor(
        self,
        array: object,
        layout: str | None = None,
        storage: str | None = None,
        dtype: object | None = None,
        *,
        narrowing: Narrowing = "checked",
        where: str = "tensor",
    ) -> Tensor:
        """Copy an array to the device.

        Args:
            array: a numpy array of any memory layout, or what numpy makes one of.
            layout: ``"packed"`` puts four uint8 into a word.
            storage: ``"int32"`` or ``"uint32"`` stores an int64 so.
            dtype: convert to this logical dtype first.
            narrowing: whether an int64 that does not fit its storage is an error or is clipped.
            where: the port, for messages.

        Returns:
            A tensor of the array's shape.

        Raises:
            DtypeError: a dtype that the format does not have; the message says how to convert.
            LayoutError: a layout or storage that the dtype cannot have.
            RequestError: a value that does not fit, under ``checked`` narrowing.
            LimitError: more than the device can hold or bind in one buffer.
            OutOfMemory: no room; the device still works.
            DeviceError: the device cannot be used.

        Source: FORMAT, section 9.
        """
        elements = as_array(array, dtype, where=where)
        spec = make_spec(elements.shape, elements.dtype, layout=layout, storage=storage, where=where)
        self.check()
        with self.lock:
            tensor = self._new(spec, where)
            self.transfers.upload(tensor.allocation, elements, spec, narrowing, where)
        return tensor

    def empty(
        self, shape: Sequence[int], dtype: object, layout: str | None = None, storage: str | None = None
    ) -> Tensor:
        """Make a tensor whose contents are undefined.

        Args:
            shape: dimensions, row-major.
            dtype: a logical dtype's name or a numpy dtype.
            layout: as for ``tensor``.
            storage: as for ``tensor``.

        Returns:
            A tensor.

        Raises:
            DtypeError, ShapeError, LayoutError: a shape, dtype, layout or storage that the format does not have.
            LimitError, OutOfMemory, DeviceError: as for ``tensor``.

        Source: FORMAT, section 9.
        """
        spec = make_spec(tuple(shape), dtype, layout=layout, storage=storage)
        self.check()
        with self.lock:
            return self._new(spec, "empty")

    def wrap(
        self,
        buffer: Wgpu,
        shape: Sequence[int],
        dtype: object,
        layout: str | None = None,
        storage: str | None = None,
        offset: int = 0,
    ) -> Tensor:
        """Use somebody else's buffer as a tensor: it is neither copied nor freed.

        Args:
            buffer: a buffer of this device with usage STORAGE; COPY_SRC to be read.
            shape: dimensions, row-major.
            dtype: a logical dtype's name or a numpy dtype.
            layout: as for ``tensor``.
            storage: as for ``tensor``.
            offset: where the tensor starts, in bytes; a multiple of minStorageBufferOffsetAlignment.

        Returns:
            A tensor on that memory.

        Raises:
            ForeignTensor: a buffer of another device.
            TensorDestroyed: the buffer was destroyed.
            ShapeError: the tensor does not fit into the buffer.
            LayoutError: an offset that cannot be bound, or a buffer without usage STORAGE.
            LimitError: more than the device can bind.
            DtypeError, DeviceError: as for ``tensor``.

        Source: WebGPU, section 8.2.
        """
        spec = make_spec(tuple(shape), dtype, layout=layout, storage=storage)
        self.check()
        with self.lock:
            allocation = wrap_buffer(self.wgpu_device, buffer, spec, offset, self.capabilities.limits)
            watch(buffer, allocation, self.lock)
            return Tensor(self, spec, allocation, allocation.key(spec))

    def batch(self) -> Batch:
        """Send this thread's calls out in one submission: ``with device.batch(): …``.

        Returns:
            A context manager. In it, outputs are tensors that can be read afterwards, and an exception submits nothing.

        Source: none; WebGPU, section 19.2 (submission).
        """
        return Batch(self)

    def synchronize(self) -> None:
        """Wait until everything that was submitted is done.

        Raises:
            DeviceError: the device cannot be used.

        Source: GPU_NOTES, "Traps".
        """
        self.check()
        with self.lock:
            try:
                recorder = Recorder(self.wgpu_device, self.synchronize)
                copied = self.transfers.marker(recorder.encoder)
                recorder.submit()
                promise = self.transfers.start(copied)
            except Exception as error:
                raise self.failed(error, "waiting") from error
        try:
            self.transfers.finish(copied, promise)
        except Exception as error:
            raise self.failed(error, "waiting") from error
        with self.lock:
            self.transfers.give_back(copied)

    def trim(self) -> None:
        """Give all memory back to the driver that no tensor holds: the pool, intermediates, staging buffers."""
        self.check()
        with self.lock:
            self.scratch.clear()
            self.pool.trim()
            self.transfers.trim()

    def close(self) -> None:
        """Free everything on the device; its tensors cannot be used any more. A second call does nothing."""
        if self.failure is not None:
            return
        with self.lock:
            self.failure = DeviceClosed
            for executable in list(self._executables):
                executable.release()
            self.transfers.trim()
            self.scratch.clear()
            self.pool.close()
            self.pipelines.clear()
            if self._owned:
                self.wgpu_device.destroy()

    def read(self, tensors: Sequence[Tensor]) -> tuple[Array, ...]:
        """Copy tensors into new numpy arrays, together.

        Args:
            tensors: tensors of this device.

        Returns:
            One array each, of its shape and logical dtype.

        Raises:
            TensorDestroyed: one of them is gone.
            ForeignTensor: one is of another device.
            DeviceError: an open batch has yet to write one, or the device cannot be used.

        Source: FORMAT, section 9.
        """
        self.check()
        for tensor in tensors:
            if tensor.device is not self:
                raise ForeignTensor(f"the tensor is on {tensor.device!r}, not on {self!r}")
        with self.lock:
            reading = begin_read(self, tensors)
        return end_read(self, reading)

    def __enter__(self) -> Self:
        """Return the device."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Return ``<Device llvmpipe (LLVM 15.0.6, 256 bits)>``."""
        state = _STATES.get(self.failure, "")
        return f"<Device {self.name}{state}>"

    # What follows serves the other modules of this package.

    def check(self) -> None:
        """Raise where the device cannot be used: before taking its lock, which a forked child might never get."""
        failure = self.failure
        if failure is not None:
            message, hint = _FAILURES[failure]
            raise failure(message, hint=hint)

    def failed(self, error: BaseException, doing: str) -> KernelError:
        """Translate an error of wgpu's, and remember a lost device."""
        if isinstance(error, KernelError):
            return error
        failure = translate(error, doing)
        if isinstance(failure, DeviceLost) and self.failure is None:
            self.failure = DeviceLost
        return failure

    def submit(self, bound: BoundSet) -> None:
        """Encode and submit one call; the caller holds the lock. The shortest way for the commonest program."""
        dispatches = bound.simple
        try:
            if dispatches is None:
                recorder = Recorder(self.wgpu_device, self.synchronize)
                recorder.add(bound)
                recorder.submit()
                return
            encoder = self.wgpu_device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            for pipeline, group, x, y, z in dispatches:
                compute.set_pipeline(pipeline)
                compute.set_bind_group(0, group)
                compute.dispatch_workgroups(x, y, z)
            compute.end()
            self.wgpu_device.queue.submit([encoder.finish()])
        except Exception as error:
            raise self.failed(error, "submitting") from error

    def current_batch(self) -> Batch | None:
        """Return the batch that this thread has open."""
        return getattr(self._threads, "batch", None)

    def refuse_in_batch(self, what: str) -> None:
        """Raise where this thread has a batch open."""
        if self.open_batches and self.current_batch() is not None:
            raise DeviceError(f"cannot {what} in an open batch", hint="Leave the batch first")

    def enter_batch(self, batch: Batch) -> None:
        """Open a batch for this thread."""
        self.check()
        self.refuse_in_batch("open a batch")
        with self.lock:
            self._threads.batch = batch
            self.open_batches += 1

    def leave_batch(self, batch: Batch, *, submit: bool) -> None:
        """Submit a batch or give it up, and release what it holds either way."""
        if self.failure is ForkedProcessError:
            self.check()
        done = False
        with self.lock:
            self._threads.batch = None
            self.open_batches -= 1
            try:
                if submit:
                    self.check()
                    batch.submit()
                    done = True
            except Exception as error:
                raise self.failed(error, "submitting a batch") from error
            finally:
                batch.release()
                if not done:
                    batch.abandon()

    def watch_executable(self, executable: Executable) -> None:
        """Remember an executable, weakly: closing drops its bind groups."""
        self._executables.add(executable)

    def give_back(self, allocation: Allocation) -> None:
        """Take memory back at once, or when the batches that use it are submitted."""
        if self.failure is None:
            with self.lock:
                self.pool.returned.append(allocation)
                self.pool.collect()

    def drop(self, allocation: Allocation) -> None:
        """Take memory back at the next call; takes no lock, so that a destructor can use it anywhere."""
        self.pool.returned.append(allocation)

    def lose(self) -> None:
        """Note that somebody destroys wgpu's device."""
        if self.failure is None:
            self.failure = DeviceLost

    def orphan(self) -> None:
        """Note that this process is a fork of the one that opened the device."""
        self.failure = ForkedProcessError
        self.orphans = list(self._executables)

    def _new(self, spec: TensorSpec, where: str) -> Tensor:
        allocation = self.pool.acquire(encoded_bytes(spec), where)
        return Tensor(self, spec, allocation, allocation.key(spec))


_FAILURES: Final[Mapping[type[DeviceError], tuple[str, str]]] = MappingProxyType(
    {
        DeviceClosed: ("the device was closed", "Open a new one"),
        DeviceLost: ("the device was lost", "Open a new one; default_device() does so by itself"),
        ForkedProcessError: ("the device belongs to the process that this one was forked from", FORKED_HINT),
    }
)
_STATES: Final[Mapping[type[DeviceError] | None, str]] = MappingProxyType(
    {DeviceClosed: ", closed", DeviceLost: ", lost", ForkedProcessError: ", of the parent process"}
)
