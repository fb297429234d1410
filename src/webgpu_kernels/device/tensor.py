"""Arrays on the GPU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from webgpu_kernels.device.codec import encoded_bytes
from webgpu_kernels.errors import TensorDestroyed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.device.device import Device
    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.seam import Wgpu
    from webgpu_kernels.planning.spec import TensorSpec


class Tensor:
    """An array on a device; made by ``Device.tensor``, ``Device.empty``, ``Device.wrap`` or a call.

    Its memory goes back to the device's pool when it is destroyed or no longer referenced.

    Attributes:
        spec: shape, dtype, layout and storage.
        device: the device that holds it.
        key: stands for its memory and spec in binding caches; -1 once it is destroyed.
    """

    __slots__ = ("__weakref__", "_allocation", "_why_gone", "device", "key", "spec")

    def __init__(self, device: Device, spec: TensorSpec, allocation: Allocation, key: int) -> None:
        self.device = device
        self.spec = spec
        self.key = key
        self._allocation: Allocation | None = allocation

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions, row-major."""
        return self.spec.shape

    @property
    def dtype(self) -> str:
        """Logical dtype, such as ``"float16"``."""
        return self.spec.dtype

    @property
    def layout(self) -> str | None:
        """``"packed"`` where four uint8 share a word, else None, also for int4 and uint4: they always share one."""
        return self.spec.layout

    @property
    def storage(self) -> str:
        """Storage dtype on the device: the logical one, or int32/uint32 for a projected int64."""
        return self.spec.storage or self.spec.dtype

    @property
    def nbytes(self) -> int:
        """Bytes on the device, a positive multiple of 4."""
        return encoded_bytes(self.spec)

    @property
    def destroyed(self) -> bool:
        """Whether the memory was given back, here or by the owner of a wrapped buffer."""
        return self._allocation is None or self._allocation.destroyed

    @property
    def buffer(self) -> Wgpu:
        """The buffer as wgpu has it, for code that binds it by hand; once seen it is not reused by the pool."""
        allocation = self.allocation
        if allocation.reusable:
            self.device.expose(allocation)
        return allocation.buffer

    @property
    def offset(self) -> int:
        """Where the tensor starts in ``buffer``, in bytes."""
        return self.allocation.offset

    @property
    def allocation(self) -> Allocation:
        """The memory behind it.

        Raises:
            TensorDestroyed: there is none any more.
        """
        if self._allocation is None:
            raise TensorDestroyed(self._why_gone, where=str(self.spec))
        if self._allocation.destroyed:
            raise TensorDestroyed("the tensor's buffer was destroyed by its owner", where=str(self.spec))
        return self._allocation

    def numpy(self) -> Array:
        """Copy the tensor into a new numpy array.

        Returns:
            An array of this shape and logical dtype, row-major; stored words are cut modulo 2**n.

        Raises:
            TensorDestroyed: the memory was given back.
            DeviceError: an open batch has yet to write it, or the device cannot be used.

        Source: FORMAT, section 9.
        """
        return self.device.read((self,))[0]

    def destroy(self) -> None:
        """Give the memory back; in an open batch, once it is submitted. A second call does nothing."""
        self.abandon("the tensor was destroyed")

    def abandon(self, why: str) -> None:
        """Give the memory back and remember why, for whoever still uses the tensor.

        Args:
            why: a sentence for the message of TensorDestroyed.

        Source: none.
        """
        allocation, self._allocation = self._allocation, None
        self.key = -1
        if allocation is not None:
            self._why_gone = why
            self.device.give_back(allocation)

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Array:
        """Let numpy functions take a tensor; each use copies it from the device."""
        if copy is False:
            raise ValueError("a GPU tensor cannot be viewed without a copy; use copy=None or True")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __len__(self) -> int:
        """Return the first dimension."""
        if not self.shape:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: two tensors would give the same memory back, and others would write to it."""
        raise TypeError("a GPU tensor can be neither copied nor pickled; its array can: tensor.numpy()")

    def __repr__(self) -> str:
        """Return ``<Tensor float16[2, 3] on llvmpipe>``."""
        gone = " (destroyed)" if self.destroyed else ""
        return f"<Tensor {self.spec} on {self.device.name}{gone}>"

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        """Give the memory back without a lock: this may run anywhere, inside the pool too.

        The finalizer of another object may come later, in a cycle or as the interpreter ends, and find a tensor whose
        memory is others' by then; as the interpreter ends it stays the tensor's.
        """
        allocation = getattr(self, "_allocation", None)  # Ctrl-C may have come before there was one
        if allocation is not None and not ending():
            self.device.returned.append(allocation)
            self._allocation, self.key, self._why_gone = None, -1, "the tensor was collected already"
