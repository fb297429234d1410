"""GatherBlockQuantized equals its reference to the last bit, in every variant, on every request it accepts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import wgpu
from gather_block_quantized_cases import (
    Array,
    Case,
    accepting,
    aligned,
    assert_bits_equal,
    check,
    expected,
    published_cases,
    random_cases,
)

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("ml_dtypes", reason="int4 and uint4 arrays need ml_dtypes")
pytestmark = pytest.mark.device

PUBLISHED = [pytest.param(*rest, id=name) for name, *rest in published_cases()]
STORED = [("uint8", 2), ("uint8", 4), ("uint8", 8), ("int4", 4), ("uint4", 4)]
COMBINATIONS = [
    Case(dtype=dtype, bits=bits, scale_dtype=scales, index_dtype=indices, zero_points=zero_points)  # type: ignore[arg-type]  # product() forgets the literals
    for (dtype, bits), scales, indices, zero_points in itertools.product(
        STORED, ("float32", "float16"), ("int64", "int32"), (True, False)
    )
]
SHAPES = {
    "rows of vectors and a remainder": Case(table=(7, 300)),
    "blocks that leave half a byte of zero points": Case(table=(5, 48)),
    "blocks that leave six bits of zero points": Case(table=(5, 80), bits=2),
    "a ragged last block": Case(table=(5, 72), block_size=64),
    "one block longer than the row": Case(table=(5, 40), block_size=1024),
    "a block size beyond any row": Case(table=(5, 40), block_size=2**40),
    "one byte a row": Case(table=(9, 1), bits=8),
    "one nibble a row": Case(table=(9, 1), dtype="int4"),
    "odd rows of nibbles": Case(table=(9, 33), dtype="uint4", scale_dtype="float16"),
    "rows that start within a word": Case(table=(9, 12), indices=(40,)),
    "six bytes a row": Case(table=(9, 24), bits=2, indices=(2, 3)),
    "a table of one row": Case(table=(1, 64), indices=(3,)),
    "an index without dimensions": Case(indices=()),
    "indices of rank 4": Case(indices=(2, 1, 3, 2)),
    "no indices": Case(indices=(0,)),
    "no indices among some": Case(indices=(3, 0, 2)),
    "no columns": Case(table=(5, 0), dtype="int4"),
    "slices of planes": Case(table=(6, 3, 40), block_size=32),
    "slices of rank 5": Case(table=(4, 2, 3, 2, 20), bits=8, indices=(2, 2)),
    "the middle axis": Case(table=(3, 5, 64), dtype="int4", gather_axis=1, quantize_axis=2),
    "the middle axis, float16": Case(table=(3, 5, 64), dtype="uint4", gather_axis=-2, scale_dtype="float16"),
    "the last axis": Case(table=(3, 5, 64), dtype="int4", gather_axis=2, quantize_axis=1),
    "the first axis, blocks down the columns": Case(table=(37, 24), dtype="int4", gather_axis=0, quantize_axis=0),
    "one axis gathered and quantised": Case(table=(3, 70), dtype="uint4", gather_axis=-1, quantize_axis=-1),
    "blocks of planes": Case(table=(35, 3, 8), dtype="int4", gather_axis=2, quantize_axis=0, scale_dtype="float16"),
    "rows of two workgroups": Case(table=(3, 8960), block_size=128, indices=(4,)),
    "a row of many workgroups": Case(table=(2, 20000), bits=8, block_size=32, scale_dtype="float16"),
}
VARIANTS = {"wide", "narrow", "general"}
WITH_FLOAT16 = {"wide_f16", "narrow_f16"}
"""Those that compute in float16, where the device can."""


@pytest.fixture(scope="session")
def small_bindings() -> Iterator[wk.Device]:
    """A device that binds no more than 4 KiB of a buffer at once."""
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    limits = {**adapter.limits, "max-storage-buffer-binding-size": 4096}
    opened = adapter.request_device_sync(required_limits=limits)
    with wk.Device.from_wgpu(opened) as device:
        yield device
    opened.destroy()


def label(case: Case) -> str:
    """Name a case by what it is."""
    flags = "-zero points" if case.zero_points else ""
    return f"{case.dtype}-{case.bits}-{case.scale_dtype}-{case.index_dtype}{flags}"


@pytest.mark.parametrize("case", COMBINATIONS, ids=label)
def test_options_combine(gather: wk.Kernel, case: Case) -> None:
    """Storage, width, dtypes and zero points combine freely, in every kind of variant."""
    kinds = {variant.removesuffix("_zero_points") for variant in check(gather, case)}
    native = case.scale_dtype == "float16" and "shader-f16" in wk.default_device().capabilities.features
    assert kinds == VARIANTS | (WITH_FLOAT16 if native else set())


@pytest.mark.parametrize("case", SHAPES.values(), ids=SHAPES)
def test_shapes(gather: wk.Kernel, case: Case) -> None:
    """With zero points and without."""
    check(gather, case)
    check(gather, replace(case, zero_points=False))


@pytest.mark.parametrize("scale_dtype", ["float32", "float16"])
def test_more_workgroups_than_an_axis_of_the_grid(gather: wk.Kernel, scale_dtype: Any) -> None:
    """The grid is folded."""
    check(
        gather, Case(table=(3, 4), bits=8, indices=(35_000, 4), scale_dtype=scale_dtype), tunables={"WORKGROUP_SIZE": 1}
    )


@pytest.mark.parametrize(("inputs", "attrs", "output"), PUBLISHED)
def test_published_numbers(gather: wk.Kernel, inputs: dict[str, Array], attrs: dict[str, Any], output: Array) -> None:
    """ONNX Runtime's own unit tests; indices on the GPU, as three of them lead nowhere."""
    on_gpu = inputs | {"indices": gather.tensor("indices", inputs["indices"])}
    np.testing.assert_array_equal(gather(on_gpu, attrs=attrs, output="cpu").output, output)


