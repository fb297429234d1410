"""Many workgroups share a group in one dispatch, and what one run leaves on their board serves the next."""

from __future__ import annotations

import itertools
import re
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from skip_group_norm_cases import Array, Case, accepted, check

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from webgpu_kernels.prepared import PreparedCall

pytestmark = pytest.mark.device

EVEN = Case(n=2, h=16, w=16, c=64, groups=8)
CASES = [
    EVEN,
    replace(EVEN, channels_last=0),
    Case(n=1, h=13, w=7, c=48, groups=8, skip="(N, C)", t="float16"),
    Case(n=1, h=13, w=7, c=48, groups=8, skip="(N, C)", channels_last=0),
    Case(n=3, h=9, w=31, c=30, groups=5, bias=False, m="float16"),
    Case(n=3, h=9, w=30, c=30, groups=5, bias=False, channels_last=0, t="float16", m="float16"),
    Case(n=2, h=19, w=5, c=28, groups=28, keeps_sum=False, activation=0),
    Case(n=2, h=19, w=5, c=28, groups=28, keeps_sum=False, channels_last=0, skip="(N, 1, 1, C)"),
    Case(n=1, h=40, w=23, c=24, groups=1, t="float16"),
    Case(n=1, h=40, w=23, c=24, groups=1, channels_last=0, bias=False, keeps_sum=False),
    Case(n=1, h=1, w=1, c=512, groups=2),
    Case(n=1, h=4, w=4, c=515, groups=1),
    Case(n=2, h=3, w=2, c=1000, groups=1, bias=False, skip="(N, C)"),
    Case(n=2, h=2, w=2, c=8, groups=1, channels_last=0),
]
TUNABLES = [
    *({"JOINT_LANES": lanes} for lanes in (64, 1000, 4096, 10**6)),
    *({"JOINT_WORKGROUP": lanes} for lanes in (64, 128, 200, 640, 1024)),
    *({"JOINT_WORDS": words} for words in (1, 4, 64)),
    {"JOINT_PATIENCE": 1},
    {"JOINT_PATIENCE": 1024},
    {"JOINT_WORKGROUP": 128, "JOINT_LANES": 2048, "JOINT_PATIENCE": 1, "JOINT_WORDS": 2},
]
REPEATED = [
    EVEN,
    replace(EVEN, channels_last=0, bias=False),
    Case(n=1, h=13, w=7, c=48, groups=8, skip="(N, C)", t="float16"),
    Case(n=2, h=9, w=30, c=30, groups=5, channels_last=0, t="float16", keeps_sum=False),
    Case(n=2, h=26, w=25, c=320, groups=32, skip="(N, C)", bias=False),
    Case(n=3, h=30, w=22, c=64, groups=8, channels_last=0, skip="(N, 1, 1, C)", bias=False, keeps_sum=False),
]


def label(value: object) -> str | None:
    """Name a case by its sizes and what sets it apart."""
    if not isinstance(value, Case):
        return None
    layout = "nhwc" if value.channels_last else "nchw"
    return f"{value.n}x{value.h}x{value.w}x{value.c}/{value.groups} {layout} {value.t} {value.variant('joint')}"


def rendered(kernel: wk.Kernel, case: Case, tunables: Mapping[str, int]) -> str:
    """Return the variant's WGSL."""
    variant = case.variant("joint")
    return kernel.render(case.described, attrs=case.attrs, outputs=case.outputs, tunables=tunables, variant=variant)[
        "main"
    ]


def read_again(kernel: wk.Kernel, case: Case, tunables: Mapping[str, int]) -> int:
    """Return how many sums of a lane do not stay in registers."""
    return len(re.findall(r"let (?:again\d+|x\d+a) =", rendered(kernel, case, tunables)))


def parts(kernel: wk.Kernel, case: Case, tunables: Mapping[str, int]) -> int:
    """Return how many workgroups share a group, where the variant takes the case, else 0."""
    if case.variant("joint") not in accepted(kernel, case, tunables=tunables):
        return 0
    found = re.search(r"const PARTS = (\d+)u;", rendered(kernel, case, tunables))
    assert found is not None
    return int(found[1])


