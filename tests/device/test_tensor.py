"""Tensors: arrays that live on a device."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from webgpu_kernels.device.seam import COPY_DST, COPY_SRC, STORAGE
from webgpu_kernels.device.tensor import Tensor
from webgpu_kernels.errors import (
    DtypeError,
    ForeignTensor,
    LayoutError,
    LimitError,
    RequestError,
    ShapeError,
    TensorDestroyed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hand_made_programs import Programs

    from webgpu_kernels.device import Device

pytestmark = pytest.mark.device


@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.float16),
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(-3, 3, dtype=np.int8),
        np.array([[-300, 300]], np.int16),
        np.array([2**40, -1]),
        np.arange(5, dtype=np.uint8),
        np.array([True, False, True]),
        np.float32(3.5),
        np.zeros((0, 4), np.float32),
        np.array([np.nan, np.inf, -np.inf], np.float32),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_an_array_comes_back(device: Device, array: np.ndarray) -> None:
    """Every dtype, rank 0, empty arrays and special values survive the trip."""
    tensor = device.tensor(array)
    result = tensor.numpy()
    assert (result.dtype, result.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(result, array)


def test_any_memory_layout_uploads(device: Device) -> None:
    """Transposed, strided, reversed and read-only arrays work."""
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    array.flags.writeable = False
    for view in (array, array.T, array[::2, ::3], array[::-1]):
        np.testing.assert_array_equal(device.tensor(view).numpy(), view)


def test_large_arrays_go_in_pieces(device: Device) -> None:
    """More than one 16 MiB piece each way, contiguous and not, with an odd tail."""
    array = np.arange(9_000_001, dtype=np.int32)
    np.testing.assert_array_equal(device.tensor(array).numpy(), array)
    turned = array[:9_000_000].reshape(3000, 3000).T
    np.testing.assert_array_equal(device.tensor(turned).numpy(), turned)


def test_packed_bytes_come_back(device: Device) -> None:
    """The layout is kept and undone on reading."""
    array = np.arange(7, dtype=np.uint8)
    tensor = device.tensor(array, layout="packed")
    assert (tensor.layout, tensor.nbytes) == ("packed", 8)
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_a_projected_int64_is_checked(device: Device) -> None:
    """A value outside the storage is an error; the device works on."""
    with pytest.raises(RequestError, match=r"^indices: an int64 value does not fit"):
        device.tensor(np.array([2**40]), storage="int32", where="indices")
    tensor = device.tensor(np.array([2**40, -7]), storage="int32", narrowing="saturating")
    assert tensor.storage == "int32"
    assert tensor.numpy().tolist() == [2**31 - 1, -7]


def test_a_tensor_describes_itself(device: Device) -> None:
    """Shape, dtype, storage, size and a readable repr."""
    tensor = device.tensor(np.zeros((2, 3), np.float16))
    assert (tensor.shape, tensor.dtype, tensor.layout, tensor.storage) == ((2, 3), "float16", None, "float16")
    assert (tensor.nbytes, tensor.offset, len(tensor), tensor.device) == (12, 0, 2, device)
    assert repr(tensor) == f"<Tensor float16[2, 3] on {device.name}>"


def test_numpy_takes_a_tensor(device: Device) -> None:
    """np.asarray reads it; asking for no copy is an error."""
    tensor = device.tensor(np.arange(3, dtype=np.float32))
    assert np.asarray(tensor, dtype=np.float64).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="cannot be viewed without a copy"):
        np.array(tensor, copy=False)


@pytest.mark.parametrize("array", [np.zeros(3), np.array([object()]), np.zeros(3, np.complex64), np.array(["a"])])
def test_foreign_dtypes_are_refused(device: Device, array: np.ndarray) -> None:
    """What the format does not have is an error before anything is uploaded."""
    with pytest.raises(DtypeError):
        device.tensor(array)


def test_zeros_are_zero_in_recycled_memory(device: Device) -> None:
    """The pool's memory holds what was there before; zeros() clears it."""
    device.tensor(np.full(1000, 7, np.int32)).destroy()
    assert not device.zeros((1000,), "int32").numpy().any()


