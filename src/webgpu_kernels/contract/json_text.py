"""Strict JSON: bounded, UTF-8, and nothing that JSON does not have.

What only a path can explain (a key given twice, NaN, a number beyond a double) is left in the tree as a mark, and
``document.checked`` reports it with its path.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import Final

from webgpu_kernels.errors import Defect, ManifestError

MAX_TEXT_BYTES: Final = 2 * 2**20
MAX_DEPTH: Final = 100
EXACT: Final = 2**53
"""Up to here a double holds every integer."""
_DIGITS: Final = 15
_MAX_DIGITS: Final = 400


@dataclass(frozen=True, slots=True)
class NotANumber:
    """A number that no double holds, as it was written."""

    text: str


class RepeatedKeys(dict[str, object]):
    """An object in which ``repeated`` keys stood more than once; it holds the last value of each."""

    repeated: tuple[str, ...] = ()


def load_json(text: str | bytes, *, where: str = "", most_bytes: int = MAX_TEXT_BYTES) -> object:
    """Parse one JSON document.

    Args:
        text: the document; bytes are UTF-8, a byte order mark is skipped.
        where: what the text is, for messages.
        most_bytes: how long it may be.

    Returns:
        dict, list, str, int, float, bool and None; integral numbers are ints, as JavaScript sees them; ``NotANumber``
        and ``RepeatedKeys`` where the text breaks the rules at one place only.

    Raises:
        ManifestError: too long, not UTF-8, not JSON or nested too deep.

    Source: RFC 8259.
    """
    if len(text) > most_bytes:
        raise _refused(f"is {len(text):,} bytes long: {most_bytes:,} are the most", where)
    decoded = _decoded(text, where)
    try:
        return json.loads(
            decoded,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_number,
            parse_constant=NotANumber,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _refused(f"is not JSON: {error.msg} at {place}", where) from error
    except RecursionError as error:
        raise _refused(f"is nested too deep: {MAX_DEPTH} levels are the most", where) from error


def _decoded(text: str | bytes, where: str) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _refused(f"is not UTF-8: {error.reason} at byte {error.start}. Save it as UTF-8", where) from error


def _refused(message: str, where: str) -> ManifestError:
    return ManifestError([Defect(path="", message=message)], where=where or None)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    marked = RepeatedKeys(members)
    marked.repeated = tuple(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return marked


def _integer(text: str) -> int | float | NotANumber:
    if len(text) <= _DIGITS:
        return int(text)
    return NotANumber(text) if len(text) > _MAX_DIGITS else as_host_number(int(text))


def _number(text: str) -> int | float | NotANumber:
    return as_host_number(float(text))


def as_host_number(value: float) -> int | float | NotANumber:
    """Return the number as JavaScript holds it: a double, here an int where it is integral.

    Args:
        value: any int or float.

    Returns:
        The nearest double, as an int where it is integral; ``NotANumber`` where it is none or infinite.

    Source: FORMAT section 3 (values).
    """
    try:
        double = float(value)
    except OverflowError:
        return NotANumber(str(value)[:20])
    if not math.isfinite(double):
        return NotANumber(str(value))
    if isinstance(value, int) and abs(value) <= EXACT:
        return value
    return int(double) if double.is_integer() else double
