"""Add agrees with numpy in every variant, dtype and pair of shapes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from package_references import reference_of

import webgpu_kernels as wk
from webgpu_kernels import Capabilities, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

DTYPES = ("float32", "float16", "int32", "uint32", "int16", "int8", "uint8")
PAIRS: list[tuple[Shape, Shape]] = [
    ((), ()),
    ((), (3,)),
    ((1,), ()),
    ((8,), (8,)),
    ((7,), (7,)),
    ((2, 8), (1,)),
    ((1, 1), (2, 3)),
    ((3, 5), (5,)),
    ((3, 8), (8,)),
    ((2, 8), (2, 1)),
    ((2, 1, 4), (3, 1)),
    ((4, 3, 4), (3, 4)),
    ((2, 3, 4, 5), (1, 3, 4, 1)),
    ((5, 4, 3, 8), (4, 1, 8)),
    ((1, 2, 1, 4), (3, 1, 5, 1)),
    ((2, 1, 1, 3, 8), (1, 4, 5, 1, 1)),
    ((2, 1, 3, 1, 2, 1, 2), (1, 4, 1, 5, 1, 3, 1)),
    ((6, 4), (6, 4)),
    ((3, 0), (3, 1)),
    ((2, 1, 2), (0, 2)),
]
SMALL_GROUPS = {"WORKGROUP_SIZE": 2, "MANY_ITEMS": 0}


@pytest.fixture(scope="module")
def kernel() -> wk.Kernel:
    """The bundled package."""
    return wk.get_kernel("ai.onnx.Add")


def draw(shape: Shape, dtype: str, seed: int) -> Array:
    """Draw numbers over the whole range of an integer dtype, and moderate ones of a float."""
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def check(kernel: wk.Kernel, a: Array, b: Array, tunables: Iterable[dict[str, Any]] = ({},)) -> set[str]:
    """Compare every variant that takes a call with the reference; return which these are."""
    inputs = {"a": a, "b": b}
    expected = reference_of("ai.onnx.Add")(inputs, {})["c"]
    able = {candidate.id for candidate in kernel.explain(inputs).candidates if candidate.accepted}
    for variant, knobs in itertools.product(sorted(able), tunables):
        got = kernel(inputs, variant=variant, tunables=knobs).c
        assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(got, expected)
    return able


@pytest.mark.device
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_sums_are_numpys(kernel: wk.Kernel, a: Shape, b: Shape, dtype: str) -> None:
    """Rounded once or wrapped around, either way round, whatever the size of workgroups and the items of a lane."""
    first, second = draw(a, dtype, 1), draw(b, dtype, 2)
    check(kernel, first, second, ({}, SMALL_GROUPS))
    check(kernel, second, first)


@st.composite
def broadcasting(draw: st.DrawFn) -> tuple[Shape, Shape]:
    """Draw two shapes that broadcast, of any ranks up to six."""
    whole = draw(st.lists(st.sampled_from([1, 2, 3, 4, 8]), max_size=6))
    shapes = []
    for _ in range(2):
        kept = whole[draw(st.integers(0, len(whole))) :]
        shapes.append(tuple(draw(st.sampled_from([1, extent])) for extent in kept))
    return shapes[0], shapes[1]


@pytest.mark.device
@settings(max_examples=40, deadline=None)
@given(shapes=broadcasting())
def test_any_shapes_that_broadcast_do(shapes: tuple[Shape, Shape]) -> None:
    """In every variant that takes them."""
    a, b = draw(shapes[0], "int32", 3), draw(shapes[1], "int32", 4)
    check(wk.get_kernel("ai.onnx.Add"), a, b)


@pytest.mark.device
def test_special_values_add_as_ieee_says(kernel: wk.Kernel) -> None:
    """Infinities, NaN, overflow, and exact integers beyond float32."""
    a = np.array([np.inf, -np.inf, np.inf, np.nan, 3e38, -3e38, 0.0, 1.0], np.float32)
    b = np.array([1.0, np.inf, np.inf, 1.0, 3e38, -3e38, 0.0, -1.0], np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(kernel(a=a, b=b).c, a + b)
    halves = kernel(a=np.array([60000, -60000], np.float16), b=np.array([10000, -10000], np.float16)).c
    np.testing.assert_array_equal(halves, np.array([np.inf, -np.inf], np.float16))
    exact = kernel(a=np.array([16777217, 2**31 - 1], np.int32), b=np.array([2, 1], np.int32)).c
    np.testing.assert_array_equal(exact, [16777219, -(2**31)])


@pytest.mark.device
def test_sums_that_stay_on_the_gpu_go_on_as_they_read(kernel: wk.Kernel) -> None:
    """A sum that wrapped is the next kernel's input."""
    a = kernel.tensor("a", np.array([100, -100, 7, 8], np.int8))
    once = kernel(a=a, b=a).c
    assert isinstance(once, wk.Tensor)
    np.testing.assert_array_equal(once.numpy(), np.array([-56, 56, 14, 16], np.int8))
    np.testing.assert_array_equal(kernel(a=once, b=a, output="cpu").c, np.array([44, -44, 21, 24], np.int8))


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("int8", "(sum << vec4<u32>(24u)) >> vec4<u32>(24u)"),
        ("int16", "(sum << vec4<u32>(16u)) >> vec4<u32>(16u)"),
        ("uint8", "sum & vec4<u32>(255u)"),
        ("int32", "sum"),
        ("float32", "sum"),
    ],
)
def test_a_narrow_sums_word_holds_what_an_upload_would(kernel: wk.Kernel, dtype: str, result: str) -> None:
    """So that no chain of kernels sees a number that its dtype does not have."""
    specs = {"a": TensorSpec((4,), dtype), "b": TensorSpec((4,), dtype)}
    assert f"    return {result};\n" in kernel.render(specs, capabilities=Capabilities())["add"]


