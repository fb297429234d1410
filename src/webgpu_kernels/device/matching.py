"""Whether tensors are what a program was planned for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import ForeignTensor, LayoutError, ShapeError
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.device.device import Device
    from webgpu_kernels.device.tensor import Tensor
    from webgpu_kernels.planning.program import TensorUse


def check_tensors(device: Device, where: str, tensors: Sequence[Tensor], uses: Sequence[TensorUse]) -> None:
    """Refuse tensors that are not what a program was planned for.

    Args:
        device: where it runs.
        where: operator and variant, for messages.
        tensors: what would be bound.
        uses: as what, in the same order.

    Raises:
        ForeignTensor: a tensor of another device.
        TensorDestroyed: a tensor whose memory is gone.
        ShapeError, LayoutError: of another shape, dtype, layout or storage.

    Source: FORMAT, section 8.
    """
    for tensor, use in zip(tensors, uses, strict=True):
        place = f"{where}, {use.name}"
        if tensor.device is not device:
            raise ForeignTensor(
                f"the tensor is on another device, {tensor.device!r}; the call runs on {device!r}",
                where=place,
                hint="Name one with device=, or copy the tensor over: device.tensor(tensor.numpy()).",
            )
        tensor.allocation  # noqa: B018 - raises where it is destroyed
        expected = spec_of(use)
        if tensor.shape != expected.shape or tensor.dtype != expected.dtype:
            raise ShapeError(
                "not the tensor this was prepared for", where=place, expected=str(expected), got=str(tensor.spec)
            )
        if tensor.spec != expected:
            raise LayoutError(
                "the tensor is stored otherwise", where=place, expected=str(expected), got=str(tensor.spec)
            )


def spec_of(use: TensorUse) -> TensorSpec:
    """Return the spec of a planned tensor.

    Args:
        use: a program's input or output.

    Returns:
        Its spec, the storage None where it is the dtype itself.

    Source: FORMAT, section 9.
    """
    return TensorSpec(use.shape, use.dtype, use.layout, None if use.storage == use.dtype else use.storage)
