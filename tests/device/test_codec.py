"""What device memory holds for each dtype, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from webgpu_kernels.device import codec
from webgpu_kernels.device.codec import as_array, encode, encoded_bytes, make_spec
from webgpu_kernels.errors import DtypeError, LayoutError, RequestError

if TYPE_CHECKING:
    from webgpu_kernels.planning.spec import TensorSpec

ROUND_TRIPS = ("float16", "float32", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool")


def spec(
    shape: tuple[int, ...] = (), dtype: str = "float32", layout: str | None = None, storage: str | None = None
) -> TensorSpec:
    return make_spec(shape, dtype, layout=layout, storage=storage)


def decode(stored: codec.Array, described: TensorSpec) -> codec.Array:
    """Return all that was stored, as a new flat array."""
    target = np.empty(described.size, codec.numpy_dtype(described.dtype))
    codec.decode(stored, described, target)
    return target


@pytest.mark.parametrize("dtype", ROUND_TRIPS)
@settings(deadline=None)  # the first example imports and compiles
@given(data=st.data())
def test_every_dtype_comes_back_as_it_went(dtype: str, data: st.DataObject) -> None:
    """Encoding and decoding give the same elements, for any values and memory layout."""
    array = data.draw(npst.arrays(dtype, npst.array_shapes(min_dims=0, max_dims=3, min_side=0)))
    described = spec(array.shape, dtype)
    stored = encode(array, described)
    assert stored.nbytes <= encoded_bytes(described)
    np.testing.assert_array_equal(decode(stored.reshape(-1), described).reshape(array.shape), array)


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "bool"])
def test_narrow_integers_take_a_word_each(dtype: str) -> None:
    """Integers below 32 bits and booleans are widened to one word an element."""
    assert encode(np.ones(3, dtype), spec((3,), dtype)).itemsize == 4
    assert encoded_bytes(spec((3,), dtype)) == 12


def test_packed_bytes_lie_four_to_a_word() -> None:
    """The layout "packed" keeps uint8 as bytes, rounded up to whole words."""
    packed = spec((5,), "uint8", layout="packed")
    assert encode(np.arange(5, dtype=np.uint8), packed).tobytes() == bytes(range(5))
    assert encoded_bytes(packed) == 8


@pytest.mark.parametrize(("shape", "size"), [((0, 3), 4), ((), 4), ((3,), 8), ((2,), 4)])
def test_sizes_are_positive_multiples_of_four(shape: tuple[int, ...], size: int) -> None:
    """Empty tensors, scalars and odd counts of halves take whole words, one at least."""
    assert encoded_bytes(spec(shape, "float16")) == size


def test_wide_words_are_cut_when_read() -> None:
    """A word of 200 read as int8 is -56, as a typed array's copy has it."""
    assert decode(np.array([200, -129], np.int32), spec((2,), "int8")).tolist() == [-56, 127]


def test_a_checked_int64_out_of_range_is_refused() -> None:
    """The message names the range and the value."""
    with pytest.raises(RequestError) as caught:
        encode(np.array([1, 2**31]), spec((2,), "int64", storage="int32"), where="indices")
    assert str(caught.value) == (
        "indices: an int64 value does not fit its 32-bit storage: expected -2147483648 to 2147483647, got 2147483648"
    )


def test_a_saturating_int64_is_clipped() -> None:
    """Values beyond the storage become its nearest end."""
    stored = encode(np.array([-5, 2**40]), spec((2,), "int64", storage="uint32"), "saturating")
    assert stored.tolist() == [0, 2**32 - 1]


def test_a_projected_int64_comes_back_as_int64() -> None:
    """Storage is the device's business; the caller sees the logical dtype."""
    described = spec((2,), "int64", storage="uint32")
    assert decode(np.array([1, 2**32 - 1], np.uint32), described).tolist() == [1, 2**32 - 1]
    assert decode(np.array([1], np.uint32), described).dtype == np.int64


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(1), "Convert with array.astype('float32')."),
        (np.array([None]), "Give a numeric array; object arrays hold Python references."),
    ],
)
def test_foreign_dtypes_are_refused_with_a_remedy(array: np.ndarray, message: str) -> None:
    """float64 and object arrays are errors that say what to do."""
    with pytest.raises(DtypeError) as caught:
        as_array(array, None)
    assert str(caught.value).endswith(message)


def test_a_dtype_that_is_asked_for_converts() -> None:
    """``dtype=`` turns float64 into float32."""
    assert as_array([1.5, 2.5], "float32").dtype == np.float32


def test_an_object_array_is_refused_even_where_a_dtype_is_asked_for() -> None:
    """Objects never convert in silence."""
    with pytest.raises(DtypeError):
        as_array(np.array([object()]), "float32")


def test_unknown_layouts_and_storages_are_refused() -> None:
    """Only uint8 packs, only int64 is projected."""
    with pytest.raises(LayoutError, match=r'^unknown layout: expected None, or "packed" for uint8, got \'packed\'$'):
        spec((4,), "int8", layout="packed")
    with pytest.raises(LayoutError, match=r"^unknown storage: expected \"float32\", got 'int32' for float32$"):
        spec((4,), "float32", storage="int32")