def prepared(kernel: wk.Kernel, case: Case, **options: Any) -> PreparedCall:
    """Prepare a call of a case, forced to the variant."""
    return kernel.prepare(
        case.described, attrs=case.attrs, outputs=case.outputs, variant=case.variant("joint"), **options
    )


def same(results: Mapping[str, Array], others: Mapping[str, Array]) -> bool:
    """Tell whether all outputs are the same to the last bit."""
    return all(np.array_equal(results[name], others[name], equal_nan=True) for name in results)


def interrupted(calls: Iterable[PreparedCall], tensors: Mapping[str, wk.Tensor]) -> None:
    """Record calls, and then Ctrl-C comes."""
    for call in calls:
        call(tensors)
    raise KeyboardInterrupt


def test_it_takes_enough_cases_to_be_tested(skip_group_norm: wk.Kernel) -> None:
    """Groups of one part and of many, in both layouts, even and uneven ones, in nearly all geometries."""
    for channels_last in (1, 0):
        shared = [
            parts(skip_group_norm, case, tunables)
            for case, tunables in itertools.product(CASES, TUNABLES)
            if case.channels_last == channels_last
        ]
        assert sum(count > 0 for count in shared) >= len(shared) * 2 / 3
        assert 1 in shared
        assert any(1 < count <= 8 for count in shared)
        assert any(count > 16 for count in shared)


@pytest.mark.parametrize(("start", "case"), [*enumerate(CASES)], ids=label)
def test_geometries(skip_group_norm: wk.Kernel, start: int, case: Case) -> None:
    """Few and many parts, small and large workgroups, short and long waits change no result: each with a few cases."""
    for tunables in ({}, *TUNABLES[start % 4 :: 4]):
        if parts(skip_group_norm, case, tunables):
            check(skip_group_norm, case, case.variant("joint"), tunables=tunables)


@pytest.mark.parametrize("case", REPEATED, ids=label)
def test_every_run_gives_the_same_bits(skip_group_norm: wk.Kernel, case: Case) -> None:
    """What stands on the board differs from run to run, and nothing of it reaches a result."""
    call, inputs = prepared(skip_group_norm, case), case.inputs()
    first = call(inputs)
    assert all(same(first, call(inputs)) for _ in range(5))
    fresh = prepared(skip_group_norm, case, tunables={"JOINT_PATIENCE": 1})
    assert same(first, fresh(inputs))


@pytest.mark.parametrize("case", [*REPEATED, replace(EVEN, keeps_sum=False)], ids=label)
def test_what_is_kept_and_what_is_read_again_are_the_same(skip_group_norm: wk.Kernel, case: Case) -> None:
    """Sums stay in registers as far as there are any, and the others are read, or made, once more: to the same bits."""
    inputs, sums, results = case.inputs(), [], []
    for words in (1, 8, 16):
        tunables = {"JOINT_LANES": 128, "JOINT_WORDS": words}
        sums.append(read_again(skip_group_norm, case, tunables))
        results.append(prepared(skip_group_norm, case, tunables=tunables)(inputs))
    assert sums[0] >= sums[1] > sums[2]
    assert same(results[0], results[1])
    assert same(results[0], results[2])


@pytest.mark.parametrize("case", REPEATED, ids=label)
def test_later_runs_take_no_statistics_of_earlier_ones(skip_group_norm: wk.Kernel, case: Case) -> None:
    """The second, third and fourth run on other images are right: two runs back the board had the same tag."""
    for tunables in ({}, {"JOINT_PATIENCE": 1}):
        for index in range(4):
            x = 3.0**index * np.random.default_rng(index).standard_normal(case.shape)
            check(skip_group_norm, case, case.variant("joint"), x=x, tunables=tunables)


def test_programs_in_turns_do_not_disturb_each_other(skip_group_norm: wk.Kernel) -> None:
    """Each program has a board of its own."""
    calls = [(prepared(skip_group_norm, case), case.inputs()) for case in REPEATED]
    firsts = [call(inputs) for call, inputs in calls]
    for order in (calls, calls[::-1], calls[::2] + calls[1::2]):
        for call, inputs in order:
            assert same(firsts[[each for each, _ in calls].index(call)], call(inputs))