@pytest.mark.device
def test_a_grid_folds_into_rows(kernel: wk.Kernel) -> None:
    """More workgroups than one axis takes."""
    a = np.arange(65_537 * 4, dtype=np.int32)
    knobs = {"WORKGROUP_SIZE": 1}
    (step,) = kernel.explain(a=a, b=a, tunables=knobs).passes
    assert step.dispatch == (65_535, 2, 1)
    np.testing.assert_array_equal(kernel(a=a, b=a, tunables=knobs).c, a + a)


@pytest.mark.parametrize(
    ("a", "b", "variant"),
    [
        ((2, 8), (2, 8), "flat_vec4"),
        ((4, 3), (4, 3), "flat_vec4"),
        ((2, 8), (), "flat_vec4"),
        ((1, 1), (2, 2), "flat_vec4"),
        ((3, 8), (8,), "rows_vec4"),
        ((3, 8), (3, 1), "rows_vec4"),
        ((3, 1), (8,), "rows_vec4"),
        ((4, 3), (3,), "elements"),
        ((7,), (7,), "elements"),
        ((), (), "elements"),
    ],
)
def test_shapes_choose_the_variant(kernel: wk.Kernel, a: Shape, b: Shape, variant: str) -> None:
    """Vectors wherever they come out even."""
    found = kernel.explain(a=TensorSpec(a, "float32"), b=TensorSpec(b, "float32"), capabilities=Capabilities())
    assert found.variant == variant


def test_whole_sums_share_a_shader_whatever_their_size(kernel: wk.Kernel) -> None:
    """A new size needs no new pipeline; a new pattern of broadcasting does."""

    def text(a: Shape, b: Shape) -> str:
        specs = {"a": TensorSpec(a, "float32"), "b": TensorSpec(b, "float32")}
        return kernel.render(specs, capabilities=Capabilities())["add"]

    assert text((4, 8), (4, 8)) == text((2, 3, 4), (2, 3, 4))
    assert text((4, 8), (1,)) == text((16,), ())
    assert text((3, 8), (8,)) != text((3, 12), (12,))


def test_neighbouring_axes_make_one_run(kernel: wk.Kernel) -> None:
    """A bias over the last two axes costs one remainder, one over outer axes one division."""

    def place(a: Shape, b: Shape) -> str:
        specs = {"a": TensorSpec(a, "float32"), "b": TensorSpec(b, "float32")}
        line = next(
            x for x in kernel.render(specs, capabilities=Capabilities())["add"].splitlines() if "let sum =" in x
        )
        return line.split("b[")[1].split("])")[0]

    assert place((5, 3, 2, 8), (2, 8)) == "i % 4u"
    assert place((5, 3, 2, 8), (5, 3, 1, 1)) == "i / 4u"
    assert place((5, 3, 2, 8), (5, 1, 2, 8)) == "i % 4u + (i / 12u) * 4u"
    assert place((5, 3, 2, 8), (3, 1, 1)) == "i / 4u % 3u"


def test_float16_needs_the_feature(kernel: wk.Kernel) -> None:
    """The reason is given in the caller's terms."""
    specs = {"a": TensorSpec((4,), "float16"), "b": TensorSpec((4,), "float16")}
    found = kernel.explain(specs, capabilities=Capabilities())
    assert found.variant is None
    assert "float16 needs the feature shader-f16" in found.candidates[0].reason
    able = Capabilities(features=frozenset({"shader-f16"}))
    assert kernel.explain(specs, capabilities=able).variant == "flat_vec4"
