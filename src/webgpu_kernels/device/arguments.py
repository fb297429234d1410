"""What callers may hand to a device, checked before anything is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.device.adapters import AdapterInfo
from webgpu_kernels.device.tensor import Tensor
from webgpu_kernels.errors import RequestError
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webgpu_kernels.device.seam import Wgpu

POWER_PREFERENCES: Final = ("high-performance", "low-power")
_DEVICE_METHODS: Final = ("create_buffer", "create_compute_pipeline", "destroy")


def check_adapter(wanted: object, power_preference: object) -> None:
    """Refuse what names no adapter.

    Args:
        wanted: what ``Device`` was given as its adapter.
        power_preference: what it was given so.

    Raises:
        RequestError: of another kind than ``Device`` takes.

    Source: WebGPU, section 4.2.2.
    """
    if wanted is not None and (isinstance(wanted, bool) or not isinstance(wanted, str | int | AdapterInfo)):
        raise RequestError(
            "not an adapter",
            where="Device",
            expected="part of its name, its index, a description of adapters() or None",
            got=repr(wanted),
        )
    if power_preference is not None and power_preference not in POWER_PREFERENCES:
        raise RequestError(
            "unknown power_preference",
            where="Device",
            expected=f"one of {', '.join(map(repr, POWER_PREFERENCES))} or None",
            got=repr(power_preference),
        )


def check_wgpu_device(wgpu_device: Wgpu) -> None:
    """Refuse what is not a device of wgpu's.

    Args:
        wgpu_device: what ``Device.from_wgpu`` was given.

    Raises:
        RequestError: an adapter, say.

    Source: wgpu-py 0.32.
    """
    if not all(hasattr(wgpu_device, name) for name in (*_DEVICE_METHODS, "queue")):
        hint = "Ask it for one: adapter.request_device_sync()" if hasattr(wgpu_device, "request_device_sync") else None
        raise RequestError(
            "not a device of wgpu's",
            where="Device.from_wgpu",
            expected="a GPUDevice",
            got=_kind(wgpu_device),
            hint=hint,
        )


def check_count(value: object, name: str, *, least: int, where: str) -> None:
    """Refuse what is not a whole number from ``least`` on.

    Args:
        value: what the caller gave.
        name: the parameter's name.
        least: the least that is allowed.
        where: the method.

    Raises:
        RequestError: something else.

    Source: none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise RequestError(f"{name} is wrong", where=where, expected=f"an integer from {least} on", got=repr(value))


def check_buffer(buffer: Wgpu) -> None:
    """Refuse what is not a buffer of wgpu's.

    Args:
        buffer: what ``Device.wrap`` was given.

    Raises:
        RequestError: a tensor, say.

    Source: wgpu-py 0.32.
    """
    if not all(hasattr(buffer, name) for name in ("usage", "size", "map_state")):
        hint = "A tensor is used as it is; its memory is tensor.buffer" if isinstance(buffer, Tensor) else None
        raise RequestError(
            "not a buffer of wgpu's", where="Device.wrap", expected="a GPUBuffer", got=_kind(buffer), hint=hint
        )


def check_values(array: object, where: str) -> None:
    """Refuse what describes a tensor and holds none of its values.

    Args:
        array: what ``Device.tensor`` was given.
        where: the port, or the method.

    Raises:
        RequestError: a TensorSpec.

    Source: none.
    """
    if isinstance(array, TensorSpec):
        raise RequestError(
            "a TensorSpec holds no values",
            where=where,
            expected="an array",
            got=str(array),
            hint="Device.empty and Device.zeros make a tensor of a shape and dtype",
        )


def checked_tensors(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Return what a caller wants to read.

    Args:
        tensors: what ``Device.read`` was given.

    Returns:
        The tensors.

    Raises:
        RequestError: a single tensor, or something that is no tensor.

    Source: none.
    """
    try:
        found = tuple(tensors)
    except TypeError as error:
        hint = "Read a single one with tensor.numpy()" if isinstance(tensors, Tensor) else None
        raise RequestError(
            "not a sequence of tensors",
            where="Device.read",
            expected="tensors in a sequence",
            got=_kind(tensors),
            hint=hint,
        ) from error
    for tensor in found:
        if not isinstance(tensor, Tensor):
            raise RequestError("not a tensor", where="Device.read", expected="tensors", got=_kind(tensor))
    return found


def _kind(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__}"
