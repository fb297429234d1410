"""What SkipGroupNorm accepts and refuses, and what it renders, on devices that are only described."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from skip_group_norm_cases import SHARED, Case, accepted

import webgpu_kernels as wk

if TYPE_CHECKING:
    from webgpu_kernels.planning.explanation import Explanation

VECTORS = SHARED / "vectors" / "selection.json"
TINY = {
    "maxComputeInvocationsPerWorkgroup": 64,
    "maxComputeWorkgroupSizeX": 64,
    "maxComputeWorkgroupStorageSize": 1024,
}


def tiny(**limits: int) -> wk.Capabilities:
    """Describe a device of 64 invocations and 1 KiB of workgroup storage, with float16."""
    return wk.Capabilities(features={"shader-f16"}, limits=TINY | limits, adapter_info={})


def specs(case: Case, **changes: wk.TensorSpec) -> dict[str, wk.TensorSpec]:
    """Describe the inputs of a case, with some replaced."""
    channels = (case.c,)
    described = {
        "X": wk.TensorSpec(case.shape, case.t),
        "gamma": wk.TensorSpec(channels, case.m),
        "beta": wk.TensorSpec(channels, case.m),
        "skip": wk.TensorSpec(case.shape if case.skip == "exact" else (case.n, case.c), case.t),
    }
    return described | ({"bias": wk.TensorSpec(channels, case.t)} if case.bias else {}) | changes


def published_requests() -> list[Any]:
    """Read the 40 requests whose selection by the published manifest is known."""
    if not VECTORS.is_file():
        return [pytest.param(None, None, marks=pytest.mark.skip(reason="the vectors are not on this machine"))]
    vectors = json.loads(VECTORS.read_text())
    return [
        pytest.param(case, vectors["devices"][case["device"]], id=f"{i}-{case['device']}")
        for i, case in enumerate(vectors["cases"])
    ]


@pytest.mark.parametrize(("case", "device"), published_requests())
def test_accepts_what_the_published_manifest_accepts(
    skip_group_norm: wk.Kernel, case: dict[str, Any], device: dict[str, Any]
) -> None:
    """Every variant that the published manifest finds eligible is accepted here."""
    request = case["request"]
    kinds = {"gamma": "M", "beta": "M"}
    inputs = {
        name: wk.TensorSpec(tuple(shape), request["types"][kinds.get(name, "T")])
        for name, shape in request["shapes"].items()
    }
    capabilities = wk.Capabilities(
        features={"shader-f16"} if device["f16"] else set(), limits=device["limits"], adapter_info={}
    )
    explanation = skip_group_norm.explain(
        inputs,
        attrs=request["attrs"],
        outputs=request["outputs"],
        tunables=request["tunables"],
        capabilities=capabilities,
    )
    eligible = {candidate.id for candidate in explanation.candidates if candidate.accepted}
    assert eligible >= set(case["expected"]["eligible"])


WIDE = [
    Case(n=1, h=5, w=3, c=1030, groups=2),
    Case(n=2, h=4, w=4, c=2060, groups=4, bias=False, t="float16"),
    Case(n=1, h=3, w=3, c=3000, groups=1, keeps_sum=False, skip="(N, C)"),
    Case(n=1, h=64, w=64, c=320, groups=32),
    Case(n=1, h=9, w=9, c=448, groups=32, bias=False, keeps_sum=False, skip="(N, C)"),
    Case(n=1, h=2, w=2, c=65536, groups=32, t="float16", channels_last=0),
]


@pytest.mark.parametrize("case", WIDE, ids=str)
def test_wide_groups_fit_a_small_device(skip_group_norm: wk.Kernel, case: Case) -> None:
    """All that take it keep to 64 invocations and 1 KiB of workgroup storage, however many channels a group has."""
    variants = accepted(skip_group_norm, case, capabilities=tiny())
    assert set(case.variants) <= set(variants)
    for variant in variants:
        rendering = skip_group_norm.render(
            specs(case), attrs=case.attrs, outputs=case.outputs, variant=variant, capabilities=tiny()
        )
        for name in rendering:
            lanes = re.search(r"const WORKGROUP = (\d+)u;", rendering[name])
            assert lanes is not None
            assert 1 <= int(lanes[1]) <= 64


@pytest.mark.parametrize("storage_bytes", [8, 64, 1024])
def test_workgroup_storage_bounds_the_workgroup(skip_group_norm: wk.Kernel, storage_bytes: int) -> None:
    """A lane needs eight bytes."""
    case = Case(c=64)
    rendering = skip_group_norm.render(
        specs(case),
        attrs=case.attrs,
        variant="fused_bias_plain",
        capabilities=tiny(maxComputeWorkgroupStorageSize=storage_bytes),
    )
    slots = re.search(r"scratch: array<vec2<f32>, (\d+)>", rendering["main"])
    assert slots is not None
    assert int(slots[1]) * 8 <= storage_bytes


REFUSED: list[tuple[str, dict[str, Any], dict[str, wk.TensorSpec]]] = [
    ("groupsDivideChannels", {"groups": 3}, {}),
    ("groupsDivideChannels", {"groups": 0}, {}),
    ("groupsDivideChannels", {"groups": -4}, {}),
    ("groupsDivideChannels", {"groups": 6.4}, {}),
    ("groupsDivideChannels", {"groups": 64}, {}),
    ("inputHasRank4", {}, {"X": wk.TensorSpec((2, 24, 32), "float32")}),
    ("gammaIsPerChannel", {}, {"gamma": wk.TensorSpec((31,), "float32")}),
    ("gammaIsPerChannel", {}, {"gamma": wk.TensorSpec((32, 1), "float32")}),
    ("betaIsPerChannel", {}, {"beta": wk.TensorSpec((), "float32")}),
    ("biasIsPerChannel", {}, {"bias": wk.TensorSpec((1,), "float32")}),
    ("skipIsExactOrPerChannel", {}, {"skip": wk.TensorSpec((32,), "float32")}),
    ("skipIsExactOrPerChannel", {}, {"skip": wk.TensorSpec((1, 32), "float32")}),
    ("skipIsExactOrPerChannel", {}, {"skip": wk.TensorSpec((2, 32, 1, 1), "float32")}),
    ("skipIsExactOrPerChannel", {}, {"skip": wk.TensorSpec((2, 6, 1, 32), "float32")}),
]


@pytest.mark.parametrize(("clause", "attrs", "inputs"), REFUSED, ids=str)
def test_each_refusal_names_its_clause(
    skip_group_norm: wk.Kernel, clause: str, attrs: dict[str, Any], inputs: dict[str, wk.TensorSpec]
) -> None:
    """The clause that a request breaks speaks for itself in every candidate's reason."""
    case = Case()
    explanation = skip_group_norm.explain(specs(case, **inputs), attrs=case.attrs | attrs, capabilities=tiny())
    assert explanation.variant is None
    assert all(str(candidate.reason).startswith(f"{clause} ") for candidate in explanation.candidates)


