"""Reads what a tensor of test.json or bench.json holds."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract.cursor import describe
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.words import alternatives
from webgpu_kernels.tools.suites.model import (
    DISTRIBUTIONS,
    MAX_ELEMENTS,
    Fill,
    FillFloat32,
    Random,
    Range,
    Values,
)
from webgpu_kernels.tools.suites.tables import DATA, DIGITS, OUTLIERS, REFERENCE, SPECIAL_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.tools.suites.model import Data, Element

INTEGER_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "bool": (0, 1),
}
"""The least and the greatest element of each dtype that is no float."""
SPECIAL: Final[Mapping[str, float]] = dict(zip(SPECIAL_NUMBERS, (math.nan, math.inf, -math.inf, -0.0), strict=True))
"""Numbers that JSON lacks, as strings."""
_DIGITS: Final = re.compile(DIGITS, re.ASCII)
_FLOAT_LIMITS: Final = {"float16": 65520.0, "float32": 2.0**128 - 2.0**103}
_REFERENCE: Final = "#/fixtureArrays/"


class Fixtures:
    """The arrays that data may refer to; however often one is used, it is read once for each dtype.

    Args:
        arrays: name to a list of elements.
    """

    def __init__(self, arrays: Mapping[str, Node]) -> None:
        self.arrays = arrays
        self._read: dict[tuple[str, str], tuple[Element, ...]] = {}

    def elements(self, name: str, dtype: str) -> tuple[Element, ...]:
        """Return the elements of an array.

        Args:
            name: one of ``arrays``.
            dtype: what they are to be.

        Returns:
            The elements; what is wrong with them is reported once.
        """
        if (name, dtype) not in self._read:
            entries = self.arrays[name].entries("elements")
            self._read[name, dtype] = tuple([read_element(entry, dtype) for entry in entries])
        return self._read[name, dtype]


def read_data(node: Node, dtype: str, shape: tuple[int, ...], fixtures: Fixtures | None = None) -> Data | None:
    """Read ``data``.

    Args:
        node: an object with a ``kind``.
        dtype: the tensor's logical dtype.
        shape: its shape.
        fixtures: the arrays that ``$ref`` may name.

    Returns:
        What the tensor holds; None where something is wrong, which is then reported.

    Source: docs/suites.md.
    """
    size = math.prod(shape)
    if size > MAX_ELEMENTS:
        node.fail(f"belongs to a tensor of {size:,} elements: {MAX_ELEMENTS:,} are the most")
        return None
    kind = node.value.get("kind") if isinstance(node.value, dict) else None
    if not isinstance(kind, str) or kind not in DATA:
        _refuse_kind(node, kind)
        return None
    fields = Fields(node, DATA[kind])
    if kind == "values":
        return _read_values(fields, dtype, size, fixtures or Fixtures({}))
    return _GENERATED[kind](fields, dtype)


def read_element(node: Node, dtype: str) -> Element:
    """Read one element.

    Args:
        node: a number; true or false for bool; a string for what JSON lacks and for integers that no double holds.
        dtype: the tensor's logical dtype.

    Returns:
        The element; 0 where something is wrong, which is then reported.

    Source: docs/suites.md.
    """
    value: Any = node.value
    if dtype in INTEGER_RANGES:
        return _read_integer(node, value, dtype)
    if isinstance(value, str) and value in SPECIAL:
        return SPECIAL[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        node.fail_kind(f"a number or one of {', '.join(map(repr, SPECIAL))}")
        return 0
    if abs(value) >= _FLOAT_LIMITS[dtype]:
        node.fail(f'is beyond {dtype}: write "Infinity" if that is meant')
    return float(value)


def _read_integer(node: Node, value: Any, dtype: str) -> Element:
    low, high = INTEGER_RANGES[dtype]
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) and dtype == "bool":
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        node.fail_kind("true, false, 0 or 1" if dtype == "bool" else f"an integer from {low} to {high}")
        return 0
    return value


def _refuse_kind(node: Node, kind: object) -> None:
    if not isinstance(node.value, dict):
        node.fail_kind("an object with a kind")
    elif kind is None:
        node.at("kind", None).fail(f"is missing: give one of {', '.join(DATA)}")
    elif isinstance(kind, str):
        node.at("kind", kind).fail(f"is no kind of data: {alternatives(kind, tuple(DATA), what='kinds')}")
    else:
        node.at("kind", kind).fail_kind("a string")


def _read_values(fields: Fields, dtype: str, size: int, fixtures: Fixtures) -> Values | None:
    node = fields.get("values")
    if node is None:
        return None
    if isinstance(node.value, dict):
        name = _referred(node, fixtures)
        if name is None or not isinstance(fixtures.arrays[name].value, list):
            return None
        elements = fixtures.elements(name, dtype)
        if len(elements) != size:
            node.fail(f"names {len(elements)} elements, the shape needs {size}")
        return Values(elements)
    entries = node.entries("elements")
    if isinstance(node.value, list) and len(entries) != size:
        node.fail(f"has {len(entries)} elements, the shape needs {size}")
        return None
    return Values(tuple([read_element(entry, dtype) for entry in entries]))


def _referred(node: Node, fixtures: Fixtures) -> str | None:
    """Follow ``{"$ref": "#/fixtureArrays/x"}`` to the array's name."""
    text = Fields(node, REFERENCE).get("$ref")
    name = text.string() if text else None
    if text is None or name is None:
        return None
    known = name.removeprefix(_REFERENCE)
    if not name.startswith(_REFERENCE) or known not in fixtures.arrays:
        text.fail(f"names no array of fixtureArrays: {alternatives(known, tuple(fixtures.arrays), what='arrays')}")
        return None
    return known


