"""Makes the arrays that a suite describes, the same on every machine, in every version of numpy, in any language.

What looks random is a hash of its index. With arithmetic modulo 2**64, word w of stream s is ``mix(mix(s) + w * G)``,
where ``G`` is 0x9E3779B97F4A7C15 and ``mix`` is SplitMix64's last step::

    mix(z) = z3 ^ (z3 >> 31)  with  z1 = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9,  z2 = z1 ^ (z1 >> 27),
                                    z3 = z2 * 0x94D049BB133111EB

The stream is the seed. Element i is made of

- uniform: word i, its upper 53 bits as a fraction u of 1: ``low + (high - low) * u`` in float64;
- integers: ``low + word i modulo (high - low + 1)``;
- normal: the twelve 32-bit halves of words 6 i to 6 i + 5, added as integers: ``(sum - 6 * 2**32) / 2**32``, the sum of
  twelve uniform numbers less their mean, is all but normal and needs no logarithm, whose last bit differs from one
  library to the next; times ``std`` plus ``mean``, in float64.

Floats are made in float64 and rounded once to their dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.arrays import np
from webgpu_kernels.device.codec import numpy_dtype
from webgpu_kernels.tools.suites.data_reading import INTEGER_RANGES
from webgpu_kernels.tools.suites.model import Fill, FillFloat32, Random, Range, Values

if TYPE_CHECKING:
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.spec import TensorSpec
    from webgpu_kernels.tools.suites.model import Data

_GOLDEN: Final = 0x9E3779B97F4A7C15
_WORDS_PER_NORMAL: Final = 6
_CHUNK: Final = 1 << 18
"""Elements made at a time, so that what is made of words stays in a processor's cache."""


def make_array(data: Data, spec: TensorSpec) -> Array:
    """Make a tensor's elements.

    Args:
        data: what it holds.
        spec: its shape and logical dtype.

    Returns:
        A new array.

    Source: docs/suites.md, "Data".
    """
    dtype = numpy_dtype(spec.dtype)
    if isinstance(data, Values):
        flat = _listed(data, spec.dtype)
    elif isinstance(data, Fill):
        flat = np.full(spec.size, data.value, _wide(spec.dtype))
    elif isinstance(data, Range):
        flat = _ranged(data, spec.size, spec.dtype)
    elif isinstance(data, Random):
        flat = _random(data, spec.size, spec.dtype)
    else:
        flat = _waves(data, spec.size)
    with np.errstate(over="ignore", invalid="ignore"):
        elements: Array = flat.astype(dtype).reshape(spec.shape)
    return elements


def words(stream: int, first: int, count: int) -> Array:
    """Return words of a stream.

    Args:
        stream: any integer from 0 on.
        first: index of the first word.
        count: how many words.

    Returns:
        An array of dtype uint64.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    start = np.array(stream & 0xFFFF_FFFF_FFFF_FFFF, np.uint64)
    counter = np.arange(first, first + count, dtype=np.uint64) * np.uint64(_GOLDEN)
    return _mixed(_mixed(start[None])[0] + counter)


def _mixed(z: Array) -> Array:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = z ^ (z >> np.uint64(31))
    return mixed


def _wide(dtype: str) -> np.dtype[np.int64] | np.dtype[np.float64]:
    return np.dtype(np.int64) if dtype in INTEGER_RANGES else np.dtype(np.float64)


def _listed(data: Values, dtype: str) -> Array:
    return np.array(data.values, _wide(dtype))


def _ranged(data: Range, size: int, dtype: str) -> Array:
    index = np.arange(size, dtype=np.int64)
    if data.modulo is not None:
        index %= data.modulo
    ranged: Array = index.astype(_wide(dtype)) * data.step + data.start
    return ranged


def _waves(data: FillFloat32, size: int) -> Array:
    index = np.arange(size, dtype=np.float64)
    waves: Array = data.scale * (np.sin(index * data.sin_step) + np.cos(index * data.cos_step))
    return waves.astype(np.float32)


def _random(data: Random, size: int, dtype: str) -> Array:
    distribution = data.distribution or ("integers" if dtype in INTEGER_RANGES else "normal")
    made: Array = np.empty(size, _wide(dtype))
    for first in range(0, size, _CHUNK):
        count = min(_CHUNK, size - first)
        if distribution == "normal":
            part = _normal(data, first, count)
        elif distribution == "uniform":
            part = _uniform(data, first, count)
        else:
            part = _integers(data, first, count, dtype)
        made[first : first + count] = part
    if data.outlier_every:
        made[data.outlier_every - 1 :: data.outlier_every] *= data.outlier_scale
    return made


def _normal(data: Random, first: int, count: int) -> Array:
    drawn = words(data.seed, _WORDS_PER_NORMAL * first, _WORDS_PER_NORMAL * count)
    halves = (drawn & np.uint64(0xFFFF_FFFF)) + (drawn >> np.uint64(32))
    sums = halves.reshape(count, _WORDS_PER_NORMAL).sum(axis=1).astype(np.float64)
    normal: Array = data.mean + data.std * ((sums - 6 * 2.0**32) / 2.0**32)
    return normal


def _uniform(data: Random, first: int, count: int) -> Array:
    low, high = (-1.0 if data.low is None else float(data.low)), (1.0 if data.high is None else float(data.high))
    fractions = (words(data.seed, first, count) >> np.uint64(11)).astype(np.float64) / 2.0**53
    uniform: Array = low + (high - low) * fractions
    return uniform


def _integers(data: Random, first: int, count: int, dtype: str) -> Array:
    least, most = INTEGER_RANGES.get(dtype, (-(2**53), 2**53))
    low, high = (least if data.low is None else int(data.low)), (most if data.high is None else int(data.high))
    drawn = words(data.seed, first, count)
    span = high - low + 1
    if span < 2**64:
        drawn %= np.uint64(span)
    # Adding modulo 2**64 and looking at the bits as signed is right for every range that an int64 holds.
    return (drawn + np.uint64(low % 2**64)).view(np.int64)