def test_a_destroyed_tensor_says_so(device: Device) -> None:
    """Every use of it is TensorDestroyed; destroying again does nothing."""
    tensor = device.tensor(np.zeros(3, np.float32))
    tensor.destroy()
    tensor.destroy()
    assert tensor.destroyed
    assert repr(tensor).endswith("(destroyed)>")
    with pytest.raises(TensorDestroyed, match=r"^float32\[3\]: the tensor was destroyed$"):
        tensor.numpy()
    with pytest.raises(TensorDestroyed):
        _ = tensor.buffer


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_tensors_and_devices_are_not_copied(device: Device, way: Callable[[object], object]) -> None:
    """Two tensors would give the same memory back, and one of two devices would not hear that it was closed."""
    tensor = device.tensor(np.arange(4))
    with pytest.raises(TypeError) as caught:
        way({"x": tensor} if way is not copy.copy else tensor)
    assert str(caught.value) == "a GPU tensor can be neither copied nor pickled; its array can: tensor.numpy()"
    with pytest.raises(TypeError) as caught:
        way(device)
    assert str(caught.value) == (
        "a device can be neither copied nor pickled; share it, or open it again in the other process"
    )


def test_a_tensor_that_was_collected_says_so_in_another_finalizer(device: Device) -> None:
    """In a cycle its own may have come first: its memory is others' by then."""
    said: list[str] = []

    class Late:
        def __init__(self) -> None:
            self.tensor = device.tensor(np.arange(4))
            self.itself = self

        def __del__(self) -> None:
            self.tensor.__del__()
            try:
                self.tensor.numpy()
            except TensorDestroyed as error:
                said.append(str(error))

    Late()
    gc.collect()
    assert said == ["int64[4]: the tensor was collected already"]
    first, second = device.tensor(np.arange(4)), device.tensor(np.arange(4, 8))
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([0, 1, 2, 3], [4, 5, 6, 7])