def test_float16_needs_the_feature(skip_group_norm: wk.Kernel) -> None:
    """Either type variable in float16 is refused on a device without shader-f16."""
    for case in (Case(t="float16"), Case(m="float16")):
        explanation = skip_group_norm.explain(specs(case), attrs=case.attrs, capabilities=wk.Capabilities(limits=TINY))
        assert explanation.variant is None


def test_variants_are_the_published_eight_and_eight_more(skip_group_norm: wk.Kernel) -> None:
    """The published ids are part of the contract; two dispatches, and one that many share, are this package's own."""
    explanation = skip_group_norm.explain(specs(Case()), attrs=Case().attrs, capabilities=tiny())
    assert {candidate.id for candidate in explanation.candidates} == {
        f"{way}{bias}{end}"
        for way in ("split", "fused", "pair", "joint")
        for bias in ("_bias", "")
        for end in ("_sum", "_plain")
    }


def test_no_shader_asks_for_subgroups(skip_group_norm: wk.Kernel) -> None:
    """Some engines refuse the directive, others require it, so the shaders do without."""
    for case in (Case(), Case(t="float16", m="float16", channels_last=0)):
        for variant in accepted(skip_group_norm, case, capabilities=tiny()):
            rendering = skip_group_norm.render(
                specs(case), attrs=case.attrs, outputs=case.outputs, variant=variant, capabilities=tiny()
            )
            assert not any("subgroup" in rendering[name] for name in rendering)


