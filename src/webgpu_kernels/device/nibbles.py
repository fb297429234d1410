"""int4 and uint4: two values a byte on the device, low nibble first, and one value a byte in numpy.

numpy has no such dtypes; the package ml_dtypes brings them, and is imported only where such an array is made.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from webgpu_kernels.arrays import np
from webgpu_kernels.errors import DtypeError

if TYPE_CHECKING:
    from webgpu_kernels.device.codec import Array


def nibble_dtype(name: str) -> np.dtype[Any]:
    """Return the numpy dtype of a host array.

    Args:
        name: ``"int4"`` or ``"uint4"``.

    Returns:
        ml_dtypes' dtype, one byte an element.

    Raises:
        DtypeError: ml_dtypes is not installed.

    Source: ml_dtypes 0.5, ``int4`` and ``uint4``.
    """
    try:
        module = importlib.import_module("ml_dtypes")
    except ImportError as error:
        raise DtypeError(
            f"numpy arrays of {name} need the package ml_dtypes", hint="Install it with pip install ml_dtypes."
        ) from error
    dtype: np.dtype[Any] = np.dtype(getattr(module, name))
    return dtype


def pack_nibbles(elements: Array) -> Array:
    """Put two values into a byte.

    Args:
        elements: an array of a nibble dtype, any shape and memory layout.

    Returns:
        Bytes, half as many, rounded up; the first value of each is in the low bits, a missing one is 0.

    Source: ONNX, ``TensorProto.DataType``: INT4 and UINT4 are packed flat.
    """
    values = np.ascontiguousarray(elements).reshape(-1).view(np.uint8)
    if values.size % 2:
        values = np.append(values, np.uint8(0))
    pairs = values.view("<u2")
    return ((pairs & 0x0F) | ((pairs >> 4) & 0xF0)).astype(np.uint8)


def unpack_nibbles(packed: Array, target: Array) -> None:
    """Take bytes apart.

    Args:
        packed: bytes, half as many as the target has elements, rounded up.
        target: a flat contiguous array of a nibble dtype; all of it is written.

    Source: ONNX, ``TensorProto.DataType``.
    """
    pairs = packed.astype("<u2")
    pairs = (pairs | (pairs << 4)) & 0x0F0F
    target.view(np.uint8)[:] = pairs.view(np.uint8)[: target.size]