def test_a_program_may_run_often_in_one_batch(skip_group_norm: wk.Kernel) -> None:
    """Runs of one submission follow one another as others do, with other programs among them."""
    device = wk.default_device()
    calls = [(prepared(skip_group_norm, case), case.inputs()) for case in REPEATED]
    firsts = [call(inputs) for call, inputs in calls]
    uploaded = [{name: device.tensor(array) for name, array in inputs.items()} for _, inputs in calls]
    with device.batch():
        rounds = [[call(tensors) for (call, _), tensors in zip(calls, uploaded, strict=True)] for _ in range(3)]
    for results in rounds:
        for first, result in zip(firsts, results, strict=True):
            assert same(first, {name: result[name].numpy() for name in first})


def test_an_abandoned_batch_leaves_the_board_as_it_was(skip_group_norm: wk.Kernel) -> None:
    """What was recorded and never submitted did not run; the next run is right."""
    device, call, inputs = wk.default_device(), prepared(skip_group_norm, EVEN), EVEN.inputs()
    first = call(inputs)
    tensors = {name: device.tensor(array) for name, array in inputs.items()}
    for count in (1, 2):
        with pytest.raises(KeyboardInterrupt), device.batch():
            interrupted([call] * count, tensors)
        assert same(first, call(inputs))
        assert same(first, call(inputs))


def test_threads_may_share_a_call(skip_group_norm: wk.Kernel) -> None:
    """Submissions are in order, so that a board has one run at a time."""
    call, inputs = prepared(skip_group_norm, EVEN), EVEN.inputs()
    first = call(inputs)
    outcomes: list[bool] = []

    def work() -> None:
        outcomes.extend(same(first, call(inputs)) for _ in range(10))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 20


@pytest.mark.parametrize("repeat", [1, 2, 5])
def test_timed_runs_leave_a_board_that_serves(skip_group_norm: wk.Kernel, repeat: int) -> None:
    """Timing repeats a pass, alone or in whole calls, and the next run is right."""
    device = wk.default_device()
    if "timestamp-query" not in device.capabilities.features:
        pytest.skip("the adapter has no timestamp queries")
    call, inputs = prepared(skip_group_norm, EVEN), EVEN.inputs()
    first = call(inputs)
    tensors = {name: device.tensor(array) for name, array in inputs.items()}
    assert set(call.time(tensors, repeat=repeat)) == {"main"}
    assert same(first, call(inputs))
    assert len(call.time_calls([tensors], repeat=repeat)) == repeat
    assert same(first, call(inputs))


@pytest.mark.parametrize("t", ["float32", "float16"])
@pytest.mark.parametrize("channels_last", [1, 0])
def test_asking_for_s_changes_nothing_in_y(skip_group_norm: wk.Kernel, t: str, channels_last: int) -> None:
    """Statistics and Y are those of the rounded sum, which need not be stored for that."""
    for bias in (True, False):
        case = Case(n=1, h=13, w=8, c=48, groups=8, channels_last=channels_last, t=t, bias=bias)  # type: ignore[arg-type]  # literals
        plain, inputs = replace(case, keeps_sum=False), case.inputs()
        y = prepared(skip_group_norm, case)(inputs)["Y"]
        assert np.array_equal(y, prepared(skip_group_norm, plain)(inputs)["Y"])


