"""SkipGroupNorm agrees with its reference in every variant, on every shape, layout and dtype it accepts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from skip_group_norm_cases import Array, Case, accepted, check, expected, reference_module

if TYPE_CHECKING:
    import webgpu_kernels as wk

pytestmark = pytest.mark.device

COMBINATIONS = [
    Case(t=t, m=m, channels_last=channels_last, skip=skip, bias=bias, keeps_sum=keeps_sum, activation=activation)  # type: ignore[arg-type]  # product() forgets the literals
    for t, m, channels_last, skip, bias, keeps_sum, activation in itertools.product(
        ("float32", "float16"),
        ("float32", "float16"),
        (1, 0),
        ("exact", "(N, C)", "(N, 1, 1, C)"),
        (True, False),
        (True, False),
        (1, 0),
    )
]
# 7 shares no factor with the sizes of the product, so that every pair of options meets.
CORE_COMBINATIONS = COMBINATIONS[::7]

SHAPES = [
    Case(n=2, h=3, w=5, c=6, groups=3),
    Case(n=1, h=7, w=9, c=14, groups=7, skip="(N, C)"),
    Case(n=3, h=1, w=1, c=8, groups=2, keeps_sum=False),
    Case(n=2, h=5, w=7, c=60, groups=1, bias=False),
    Case(n=1, h=33, w=17, c=30, groups=15, bias=False, keeps_sum=False),
    Case(n=2, h=9, w=4, c=56, groups=4, keeps_sum=False, skip="(N, 1, 1, C)"),
    Case(n=1, h=4, w=4, c=515, groups=1),
    Case(n=1, h=5, w=3, c=1030, groups=2, skip="(N, C)"),
    Case(n=2, h=64, w=64, c=12, groups=4, bias=False),
    Case(n=1, h=16, w=16, c=320, groups=32, keeps_sum=False),
    Case(n=1, h=3, w=3, c=28, groups=28),
    Case(n=1, h=2, w=3, c=7000, groups=1, bias=False, skip="(N, C)"),
]


def layouts(cases: list[Case]) -> list[Case]:
    """Return each case in both layouts, float32 in one and float16 in the other."""
    return [
        layout
        for case in cases
        for layout in (replace(case, channels_last=1, t="float32"), replace(case, channels_last=0, t="float16"))
    ]


def label(value: object) -> str | None:
    """Name a case by what differs from the usual one."""
    if not isinstance(value, Case):
        return None
    usual = Case()
    names = Case.__dataclass_fields__
    return ",".join(f"{k}={getattr(value, k)}" for k in names if getattr(value, k) != getattr(usual, k)) or "usual"


@pytest.mark.parametrize("case", CORE_COMBINATIONS, ids=label)
def test_options_combine(skip_group_norm: wk.Kernel, case: Case) -> None:
    """Dtypes, layout, skip's shape, bias, S and activation combine freely."""
    for variant in accepted(skip_group_norm, case):
        check(skip_group_norm, case, variant)


@pytest.mark.slow
@pytest.mark.parametrize("case", COMBINATIONS, ids=label)
def test_every_combination(skip_group_norm: wk.Kernel, case: Case) -> None:
    """All of them, on a shape whose vectors and slabs do not come out even."""
    call = replace(case, h=13, w=7, c=30, groups=5)
    for variant in accepted(skip_group_norm, call):
        check(skip_group_norm, call, variant)


@pytest.mark.parametrize("case", layouts(SHAPES), ids=label)
def test_shapes(skip_group_norm: wk.Kernel, case: Case) -> None:
    """Groups of 1 to 7000 channels, planes of 1 to 4096 pixels, sizes that no vector divides."""
    for variant in accepted(skip_group_norm, case):
        check(skip_group_norm, case, variant)


@pytest.mark.slow
@pytest.mark.parametrize("case", SHAPES, ids=label)
@pytest.mark.parametrize("t", ["float32", "float16"])
@pytest.mark.parametrize("channels_last", [1, 0])
def test_every_variant_on_every_shape(skip_group_norm: wk.Kernel, case: Case, t: str, channels_last: int) -> None:
    """All variants that take it, all skips, both layouts, both dtypes."""
    for skip, bias, keeps_sum in itertools.product(("exact", "(N, C)"), (True, False), (True, False)):
        call = replace(case, t=t, channels_last=channels_last, skip=skip, bias=bias, keeps_sum=keeps_sum)  # type: ignore[arg-type]  # literals
        for variant in accepted(skip_group_norm, call):
            check(skip_group_norm, call, variant)


