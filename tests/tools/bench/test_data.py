"""The arrays that cases are timed with."""

from __future__ import annotations

from typing import Any

import numpy as np

from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.bench.data import PERIOD, CaseArrays
from webgpu_kernels.tools.bench.model import BenchCase
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.suites.model import Random, Range


def arrays(inputs: dict[str, TensorSpec], **data: Any) -> CaseArrays:
    return CaseArrays(BenchCase(name="c", call=CallDescription(inputs=inputs), inputs=data))


def test_small_random_arrays_differ_from_set_to_set() -> None:
    """Or look-ups would find the rows of the run before in a cache."""
    made = arrays({"i": TensorSpec((64,), "int64")}, i=Random(seed=1, low=0, high=9999))
    first, second = made.of_set(0)["i"], made.of_set(1)["i"]
    assert not np.array_equal(first, second)
    assert np.array_equal(made.of_set(0)["i"], first)
    assert second.min() >= 0
    assert second.max() <= 9999


def test_large_arrays_are_made_once_and_repeat_themselves() -> None:
    """Drawing them takes longer than all else; the period is no power of two."""
    made = arrays({"x": TensorSpec((PERIOD + 5,), "float32")})
    first = made.of_set(0)["x"]
    assert made.of_set(3)["x"] is first
    assert np.array_equal(first[-5:], first[:5])
    assert len(np.unique(first[:1000])) > 900


def test_other_data_are_as_the_case_says() -> None:
    """In every set."""
    made = arrays({"x": TensorSpec((4,), "int32")}, x=Range(3, 2))
    assert made.of_set(2)["x"].tolist() == [3, 5, 7, 9]
