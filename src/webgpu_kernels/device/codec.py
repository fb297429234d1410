"""From numpy arrays to the bytes that shaders read, and back.

Integers narrower than 32 bits and booleans are widened to one 32-bit word an element; uint8 in the layout ``packed``
lies four to a word, int4 and uint4 eight to a word; an int64 may be stored as int32 or uint32. The inverse cuts modulo
2**n, as the format prescribes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from webgpu_kernels.arrays import np
from webgpu_kernels.contract import INT64_STORAGES, NIBBLE_DTYPES, stored_bits, stored_bytes
from webgpu_kernels.device.nibbles import nibble_dtype, pack_nibbles, unpack_nibbles
from webgpu_kernels.errors import LayoutError, RequestError, ShapeError
from webgpu_kernels.planning.spec import TensorSpec, logical_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Narrowing: TypeAlias = Literal["checked", "saturating"]

_STORED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "float16": "<f2",
        "float32": "<f4",
        "int8": "<i4",
        "int16": "<i4",
        "int32": "<i4",
        "int64": "<i8",
        "uint8": "<u4",
        "uint32": "<u4",
        "bool": "<u4",
    }
)


@cache
def _names() -> dict[object, str]:
    """Return logical dtypes by numpy dtype: numpy takes microseconds to spell a dtype's name."""
    return {np.dtype(name): name for name in _STORED}


