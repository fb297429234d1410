"""int4 and uint4 on their way to the device and back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from webgpu_kernels.device.codec import as_array, encode, encoded_bytes, make_spec
from webgpu_kernels.device.nibbles import pack_nibbles, unpack_nibbles
from webgpu_kernels.errors import DtypeError, LayoutError

if TYPE_CHECKING:
    from webgpu_kernels.device import Device

DTYPES = {"int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4}
LEAST = {"int4": -8, "uint4": 0}


@pytest.mark.parametrize("dtype", DTYPES)
@settings(deadline=None)  # the first example imports
@given(data=st.data())
def test_half_bytes_come_back_as_they_went(dtype: str, data: st.DataObject) -> None:
    """Any number of values, in any memory layout, in half as many bytes."""
    least = LEAST[dtype]
    shapes = npst.array_shapes(min_dims=1, max_dims=3, min_side=0)
    values = data.draw(npst.arrays(np.int8, shapes, elements=st.integers(least, least + 15)))
    array = values.astype(DTYPES[dtype]).T
    packed = pack_nibbles(array)
    assert packed.size == (array.size + 1) // 2
    target = np.empty(array.size, DTYPES[dtype])
    unpack_nibbles(packed, target)
    np.testing.assert_array_equal(target.reshape(array.shape), array)


@settings(deadline=None)
@given(values=st.lists(st.integers(-8, 7), max_size=40))
def test_the_first_of_two_is_in_the_low_half(values: list[int]) -> None:
    """As ONNX packs them; a missing second one is 0."""
    packed = pack_nibbles(np.array(values, np.int8).astype(ml_dtypes.int4))
    padded = [value & 15 for value in values] + [0] * (len(values) % 2)
    assert packed.tolist() == [low | high << 4 for low, high in zip(padded[::2], padded[1::2], strict=True)]


def test_the_upper_half_of_a_host_byte_does_not_count() -> None:
    """Whoever views int8 as int4 has sign bits there."""
    array = np.array([-1, 3], np.int8).view(ml_dtypes.int4)
    assert pack_nibbles(array).tolist() == [0x3F]


def test_a_tensor_of_half_bytes_takes_whole_words() -> None:
    """Eight to a word, one word at least."""
    sizes = [encoded_bytes(make_spec((count,), "uint4", layout=None, storage=None)) for count in (0, 1, 8, 9, 17)]
    assert sizes == [4, 4, 4, 8, 12]


def test_other_integers_can_be_converted() -> None:
    """dtype= takes them modulo 16, as ml_dtypes does, and back."""
    array = as_array(np.array([7, 9, -8], np.int8), "int4")
    assert array.dtype == ml_dtypes.int4
    assert array.tolist() == [7, -7, -8]
    assert as_array(array, "float32").tolist() == [7.0, -7.0, -8.0]


@pytest.mark.parametrize(("layout", "storage"), [("rows", None), (None, "uint8")])
def test_half_bytes_have_no_other_layout_or_storage(layout: str | None, storage: str | None) -> None:
    """The one that they have need not be named, but may be."""
    with pytest.raises(LayoutError):
        make_spec((3,), "int4", layout=layout, storage=storage)
    assert make_spec((3,), "int4", layout="packed", storage="int4") == make_spec(
        (3,), "int4", layout=None, storage=None
    )


def test_without_ml_dtypes_there_are_no_such_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(DtypeError) as caught:
        as_array(np.zeros(3, np.int8), "int4")
    assert str(caught.value) == (
        "numpy arrays of int4 need the package ml_dtypes. Install it with pip install ml_dtypes."
    )


def test_a_part_is_encoded_like_the_whole() -> None:
    """Uploads go in pieces that start at even places."""
    array = np.arange(-8, 7, dtype=np.int8).astype(ml_dtypes.int4)
    described = make_spec(array.shape, array.dtype, layout=None, storage=None)
    parts = np.concatenate([encode(array[:6], described), encode(array[6:], described)])
    assert parts.tolist() == encode(array, described).tolist()


@pytest.mark.device
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (3, 5, 7), (16,)])
def test_a_tensor_of_half_bytes(device: Device, dtype: str, shape: tuple[int, ...]) -> None:
    """Any shape, scalars and empty ones too."""
    values = np.random.default_rng(3).integers(0, 16, shape) + LEAST[dtype]
    array = np.asarray(values).astype(DTYPES[dtype])
    tensor = device.tensor(array)
    assert (tensor.dtype, tensor.layout, tensor.storage, tensor.shape) == (dtype, None, dtype, shape)
    back = tensor.numpy()
    assert back.dtype == DTYPES[dtype]
    np.testing.assert_array_equal(back, array)


@pytest.mark.device
def test_large_tensors_of_half_bytes_go_in_pieces(device: Device) -> None:
    """More than 16 MiB packed, an odd number of values a row, contiguous or not."""
    values: Any = np.random.default_rng(4).integers(-8, 8, (5003, 7001), dtype=np.int8).astype(ml_dtypes.int4)
    for array in (values, values[::-1, 1:]):
        tensor = device.tensor(array)
        assert tensor.nbytes == (array.size + 7) // 8 * 4
        np.testing.assert_array_equal(tensor.numpy().view(np.uint8), np.ascontiguousarray(array).view(np.uint8))


@pytest.mark.device
def test_zeros_of_half_bytes(device: Device) -> None:
    """They need no array of the host's."""
    assert device.zeros((3, 3), "int4").numpy().tolist() == [[0] * 3] * 3
