"""GatherBlockQuantized of spec 1.0: the published contract, unmodified, runs right in all six variants."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from published_packages import SHARED, published_kernel

from webgpu_kernels.errors import AttributeValueError, NoVariantError, RequestError

if TYPE_CHECKING:
    from pathlib import Path

    import webgpu_kernels as wk

Array = np.ndarray[Any, np.dtype[Any]]

pytestmark = pytest.mark.device

CASES = SHARED / "published" / "onnxruntime" / "cases.json"
# Variant, bits, whether there are zero points, output columns, block size.
VARIANTS = [
    ("q8_no_zero_vec4", 8, False, 96, 32),
    ("q8_zero_vec4", 8, True, 96, 16),
    ("q8_no_zero_tail4", 8, False, 35, 16),
    ("q8_zero_tail4", 8, True, 33, 32),
    ("q4_no_zero_pair", 4, False, 98, 16),
    ("q4_zero_pair", 4, True, 80, 16),
]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> wk.Kernel:
    """The published manifest beside our templates."""
    folder: Path = tmp_path_factory.mktemp("gather")
    return published_kernel("com.microsoft.GatherBlockQuantized", folder)


def packed(values: Array, bits: int) -> Array:
    """Pack unsigned values along the last axis, low bits first, each row padded to a byte."""
    if bits == 8:
        return values.astype(np.uint8)
    padded = np.pad(values, [(0, 0), (0, values.shape[1] % 2)]).astype(np.uint8)
    low, high = padded[:, 0::2], padded[:, 1::2]
    return low | high << np.uint8(4)


def draw(bits: int, zeros: bool, columns: int, block: int, *, rows: int = 11, count: int = 7) -> tuple[Any, Array]:
    """Draw a call, and gather and dequantize it in numpy."""
    rng = np.random.default_rng(columns * bits + zeros)
    blocks = -(-columns // block)
    values = rng.integers(0, 2**bits, (rows, columns))
    points = rng.integers(0, 2**bits, (rows, blocks)) if zeros else np.full((rows, blocks), 2 ** (bits - 1))
    scales = rng.standard_normal((rows, blocks)).astype(np.float32)
    indices = rng.integers(0, rows, count)
    inputs = {"dataT": packed(values, bits), "indicesT": indices, "scalesT": scales}
    if zeros:
        inputs["zeroPointsT"] = packed(points, bits)
    whole = [np.repeat(part, block, axis=1)[:, :columns] for part in (points, scales)]
    return inputs, ((values - whole[0]).astype(np.float32) * whole[1])[indices]


@pytest.mark.parametrize(("variant", "bits", "zeros", "columns", "block"), VARIANTS)
def test_each_variant_is_chosen_and_right(  # noqa: PLR0917 - one column of the table each
    kernel: wk.Kernel, variant: str, bits: int, zeros: bool, columns: int, block: int
) -> None:
    """Exactly: an integer difference and one product."""
    inputs, expected = draw(bits, zeros, columns, block)
    attrs = {"bits": bits, "block_size": block}
    assert kernel.explain(inputs, attrs=attrs).variant == variant
    np.testing.assert_array_equal(kernel(inputs, attrs=attrs).outputT, expected)
    np.testing.assert_array_equal(kernel(inputs, attrs=attrs, variant=variant).outputT, expected)


@pytest.mark.parametrize("zeros", [False, True])
def test_a_lower_ranked_variant_is_right_where_it_is_forced(kernel: wk.Kernel, zeros: bool) -> None:
    """The scalar tail serves rows that vectors would take, too."""
    inputs, expected = draw(8, zeros, 64, 16)
    forced = "q8_zero_tail4" if zeros else "q8_no_zero_tail4"
    out = kernel(inputs, attrs={"bits": 8, "block_size": 16}, variant=forced).outputT
    np.testing.assert_array_equal(out, expected)


def test_a_variant_is_not_forced_onto_what_it_cannot_do(kernel: wk.Kernel) -> None:
    """Its clauses still count, and are followed to the condition that decides."""
    inputs, _ = draw(8, False, 35, 16)
    with pytest.raises(RequestError, match=r"dim\(shapes\.output, 1\) % 4 == 0"):
        kernel(inputs, attrs={"bits": 8, "block_size": 16}, variant="q8_no_zero_vec4")


def published_cases() -> list[Any]:
    """Return ONNX Runtime's cases that this contract covers: uint8 matrices, axes 0 and 1, 4 or 8 bits."""
    if not CASES.is_file():
        return [pytest.param(None, 4, marks=pytest.mark.skip(reason="ONNX Runtime's cases are not on this machine"))]
    covered = []
    for case in json.loads(CASES.read_text())["gather_block_quantized"]:
        widths = case["bits"] if isinstance(case["bits"], list) else [case["bits"]]
        if "uint8" in case["storages"] and [0, 1] in case["axes"] and len(case["data_shape"]) == 2:
            covered += [pytest.param(case, bits, id=f"{case['name']}-{bits}") for bits in widths if bits in {4, 8}]
    return covered


