"""The dtypes of the format: what a caller names, what a buffer holds, what a shader reads.

A *logical* dtype is what the contract and the caller speak of. The *storage* dtype says how its elements lie in a
buffer; it is the logical dtype itself, except that an int64 port may be projected to int32 or uint32. The *WGSL scalar*
is the type that a shader sees: integers narrower than 32 bits and booleans are widened to one 32-bit word an element.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Dtype(NamedTuple):
    """What the format says of one logical dtype.

    Attributes:
        name: its name in a manifest.
        wgsl: the WGSL type of one stored element.
        storage_bits: bits of one stored element.
        onnx_code: its number in ONNX's ``TensorProto.DataType``.
    """

    name: str
    wgsl: str
    storage_bits: int
    onnx_code: int


DTYPES: Final[Mapping[str, Dtype]] = MappingProxyType(
    {
        name: Dtype(name=name, wgsl=wgsl, storage_bits=storage_bits, onnx_code=onnx_code)
        for name, wgsl, storage_bits, onnx_code in (
            ("float16", "f16", 16, 10),
            ("float32", "f32", 32, 1),
            ("int8", "i32", 32, 3),
            ("int16", "i32", 32, 5),
            ("int32", "i32", 32, 6),
            ("int64", "vec2<u32>", 64, 7),
            ("uint8", "u32", 32, 2),
            ("uint32", "u32", 32, 12),
            ("bool", "u32", 32, 9),
            ("int4", "u32", 4, 22),
            ("uint4", "u32", 4, 21),
        )
    }
)
NIBBLE_DTYPES: Final = ("int4", "uint4")
"""Half a byte an element, eight to a word, first in the lowest bits: only where a manifest declares the extension."""
LOGICAL_DTYPES: Final[tuple[str, ...]] = tuple(name for name in DTYPES if name not in NIBBLE_DTYPES)
PACKABLE_DTYPES: Final = ("uint8", *NIBBLE_DTYPES)
"""What the layout ``packed`` is for."""
INT64_STORAGES: Final[tuple[str, ...]] = ("int64", "int32", "uint32")
_BY_ONNX_CODE: Final[Mapping[int, str]] = MappingProxyType({dtype.onnx_code: name for name, dtype in DTYPES.items()})


def wgsl_scalar(dtype: str) -> str:
    """Return the WGSL type of one stored element.

    Args:
        dtype: a logical or storage dtype.

    Returns:
        ``f16``, ``f32``, ``i32``, ``u32``, or ``vec2<u32>`` for int64, which shaders only copy whole.

    Raises:
        KeyError: there is no such dtype.

    Source: FORMAT section 3 (``dtypes``) and section 6.
    """
    return DTYPES[dtype].wgsl


def storage_bytes(dtype: str) -> int:
    """Return the bytes of one stored element.

    Args:
        dtype: a logical or storage dtype.

    Returns:
        2 for float16, 8 for int64, 4 for the others: they are stored as 32-bit words.

    Raises:
        KeyError: there is no such dtype, or its elements share a byte.

    Source: FORMAT section 9.
    """
    if dtype in NIBBLE_DTYPES:
        raise KeyError(dtype)
    return DTYPES[dtype].storage_bits // 8


def stored_bits(storage: str, layout: str | None) -> int:
    """Return the bits of one element in a tensor.

    Args:
        storage: the storage dtype.
        layout: ``"packed"`` or None.

    Returns:
        8 for packed uint8, 4 for int4 and uint4 whatever the layout, else those of the storage dtype.

    Source: FORMAT section 9; docs/format.md, "Extensions".
    """
    return 8 if layout == "packed" and storage == "uint8" else DTYPES[storage].storage_bits


def stored_bytes(elements: int, storage: str, layout: str | None = None) -> int:
    """Return the bytes of a tensor on the device.

    Args:
        elements: how many there are.
        storage: the storage dtype.
        layout: ``"packed"`` or None.

    Returns:
        A positive multiple of 4.

    Source: FORMAT section 9.
    """
    return max(4, -(-elements * stored_bits(storage, layout) // 32) * 4)


def onnx_code(dtype: str) -> int:
    """Return ONNX's number of a logical dtype.

    Args:
        dtype: a logical dtype.

    Returns:
        The value of ONNX's ``TensorProto.DataType``.

    Raises:
        KeyError: there is no such dtype.

    Source: FORMAT section 3 (``onnxDtypeCode``).
    """
    return DTYPES[dtype].onnx_code


def dtype_of_onnx_code(code: int) -> str | None:
    """Return the logical dtype that has this ONNX number.

    Args:
        code: a value of ONNX's ``TensorProto.DataType``.

    Returns:
        The logical dtype, or None where the format has none for it.

    Source: FORMAT section 9 (output dtype from the attribute ``to``).
    """
    return _BY_ONNX_CODE.get(code)


def storages_of(dtype: str) -> tuple[str, ...]:
    """Return the storage dtypes that a port of this logical dtype may declare.

    Args:
        dtype: a logical dtype.

    Returns:
        int64, int32 and uint32 for int64; the dtype itself for every other.

    Source: FORMAT section 2 (``storage``).
    """
    return INT64_STORAGES if dtype == "int64" else (dtype,)