def _read_fill(fields: Fields, dtype: str) -> Fill | None:
    value = fields.get("value")
    return Fill(read_element(value, dtype)) if value else None


def _read_range(fields: Fields, dtype: str) -> Range | None:
    start, step = _number(fields, "start", 0), _number(fields, "step", 1)
    modulo = fields.integer("modulo")
    if dtype in INTEGER_RANGES and not (isinstance(start, int) and isinstance(step, int)):
        fields.node.fail(f"must have an integer start and step for {dtype}")
        return None
    return Range(start, step, modulo or None)


def _read_random(fields: Fields, dtype: str) -> Random | None:
    seed = fields.integer("seed")
    distribution = fields.choice("distribution", DISTRIBUTIONS)
    integral = dtype in INTEGER_RANGES
    if integral and distribution not in {None, "integers"}:
        fields.node.at("distribution", distribution).fail(f'must be "integers" for {dtype}')
        return None
    used = distribution or ("integers" if integral else "normal")
    _refuse_others(fields, ("mean", "std") if used == "normal" else ("low", "high"), used)
    low, high = _bound(fields, "low", dtype, used), _bound(fields, "high", dtype, used)
    if used == "integers" and not integral and (low is None or high is None):
        fields.node.fail(f"must have low and high for integers of {dtype}")
        return None
    if low is not None and high is not None and low > high:
        fields.node.at("low", low).fail(f"is greater than high, {describe(high)}")
        return None
    every, scale = _read_outliers(fields.get("outliers"), dtype)
    return Random(
        seed=seed,
        distribution=distribution,
        mean=float(_number(fields, "mean", 0)),
        std=float(_number(fields, "std", 1)),
        low=low,
        high=high,
        outlier_every=every,
        outlier_scale=scale,
    )


def _refuse_others(fields: Fields, allowed: tuple[str, ...], distribution: str) -> None:
    for key in ("mean", "std", "low", "high"):
        if key in fields and key not in allowed:
            fields.node.at(key, None).fail(f"means nothing for the distribution {distribution!r}")


def _bound(fields: Fields, key: str, dtype: str, distribution: str) -> int | float | None:
    node = fields.get(key)
    if node is None:
        return None
    if distribution == "integers" and dtype in INTEGER_RANGES:
        return int(read_element(node, dtype))
    value = _number(fields, key, 0)
    if distribution == "integers" and not isinstance(value, int):
        node.fail_kind("an integer")
    return value


def _read_outliers(node: Node | None, dtype: str) -> tuple[int, float]:
    if node is None:
        return 0, 1.0
    if dtype in INTEGER_RANGES:
        node.fail(f"is for floats, not for {dtype}")
    fields = Fields(node, OUTLIERS)
    return fields.integer("every"), float(_number(fields, "scale", 1))


def _read_fill_float32(fields: Fields, dtype: str) -> FillFloat32 | None:
    if dtype in INTEGER_RANGES:
        fields.node.fail(f"of the kind 'fillFloat32' is for floats, not for {dtype}")
        return None
    return FillFloat32(
        sin_step=float(_number(fields, "sinStep", 0)),
        cos_step=float(_number(fields, "cosStep", 0)),
        scale=float(_number(fields, "scale", 1)),
    )


def _number(fields: Fields, key: str, default: int) -> int | float:
    node = fields.get(key)
    if node is None:
        return default
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    node.fail_kind("a number")
    return default


_GENERATED: Final[Mapping[str, Callable[[Fields, str], Data | None]]] = {
    "fill": _read_fill,
    "range": _read_range,
    "random": _read_random,
    "fillFloat32": _read_fill_float32,
}