@pytest.mark.parametrize(("case", "bits"), published_cases())
def test_onnx_runtimes_numbers_come_out(kernel: wk.Kernel, case: dict[str, Any], bits: int) -> None:
    """Its data are signed logical values: stored ones are larger by half the range."""
    half = 2 ** (bits - 1)
    inputs = {
        "dataT": packed(np.array(case["data"]).reshape(case["data_shape"]) + half, bits),
        "indicesT": np.array(case["indices"], np.int64).reshape(case["indices_shape"]),
        "scalesT": np.array(case["scales"], np.float32).reshape(case["scales_shape"]),
    }
    if case["zero_points"] is not None:
        inputs["zeroPointsT"] = packed(np.array(case["zero_points"]).reshape(case["scales_shape"]) + half, bits)
    out = kernel(inputs, attrs={"bits": bits, "block_size": case["block_size"]}).outputT
    np.testing.assert_array_equal(out, np.array(case["output"], np.float32).reshape(case["output_shape"]))


def test_the_cases_that_are_covered_are_known() -> None:
    """So that none is lost in silence."""
    if not CASES.is_file():
        pytest.skip("ONNX Runtime's cases are not on this machine")
    assert [case.id for case in published_cases()] == [
        "QuantizedAxis1_4Bits_WithZeroPoints-4",
        "QuantizedAxis1_8Bits_WithZeroPoints-8",
        "NoZeroPoints_4Bits_0xAA-4",
        "EmptyIndices_8Bits-8",
    ]


@pytest.mark.parametrize("index", [-1, 2**32])
def test_indices_are_narrowed_to_uint32_with_a_check(kernel: wk.Kernel, index: int) -> None:
    """As the contract's argument says; the value that does not fit is named."""
    inputs, _ = draw(8, False, 32, 16)
    inputs["indicesT"] = np.array([0, index])
    with pytest.raises(RequestError) as caught:
        kernel(inputs, attrs={"bits": 8, "block_size": 16})
    assert str(caught.value) == (
        "com.microsoft.GatherBlockQuantized: 'indicesT': an int64 value does not fit its 32-bit storage: "
        f"expected 0 to 4294967295, got {index}"
    )


def test_indices_take_four_bytes_and_values_a_word_each(kernel: wk.Kernel) -> None:
    """Both as that contract stores them."""
    indices = kernel.tensor("indicesT", np.arange(6))
    data = kernel.tensor("dataT", np.arange(6, dtype=np.uint8))
    assert (indices.dtype, indices.storage, indices.nbytes) == ("int64", "uint32", 24)
    assert (data.dtype, data.layout, data.nbytes) == ("uint8", None, 24)
    np.testing.assert_array_equal(indices.numpy(), np.arange(6))


@pytest.mark.parametrize(
    ("attrs", "error", "message"),
    [
        ({"bits": 2}, AttributeValueError, "'bits': value not allowed: expected one of [4, 8], got 2"),
        ({"gather_axis": 1}, AttributeValueError, "'gather_axis': value not allowed: expected one of [0], got 1"),
        ({"block_size": 17}, (AttributeValueError, NoVariantError), "pow2ceil(blockSize) == blockSize"),
    ],
)
def test_what_the_contract_does_not_take_is_refused(
    kernel: wk.Kernel, attrs: dict[str, Any], error: Any, message: str
) -> None:
    """With its own words where it has them."""
    inputs, _ = draw(8, False, 32, 16)
    with pytest.raises(error) as caught:
        kernel(inputs, attrs={"bits": 8, "block_size": 16, **attrs})
    assert message in str(caught.value)