@cache
def _stored_dtypes() -> dict[str, np.dtype[Any]]:
    return {name: np.dtype(code) for name, code in _STORED.items()}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype of a host array.

    Args:
        name: a logical dtype.

    Returns:
        numpy's own, or for int4 and uint4 that of ml_dtypes.

    Raises:
        DtypeError: ml_dtypes is needed and not installed.

    Source: FORMAT, section 9; docs/format.md, "Extensions".
    """
    return nibble_dtype(name) if name in NIBBLE_DTYPES else np.dtype(name)


def stored_dtype(spec: TensorSpec) -> np.dtype[Any]:
    """Return the numpy dtype whose bytes are what the device holds.

    Args:
        spec: shape, dtype, layout and storage of the tensor.

    Returns:
        Little-endian: 4 bytes for everything but float16 (2), int64 (8), and bytes for what is packed: a uint8 each, or
        two int4 or uint4.

    Source: FORMAT, section 9.
    """
    if spec.layout == "packed" or spec.dtype in NIBBLE_DTYPES:
        return np.dtype("u1")
    return _stored_dtypes()[spec.storage or spec.dtype]


def encoded_bits(spec: TensorSpec) -> int:
    """Return the bits that one element occupies on the device.

    Args:
        spec: shape, dtype, layout and storage of the tensor.

    Returns:
        4, 8, 16, 32 or 64.

    Source: FORMAT, section 9.
    """
    return stored_bits(spec.storage or spec.dtype, spec.layout)


def encoded_bytes(spec: TensorSpec) -> int:
    """Return the bytes that the tensor occupies on the device.

    Args:
        spec: shape, dtype, layout and storage of the tensor.

    Returns:
        A positive multiple of 4.

    Source: FORMAT, section 9.
    """
    return stored_bytes(spec.size, spec.storage or spec.dtype, spec.layout)


def make_spec(
    shape: Sequence[int], dtype: object, *, layout: str | None, storage: str | None, where: str | None = None
) -> TensorSpec:
    """Describe a tensor, refusing layouts and storages that its dtype cannot have.

    Args:
        shape: dimensions, row-major.
        dtype: a logical dtype's name, a numpy dtype or scalar type.
        layout: ``"packed"`` for uint8, else None; for int4 and uint4 it changes nothing.
        storage: ``"int32"`` or ``"uint32"`` to project an int64, else None or the dtype itself.
        where: the port or array, for messages.

    Returns:
        The spec, its storage None where it is the dtype itself.

    Raises:
        ShapeError: not a sequence of non-negative integers.
        DtypeError: not a logical dtype; the message says how to convert.
        LayoutError: a layout or storage that the dtype cannot have.

    Source: FORMAT, sections 2 and 9.
    """
    name = _known_name(dtype) or logical_dtype(dtype, where=where)
    if layout is not None and (layout != "packed" or (name != "uint8" and name not in NIBBLE_DTYPES)):
        raise LayoutError("unknown layout", where=where, expected='None, or "packed" for uint8', got=f"{layout!r}")
    if storage not in (None, name) and (name != "int64" or storage not in INT64_STORAGES):
        raise LayoutError("unknown storage", where=where, expected=f'"{name}"', got=f"{storage!r} for {name}")
    if not isinstance(shape, Iterable):
        raise ShapeError("a shape is a sequence of dimensions", where=where, got=repr(shape))
    return TensorSpec(tuple(shape), name, layout, None if storage == name else storage)


def _known_name(dtype: object) -> str | None:
    try:
        return _names().get(dtype)
    except TypeError:  # it has no hash
        return None


def as_array(array: object, dtype: object | None, *, where: str | None = None) -> Array:
    """View what a caller gave as a numpy array of a logical dtype, without copying where that is possible.

    Args:
        array: an array, or anything that numpy makes one of.
        dtype: convert to this logical dtype first; None keeps the array's own.
        where: the port, for messages.

    Returns:
        An array of any memory layout; possibly the caller's own.

    Raises:
        DtypeError: a dtype that the format does not have (float64, objects, …), or that needs ml_dtypes.

    Source: FORMAT, section 9.
    """
    result = np.asarray(array)
    if dtype is None:
        if result.dtype not in _names():
            logical_dtype(result.dtype, where=where)
        return result
    name = logical_dtype(dtype, where=where)
    if result.dtype.kind not in "biuf":
        logical_dtype(result.dtype, where=where)
    return result.astype(numpy_dtype(name), copy=False)


def encode(elements: Array, spec: TensorSpec, narrowing: Narrowing = "checked", *, where: str | None = None) -> Array:
    """Return elements as the device stores them.

    Args:
        elements: any part of the tensor, of its logical dtype, any shape; of int4 and uint4 from an even place on.
        spec: the tensor's dtype, layout and storage.
        narrowing: whether an int64 outside a 32-bit storage is an error or is clipped.
        where: the port, for messages.

    Returns:
        A C-contiguous array of the stored dtype; the argument itself where nothing has to change.

    Raises:
        RequestError: a value out of range under ``checked`` narrowing.

    Source: FORMAT, section 9.
    """
    if spec.dtype in NIBBLE_DTYPES:
        return pack_nibbles(elements)
    stored = stored_dtype(spec)
    if spec.dtype == "int64" and spec.storage is not None:
        elements = _narrowed(elements, stored, narrowing, where)
    return np.ascontiguousarray(elements, dtype=stored)


def decode(stored: Array, spec: TensorSpec, target: Array) -> None:
    """Write stored elements as the caller's dtype, cut modulo 2**n where they are wider.

    Args:
        stored: a one-dimensional array of the stored dtype.
        spec: the tensor's dtype, layout and storage.
        target: a flat contiguous array of the logical dtype; a bool becomes False for the word 0 only.

    Source: FORMAT, section 9.
    """
    if spec.dtype in NIBBLE_DTYPES:
        unpack_nibbles(stored, target)
    else:
        np.copyto(target, stored, casting="unsafe")


def _narrowed(elements: Array, stored: np.dtype[Any], narrowing: Narrowing, where: str | None) -> Array:
    bounds = np.iinfo(stored)
    low, high = int(bounds.min), int(bounds.max)
    if narrowing == "saturating":
        return np.clip(elements, low, high)
    if elements.size and (int(elements.min()) < low or int(elements.max()) > high):
        bad = elements[(elements < low) | (elements > high)].flat[0]
        raise RequestError(
            "an int64 value does not fit its 32-bit storage",
            where=where,
            expected=f"{low} to {high}",
            got=str(int(bad)),
        )
    return elements
