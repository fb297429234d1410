"""Calls of GatherBlockQuantized, drawn reproducibly, and ONNX Runtime's CPU provider as their peer."""

from __future__ import annotations

import importlib.util
import itertools
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from webgpu_kernels import Kernel

ROOT = Path(__file__).resolve().parents[1]
OP = "com.microsoft.GatherBlockQuantized"
PACKAGE = ROOT / "src" / "webgpu_kernels" / "kernels" / OP
CASES = ROOT.parent / "shared" / "published" / "onnxruntime" / "cases.json"

Array = np.ndarray[Any, np.dtype[Any]]
Values = Literal["uint8", "int4", "uint4"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call: the table's shape in values, what it is stored as, what is picked from it."""

    table: tuple[int, ...] = (11, 64)
    dtype: Values = "uint8"
    bits: int = 4
    block_size: int = 16
    gather_axis: int = 0
    quantize_axis: int = -1
    indices: tuple[int, ...] = (5,)
    index_dtype: Literal["int64", "int32"] = "int64"
    scale_dtype: Literal["float32", "float16"] = "float32"
    zero_points: bool = True

    @property
    def attrs(self) -> dict[str, Any]:
        """The call's attributes."""
        names = ("bits", "block_size", "gather_axis", "quantize_axis")
        return {name: getattr(self, name) for name in names}

    @property
    def blocks(self) -> tuple[int, ...]:
        """The shape of scales."""
        shape = list(self.table)
        shape[self.quantize_axis] = -(-shape[self.quantize_axis] // self.block_size)
        return tuple(shape)

    def inputs(self, *, outside: bool = False) -> dict[str, Array]:
        """Draw the inputs, the same each time; ``outside``: about half of the indices are out of range."""
        draw = np.random.default_rng([*self.table, *self.indices, self.bits, self.block_size])
        rows = self.table[self.gather_axis]
        low, high = (-2 * rows, 2 * rows) if outside else (-rows, rows)
        scales = draw.standard_normal(self.blocks) * 10.0 ** draw.integers(-4, 4, self.blocks)
        inputs = {
            "data": draw_values(draw, self.table, self.dtype, self.bits),
            "indices": draw.integers(low, max(high, low + 1), self.indices).astype(self.index_dtype),
            "scales": scales.astype(self.scale_dtype),
        }
        if self.zero_points:
            inputs["zero_points"] = draw_values(draw, self.blocks, self.dtype, self.bits)
        return inputs


def draw_values(draw: np.random.Generator, shape: tuple[int, ...], dtype: Values, bits: int) -> Array:
    """Draw quantised values and store them as ``dtype``, uint8 rows padded to a byte."""
    values = draw.integers(0, 1 << bits, shape)
    return packed(values, bits) if dtype == "uint8" else nibbles(values - (8 if dtype == "int4" else 0), dtype)


def packed(values: Array, bits: int) -> Array:
    """Pack non-negative values along the last axis, low bits first, each row padded to a byte."""
    lanes = 8 // bits
    columns = -(-values.shape[-1] // lanes)
    padded = np.zeros((*values.shape[:-1], columns * lanes), np.uint8)
    padded[..., : values.shape[-1]] = values
    shifted = padded.reshape(*values.shape[:-1], columns, lanes) << np.arange(0, 8, bits, dtype=np.uint8)
    array: Array = np.bitwise_or.reduce(shifted, axis=-1).astype(np.uint8)
    return array


def nibbles(values: Array, dtype: str) -> Array:
    """Return an array of ml_dtypes' int4 or uint4; the test is skipped where there is no ml_dtypes."""
    import ml_dtypes  # noqa: PLC0415 - an optional dependency of the tests

    return values.astype(getattr(ml_dtypes, dtype))


@cache
def reference_module() -> ModuleType:
    """Import the package's ``reference.py``: its folder's name is no Python name."""
    spec = importlib.util.spec_from_file_location("gather_block_quantized_reference", PACKAGE / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> Array:
    """Return the reference's output."""
    output: Array = reference_module().reference(inputs, attrs)["output"]
    return output


def assert_bits_equal(got: Array, wanted: Array, context: object = "") -> None:
    """Equal to the last bit, signs of zero included; any NaN equals any other."""
    assert got.shape == wanted.shape, f"{context}: shape {got.shape}, not {wanted.shape}"
    assert got.dtype == wanted.dtype, f"{context}: dtype {got.dtype}, not {wanted.dtype}"
    word = np.uint32 if wanted.dtype == np.float32 else np.uint16
    got, wanted = np.ascontiguousarray(got), np.ascontiguousarray(wanted)
    differ = (got.view(word) != wanted.view(word)) & ~(np.isnan(got) & np.isnan(wanted))
    first = np.argwhere(differ)[:1].tolist()
    assert not differ.any(), (
        f"{context}: {np.count_nonzero(differ)} of {differ.size} values differ, the first at {first}"
    )


def accepting(kernel: Kernel, inputs: Mapping[str, Any], attrs: Mapping[str, Any]) -> list[str]:
    """Return the variants that take a request."""
    candidates = kernel.explain(inputs, attrs=attrs).candidates
    return [candidate.id for candidate in candidates if candidate.accepted]


def check(kernel: Kernel, case: Case, *, outside: bool = False, **options: Any) -> list[str]:
    """Run a call in every variant that takes it, and compare each with the reference; return their names."""
    inputs = case.inputs(outside=outside)
    wanted = expected(inputs, case.attrs)
    variants = accepting(kernel, inputs, case.attrs)
    assert variants, f"{case}: no variant"
    for variant in variants:
        got = kernel(inputs, attrs=case.attrs, variant=variant, **options).output
        assert_bits_equal(got, wanted, f"{variant} {case}")
    return variants


def random_cases(seed: int, count: int) -> Iterator[Case]:
    """Draw calls that ONNX Runtime accepts: any dtype, bits, rank, axes, block size, ragged or not."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        dtype: Values = draw.choice(["uint8", "uint8", "int4", "uint4"])
        bits = int(draw.choice([2, 4, 8])) if dtype == "uint8" else 4
        rank = int(draw.integers(2, 5))
        table = [int(size) for size in draw.integers(1, 7, rank)]
        gather, quantize = (0, rank - 1) if dtype == "uint8" else (int(axis) for axis in draw.integers(0, rank, 2))
        table[quantize] = int(draw.integers(1, 150))
        if dtype == "uint8":
            table[-1] = -(-table[-1] * bits // 8) * 8 // bits
        yield Case(
            table=tuple(table),
            dtype=dtype,
            bits=bits,
            block_size=int(draw.choice([16, 32, 64, 1024])),
            gather_axis=gather - rank * int(draw.integers(0, 2)),
            quantize_axis=quantize - rank * int(draw.integers(0, 2)),
            indices=tuple(int(size) for size in draw.integers(0 if draw.random() < 0.1 else 1, 5, draw.integers(0, 4))),
            index_dtype=draw.choice(["int64", "int32"]),
            scale_dtype=draw.choice(["float32", "float16"]),
            zero_points=bool(draw.random() < 0.7),
        )


def aligned(case: Case) -> Case:
    """Return a like case whose rows fall into whole vectors."""
    shape = list(case.table)
    shape[-1] = -(-shape[-1] // 8) * 8
    return replace(case, table=tuple(shape))


def published_cases() -> Iterator[tuple[str, dict[str, Array], dict[str, Any], Array]]:
    """Read ONNX Runtime's own cases in every storage and dtype they are for: name, inputs, attributes, output."""
    for case in json.loads(CASES.read_text())["gather_block_quantized"] if CASES.is_file() else ():
        for storage, bits, axes, scale_dtype, index_dtype in itertools.product(
            case["storages"], np.atleast_1d(case["bits"]).tolist(), case["axes"], case["T2"], case["Tind"]
        ):
            if bits == 4 or storage == "uint8":
                name = f"{case['name']}-{storage}-{bits}-{axes}-{scale_dtype}-{index_dtype}"
                attrs = {"bits": bits, "block_size": case["block_size"]}
                attrs |= dict(zip(("gather_axis", "quantize_axis"), axes, strict=True))
                inputs = published_inputs(case, storage, bits)
                inputs["indices"] = inputs["indices"].astype(index_dtype)
                inputs["scales"] = inputs["scales"].astype(scale_dtype)
                yield name, inputs, attrs, np.array(case["output"], scale_dtype).reshape(case["output_shape"])


def published_inputs(case: dict[str, Any], storage: str, bits: int) -> dict[str, Array]:
    """Encode a case's signed values as the file says: an offset for uint8 and uint4, none for int4 and the js cases."""

    def encoded(name: str, shape: list[int]) -> Array:
        values = np.array(case[name], np.int64).reshape(shape)
        if storage == "uint8":
            return packed(values + (1 << (bits - 1)), bits)
        offset = 8 if storage == "uint4" and not case["name"].startswith("js_") else 0
        return nibbles(values + offset, storage)

    inputs = {
        "data": encoded("data", case["data_shape"]),
        "indices": np.array(case["indices"], np.int64).reshape(case["indices_shape"]),
        "scales": np.array(case["scales"]).reshape(case["scales_shape"]),
    }
    if case["zero_points"] is not None:
        inputs["zero_points"] = encoded("zero_points", case["scales_shape"])
    return inputs