@pytest.mark.parametrize("t", ["float32", "float16"])
@pytest.mark.parametrize("channels_last", [1, 0])
def test_equal_values_give_beta_in_every_run(skip_group_norm: wk.Kernel, t: str, channels_last: int) -> None:
    """The board costs a mean its last bit, and the rest gives it back: nothing is left of a constant."""
    case = Case(h=33, w=12, groups=8, channels_last=channels_last, t=t, bias=False, activation=0)  # type: ignore[arg-type]  # literals
    inputs = case.inputs() | {"skip": np.zeros(case.shape, t)}
    beta = (inputs["beta"] if channels_last else inputs["beta"][:, None, None]).astype(t)
    for tunables in ({}, {"JOINT_LANES": 1024}):
        call = prepared(skip_group_norm, case, tunables=tunables)
        for value in (7.3, 7.3, 1000.1, 1000.1, -1e-3, 6.1e4):
            y = call(inputs | {"X": np.full(case.shape, value, t)})["Y"]
            assert np.array_equal(y, np.broadcast_to(beta, y.shape))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("channels_last", [1, 0])
def test_what_spoils_a_group_spoils_no_other(skip_group_norm: wk.Kernel, value: float, channels_last: int) -> None:
    """Infinity, NaN and what overflows stay in their group and image, in every run, whichever value they are."""
    case = Case(n=2, h=12, w=9, c=32, groups=8, channels_last=channels_last)
    inputs = case.inputs()
    spoilt = {name: array.copy() for name, array in inputs.items()}
    place = (1, 5, 4, 13) if channels_last else (1, 13, 5, 4)
    spoilt["X"][place] = value
    call = prepared(skip_group_norm, case)
    clean = call(inputs)["Y"].copy()
    group = (1, ..., slice(12, 16)) if channels_last else (1, slice(12, 16))
    for _ in range(2):
        y = call(spoilt)["Y"].copy()
        assert not np.array_equal(y[group], clean[group])
        assert np.isfinite(value) or np.isnan(y[group]).all()
        y[group] = clean[group]
        assert np.array_equal(y, clean)


@pytest.mark.parametrize("case", REPEATED, ids=label)
def test_large_and_small_values_keep_their_digits(skip_group_norm: wk.Kernel, case: Case) -> None:
    """As far as their squares are float32 numbers, or an epsilon is nothing beside them."""
    if case.t == "float16":
        check(skip_group_norm, case, case.variant("joint"), x=3e4 * np.sign(case.inputs()["X"].astype(np.float64)))
        return
    x = np.random.default_rng(5).standard_normal(case.shape)
    for scale in (1e17, 1e-20):
        check(skip_group_norm, replace(case, bias=False), replace(case, bias=False).variant("joint"), x=scale * x)


@pytest.mark.parametrize("value", [0, 1, 10**9])
def test_no_tunable_breaks_a_call(skip_group_norm: wk.Kernel, value: int) -> None:
    """Whatever somebody sets, it takes the call with a right result, or does not take it."""
    taken = 0
    for name in (name for name in skip_group_norm.manifest.tunables if name.startswith("JOINT_")):
        for case in CASES[1:4]:
            if parts(skip_group_norm, case, {name: value}):
                taken += 1
                check(skip_group_norm, case, case.variant("joint"), tunables={name: value})
    assert taken >= 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_drawn_calls(skip_group_norm: wk.Kernel, seed: int) -> None:
    """Any sizes, options and tunables: right, and the same to the last bit in four runs."""
    draw = np.random.default_rng(seed)

    def one(*values: Any) -> Any:
        return values[draw.integers(len(values))]

    taken = 0
    while taken < 20:
        groups = one(1, 2, 3, 4, 5, 8, 16, 32)
        case = Case(
            n=one(1, 2, 3),
            h=int(draw.integers(1, 40)),
            w=int(draw.integers(1, 40)),
            c=groups * one(1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20),
            groups=groups,
            channels_last=one(1, 0),
            t=one("float32", "float16"),
            m=one("float32", "float16"),
            skip=one("exact", "(N, C)", "(N, 1, 1, C)"),
            bias=one(True, False),
            keeps_sum=one(True, False),
            activation=one(1, 0),
        )
        tunables = {**one(*TUNABLES), **one(*TUNABLES)}
        if parts(skip_group_norm, case, tunables):
            taken += 1
            check(skip_group_norm, case, case.variant("joint"), tunables=tunables)
            call, inputs = prepared(skip_group_norm, case, tunables=tunables), case.inputs()
            first = call(inputs)
            assert all(same(first, call(inputs)) for _ in range(3))
