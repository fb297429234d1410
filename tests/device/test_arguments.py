"""What callers hand to a device is checked before anything is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from webgpu_kernels.device import Device, Executable
from webgpu_kernels.errors import DtypeError, KernelError, LayoutError, RequestError, ShapeError
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from hand_made_programs import Programs

pytestmark = pytest.mark.device

ADAPTER = "Device: not an adapter: expected part of its name, its index, a description of adapters() or None, got "


def anything(value: object) -> Any:
    """Pass what the type checker would refuse."""
    return value


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda _: Device(anything(1.5)), RequestError, f"{ADAPTER}1.5"),
        (lambda _: Device(anything(True)), RequestError, f"{ADAPTER}True"),
        (
            lambda _: Device(power_preference="fast"),
            RequestError,
            "Device: unknown power_preference: expected one of 'high-performance', 'low-power' or None, got 'fast'",
        ),
        (
            lambda _: Device(pool_limit_bytes=-1),
            RequestError,
            "Device: pool_limit_bytes is wrong: expected an integer from 0 on, got -1",
        ),
        (
            lambda _: Device.from_wgpu(None),
            RequestError,
            "Device.from_wgpu: not a device of wgpu's: expected a GPUDevice, got None",
        ),
        (
            lambda device: Device.from_wgpu(device.wgpu_device.adapter),
            RequestError,
            (
                "Device.from_wgpu: not a device of wgpu's: expected a GPUDevice, got GPUAdapter. "
                "Ask it for one: adapter.request_device_sync()"
            ),
        ),
        (
            lambda device: device.empty(anything(5), "float32"),
            ShapeError,
            "a shape is a sequence of dimensions: got 5",
        ),
        (lambda device: device.zeros((-1,), "float32"), ShapeError, "dimensions are non-negative integers: got (-1,)"),
        (
            lambda device: device.wrap(None, (1,), "float32"),
            RequestError,
            "Device.wrap: not a buffer of wgpu's: expected a GPUBuffer, got None",
        ),
        (
            lambda device: device.wrap(device.empty((1,), "float32"), (1,), "float32"),
            RequestError,
            (
                "Device.wrap: not a buffer of wgpu's: expected a GPUBuffer, got Tensor. "
                "A tensor is used as it is; its memory is tensor.buffer"
            ),
        ),
        (
            lambda device: device.read(anything(device.empty((1,), "float32"))),
            RequestError,
            (
                "Device.read: not a sequence of tensors: expected tensors in a sequence, got Tensor. "
                "Read a single one with tensor.numpy()"
            ),
        ),
        (
            lambda device: device.read([anything(None)]),
            RequestError,
            "Device.read: not a tensor: expected tensors, got None",
        ),
        (
            lambda device: device.tensor(TensorSpec((2, 3), "float32")),
            RequestError,
            (
                "tensor: a TensorSpec holds no values: expected an array, got float32[2, 3]. "
                "Device.empty and Device.zeros make a tensor of a shape and dtype"
            ),
        ),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(
    device: Device, call: Callable[[Device], object], kind: type[KernelError], message: str
) -> None:
    """Where, what was expected and what came; an error of this library's, and nothing was done."""
    with pytest.raises(KernelError) as caught:
        call(device)
    assert (type(caught.value), str(caught.value)) == (kind, message)


@pytest.mark.parametrize("offset", ["a", None, 1.0, True, -256, 4])
def test_an_offset_is_a_multiple_of_the_alignment(device: Device, offset: object) -> None:
    """Anything else cannot be bound."""
    with pytest.raises(LayoutError) as caught:
        device.wrap(device.empty((512,), "float32").buffer, (1,), "float32", offset=anything(offset))
    alignment = device.capabilities.limits["minStorageBufferOffsetAlignment"]
    assert str(caught.value) == f"the offset cannot be bound: expected a multiple of {alignment}, got {offset!r}"


@pytest.mark.parametrize("repeat", [0, -1, 1.5, None])
def test_timing_takes_at_least_one_run(device: Device, programs: Programs, repeat: object) -> None:
    """No run has no median."""
    executable = Executable.compile(device, programs.scale())
    with pytest.raises(RequestError) as caught:
        executable.time([device.zeros((256,), "float32")], repeat=anything(repeat))
    assert str(caught.value) == f"Executable.time: repeat is wrong: expected an integer from 1 on, got {repeat!r}"


def test_tensors_to_read_may_come_from_an_iterator(device: Device) -> None:
    """They are gone through once."""
    arrays = device.read(anything(device.tensor(np.full(2, turn, np.float32)) for turn in range(3)))
    assert [array.tolist() for array in arrays] == [[0, 0], [1, 1], [2, 2]]


def test_a_dtype_of_another_kind_is_a_dtype_error(device: Device) -> None:
    """A list is no dtype."""
    with pytest.raises(DtypeError):
        device.empty((1,), [])
