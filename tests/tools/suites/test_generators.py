"""Data are the same everywhere: the recipe in the documentation gives them without numpy."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pytest

from webgpu_kernels import TensorSpec
from webgpu_kernels.tools.suites.generators import make_array, words
from webgpu_kernels.tools.suites.model import Data, Fill, FillFloat32, Random, Range, Values

MASK = 2**64 - 1
DRAWN = ["7dd5d215da19d0bc", "42f1bd6e263b01e8", "4790cfdcabf435f0", "c0167ee69ec13792"]


def made(data: Data, dtype: str, *shape: int) -> Any:
    """Make an array and return plain Python values."""
    return make_array(data, TensorSpec(shape, dtype)).tolist()


def mixed(z: int) -> int:
    """Mix as the documentation says."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def word(seed: int, index: int) -> int:
    """Return a word as the documentation says."""
    return mixed((mixed(seed) + index * 0x9E3779B97F4A7C15) & MASK)


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_words_are_hashes_of_their_index(seed: int) -> None:
    """From any first one on."""
    assert words(seed, 3, 4).tolist() == [word(seed, index) for index in range(3, 7)]


def test_uniform_numbers_are_fractions_of_words() -> None:
    """Of their upper 53 bits."""
    expected = [2.0 + 3.0 * ((word(7, index) >> 11) / 2**53) for index in range(4)]
    rounded = [float(np.float32(value)) for value in expected]
    assert made(Random(seed=7, distribution="uniform", low=2, high=5), "float32", 4) == rounded


def test_normal_numbers_are_sums_of_halves() -> None:
    """Of six words each."""

    def normal(index: int) -> float:
        six = [word(7, 6 * index + part) for part in range(6)]
        return (sum((w & 0xFFFFFFFF) + (w >> 32) for w in six) - 6 * 2**32) / 2**32

    expected = [float(np.float32(1.0 + 0.5 * normal(index))) for index in range(4)]
    assert made(Random(seed=7, mean=1.0, std=0.5), "float32", 4) == expected


def test_integers_are_words_modulo_the_range() -> None:
    """Both ends included."""
    assert made(Random(seed=7, low=-3, high=3), "int8", 5) == [word(7, index) % 7 - 3 for index in range(5)]


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("int8", -128, 127), ("uint8", 0, 255), ("uint32", 0, 2**32 - 1), ("int64", -(2**63), 2**63 - 1), ("bool", 0, 1)],
)
def test_integers_fill_the_range_of_their_dtype(dtype: str, low: int, high: int) -> None:
    """Where the file does not say less."""
    values = make_array(Random(seed=1), TensorSpec((4000,), dtype)).astype(object)
    span = high - low
    assert low <= min(values) <= low + span // 100 + 1
    assert high - span // 100 - 1 <= max(values) <= high


def test_normal_numbers_look_normal() -> None:
    """In mean, deviation and tails."""
    values = make_array(Random(seed=3), TensorSpec((200_000,), "float32")).astype(np.float64)
    assert abs(values.mean()) < 0.01
    assert abs(values.std() - 1) < 0.01
    assert 0.0015 < np.mean(np.abs(values) > 3) < 0.0030


def test_what_was_drawn_stays_the_same() -> None:
    """A suite's numbers may not change with a version of numpy or of this library."""
    digests = [
        hashlib.sha256(make_array(data, TensorSpec((1000, 3), dtype)).tobytes()).hexdigest()[:16]
        for data, dtype in (
            (Random(seed=1), "float32"),
            (Random(seed=1), "float16"),
            (Random(seed=2, distribution="uniform"), "float32"),
            (Random(seed=3), "int64"),
        )
    ]
    assert digests == DRAWN


def test_an_array_does_not_depend_on_how_it_is_cut_up() -> None:
    """A longer one begins with the shorter one."""
    long = make_array(Random(seed=5), TensorSpec((300_000,), "float32"))
    short = make_array(Random(seed=5), TensorSpec((270_000,), "float32"))
    assert (long[:270_000] == short).all()


def test_outliers_stand_at_regular_places() -> None:
    """Each third element here."""
    plain, with_outliers = (
        made(Random(seed=1, outlier_every=every, outlier_scale=64.0), "float32", 7) for every in (0, 3)
    )
    assert with_outliers == [value * (64 if index % 3 == 2 else 1) for index, value in enumerate(plain)]


def test_listed_values_are_taken_as_they_are() -> None:
    """Also those that JSON lacks."""
    values = made(Values((1.5, math.nan, -math.inf, -0.0)), "float16", 2, 2)
    assert repr(values) == "[[1.5, nan], [-inf, -0.0]]"
    assert made(Values((2**63 - 1, -(2**63))), "int64", 2) == [2**63 - 1, -(2**63)]


def test_ranges_and_fills() -> None:
    """A modulo begins again; integers are cut as their dtype does."""
    assert made(Range(1, 2), "int32", 4) == [1, 3, 5, 7]
    assert made(Range(0.5, 0.25, 2), "float32", 4) == [0.5, 0.75, 0.5, 0.75]
    assert made(Range(126, 1), "int8", 4) == [126, 127, -128, -127]
    assert made(Fill(True), "bool", 2) == [True, True]
    assert made(Fill(3), "float32") == 3.0


def test_fill_float32_is_a_sum_of_two_waves() -> None:
    """Rounded to float32 first: our reading of a formula that is not published."""
    data = FillFloat32(sin_step=0.13, cos_step=0.29, scale=0.2)
    expected = [np.float32(0.2 * (math.sin(0.13 * index) + math.cos(0.29 * index))) for index in range(5)]
    assert made(data, "float32", 5) == pytest.approx([float(value) for value in expected], rel=1e-6)
