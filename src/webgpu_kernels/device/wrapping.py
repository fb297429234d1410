"""Checks before somebody else's buffer becomes a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.device.codec import encoded_bytes
from webgpu_kernels.device.memory import Allocation
from webgpu_kernels.device.seam import COMPUTE_STAGE, STORAGE, Wgpu
from webgpu_kernels.errors import ForeignTensor, LayoutError, ShapeError, TensorDestroyed

if TYPE_CHECKING:
    from webgpu_kernels.device.core import DeviceCore
    from webgpu_kernels.planning.spec import TensorSpec


def wrap_buffer(device: DeviceCore, buffer: Wgpu, spec: TensorSpec, offset: int) -> Allocation:
    """Check that a buffer can hold a tensor and be bound.

    Args:
        device: the device that will bind it; the caller holds its lock.
        buffer: wgpu's buffer.
        spec: the tensor.
        offset: where it starts, in bytes.

    Returns:
        An allocation that this library neither reuses nor frees.

    Raises:
        ForeignTensor, LayoutError, ShapeError, TensorDestroyed: as for ``Device.wrap``.

    Source: WebGPU, section 8.2.
    """
    size_bytes, limits = encoded_bytes(spec), device.capabilities.limits
    _check_buffer(device.wgpu_device, buffer, offset, limits["minStorageBufferOffsetAlignment"])
    if offset + size_bytes > buffer.size:
        raise ShapeError(
            "the tensor does not fit into the buffer",
            where=str(spec),
            expected=f"at most {max(0, buffer.size - offset)} bytes after the offset",
            got=str(size_bytes),
        )
    _probe(device, buffer, offset, min(size_bytes, limits["maxStorageBufferBindingSize"]))
    return Allocation(buffer, size_bytes, offset=offset, owned=False)


def _check_buffer(wgpu_device: Wgpu, buffer: Wgpu, offset: int, alignment: int) -> None:
    if getattr(buffer, "_device", wgpu_device) is not wgpu_device:
        raise ForeignTensor("the buffer belongs to another wgpu device")
    if not buffer.usage & STORAGE:
        raise LayoutError("the buffer cannot be bound", expected="usage STORAGE", got=f"usage {buffer.usage:#x}")
    if buffer.map_state != "unmapped":
        raise LayoutError("the buffer is mapped", hint="Unmap it first")
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0 or offset % alignment:
        raise LayoutError("the offset cannot be bound", expected=f"a multiple of {alignment}", got=repr(offset))


def _probe(device: DeviceCore, buffer: Wgpu, offset: int, size_bytes: int) -> None:
    """Bind the buffer once: wgpu-py does not say whether it was destroyed, but a bind group does."""
    entry = {"binding": 0, "visibility": COMPUTE_STAGE, "buffer": {"type": "storage"}}
    try:
        layout = device.wgpu_device.create_bind_group_layout(entries=[entry])
        resource = {"buffer": buffer, "offset": offset, "size": size_bytes}
        device.wgpu_device.create_bind_group(layout=layout, entries=[{"binding": 0, "resource": resource}])
    except Exception as error:
        if "has been destroyed" in str(error):
            raise TensorDestroyed("the buffer was destroyed by its owner") from error
        raise device.failed(error, "wrapping a buffer") from error
