"""What benchmarks say: whether the choice was right, and how others fare."""

from __future__ import annotations

from typing import Any

import pytest
from fabricated_results import read, results

from webgpu_kernels.tools.report.noise import Time
from webgpu_kernels.tools.report.runs import runs_of
from webgpu_kernels.tools.report.speed import Bench, benches_of


def timed(median: float | None, spread: float = 0.1, **more: Any) -> dict[str, Any]:
    """Return a variant's time as JSON."""
    return {"medianUs": median, "spreadUs": spread, "runsUs": [], "gbPerS": 1.5, "ofCopy": 0.5, **more}


def bench_of(variants: dict[str, Any], peers: dict[str, Any] | None = None, **more: Any) -> Bench:
    """Return a benchmark whose chosen variant is ``ours``."""
    document = results(cases=0, benches=1, packages=("ai.onnx.Add",))
    document["benches"][0] |= {"chosen": "ours", "variants": variants, "peers": peers or {}, **more}
    return benches_of(runs_of([read(document)]))[0]


def test_a_faster_variant_makes_the_choice_wrong() -> None:
    """The fastest of them is the one that should have been chosen."""
    bench = bench_of({"ours": timed(100), "good": timed(90), "better": timed(80), "slow": timed(300)})
    assert bench.verdict == "wrong"
    assert bench.better is not None
    assert (bench.better.name, bench.better.ratio) == ("better", 0.8)
    assert [(timing.name, timing.kind) for timing in bench.variants] == [
        ("better", "faster"),
        ("good", "faster"),
        ("ours", "chosen"),
        ("slow", "other"),
    ]


def test_a_hair_is_no_difference() -> None:
    """Within three percent the choice is right."""
    bench = bench_of({"ours": timed(100), "same": timed(98)})
    assert (bench.verdict, bench.better) == ("best", None)


def test_noise_is_no_verdict() -> None:
    """Where the chosen one's time, or that of one that seems faster, is too wide."""
    assert bench_of({"ours": timed(100, 30), "other": timed(90)}).verdict == "noisy"
    assert bench_of({"ours": timed(100), "other": timed(90, 20)}).verdict == "noisy"
    assert bench_of({"ours": timed(100, 15), "other": timed(40)}).verdict == "noisy"
    assert bench_of({"ours": timed(100), "other": timed(190, 60)}).verdict == "best"


@pytest.mark.parametrize("median", [None, 0, "NaN", -3])
def test_a_choice_without_a_time_is_no_verdict(median: Any) -> None:
    """Whatever stands in its place."""
    bench = bench_of({"ours": timed(median, error="it broke"), "other": timed(90)})
    assert (bench.verdict, bench.chosen, bench.better) == ("unknown", None, None)
    assert bench.tags == ("unknown", "error")
    assert [timing.notes for timing in bench.variants] == [(), ("it broke",)]


def test_peers_that_compute_something_else_do_not_count() -> None:
    """They stand last, however fast they are."""
    peer = {"version": "1.2", "device": "CPU", "clock": "wall", "counted": True, "note": None}
    bench = bench_of(
        {"ours": timed(100)},
        {
            "wrong": {**peer, **timed(1, errorOfAllowed=214), "counted": False},
            "slow": {**peer, **timed(250)},
            "absent": {**peer, **timed(None), "note": "not installed"},
        },
    )
    assert [(one.name, one.kind, one.ratio) for one in bench.peers] == [
        ("slow 1.2", "peer", 2.5),
        ("wrong 1.2", "uncounted", 0.01),
        ("absent 1.2", "peer", None),
    ]
    assert bench.peers[1].notes == ("CPU, wall time", "its error is 214 times what is allowed")
    assert bench.peers[2].notes == ("CPU, wall time", "not installed")


def test_the_copy_is_the_roof() -> None:
    """And its absence is no error."""
    copy = {"medianUs": 80, "spreadUs": 1, "gbPerS": 3.2}
    bench = bench_of({"ours": timed(100)}, copy=copy, clock="wall")
    assert (bench.copy, bench.copy_speed, bench.tags) == (Time(80, 1), 3.2, ("best", "wall"))
    assert bench_of({"ours": timed(100)}, copy=None).copy is None


def test_points_and_bars_say_what_they_are() -> None:
    """To a screen reader and to a pointer."""
    bench = bench_of({"ours": timed(100), "other": timed(150)})
    assert [timing.said for timing in bench.variants] == [
        "ours: 100 µs ± 100 ns, chosen",
        "other: 150 µs ± 100 ns, +50 % against the chosen one",
    ]