GPU = {
    "maxComputeInvocationsPerWorkgroup": 1024,
    "maxComputeWorkgroupSizeX": 1024,
    "maxComputeWorkgroupStorageSize": 49152,
    "maxStorageBufferBindingSize": 2**31 - 4,
    "maxBufferSize": 2**32 - 4,
}
PICKED = [
    (Case(n=2, h=64, w=64, c=320, groups=32, t="float16"), "pair", "split"),
    (Case(n=2, h=32, w=32, c=640, groups=32, t="float16"), "pair", "split"),
    (Case(n=2, h=32, w=32, c=640, groups=32), "pair", "split"),
    (Case(n=2, h=32, w=32, c=640, groups=32, keeps_sum=False), "fused", "split"),
    (Case(n=2, h=16, w=16, c=1280, groups=32), "fused", "split"),
    (Case(n=2, h=128, w=128, c=320, groups=32), "split", "split"),
    (Case(n=2, h=64, w=64, c=640, groups=32), "pair", "split"),
    (Case(n=2, h=64, w=64, c=320, groups=32, channels_last=0), "pair", "split"),
    (Case(n=2, h=64, w=64, c=320, groups=32, channels_last=0, bias=False), "fused", "split"),
    (Case(n=8, h=64, w=64, c=320, groups=32, channels_last=0, t="float16"), "fused", "fused"),
    (Case(n=2, h=32, w=32, c=320, groups=32, channels_last=0), "fused", "fused"),
    (Case(n=2, h=32, w=32, c=1920, groups=32, channels_last=0), "split", "split"),
    (Case(n=1, h=512, w=512, c=128, groups=32, channels_last=0), "split", "split"),
]


def explained(kernel: wk.Kernel, case: Case, *, on_software: bool) -> Explanation:
    """Explain a call on a device with a GPU's limits, which says whether it is one."""
    info = {"isFallbackAdapter": on_software}
    capabilities = wk.Capabilities(features={"shader-f16"}, limits=GPU, adapter_info=info)
    return kernel.explain(specs(case), attrs=case.attrs, outputs=case.outputs, capabilities=capabilities)


@pytest.mark.parametrize(("case", "on_gpu", "on_software"), PICKED, ids=str)
def test_a_gpu_takes_middle_sizes_in_fewer_dispatches(
    skip_group_norm: wk.Kernel, case: Case, on_gpu: str, on_software: str
) -> None:
    """A dispatch costs a GPU as much as reading a small image does, and software next to nothing."""
    for fallback, way in ((False, on_gpu), (True, on_software)):
        assert explained(skip_group_norm, case, on_software=fallback).variant == case.variant(way)


JOINED = [
    Case(n=2, h=32, w=32, c=640, groups=32, t="float16"),
    Case(n=2, h=32, w=32, c=640, groups=32, keeps_sum=False),
    Case(n=2, h=16, w=16, c=1280, groups=32, bias=False),
    Case(n=2, h=64, w=64, c=320, groups=32, channels_last=0),
    Case(n=2, h=128, w=128, c=320, groups=32, t="float16"),
    Case(n=1, h=128, w=128, c=512, groups=32),
    Case(n=2, h=64, w=64, c=960, groups=32, channels_last=0),
]
LARGE = [
    Case(n=2, h=128, w=128, c=320, groups=32),
    Case(n=1, h=512, w=512, c=128, groups=32, t="float16"),
    Case(n=1, h=512, w=512, c=128, groups=32, channels_last=0),
]


