"""A GPU opened for kernels."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, Self

from webgpu_kernels.device.adapters import AdapterInfo, adapters, choose_adapter, open_device
from webgpu_kernels.device.arguments import (
    check_adapter,
    check_buffer,
    check_count,
    check_values,
    check_wgpu_device,
    checked_tensors,
)
from webgpu_kernels.device.batch import Batch
from webgpu_kernels.device.codec import as_array, encoded_bytes, make_spec
from webgpu_kernels.device.core import DeviceCore
from webgpu_kernels.device.failures import describe_state
from webgpu_kernels.device.lifecycle import register
from webgpu_kernels.device.memory import POOL_LIMIT_BYTES
from webgpu_kernels.device.reading import begin_read, end_read
from webgpu_kernels.device.tensor import Tensor
from webgpu_kernels.device.watching import watch
from webgpu_kernels.device.wrapping import wrap_buffer
from webgpu_kernels.errors import DeviceClosed, DeviceError, ForeignTensor, KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from webgpu_kernels.device.codec import Array, Narrowing
    from webgpu_kernels.device.seam import Wgpu
    from webgpu_kernels.planning.spec import TensorSpec


class _Existing(NamedTuple):
    """A device that somebody else opened and will destroy."""

    wgpu_device: Wgpu


class Device(DeviceCore):
    """A GPU opened for kernels, with its memory, its compiled shaders and its queue. Threads may share it.

    One lock guards every use of wgpu: between recording a command and submitting it no thread may destroy what it uses
    (wgpu-native would end the process), and caches and pool change in step with the queue. Waiting holds no lock.

    Args:
        adapter: part of an adapter's name, its index, its description, or None for the best.
        power_preference: ``"high-performance"`` (also None) or ``"low-power"``.
        pool_limit_bytes: how much memory of dropped tensors is kept for the next ones.

    Raises:
        RequestError: an adapter, preference or limit of another kind.
        NoAdapterError: no suitable adapter on this machine; the message says what to install.
    """

    def __init__(
        self,
        adapter: str | int | AdapterInfo | _Existing | None = None,
        *,
        power_preference: str | None = None,
        pool_limit_bytes: int = POOL_LIMIT_BYTES,
    ) -> None:
        check_count(pool_limit_bytes, "pool_limit_bytes", least=0, where="Device")
        if isinstance(adapter, _Existing):
            wgpu_device = adapter.wgpu_device
        else:
            check_adapter(adapter, power_preference)
            wgpu_device = open_device(choose_adapter(adapters(), adapter, power_preference))
        self._owned = not isinstance(adapter, _Existing)
        super().__init__(wgpu_device, pool_limit_bytes)
        register(self)

    @classmethod
    def from_wgpu(cls, wgpu_device: Wgpu, *, pool_limit_bytes: int = POOL_LIMIT_BYTES) -> Self:
        """Use a device that other code opened; it is never destroyed here.

        A GPU is asked how many invocations it has in flight: three dispatches of a fraction of a millisecond.

        Args:
            wgpu_device: wgpu's ``GPUDevice``.
            pool_limit_bytes: as for the class.

        Returns:
            A device on it.

        Raises:
            RequestError: not a device of wgpu's.

        Source: wgpu-py 0.32.
        """
        check_wgpu_device(wgpu_device)
        return cls(_Existing(wgpu_device), pool_limit_bytes=pool_limit_bytes)

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
            layout: ``"packed"`` puts four uint8 into a word; int4 and uint4 lie eight to a word in any case.
            storage: ``"int32"`` or ``"uint32"`` stores an int64 so.
            dtype: convert to this logical dtype first.
            narrowing: whether an int64 that does not fit its storage is an error or is clipped.
            where: the port, for messages.

        Returns:
            A tensor of the array's shape.

        Raises:
            DtypeError: a dtype that the format does not have; the message says how to convert.
            LayoutError: a layout or storage that the dtype cannot have.
            RequestError: a value that does not fit, under ``checked`` narrowing, or a TensorSpec.
            LimitError: more than the device can hold in one buffer.
            OutOfMemory: no room; the device still works.
            DeviceError: the device cannot be used.

        Source: FORMAT, section 9.
        """
        check_values(array, where)
        elements = as_array(array, dtype, where=where)
        spec = make_spec(elements.shape, elements.dtype, layout=layout, storage=storage, where=where)
        return self.upload(elements, spec, narrowing, where)

    def upload(self, elements: Array, spec: TensorSpec, narrowing: Narrowing, where: str) -> Tensor:
        """Copy an array to the device that is known to be what a spec says.

        Args:
            elements: of the spec's shape and logical dtype, any memory layout.
            spec: the tensor.
            narrowing: as for ``tensor``.
            where: the port, for messages.

        Returns:
            A tensor.

        Raises:
            RequestError, LimitError, OutOfMemory, DeviceError: as for ``tensor``.

        Source: FORMAT, section 9.
        """
        self.check()
        with self.lock:
            self.check()
            tensor = self._new(spec, where)
            try:
                self.transfers.upload(tensor.allocation, elements, spec, narrowing, where)
            except KernelError:
                raise
            except Exception as error:
                raise self.failed(error, f"uploading {where}") from error
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
        spec = make_spec(shape, dtype, layout=layout, storage=storage)
        self.check()
        with self.lock:
            self.check()
            return self._new(spec, "empty")

    def zeros(
        self, shape: Sequence[int], dtype: object, layout: str | None = None, storage: str | None = None
    ) -> Tensor:
        """Make a tensor of zeros.

        Args:
            shape: dimensions, row-major.
            dtype: a logical dtype's name or a numpy dtype.
            layout: as for ``tensor``.
            storage: as for ``tensor``.

        Returns:
            A tensor.

        Raises:
            DtypeError, ShapeError, LayoutError, LimitError, OutOfMemory, DeviceError: as for ``empty``.

        Source: FORMAT, section 9.
        """
        tensor = self.empty(shape, dtype, layout, storage)
        with self.lock, self.translating("clearing"):
            self.check()
            clear = (tensor.allocation.buffer, 0, tensor.nbytes)
            self.commands.submit((((clear,), (), ()),))
        return tensor

    def wrap(  # noqa: PLR0917 - the API's own order
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
            RequestError: not a buffer of wgpu's.
            ForeignTensor: a buffer of another device.
            TensorDestroyed: the buffer was destroyed.
            ShapeError: the tensor does not fit into the buffer.
            LayoutError: an offset that cannot be bound, or a buffer without usage STORAGE.
            DtypeError, DeviceError: as for ``tensor``.

        Source: WebGPU, section 8.2.
        """
        check_buffer(buffer)
        spec = make_spec(shape, dtype, layout=layout, storage=storage)
        self.check()
        with self.lock:
            self.check()
            allocation = wrap_buffer(self, buffer, spec, offset)
            watch(buffer, allocation, self.lock)
            return Tensor(self, spec, allocation, allocation.key(spec))

    def batch(self) -> Batch:
        """Send this thread's calls out in one submission: ``with device.batch(): …``.

        Returns:
            A context manager. In it, outputs are tensors that can be read afterwards, and an exception submits nothing.

        Source: none; WebGPU, section 19.2 (submission).
        """
        return Batch(self)

    def trim(self) -> None:
        """Give all memory back to the driver that no tensor holds: the pool, intermediates, staging buffers."""
        self.check()
        with self.lock:
            self.check()
            self.scratch.clear()
            self.pool.trim()
            self.transfers.trim()

    def close(self) -> None:
        """Free everything on the device; its tensors cannot be used any more. A second call does nothing."""
        if self.failure is None:
            with self.lock:
                self._close()

    def read(self, tensors: Sequence[Tensor]) -> tuple[Array, ...]:
        """Copy tensors into new numpy arrays, together.

        Args:
            tensors: tensors of this device.

        Returns:
            One array each, of its shape and logical dtype.

        Raises:
            TensorDestroyed: one of them is gone.
            RequestError: a single tensor, or something that is no tensor.
            ForeignTensor: one is of another device.
            DeviceError: an open batch has yet to write one, or the device cannot be used.

        Source: FORMAT, section 9.
        """
        self.check()
        wanted = checked_tensors(tensors)
        for tensor in wanted:
            if tensor.device is not self:
                raise ForeignTensor(f"the tensor is on another device, {tensor.device!r}, not on {self!r}")
        try:
            with self.lock:
                self.check()
                reading = begin_read(self, wanted)
            return end_read(self, reading)
        except ImportError as error:
            if sys.is_finalizing():
                raise DeviceError("the interpreter is ending: nothing can be read from the device any more") from error
            raise

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
        state = f": {describe_state(self.failure).message}" if self.failure is not None else ""
        return f"<Device {self.name}{state}>"

    def _close(self) -> None:
        if self.failure is not None:
            return
        self.failure = DeviceClosed
        for executable in list(self.executables):
            executable.release()
        self.planned.clear()
        self.transfers.trim()
        self.scratch.clear()
        self.pool.close()
        self.pipelines.clear()
        if self._owned:
            self.wgpu_device.destroy()

    def _new(self, spec: TensorSpec, where: str) -> Tensor:
        allocation = self.pool.acquire(encoded_bytes(spec), where)
        return Tensor(self, spec, allocation, allocation.key(spec))