@pytest.mark.parametrize("seed", range(4))
def test_random_requests(gather: wk.Kernel, seed: int) -> None:
    """Whatever ONNX Runtime takes, as it is and with rows of whole vectors."""
    for case in random_cases(seed, 10):
        check(gather, case)
        check(gather, aligned(case))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_random_requests(gather: wk.Kernel, seed: int) -> None:
    """Some hundred more."""
    for case in random_cases(seed, 25):
        check(gather, case)
        check(gather, aligned(case))


def test_requests_equal_onnx_runtime(gather: wk.Kernel) -> None:
    """The CPU provider's bits, not only the reference's."""
    pytest.importorskip("onnx", reason="the extra 'peers' is not installed")
    pytest.importorskip("onnxruntime", minversion="1.31", reason="the extra 'peers' is not installed")
    import onnx_runtime_peer  # noqa: PLC0415 - needs the optional peers

    for case in random_cases(23, 40):
        inputs = case.inputs()
        got = gather(inputs, attrs=case.attrs).output
        assert_bits_equal(got, onnx_runtime_peer.run(inputs, case.attrs), case)


@pytest.mark.parametrize("scale_dtype", ["float32", "float16"])
def test_special_scales(gather: wk.Kernel, scale_dtype: str) -> None:
    """Zeros of both signs, infinities, NaN, the largest and the smallest numbers."""
    limits = np.finfo(scale_dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, limits.min, limits.tiny, -limits.tiny, 1.0, 500.0]
    if scale_dtype == "float16":  # GPUs take those of float32 for zero
        special += [limits.smallest_subnormal, -7 * limits.smallest_subnormal]
    rows = len(special)
    inputs: dict[str, Array] = {
        "data": np.arange(16 * rows, dtype=np.uint8).reshape(rows, 16),
        "indices": np.arange(rows),
        "scales": np.array(special, scale_dtype).reshape(rows, 1),
        "zero_points": np.full((rows, 1), 23, np.uint8),
    }
    attrs = {"bits": 8, "block_size": 16}
    for variant in accepting(gather, inputs, attrs):
        got = gather(inputs, attrs=attrs, variant=variant).output
        assert_bits_equal(got, expected(inputs, attrs), variant)