def chosen(kernel: wk.Kernel, case: Case, info: dict[str, object], **tunables: int) -> str:
    """Return which way a call takes on a GPU of which this is known."""
    capabilities = wk.Capabilities(features={"shader-f16"}, limits=GPU, adapter_info=info)
    explanation = kernel.explain(
        specs(case), attrs=case.attrs, outputs=case.outputs, capabilities=capabilities, tunables=tunables
    )
    return str(explanation.variant).partition("_")[0]


@pytest.mark.parametrize("case", JOINED, ids=str)
def test_workgroups_share_a_group_where_all_of_them_run_at_once(skip_group_norm: wk.Kernel, case: Case) -> None:
    """One waits in vain for those that have not begun: it has to be known that there are none."""
    assert chosen(skip_group_norm, case, {"invocationsInFlight": 270336}) == "joint"
    assert chosen(skip_group_norm, case, {"invocationsInFlight": 4096}) != "joint"
    assert chosen(skip_group_norm, case, {"invocationsInFlight": 0}) != "joint"
    assert chosen(skip_group_norm, case, {}) != "joint"
    assert chosen(skip_group_norm, case, {"isFallbackAdapter": True, "invocationsInFlight": 270336}) != "joint"


@pytest.mark.parametrize("case", JOINED, ids=str)
def test_somebody_who_knows_may_say_how_many_run_at_once(skip_group_norm: wk.Kernel, case: Case) -> None:
    """A browser tells no program how many invocations a GPU has in flight."""
    assert chosen(skip_group_norm, case, {}, JOINT_LANES=168_960) == "joint"
    assert chosen(skip_group_norm, case, {"invocationsInFlight": 270336}, JOINT_LANES=64) != "joint"


@pytest.mark.parametrize("case", LARGE, ids=str)
def test_an_image_may_be_too_large_for_that(skip_group_norm: wk.Kernel, case: Case) -> None:
    """Registers hold little of it, and what is read again has left the cache: two more dispatches cost less."""
    assert chosen(skip_group_norm, case, {"invocationsInFlight": 270336}) == "split"


def dispatched(kernel: wk.Kernel, case: Case, *, on_software: bool) -> tuple[int, int, int]:
    """Return how many workgroups the first dispatch has."""
    return explained(kernel, case, on_software=on_software).passes[0].dispatch


def test_a_gpu_is_given_enough_lanes(skip_group_norm: wk.Kernel) -> None:
    """Large images are split beyond MAX_SPLITS until the lanes of all parts keep a GPU busy."""
    case = Case(n=1, h=512, w=512, c=128, groups=32)
    half = replace(case, t="float16")
    assert dispatched(skip_group_norm, case, on_software=False) == (512, 1, 1)
    assert dispatched(skip_group_norm, half, on_software=False) == (512, 1, 1)
    assert dispatched(skip_group_norm, half, on_software=True) == (256, 1, 1)


@pytest.mark.parametrize(("size", "c", "parts"), [(512, 128, 4096), (256, 256, 2048), (256, 320, 256), (64, 640, 512)])
def test_software_loads_do_not_wait_for_stores(skip_group_norm: wk.Kernel, size: int, c: int, parts: int) -> None:
    """Rows that many times 512 bytes apart share their place in a page, and a CPU takes them for one another.

    So each lane reads all its rows before it stores the first: eight of them.
    """
    case = Case(n=1, h=size, w=size, c=c, groups=32)
    assert dispatched(skip_group_norm, case, on_software=True) == (parts, 1, 1)


@pytest.mark.parametrize("size", [64, 256])
def test_software_does_a_group_of_halves_alone_channels_first(skip_group_norm: wk.Kernel, size: int) -> None:
    """However large it is: what float16 costs there is not memory."""
    half = Case(n=1, h=size, w=size, c=256, groups=32, channels_last=0, t="float16")
    ways = [explained(skip_group_norm, case, on_software=True).variant for case in (half, replace(half, t="float32"))]
    assert ways == ["fused_bias_sum", "split_bias_sum"]
