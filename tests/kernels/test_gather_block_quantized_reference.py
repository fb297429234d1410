"""The reference of GatherBlockQuantized gives ONNX Runtime's numbers, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gather_block_quantized_cases import (
    CASES,
    Array,
    assert_bits_equal,
    expected,
    published_cases,
    random_cases,
    reference_module,
)

pytest.importorskip("ml_dtypes", reason="int4 and uint4 arrays need ml_dtypes")

PUBLISHED = [pytest.param(*rest, id=name) for name, *rest in published_cases()]


@pytest.mark.skipif(not CASES.is_file(), reason="ONNX Runtime's cases are not on this machine")
def test_there_are_published_cases() -> None:
    """All nineteen, in every storage, width and dtype they are for."""
    assert len({name.split("-")[0] for name, *_ in published_cases()}) == 19


@pytest.mark.parametrize(("inputs", "attrs", "output"), PUBLISHED)
def test_reference_gives_the_published_numbers(inputs: dict[str, Array], attrs: dict[str, Any], output: Array) -> None:
    """ONNX Runtime's own unit tests."""
    np.testing.assert_array_equal(expected(inputs, attrs), output)


@pytest.mark.parametrize("outside", [False, True])
def test_reference_equals_the_cpu_provider(outside: bool) -> None:
    """Random requests: each dtype and width, ranks 2 to 4, every pair of axes, ragged blocks, indices out of range."""
    pytest.importorskip("onnx", reason="the extra 'peers' is not installed")
    pytest.importorskip("onnxruntime", minversion="1.31", reason="the extra 'peers' is not installed")
    import onnx_runtime_peer  # noqa: PLC0415 - needs the optional peers

    for case in random_cases(17, 150):
        inputs = case.inputs(outside=outside)
        assert_bits_equal(expected(inputs, case.attrs), onnx_runtime_peer.run(inputs, case.attrs), case)


def test_the_difference_is_taken_before_the_product() -> None:
    """3 * 0.1 - 2 * 0.1 is not 0.1 in float32, (3 - 2) * 0.1 is."""
    scale = np.full((1, 1), 0.1, np.float32)
    inputs: dict[str, Array] = {
        "data": np.full((1, 8), 0x33, np.uint8),
        "indices": np.zeros(1, np.int64),
        "scales": scale,
        "zero_points": np.full((1, 1), 2, np.uint8),
    }
    assert np.float32(3) * scale - np.float32(2) * scale != scale
    assert (expected(inputs, {"block_size": 16}) == scale).all()


def test_bytes_hold_low_bits_first() -> None:
    """0xE4 is 0, 1, 2, 3 in two bits each."""
    values = reference_module().quantized_values(np.array([[0xE4]], np.uint8), 2)
    assert values.tolist() == [[0, 1, 2, 3]]
