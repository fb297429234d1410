"""What engines hand to a device and take from it: 32-bit words, and the pattern that betrays a word nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.arrays import np
from webgpu_kernels.device.codec import decode, encode, encoded_bits, numpy_dtype, stored_dtype
from webgpu_kernels.device.matching import spec_of
from webgpu_kernels.device.ranges import check_values

if TYPE_CHECKING:
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.program import TensorUse

POISON: Final = 0xFFE5FFE5
"""A NaN as float32 and twice a NaN as float16, with a payload that no arithmetic makes; no likely integer either."""
SCRATCH_POISON: Final = 0xFFEAFFEA
"""Another one for intermediates: what is computed of it must not look as if it had not been written."""


class Decoded(NamedTuple):
    """One output as it came back.

    Attributes:
        elements: an array of its shape and logical dtype.
        unwritten: flat indices of the elements whose memory still holds the pattern.
    """

    elements: Array
    unwritten: Array


def encode_input(use: TensorUse, array: Array, *, where: str) -> Array:
    """Return an input as the device stores it.

    Args:
        use: the planned input.
        array: elements of its shape and logical dtype.
        where: the operator, for messages.

    Returns:
        ``use.size_bytes`` / 4 words of dtype uint32, the last one filled up with zeros.

    Raises:
        RequestError: a value out of the range that the contract or the storage allows.

    Source: FORMAT, section 9.
    """
    place = f"{where}: {use.name!r}"
    if use.value_range is not None:
        check_values(array, use.value_range, where=place)
    stored = encode(array.reshape(-1), spec_of(use), use.narrowing or "checked", where=place)
    contents = stored.reshape(-1).view(np.uint8)
    words = np.zeros(use.size_bytes // 4, np.uint32)
    words.view(np.uint8)[: contents.size] = contents
    return words


def poisoned_words(size_bytes: int, pattern: int = POISON) -> Array:
    """Return memory that nobody wrote.

    Args:
        size_bytes: a multiple of 4.
        pattern: what each word holds.

    Returns:
        Words of dtype uint32.
    """
    return np.full(size_bytes // 4, pattern, np.uint32)


def decode_output(use: TensorUse, words: Array) -> Decoded:
    """Return an output's elements, and which of them were not written.

    Args:
        use: the planned output.
        words: its memory after the run, dtype uint32; it held ``POISON`` before.

    Returns:
        Both.

    Source: FORMAT, section 9.
    """
    spec = spec_of(use)
    bits = encoded_bits(spec)
    stored_bytes = (spec.size * bits + 7) // 8
    stored = words.view(np.uint8)[:stored_bytes].view(stored_dtype(spec))
    elements = np.empty(spec.shape, numpy_dtype(spec.dtype))
    decode(stored, spec, elements.reshape(-1))
    return Decoded(elements, _unwritten(words, spec.size, bits))


def _unwritten(words: Array, size: int, bits: int) -> Array:
    """Find elements of poison; where smaller ones share a word, only a whole word tells poison from a value."""
    if bits == 16:
        found = words.view(np.uint16)[:size] == POISON & 0xFFFF
    elif bits == 64:
        pairs = words[: 2 * size].reshape(size, 2)
        found = (pairs == POISON).all(axis=1)
    elif bits == 32:
        found = words[:size] == POISON
    else:
        found = np.repeat(words == POISON, 32 // bits)[:size]
    return np.flatnonzero(found)