@pytest.mark.parametrize(
    "case", layouts([Case(bias=b, keeps_sum=s) for b in (True, False) for s in (True, False)]), ids=label
)
def test_published_manifest_beside_our_templates(published_skip_group_norm: wk.Kernel, case: Case) -> None:
    """The eight variants of the published manifest, forced, give right results."""
    for variant in case.variants:
        check(published_skip_group_norm, case, variant, single_mean=True)


@pytest.mark.slow
@pytest.mark.parametrize("case", [*COMBINATIONS[::5], *layouts(SHAPES)], ids=label)
def test_published_manifest_on_every_shape(published_skip_group_norm: wk.Kernel, case: Case) -> None:
    """Whatever shapes its variants accept."""
    for variant in accepted(published_skip_group_norm, case):
        check(published_skip_group_norm, case, variant, single_mean=True)


def about(mean: float, deviation: float, case: Case) -> Array:
    """Draw X about a mean."""
    return mean + deviation * np.random.default_rng(7).standard_normal(case.shape)


def hard_inputs(kind: str, case: Case) -> Array:
    """Draw an X on which sums of squares go wrong."""
    if kind == "mean 1000, deviation 0.1":
        return about(1000, 0.1, case)
    if kind == "mean 4100, deviation 0.03":
        return about(4100, 0.03, case)
    x = about(0, 1, case)
    if kind == "groups of very different offsets":
        offsets = np.repeat(10.0 ** np.arange(-2, case.groups - 2), case.c // case.groups)
        return x + (offsets if case.channels_last else offsets[:, None, None])
    if kind == "an outlier first":
        x.flat[0] = 1e6
        return x
    assert kind == "an outlier first, mean 1000"
    x = about(1000, 0.1, case)
    x.flat[0] = 1e7
    return x


HARD = [
    "mean 1000, deviation 0.1",
    "mean 4100, deviation 0.03",
    "groups of very different offsets",
    "an outlier first",
    "an outlier first, mean 1000",
]


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("channels_last", [1, 0])
def test_statistics_keep_their_digits(skip_group_norm: wk.Kernel, kind: str, channels_last: int) -> None:
    """A large mean beside a small deviation, and a value far from all others, cost no accuracy."""
    for bias in (True, False):
        case = Case(n=1, h=64, w=64, c=24, groups=6, channels_last=channels_last, bias=bias, keeps_sum=bias)
        for variant in accepted(skip_group_norm, case):
            check(skip_group_norm, case, variant, x=hard_inputs(kind, case))


@pytest.mark.parametrize("kind", HARD)
def test_published_statistics_keep_their_digits(published_skip_group_norm: wk.Kernel, kind: str) -> None:
    """The same, but for what a mean in one float32 cannot hold."""
    for channels_last in (1, 0):
        case = Case(n=1, h=64, w=64, c=24, groups=6, channels_last=channels_last, bias=False)
        for variant in case.variants:
            check(published_skip_group_norm, case, variant, x=hard_inputs(kind, case), single_mean=True)


PAIRED = [
    Case(n=2, h=16, w=16, c=320, groups=32),
    Case(n=1, h=33, w=17, c=64, groups=8, skip="(N, C)"),
    Case(n=2, h=13, w=7, c=48, groups=8),
    Case(n=1, h=64, w=64, c=128, groups=32),
    Case(n=1, h=20, w=14, c=24, groups=8, skip="(N, 1, 1, C)"),
    Case(n=3, h=9, w=31, c=72, groups=4),
    Case(n=1, h=200, w=170, c=64, groups=8),
]


@pytest.mark.parametrize("t", ["float32", "float16"])
@pytest.mark.parametrize("case", PAIRED, ids=label)
def test_two_dispatches(skip_group_norm: wk.Kernel, case: Case, t: str) -> None:
    """Statistics that the last dispatch combines itself: even and uneven slabs, one block of pixels a lane and many."""
    for bias, keeps_sum in itertools.product((True, False), (True, False)):
        call = replace(case, t=t, bias=bias, keeps_sum=keeps_sum)  # type: ignore[arg-type]  # literals
        check(skip_group_norm, call, call.variant("pair"))


@pytest.mark.parametrize("kind", HARD)
def test_two_dispatches_keep_their_digits(skip_group_norm: wk.Kernel, kind: str) -> None:
    """As three do."""
    case = Case(n=1, h=64, w=64, c=32, groups=8)
    check(skip_group_norm, case, "pair_bias_sum", x=hard_inputs(kind, case))


@pytest.mark.parametrize("tunables", [{"PAIR_MAX_SPLITS": 7}, {"PAIR_WORKGROUPS": 3}, {"WORKGROUP_SIZE": 64}], ids=str)
def test_geometry_of_two_dispatches(skip_group_norm: wk.Kernel, tunables: dict[str, int]) -> None:
    """Few and many parts, long and short walks."""
    case = Case(n=2, h=40, w=23, c=64, groups=16)
    check(skip_group_norm, case, "pair_bias_sum", tunables=tunables)


@pytest.mark.slow
@pytest.mark.parametrize("t", ["float32", "float16"])
@pytest.mark.parametrize("channels_last", [1, 0])
def test_a_large_image_as_one_group(skip_group_norm: wk.Kernel, t: str, channels_last: int) -> None:
    """512 x 512 pixels in one group: long walks, in every variant."""
    for bias, keeps_sum in ((True, True), (False, False)):
        case = Case(n=1, h=512, w=512, c=32, groups=1, channels_last=channels_last, t=t, bias=bias, keeps_sum=keeps_sum)  # type: ignore[arg-type]  # literals
        for variant in accepted(skip_group_norm, case):
            check(skip_group_norm, case, variant, x=None if t == "float16" else about(1000, 0.1, case))


@pytest.mark.parametrize("channels_last", [1, 0])
def test_equal_values_give_beta(skip_group_norm: wk.Kernel, channels_last: int) -> None:
    """The variance of a constant group is exactly 0, not a rounding error times 1 / sqrt(epsilon)."""
    case = Case(h=65, w=33, channels_last=channels_last, bias=False, activation=0)
    inputs = case.inputs() | {"X": np.full(case.shape, 7.3, np.float32), "skip": np.zeros(case.shape, np.float32)}
    beta = inputs["beta"] if channels_last else inputs["beta"][:, None, None]
    for variant in accepted(skip_group_norm, case):
        y = skip_group_norm(inputs, attrs=case.attrs, outputs=case.outputs, variant=variant)["Y"]
        assert np.array_equal(y, np.broadcast_to(beta, y.shape))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_group(skip_group_norm: wk.Kernel, value: float) -> None:
    """A NaN or an infinity makes all of its group NaN and leaves the other groups alone."""
    for channels_last in (1, 0):
        case = Case(channels_last=channels_last)
        inputs = case.inputs()
        inputs["X"].flat[1] = value
        with np.errstate(invalid="ignore"):
            y = expected(case, inputs)["Y"]
        for variant in accepted(skip_group_norm, case):
            result = skip_group_norm(inputs, attrs=case.attrs, outputs=case.outputs, variant=variant)["Y"]
            np.testing.assert_allclose(result, y, rtol=1e-5, atol=3e-5, equal_nan=True)


def test_silu_of_large_negative_values_is_zero(skip_group_norm: wk.Kernel) -> None:
    """exp(-y) would overflow at -89."""
    case = Case()
    inputs = case.inputs() | {"beta": np.full(case.c, -1e4, np.float32)}
    for variant in accepted(skip_group_norm, case):
        y = skip_group_norm(inputs, attrs=case.attrs, outputs=case.outputs, variant=variant)["Y"]
        assert np.array_equal(y, np.zeros(case.shape, np.float32))


@pytest.mark.parametrize("empty", [{"n": 0}, {"h": 0}, {"w": 0}])
@pytest.mark.parametrize("channels_last", [1, 0])
def test_empty_images_give_empty_arrays(skip_group_norm: wk.Kernel, empty: dict[str, int], channels_last: int) -> None:
    """No images, or images without pixels."""
    case = replace(Case(channels_last=channels_last), **empty)  # type: ignore[arg-type]  # sizes only
    results = skip_group_norm(case.inputs(), attrs=case.attrs, outputs=case.outputs)
    assert results["Y"].shape == results["S"].shape == case.shape


@pytest.mark.parametrize("channels_last", [5, -1, 2.0])
def test_any_other_layout_number_means_channels_last(skip_group_norm: wk.Kernel, channels_last: float) -> None:
    """Only 0 is channels first."""
    case = Case()
    inputs = case.inputs()
    y = skip_group_norm(inputs, attrs=case.attrs | {"channels_last": channels_last})["Y"]
    assert np.array_equal(y, skip_group_norm(inputs, attrs=case.attrs)["Y"])


def test_skip_of_one_pixel_is_exact(skip_group_norm: wk.Kernel) -> None:
    """At H = W = 1, channels last, (N, 1, 1, C) is X's own shape."""
    check(skip_group_norm, Case(h=1, w=1, skip="(N, 1, 1, C)"))


def test_epsilon_is_inside_the_root(skip_group_norm: wk.Kernel) -> None:
    """An epsilon as large as the variance shows where it stands."""
    case = Case(bias=False)
    inputs = case.inputs()
    attrs = case.attrs | {"epsilon": 2.0}
    y = skip_group_norm(inputs, attrs=attrs)["Y"]
    np.testing.assert_allclose(y, reference_module().reference(inputs, attrs)["Y"], rtol=1e-5, atol=3e-5)


@pytest.mark.parametrize(
    "case",
    [
        Case(n=70000, h=1, w=1, c=4, groups=1),
        Case(n=17000, h=2, w=1, c=4, groups=4, channels_last=0, t="float16", bias=False, keeps_sum=False),
    ],
    ids=label,
)
def test_more_groups_than_a_grid_axis_holds(skip_group_norm: wk.Kernel, case: Case) -> None:
    """Beyond 65535 workgroups the grid folds into a second axis."""
    for variant in accepted(skip_group_norm, case):
        check(skip_group_norm, case, variant)


@pytest.mark.parametrize(
    "tunables",
    [
        {"WORKGROUP_SIZE": 64, "MAX_SPLITS": 7, "VALUES_PER_SPLIT": 1},
        {"WORKGROUP_SIZE": 200, "MAX_SPLITS": 1024, "VALUES_PER_SPLIT": 16},
        {"WORKGROUP_SIZE": 1, "MAX_SPLITS": 1},
        {"APPLY_SLAB_ELEMENTS": 1, "VALUES_PER_SPLIT": 3, "WORKGROUP_SIZE": 1024},
    ],
    ids=str,
)
def test_tunables_change_geometry_not_results(skip_group_norm: wk.Kernel, tunables: dict[str, int]) -> None:
    """Slabs, runs and workgroups of odd sizes."""
    for channels_last in (1, 0):
        case = Case(h=20, w=14, c=30, groups=2, channels_last=channels_last)
        for variant in accepted(skip_group_norm, case, tunables=tunables):
            check(skip_group_norm, case, variant, tunables=tunables)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "tunables"),
    [
        ("fused_plain", {"WORKGROUP_SIZE": 1}),
        ("split_plain", {"WORKGROUP_SIZE": 1, "MAX_SPLITS": 1}),
        ("split_plain", {"WORKGROUP_SIZE": 1, "MAX_SPLITS": 10**9, "VALUES_PER_SPLIT": 1}),
    ],
    ids=str,
)
def test_no_tunable_makes_a_lane_loop_too_long(
    skip_group_norm: wk.Kernel, variant: str, tunables: dict[str, int]
) -> None:
    """One odd-sized channel of two million pixels: software Vulkan would end a lane's 65,536th round in silence."""
    for channels_last in (1, 0):
        case = Case(
            n=1, h=1499, w=1501, c=1, groups=1, channels_last=channels_last, bias=False, keeps_sum=False, activation=0
        )
        check(skip_group_norm, case, variant, tunables=tunables)


@pytest.mark.parametrize("value", [0, 1, 10**9])
def test_no_tunable_breaks_a_call(skip_group_norm: wk.Kernel, value: int) -> None:
    """Whatever somebody sets, the result is the same."""
    case = Case(h=9, w=7, c=12, groups=3)
    for name in skip_group_norm.manifest.tunables:
        for variant in (*accepted(skip_group_norm, case, tunables={name: value}), None):
            check(skip_group_norm, case, variant, tunables={name: value})
