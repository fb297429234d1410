"""What GatherBlockQuantized refuses: one clear error each, and nothing has run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gather_block_quantized_cases import CASES, OP, Case, assert_bits_equal, expected

import webgpu_kernels as wk

pytest.importorskip("ml_dtypes", reason="int4 and uint4 arrays need ml_dtypes")

BYTES = Case(table=(5, 4, 64))
NIBBLES = Case(table=(5, 4, 64), dtype="int4")


def refused(
    gather: wk.Kernel,
    kind: type[wk.errors.KernelError],
    case: Case = BYTES,
    attrs: dict[str, Any] | None = None,
    **changed: Any,
) -> str:
    """Return the message of the error that a request gets on any device."""
    inputs = {**case.inputs(), **changed}
    with pytest.raises(wk.errors.KernelError) as caught:
        gather.render(inputs, attrs={**case.attrs, **(attrs or {})}, capabilities=wk.Capabilities())
    assert type(caught.value) is kind, caught.value
    return str(caught.value)


@pytest.mark.parametrize("block_size", [8, 17, 0, -16, 24, 16.5])
def test_block_sizes(gather: wk.Kernel, block_size: float) -> None:
    """Only powers of two from 16."""
    message = refused(gather, wk.errors.AttributeValueError, attrs={"block_size": block_size})
    assert message.startswith(f"{OP}: attribute 'block_size': value not allowed: expected blockSizeIsPowerOfTwoFrom16")
    assert f"attrs.block_size = {block_size}" in message


@pytest.mark.parametrize("bits", [1, 3, 5, 6, 7, 16])
@pytest.mark.parametrize("case", [BYTES, NIBBLES], ids=["uint8", "int4"])
def test_widths(gather: wk.Kernel, case: Case, bits: int) -> None:
    """2, 4 and 8."""
    assert refused(gather, wk.errors.AttributeValueError, case, {"bits": bits}) == (
        f"{OP}: attribute 'bits': value not allowed: expected one of [2, 4, 8], got {bits}"
    )


@pytest.mark.parametrize("bits", [2, 8])
def test_widths_of_nibbles(gather: wk.Kernel, bits: int) -> None:
    """int4 has four bits."""
    message = refused(gather, wk.errors.AttributeValueError, NIBBLES, {"bits": bits})
    assert "bitsAreThoseOfData" in message
    assert f"attrs.bits = {bits}" in message


@pytest.mark.parametrize("axis", [3, -4, 100])
@pytest.mark.parametrize("which", ["gather", "quantize"])
def test_axes_out_of_range(gather: wk.Kernel, which: str, axis: float) -> None:
    """Named, with the rank there is."""
    message = refused(gather, wk.errors.AttributeValueError, NIBBLES, {f"{which}_axis": axis})
    assert f"{which}AxisExists" in message
    assert f"attrs.{which}_axis = {axis}" in message
    assert "rank = 3" in message


def test_an_axis_between_two(gather: wk.Kernel) -> None:
    """Axes are integers."""
    message = refused(gather, wk.errors.AttributeValueError, NIBBLES, {"gather_axis": 0.5})
    assert "expected gatherAxisExists → `attrs.gather_axis % 1 == 0` (attrs.gather_axis = 0.5), got 0.5" in message


@pytest.mark.parametrize(
    ("attrs", "clause"),
    [({"gather_axis": 1}, "bytesAreGatheredByRow"), ({"quantize_axis": 1}, "bytesAreQuantizedByRow")],
)
def test_axes_of_bytes(gather: wk.Kernel, attrs: dict[str, int], clause: str) -> None:
    """Packed bytes are gathered along the first axis and quantised along the last."""
    assert clause in refused(gather, wk.errors.AttributeValueError, attrs=attrs)


def test_a_table_of_rank_1(gather: wk.Kernel) -> None:
    """Two axes at least."""
    message = refused(gather, wk.errors.ShapeError, data=np.zeros(8, np.uint8), attrs={"quantize_axis": 0})
    assert "rank" in message


@pytest.mark.parametrize("shape", [(4, 4, 4), (5, 4, 3), (5, 4, 5), (5, 3, 4), (5, 4, 1)])
def test_scales_of_another_shape(gather: wk.Kernel, shape: tuple[int, ...]) -> None:
    """The shape that came, and the one that data asks for."""
    assert refused(gather, wk.errors.ShapeError, scales=np.ones(shape, np.float32)) == (
        f"{OP}: 'scales': wrong shape: expected [5, 4, 4], got {list(shape)}. The contract asks for scalesMatchData."
    )


@pytest.mark.parametrize("name", ["scales", "zero_points"])
def test_another_rank(gather: wk.Kernel, name: str) -> None:
    """That of data."""
    array = BYTES.inputs()[name][0]
    changed: dict[str, Any] = {name: array}
    assert refused(gather, wk.errors.ShapeError, **changed) == (
        f"{OP}: '{name}': wrong rank: expected rank 3, got rank 2, shape {list(array.shape)}"
    )


@pytest.mark.parametrize("shape", [(5, 4, 4), (4, 4, 2), (5, 4, 1)])
def test_zero_points_of_another_shape(gather: wk.Kernel, shape: tuple[int, ...]) -> None:
    """Two a byte."""
    assert refused(gather, wk.errors.ShapeError, zero_points=np.zeros(shape, np.uint8)) == (
        f"{OP}: 'zero_points': wrong shape: expected [5, 4, 2], got {list(shape)}. "
        "The contract asks for zeroPointsMatchScales."
    )


def test_zero_points_of_another_dtype(gather: wk.Kernel) -> None:
    """That of data."""
    message = refused(gather, wk.errors.DtypeError, zero_points=NIBBLES.inputs()["zero_points"])
    assert "expected uint8 as 'data' has (both are T1), got int4" in message


@pytest.mark.parametrize(
    ("name", "dtype", "message"),
    [
        ("indices", "int16", "expected Tind, one of int64, int32, got int16"),
        ("indices", "float32", "expected Tind, one of int64, int32, got float32"),
        ("indices", "uint32", "expected Tind, one of int64, int32, got uint32"),
        ("scales", "float64", "unsupported dtype"),
        ("scales", "int32", "expected T2, one of float32, float16, got int32"),
        ("data", "float32", "expected T1, one of uint8, int4, uint4, got float32"),
        ("data", "int8", "expected T1, one of uint8, int4, uint4, got int8"),
    ],
)
def test_dtypes(gather: wk.Kernel, name: str, dtype: str, message: str) -> None:
    """What the port takes, and what came."""
    changed: dict[str, Any] = {name: BYTES.inputs()[name].astype(dtype)}
    text = refused(gather, wk.errors.DtypeError, **changed)
    assert text.startswith(f"{OP}: '{name}': ")
    assert message in text


@pytest.mark.skipif(not CASES.is_file(), reason="ONNX Runtime's cases are not on this machine")
def test_every_published_refusal_is_tested_here() -> None:
    """Eleven reasons; bfloat16 scales have no dtype here."""
    import json  # noqa: PLC0415

    assert len(json.loads(CASES.read_text())["gather_block_quantized_must_fail"]) == 11


@pytest.mark.device
@pytest.mark.parametrize("index_dtype", ["int64", "int32"])
@pytest.mark.parametrize(("bad", "position"), [(5, 3), (-6, 0), (2**31 - 1, 7), (-(2**31), 2)])
def test_an_index_out_of_range(gather: wk.Kernel, index_dtype: str, bad: int, position: int) -> None:
    """The first bad index, its position and the valid range; the next good call works."""
    inputs = BYTES.inputs()
    indices = np.arange(8).reshape(2, 4) % 5
    indices.flat[position] = bad
    indices.flat[7] = bad
    with pytest.raises(wk.errors.ValueRangeError) as caught:
        gather({**inputs, "indices": indices.astype(index_dtype)}, attrs=BYTES.attrs)
    message = str(caught.value)
    assert isinstance(caught.value, IndexError)
    for part in (f"{OP}: 'indices'", str(bad), str([position // 4, position % 4]), "-5", "4"):
        assert part in message
    assert_bits_equal(gather(inputs, attrs=BYTES.attrs).output, expected(inputs, BYTES.attrs))


@pytest.mark.device
@pytest.mark.parametrize("bad", [2**32, 2**32 + 1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)])
def test_an_index_that_32_bits_do_not_hold(gather: wk.Kernel, bad: int) -> None:
    """Out of range, not some other row."""
    inputs = BYTES.inputs() | {"indices": np.array([0, bad])}
    with pytest.raises(wk.errors.ValueRangeError, match=str(bad)):
        gather(inputs, attrs=BYTES.attrs)
    with pytest.raises(wk.errors.RequestError, match=str(bad)):
        gather.tensor("indices", inputs["indices"])


@pytest.mark.device
def test_indices_on_another_device(gather: wk.Kernel) -> None:
    """Named."""
    inputs: dict[str, Any] = dict(BYTES.inputs())
    with wk.Device() as other:
        inputs["indices"] = gather.tensor("indices", inputs["indices"], device=other)
        inputs["data"] = gather.tensor("data", inputs["data"])
        with pytest.raises(wk.errors.ForeignTensor, match="indices"):
            gather(inputs, attrs=BYTES.attrs)


@pytest.mark.device
def test_an_output_of_40_gigabytes(gather: wk.Kernel) -> None:
    """How much is asked for, and the limit."""
    inputs = Case(table=(4, 2048)).inputs() | {"indices": np.broadcast_to(np.int64(1), (5_000_000,))}
    with pytest.raises(wk.errors.LimitError) as caught:
        gather(inputs, attrs=Case().attrs)
    assert f"{5_000_000 * 2048 * 4}" in str(caught.value)
    assert "'output'" in str(caught.value)