@pytest.mark.parametrize(
    "case", [Case(), Case(table=(6, 3, 40), scale_dtype="float16"), Case(table=(5, 33), dtype="int4")]
)
def test_indices_on_the_gpu_that_lead_nowhere(gather: wk.Kernel, case: Case) -> None:
    """A slice of zeros each, the others untouched."""
    inputs = replace(case, indices=(40,)).inputs(outside=True)
    inputs["indices"][:4] = [case.table[0], -case.table[0] - 1, 2**31 - 1, -(2**31)]
    wanted = expected(inputs, case.attrs)
    on_gpu = inputs | {"indices": gather.tensor("indices", inputs["indices"])}
    for variant in accepting(gather, on_gpu, case.attrs):
        got = gather(on_gpu, attrs=case.attrs, variant=variant, output="cpu").output
        assert_bits_equal(got, wanted, variant)


def test_a_table_without_rows(gather: wk.Kernel) -> None:
    """Every index leads nowhere."""
    inputs = {
        "data": np.zeros((0, 8), np.uint8),
        "indices": gather.tensor("indices", np.array([0, -1])),
        "scales": np.zeros((0, 1), np.float32),
    }
    got = gather(inputs, attrs={"block_size": 16}, output="cpu").output
    assert_bits_equal(got, np.zeros((2, 16), np.float32))


@pytest.mark.parametrize(
    "case",
    [
        Case(table=(40, 320), zero_points=False, indices=(3,)),
        Case(table=(70, 136), bits=8, scale_dtype="float16", indices=(9,)),
        Case(table=(99, 52), bits=8, indices=(9,)),
        Case(table=(60, 201), dtype="int4", indices=(4,)),
        Case(table=(700, 6), bits=8, indices=(100,)),
        Case(table=(1100, 16), bits=2, indices=(40,)),
        Case(table=(4200, 16), bits=8, indices=(9,)),
        Case(table=(40, 9, 30), dtype="uint4", gather_axis=1, quantize_axis=0, indices=(1,), scale_dtype="float16"),
    ],
    ids=lambda case: f"{case.dtype}-{case.table}",
)
def test_tensors_larger_than_a_binding(gather: wk.Kernel, small_bindings: wk.Device, case: Case) -> None:
    """Data, scales or zero points in several windows, rows and blocks that lie across their edges."""
    inputs = case.inputs()
    described = gather.explain(inputs, attrs=case.attrs, device=small_bindings)
    assert len(described.passes[0].bindings) > 5 + case.zero_points
    for candidate in described.candidates:
        if candidate.accepted:
            got = gather(inputs, attrs=case.attrs, variant=candidate.id, device=small_bindings).output
            assert_bits_equal(got, expected(inputs, case.attrs), candidate.id)


def test_the_table_stays_packed(gather: wk.Kernel) -> None:
    """A byte takes a byte, a nibble half of one."""
    inputs = Case(table=(64, 32)).inputs()
    assert gather.tensor("data", inputs["data"]).nbytes == 64 * 16
    nibbles = Case(table=(64, 32), dtype="int4").inputs()
    assert gather.tensor("data", nibbles["data"]).nbytes == 64 * 16


def test_one_shader_for_any_number_of_indices(gather: wk.Kernel) -> None:
    """A sequence of another length compiles nothing."""
    texts = {str(gather.render(Case(indices=(n,)).inputs(), attrs=Case().attrs)["main"]) for n in (2, 3, 700)}
    assert len(texts) == 1


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "int4"])
def test_a_vocabulary_beyond_the_binding_limit(gather: wk.Kernel, dtype: str) -> None:
    """151936 x 2048 at 4 bits, 156 MB, where software Vulkan binds 128 MiB."""
    case = Case(table=(151936, 2048), dtype=dtype, block_size=32, indices=(64,))  # type: ignore[arg-type]  # a literal
    inputs = case.inputs()
    inputs["indices"][:4] = [0, 151935, 131071, 131072]
    table = {name: gather.tensor(name, inputs[name]) for name in inputs if name != "indices"}
    picked = inputs["indices"] % 151936
    few = {name: array[picked] for name, array in inputs.items() if name != "indices"}
    wanted = expected(few | {"indices": np.arange(64)}, case.attrs)
    for variant in accepting(gather, table | {"indices": inputs["indices"]}, case.attrs):
        got = gather(table, indices=inputs["indices"], attrs=case.attrs, variant=variant, output="cpu").output
        assert_bits_equal(got, wanted, variant)
