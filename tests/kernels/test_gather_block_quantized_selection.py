"""Which variant of GatherBlockQuantized a request gets, on devices that need not be here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from gather_block_quantized_cases import Case

import webgpu_kernels as wk

if TYPE_CHECKING:
    from webgpu_kernels.planning.explanation import Explanation

DEFAULTS = wk.Capabilities()
H200 = wk.Capabilities(
    features={"shader-f16"},
    limits={
        "maxStorageBufferBindingSize": 2**31,
        "maxBufferSize": 2**32,
        "maxStorageBuffersPerShaderStage": 16,
        "maxComputeInvocationsPerWorkgroup": 1024,
        "maxComputeWorkgroupSizeX": 1024,
    },
)


def described(case: Case) -> dict[str, wk.TensorSpec]:
    """Describe a call's inputs; no memory is taken."""
    lanes = 8 // case.bits if case.dtype == "uint8" else 1
    specs = {
        "data": wk.TensorSpec((*case.table[:-1], case.table[-1] // lanes), case.dtype),
        "indices": wk.TensorSpec(case.indices, case.index_dtype),
        "scales": wk.TensorSpec(case.blocks, case.scale_dtype),
    }
    if case.zero_points:
        blocks = (*case.blocks[:-1], -(-case.blocks[-1] // lanes))
        specs["zero_points"] = wk.TensorSpec(blocks, case.dtype)
    return specs


def explained(gather: wk.Kernel, case: Case, capabilities: wk.Capabilities = DEFAULTS, **options: Any) -> Explanation:
    return gather.explain(described(case), attrs=case.attrs, capabilities=capabilities, **options)


@pytest.mark.parametrize(
    ("case", "variant"),
    [
        (Case(table=(32000, 4096)), "wide_zero_points"),
        (Case(table=(32000, 4096), zero_points=False), "wide"),
        (Case(table=(32000, 320)), "wide_zero_points"),
        (Case(table=(32000, 304)), "narrow_zero_points"),
        (Case(table=(32000, 1023), dtype="int4"), "general_zero_points"),
        (Case(table=(320, 4096), dtype="int4", quantize_axis=0, zero_points=False), "general"),
        (Case(table=(32, 7, 4096), dtype="int4", gather_axis=1, quantize_axis=2), "wide_zero_points"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("capabilities", [DEFAULTS, H200], ids=["default limits", "H200"])
def test_the_shape_decides(gather: wk.Kernel, capabilities: wk.Capabilities, case: Case, variant: str) -> None:
    """Long rows, short rows, and whatever vectors do not fit."""
    assert explained(gather, case, capabilities).variant == variant


@pytest.mark.parametrize(
    ("case", "variant"),
    [
        (Case(table=(100, 2048), scale_dtype="float16"), "wide_f16_zero_points"),
        (Case(table=(100, 2048), scale_dtype="float16", zero_points=False), "wide_f16"),
        (Case(table=(100, 256), scale_dtype="float16"), "narrow_f16_zero_points"),
        (Case(table=(100, 256), scale_dtype="float16", zero_points=False), "narrow_f16"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_float16_is_computed_in_where_the_device_can(gather: wk.Kernel, case: Case, variant: str) -> None:
    """It takes half of the instructions."""
    assert explained(gather, case, H200).variant == variant
    assert "f16" not in str(explained(gather, case).variant)


def test_float16_needs_no_feature(gather: wk.Kernel) -> None:
    """Halves are read and written as words."""
    case = Case(table=(100, 2048), scale_dtype="float16")
    assert explained(gather, case).variant == "wide_zero_points"
    assert "f16" not in str(gather.render(described(case), attrs=case.attrs, capabilities=DEFAULTS)).replace("2x16", "")


@pytest.mark.parametrize(
    ("columns", "lanes", "workgroups"),
    [(512, 64, 1), (2048, 256, 1), (4096, 256, 2), (8960, 224, 5)],
)
def test_lanes_have_two_vectors_and_none_idles(gather: wk.Kernel, columns: int, lanes: int, workgroups: int) -> None:
    """The workgroup fits the row."""
    step = explained(gather, Case(table=(100, columns), block_size=32, indices=(7,))).passes[0]
    assert (step.values["wgSpec"], step.dispatch) == (lanes, (7 * workgroups, 1, 1))


@pytest.mark.parametrize(("indices", "asks"), [(65_535, False), (65_536, True)])
def test_only_a_folded_grid_asks_for_the_number_of_slices(gather: wk.Kernel, indices: int, *, asks: bool) -> None:
    """There alone are workgroups to spare."""
    case = Case(table=(100, 512), block_size=32, indices=(indices,))
    text = str(gather.render(described(case), attrs=case.attrs, capabilities=H200)["main"])
    assert ("params.sliceCount" in text) == asks


def test_a_large_table_takes_as_many_buffers_as_it_needs(gather: wk.Kernel) -> None:
    """151936 x 2048 at 4 bits is 148 MiB: two windows of 128 MiB, six of the eight buffers that every device has."""
    limits = wk.Capabilities(limits={"maxBufferSize": 2**31 - 1})
    case = Case(table=(151936, 2048), block_size=32)
    bindings = explained(gather, case, limits).passes[0].bindings
    assert [binding.name for binding in bindings] == [
        "data0", "data1", "indices", "scales0", "zero_points0", "output", "params",
    ]  # fmt: skip


def test_a_table_that_needs_too_many_buffers(gather: wk.Kernel) -> None:
    """Names the clause, the number needed and the limit."""
    limits = wk.Capabilities(limits={"maxBufferSize": 2**32})
    case = Case(table=(2**20, 2048), bits=8, block_size=32)
    with pytest.raises(wk.errors.NoVariantError, match="windowsFitDevice") as caught:
        gather.render(described(case), attrs=case.attrs, capabilities=limits)
    assert "storageBuffers = 21" in str(caught.value)
    assert "maxStorageBuffersPerShaderStage = 8" in str(caught.value)
