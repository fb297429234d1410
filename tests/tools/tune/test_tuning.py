"""Tuning tries variants and tunables, throws out what is wrong, and keeps what is faster beyond the noise.

No clock decides here: a stand with made-up times takes the place of the device's.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from bench_packages import write_benched
from doubling_package import RIGHT

import webgpu_kernels as wk
from webgpu_kernels.errors import ExtraMissing
from webgpu_kernels.tools.bench.reading import benches_of
from webgpu_kernels.tools.bench.running import Runner
from webgpu_kernels.tools.bench.samples import Sample, sample_of
from webgpu_kernels.tools.tune.space import knobs_of
from webgpu_kernels.tools.tune.tuning import tune_package
from webgpu_kernels.tuning.profile import Entry, Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.tune.tuning import TuningRun

WRONG = "y[i] = x[i];"
SIZED = "y[i] = x[i] + x[i]; // {{ tunables.SIZE }} {{ tunables.IDLE is defined }}"
MANIFEST = {"tunables": {"SIZE": {"default": 8}, "IDLE": {"default": 4}}}


class MadeUp:
    """A stand whose times depend on the program's text alone."""

    clock = "gpu"

    def __init__(self, time_of: Callable[[str], float]) -> None:
        self._time_of = time_of

    def time(self, program: Program, effort: Any) -> Sample:
        """Look at the text."""
        return sample_of([self._time_of(program.passes[0].wgsl)] * 9)

    def close(self) -> None:
        """Do nothing."""


def tuned(
    root: Path,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    time_of: Callable[[str], float],
    *,
    seconds: float = 3.0,
    earlier: Profile | None = None,
    said: list[str] | None = None,
) -> TuningRun:
    """Tune a package with made-up times."""
    monkeypatch.setattr(Runner, "stand", lambda self, ready: MadeUp(time_of))
    kernel = wk.load_kernel(root)
    cases = benches_of(kernel.package).cases
    say = said.append if said is not None else None
    return tune_package(kernel, cases, Runner(engine), seconds=seconds, earlier=earlier, say=say)


def size_of(wgsl: str) -> int:
    """Return the tunable that a shader was rendered with."""
    return int(wgsl.split("// ")[1].split(maxsplit=1)[0])