def test_a_tensor_that_ctrl_c_left_unmade_is_collected_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds nothing yet."""
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    Tensor.__new__(Tensor)
    assert told == []


def test_dropped_memory_is_reused(own_device: Device) -> None:
    """A warm upload creates no buffer."""
    array = np.zeros(1000, np.float32)
    own_device.tensor(array)
    created = own_device.pool.created
    for _ in range(10):
        own_device.tensor(array)
    assert own_device.pool.created == created


def test_a_buffer_that_was_seen_is_not_reused(own_device: Device) -> None:
    """Whoever took tensor.buffer keeps the contents after the tensor is gone."""
    buffer = own_device.tensor(np.full(64, 5, np.int32)).buffer
    gc.collect()
    own_device.tensor(np.zeros(64, np.int32))
    assert own_device.wrap(buffer, (64,), "int32").numpy().tolist() == [5] * 64


def test_a_tensor_too_large_names_the_limit(device: Device) -> None:
    """Nothing is allocated: the error says which limit, how much was asked and how much there is."""
    limit = device.capabilities.limits["maxBufferSize"]
    with pytest.raises(LimitError) as caught:
        device.empty((limit // 4 + 1,), "float32")
    assert caught.value.limit == "maxBufferSize"
    assert (caught.value.asked, caught.value.available) == ((limit // 4 + 1) * 4, limit)


def make_buffer(device: Device, size: int, usage: int = STORAGE | COPY_SRC | COPY_DST) -> Any:
    return device.wgpu_device.create_buffer(size=size, usage=usage)


def test_a_wrapped_buffer_is_neither_copied_nor_freed(own_device: Device) -> None:
    """The tensor sees what the owner writes, from an offset on, and destroying it leaves the buffer alone."""
    alignment = own_device.capabilities.limits["minStorageBufferOffsetAlignment"]
    buffer = make_buffer(own_device, alignment + 16)
    own_device.wgpu_device.queue.write_buffer(buffer, alignment, np.arange(4, dtype=np.int32))
    tensor = own_device.wrap(buffer, (2, 2), "int32", offset=alignment)
    assert (tensor.offset, tensor.buffer) == (alignment, buffer)
    assert tensor.numpy().tolist() == [[0, 1], [2, 3]]
    tensor.destroy()
    own_device.wgpu_device.queue.write_buffer(buffer, 0, np.arange(4, dtype=np.int32))
    assert own_device.wrap(buffer, (4,), "int32").numpy().tolist() == [0, 1, 2, 3]


def test_wrapping_checks_the_buffer(own_device: Device) -> None:
    """Too small, without STORAGE, misaligned, mapped, or of another device."""
    buffer = make_buffer(own_device, 64)
    with pytest.raises(ShapeError, match=r"fit into the buffer: expected at most 64 bytes after the offset, got 68$"):
        own_device.wrap(buffer, (17,), "float32")
    with pytest.raises(LayoutError, match=r"^the offset cannot be bound: expected a multiple of \d+, got 4$"):
        own_device.wrap(buffer, (1,), "float32", offset=4)
    with pytest.raises(LayoutError, match=r"^the buffer cannot be bound: expected usage STORAGE, got usage 0x8$"):
        own_device.wrap(make_buffer(own_device, 64, COPY_DST), (1,), "float32")
    mapped = own_device.wgpu_device.create_buffer(size=64, usage=STORAGE, mapped_at_creation=True)
    with pytest.raises(LayoutError, match=r"^the buffer is mapped\. Unmap it first$"):
        own_device.wrap(mapped, (1,), "float32")


def test_a_wrapped_buffer_may_be_unreadable(own_device: Device) -> None:
    """Without COPY_SRC it serves as an input; reading it says what it lacks."""
    tensor = own_device.wrap(make_buffer(own_device, 64, STORAGE), (16,), "float32")
    with pytest.raises(
        LayoutError, match=r"^float32\[16\]: the wrapped buffer cannot be read: expected usage COPY_SRC$"
    ):
        tensor.numpy()


def test_wrapping_another_devices_buffer_is_refused(device: Device, own_device: Device) -> None:
    """A buffer can be bound on its own device only."""
    with pytest.raises(ForeignTensor, match=r"^the buffer belongs to another wgpu device$"):
        device.wrap(make_buffer(own_device, 64), (1,), "float32")


def test_wrapping_a_destroyed_buffer_is_refused(own_device: Device) -> None:
    """wgpu-py keeps no record of it; it is found out all the same."""
    buffer = make_buffer(own_device, 64)
    buffer.destroy()
    with pytest.raises(TensorDestroyed, match=r"^the buffer was destroyed by its owner$"):
        own_device.wrap(buffer, (1,), "float32")


def test_a_buffer_destroyed_under_a_tensor_is_noticed(own_device: Device, programs: Programs) -> None:
    """Its owner destroys it after it was wrapped and used: reading says so, nothing aborts."""
    buffer = make_buffer(own_device, 64)
    tensor = own_device.wrap(buffer, (16,), "float32")
    tensor.numpy()
    buffer.destroy()
    assert tensor.destroyed
    with pytest.raises(TensorDestroyed, match=r"^float32\[16\]: the tensor's buffer was destroyed by its owner$"):
        tensor.numpy()


def test_wrapping_does_not_keep_the_buffer(own_device: Device) -> None:
    """Once the tensor and its owner drop it, the buffer is freed at once, without a garbage collection."""
    import weakref  # noqa: PLC0415 - only here

    buffer = make_buffer(own_device, 64)
    freed = weakref.ref(buffer)
    own_device.wrap(buffer, (16,), "float32").numpy()
    gc.disable()
    try:
        del buffer
        own_device.trim()
        assert freed() is None
    finally:
        gc.enable()


def test_reading_many_tensors_is_one_call(device: Device) -> None:
    """read() returns arrays in order."""
    arrays = [np.full(count, count, np.int16) for count in (3, 0, 5)]
    results = device.read([device.tensor(array) for array in arrays])
    for array, result in zip(arrays, results, strict=True):
        np.testing.assert_array_equal(result, array)
