"""Whether an output is what it should be, element by element, and where it is farthest from that."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.arrays import np
from webgpu_kernels.contract import NIBBLE_DTYPES
from webgpu_kernels.tools.results.model import Worst

if TYPE_CHECKING:
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.tools.results.model import Number
    from webgpu_kernels.tools.suites.model import Tolerance

_EXACT: Final = 2**53


class Verdict(NamedTuple):
    """What a comparison found.

    Attributes:
        reason: what is wrong, None where nothing is.
        error_of_allowed: the greatest error as a part of what is allowed; above 1 something is wrong. None where there
            is no element.
        worst: the element with that error, None where there is no element.
    """

    reason: str | None
    error_of_allowed: float | None = None
    worst: Worst | None = None


def compare(  # noqa: PLR0917 - one output and what is known of it
    name: str, got: Array, expected: Array, tolerance: Tolerance, allow_nan: bool, unwritten: Array | None = None
) -> Verdict:
    """Hold an output against its reference: ``|got - expected| <= atol + rtol * |expected|`` for every element.

    A NaN equals a NaN, whatever its payload, where the case allows it. An infinity equals itself only; a reference that
    the output's dtype rounds to infinity is one. Integers and booleans differ by exact whole numbers.

    Args:
        name: the output.
        got: its elements, of its logical dtype.
        expected: the reference, of any dtype that holds it.
        tolerance: how exact the output has to be.
        allow_nan: whether a NaN may be right.
        unwritten: flat indices of elements that nobody wrote, whatever they hold.

    Returns:
        The verdict.

    Source: docs/suites.md, "Tolerance".
    """
    if got.shape != expected.shape:
        return Verdict(f"{name} has the shape {list(got.shape)}, its reference {list(expected.shape)}")
    if got.size == 0:
        return Verdict(None)
    flat_got, flat_expected = _plain(got).reshape(-1), _plain(expected).reshape(-1)
    with np.errstate(all="ignore"):
        if flat_got.dtype.kind == "f" or flat_expected.dtype.kind == "f":
            differences, allowed = _float_errors(flat_got, flat_expected, got.dtype, tolerance, allow_nan)
        else:
            differences, allowed = _integer_errors(flat_got, flat_expected, tolerance)
        ratios = np.where(differences == 0, 0.0, differences / allowed)
    ratios[np.isnan(ratios)] = math.inf
    if unwritten is not None and unwritten.size:
        ratios[unwritten] = math.inf
        place = int(unwritten[0])
    else:
        place = _worst_place(ratios, differences)
    wrong = int(np.count_nonzero(ratios > 1))
    worst = _worst(name, place, got.shape, flat_got, flat_expected, float(differences[place]), float(allowed[place]))
    ratio = float(ratios[place])
    if not wrong:
        return Verdict(None, ratio, worst)
    return Verdict(_reason(name, wrong, got.size, worst, unwritten, allow_nan), ratio, worst)


def _plain(array: Array) -> Array:
    """Widen what numpy cannot subtract: booleans, and the dtypes of ml_dtypes."""
    if array.dtype.name in NIBBLE_DTYPES or array.dtype.kind == "b":
        return array.astype(np.int64)
    return array


def _float_errors(
    got: Array, expected: Array, dtype: np.dtype[Any], tolerance: Tolerance, allow_nan: bool
) -> tuple[Array, Array]:
    y, ref = got.astype(np.float64), expected.astype(np.float64)
    allowed = tolerance.atol + tolerance.rtol * np.abs(ref)
    differences = np.abs(y - ref)
    rounded = ref.astype(dtype).astype(np.float64) if dtype.kind == "f" else ref
    equal = (y == ref) | (np.isinf(rounded) & (y == rounded))
    if allow_nan:
        equal |= np.isnan(y) & np.isnan(ref)
    differences[equal] = 0.0
    # An infinity allows nothing; infinite or missing differences stay what they are and never pass.
    allowed[~np.isfinite(allowed)] = tolerance.atol
    return differences, allowed


def _integer_errors(got: Array, expected: Array, tolerance: Tolerance) -> tuple[Array, Array]:
    """Subtract as unsigned, so that the distance of the ends of int64 is right, too."""
    y, ref = got.astype(np.int64), expected.astype(np.int64)
    upper, lower = np.maximum(y, ref).view(np.uint64), np.minimum(y, ref).view(np.uint64)
    differences = (upper - lower).astype(np.float64)
    return differences, tolerance.atol + tolerance.rtol * np.abs(ref.astype(np.float64))


def _worst_place(ratios: Array, differences: Array) -> int:
    """Return the element with the greatest error; among those beyond all measure, the one that is farthest off."""
    greatest = float(ratios.max())
    if math.isfinite(greatest):
        return int(ratios.argmax())
    candidates = np.flatnonzero(ratios == greatest)
    distances = np.nan_to_num(differences[candidates], nan=math.inf, posinf=math.inf)
    return int(candidates[int(distances.argmax())])


def _worst(  # noqa: PLR0917 - as above
    name: str,
    place: int,
    shape: tuple[int, ...],
    got: Array,
    expected: Array,
    difference: float,
    allowed: float,
) -> Worst:
    y, ref = got[place].item(), expected[place].item()
    exact = isinstance(y, int) and isinstance(ref, int)
    return Worst(
        output=name,
        index=tuple(int(axis) for axis in np.unravel_index(place, shape)),
        got=y,
        expected=ref,
        difference=abs(y - ref) if exact else difference,
        allowed=_short(allowed),
    )


def _short(value: float) -> Number:
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def _reason(  # noqa: PLR0917 - as above
    name: str, wrong: int, size: int, worst: Worst, unwritten: Array | None, allow_nan: bool
) -> str:
    if unwritten is not None and unwritten.size:
        return f"{name}: {unwritten.size:,} of {size:,} element{_s(size)} {_is(unwritten.size)} not written"
    text = f"{name}: {wrong:,} of {size:,} element{_s(size)} {_is(wrong)} wrong"
    both = math.isnan(worst.got) and math.isnan(worst.expected)
    return f"{text}; the reference is NaN, too, but the case does not allow NaN" if both and not allow_nan else text


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