@pytest.mark.device
def test_the_fastest_variant_is_kept(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it gained, for the call that was measured."""
    root = write_benched(tmp_path / "p", {"slow": f"{RIGHT} // slow", "fast": f"{RIGHT} // fast"})
    run = tuned(root, engine, monkeypatch, lambda wgsl: 10.0 if "fast" in wgsl else 30.0)
    (found,) = run.found
    assert (found.before, found.way.variant, dict(found.way.tunables)) == ("slow", "fast", {})
    assert (found.before_us, found.us, found.gain, found.tried) == (30.0, 10.0, 3.0, 2)
    (entry,) = run.profile.entries
    assert (entry.case, entry.variant, entry.untuned_variant) == ("many", "fast", "slow")
    assert entry.inputs["x"] == wk.TensorSpec((4096,), "float32")
    assert entry.outputs == ("y",)
    assert run.profile.op_id == "test.Double"
    assert len(run.profile.digest) == 64


@pytest.mark.device
def test_tunables_are_searched_and_idle_ones_left_out(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes no shader is no finding."""
    root = write_benched(tmp_path / "p", {"plain": SIZED}, manifest=MANIFEST)
    run = tuned(root, engine, monkeypatch, lambda wgsl: 100.0 / size_of(wgsl))
    (found,) = run.found
    assert dict(found.way.tunables) == {"SIZE": 32}
    assert found.tried == 5


@pytest.mark.device
def test_a_wrong_result_disqualifies(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast it is."""
    wrong_at_32 = "y[i] = x[i] * select(2.0, 1.0, {{ tunables.SIZE }}u == 32u); // {{ tunables.SIZE }}"
    root = write_benched(tmp_path / "p", {"plain": wrong_at_32, "wrong": f"{WRONG} // 99"}, manifest=MANIFEST)
    run = tuned(root, engine, monkeypatch, lambda wgsl: 100.0 / size_of(wgsl))
    (found,) = run.found
    assert (found.way.variant, dict(found.way.tunables), found.wrong) == ("plain", {"SIZE": 16}, 2)


@pytest.mark.device
def test_what_does_not_compile_is_out(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """And counted."""
    root = write_benched(tmp_path / "p", {"plain": RIGHT, "broken": "y[i] = nothing;"})
    (found,) = tuned(root, engine, monkeypatch, lambda _: 10.0).found
    assert (found.faster, found.failed, found.wrong) == (False, 1, 0)


@pytest.mark.device
def test_a_hair_is_no_gain(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept then."""
    root = write_benched(tmp_path / "p", {"slow": f"{RIGHT} // slow", "fast": f"{RIGHT} // fast"})
    run = tuned(root, engine, monkeypatch, lambda wgsl: 99.0 if "fast" in wgsl else 100.0)
    assert not run.found[0].faster
    assert run.profile.entries == ()


@pytest.mark.device
def test_a_wrong_default_is_the_packages_fault(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to be faster than."""
    root = write_benched(tmp_path / "p", {"first": WRONG, "second": RIGHT})
    run = tuned(root, engine, monkeypatch, lambda _: 10.0)
    (skipped,) = run.skipped
    assert (skipped.case, skipped.fault) == ("many", True)
    assert skipped.reason == "first, which a call takes, is wrong or fails"


@pytest.mark.device
def test_what_was_found_before_is_tried_first_and_kept(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of cases that are not searched it stays as it is."""
    root = write_benched(tmp_path / "p", {"plain": SIZED}, manifest=MANIFEST)
    x = {"x": wk.TensorSpec((4096,), "float32")}
    known = Entry(case="many", inputs=x, variant="plain", tunables={"SIZE": 2})
    other = Entry(case="other", inputs=x, variant="plain", tunables={"SIZE": 4})
    earlier = Profile(op_id="test.Double", digest="d", device={}, created="c", entries=(known, other))
    run = tuned(root, engine, monkeypatch, lambda wgsl: float(size_of(wgsl)), seconds=0.01, earlier=earlier)
    assert [entry.case for entry in run.profile.entries][:1] == ["other"]


@pytest.mark.device
def test_a_small_budget_takes_cases_from_all_over(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says how many are left out; progress names the case."""
    cases: list[Mapping[str, Any]] = [
        {"name": f"c{size}", "inputs": {"x": {"dtype": "float32", "shape": [size]}}} for size in range(1, 8)
    ]
    said: list[str] = []
    root = write_benched(tmp_path / "p", None, cases)
    run = tuned(root, engine, monkeypatch, lambda _: 10.0, seconds=4.5, said=said)
    assert [found.case for found in run.found] == ["c1", "c4"]
    assert run.left_out == 5
    assert said[0] == "c1 (1 of 2)"
    assert said[-1].startswith("c4 (2 of 2)")


def test_values_lie_around_the_default() -> None:
    """Integers by powers of two, flags both ways; a text has no neighbours."""
    knobs = knobs_of(wk.get_kernel("ai.onnx.Add").manifest)
    assert knobs["WORKGROUP_SIZE"].default == 256
    assert knobs["WORKGROUP_SIZE"].values == (64, 128, 256, 512, 1024)
    assert knobs["ITEMS_PER_THREAD"].values == (1, 2, 4, 8, 16)


@pytest.mark.device
def test_without_optuna_the_extra_is_named(tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything runs."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.setattr("webgpu_kernels.tools.tune.searching.find_spec", lambda name: None)
    with pytest.raises(ExtraMissing) as caught:
        tuned(write_benched(tmp_path / "p"), engine, monkeypatch, lambda _: 10.0)
    assert str(caught.value) == "tuning needs optuna. It comes with: pip install 'webgpu-kernels[tune]'."
