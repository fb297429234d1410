"""Cases are checked, measured on every variant, or skipped with a reason; how long they take is not asserted."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bench_packages import BENCH_CASE, write_benched
from doubling_package import RIGHT

import webgpu_kernels as wk
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.tools.bench import checking, copying
from webgpu_kernels.tools.bench.reading import benches_of
from webgpu_kernels.tools.bench.running import Runner
from webgpu_kernels.tools.bench.stands import Effort, NativeStand
from webgpu_kernels.tools.bench.traffic import Moved
from webgpu_kernels.tools.engines import DeviceCensus, open_engine
from webgpu_kernels.tools.engines.native import NativeEngine
from webgpu_kernels.tools.results import BenchResult, SkippedBench

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.planning.capabilities import Capabilities

pytestmark = pytest.mark.device

SHORT = Effort(runs=5, seconds=0.05)
WRONG = "y[i] = x[i] * select(2.0, 2.5, i == 5u);"


def run(root: Path, engine: Any, **options: Any) -> list[BenchResult | SkippedBench]:
    """Measure every case of a package."""
    kernel = wk.load_kernel(root)
    runner = Runner(engine, effort=SHORT, **options)
    return [runner.run(case, kernel) for case in benches_of(kernel.package).cases]


def measured(root: Path, engine: Any, **options: Any) -> BenchResult:
    """Measure a package with one case."""
    (result,) = run(root, engine, **options)
    assert isinstance(result, BenchResult), result
    return result


def test_every_variant_is_timed_beside_a_copy(tmp_path: Path, engine: NativeEngine) -> None:
    """Bytes come from the tensors where the case does not say."""
    result = measured(write_benched(tmp_path / "p", {"first": RIGHT, "second": RIGHT}), engine)
    assert (result.package, result.case, result.chosen) == ("test.Double", "many", "first")
    assert result.request == "x float32[4096]"
    assert (result.bytes_read, result.bytes_written, result.operations) == (16384, 16384, None)
    assert list(result.variants) == ["first", "second"]
    assert result.copy is not None
    for time in result.variants.values():
        assert time.error is None
        assert time.median_us is not None
        assert time.median_us > 0
        assert len(time.runs_us) == 5
        assert time.gb_per_s == pytest.approx(32768 / time.median_us / 1000, abs=1e-3)
        assert time.of_copy == pytest.approx(result.copy.median_us / time.median_us, abs=1e-3)


def test_formulas_say_what_moves(tmp_path: Path, engine: NativeEngine) -> None:
    """In the contract's names."""
    case = {**BENCH_CASE, "bytesRead": "numel(shapes.x)", "bytesWritten": 7}
    root = write_benched(tmp_path / "p", None, [case], head={"operations": "3 * numel(shapes.y)"})
    result = measured(root, engine)
    assert (result.bytes_read, result.bytes_written, result.operations) == (4096, 7, 12288)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("numel(shapes.q)", "bench.json: many: bytesRead: the formula fails: numel(shapes.q): "),
        ("numel(shapes.x) / 3", "expected a whole number of at least 0, got 1365.3333333333333"),
        ("colour", "unknown identifier colour"),
    ],
)
def test_a_formula_that_makes_no_sense_is_an_error(
    tmp_path: Path, engine: NativeEngine, formula: str, said: str
) -> None:
    """It is the package's."""
    with pytest.raises(SuiteError) as caught:
        run(write_benched(tmp_path / "p", None, [{**BENCH_CASE, "bytesRead": formula}]), engine)
    assert said in str(caught.value)


def test_a_wrong_variant_has_no_speed(tmp_path: Path, engine: NativeEngine) -> None:
    """The others have."""
    result = measured(write_benched(tmp_path / "p", {"fast": WRONG, "plain": RIGHT}), engine)
    assert result.variants["fast"].error == "wrong: y: 1 of 4,096 elements is wrong"
    assert result.variants["fast"].median_us is None
    assert result.variants["plain"].median_us is not None


def test_an_element_that_nobody_writes_is_wrong(tmp_path: Path, engine: NativeEngine) -> None:
    """Speed is easily had by doing less."""
    result = measured(write_benched(tmp_path / "p", {"fast": "if (i != 9u) { y[i] = x[i] + x[i]; }"}), engine)
    assert result.variants["fast"].error == "wrong: y: 1 of 4,096 elements is not written"


def test_a_variant_that_does_not_compile_is_an_error_of_its_own(tmp_path: Path, engine: NativeEngine) -> None:
    """The run goes on."""
    result = measured(write_benched(tmp_path / "p", {"broken": "y[i] = nothing;", "plain": RIGHT}), engine)
    assert (result.variants["broken"].error or "").startswith("ShaderError: ")
    assert result.variants["plain"].error is None


def test_without_a_reference_variants_are_held_against_the_last(tmp_path: Path, engine: NativeEngine) -> None:
    """And that is said."""
    bodies = {"fast": WRONG, "good": RIGHT, "plain": RIGHT}
    result = measured(write_benched(tmp_path / "p", bodies, reference=None), engine)
    assert result.variants["fast"].error == "wrong: y: 1 of 4,096 elements is wrong"
    assert "held against plain: there is no reference that may be run" in (result.variants["good"].note or "")


def test_a_large_case_is_held_against_the_last_variant(
    tmp_path: Path, engine: NativeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """References take minutes then; with one variant nothing is checked, and that is said."""
    monkeypatch.setattr(checking, "CHECKED_BYTES", 1000)
    result = measured(write_benched(tmp_path / "p", {"plain": RIGHT}), engine)
    assert "not checked: it is too large for the reference" in (result.variants["plain"].note or "")


def test_one_variant_can_be_asked_for(tmp_path: Path, engine: NativeEngine) -> None:
    """The chosen one is still named."""
    result = measured(write_benched(tmp_path / "p", {"a": RIGHT, "b": RIGHT}), engine, variant="b")
    assert (list(result.variants), result.chosen) == (["b"], "a")


def test_without_timestamps_the_host_measures(tmp_path: Path, engine: NativeEngine) -> None:
    """And the result says so."""
    device = engine.device
    features = device.capabilities.features
    poorer = replace(device.capabilities, features=frozenset(features) - {"timestamp-query"})
    kept, device.capabilities = device.capabilities, poorer
    try:
        result = measured(write_benched(tmp_path / "p"), engine)
    finally:
        device.capabilities = kept
    assert result.clock == "wall"
    assert result.variants["plain"].median_us is not None


def test_what_is_too_large_is_skipped(tmp_path: Path, engine: NativeEngine) -> None:
    """For the device, and for whoever says how much is too much."""
    huge = {"name": "huge", "inputs": {"x": {"dtype": "float32", "shape": [2**31]}}}
    root = write_benched(tmp_path / "p", None, [huge])
    (skipped,) = run(root, engine, most_bytes=2**62)
    assert isinstance(skipped, SkippedBench)
    assert skipped.reason.startswith("too large for the device: max")
    assert not skipped.fault
    (skipped,) = run(root, engine, most_bytes=10**6)
    assert skipped == SkippedBench(package="test.Double", case="huge", reason="too large: tensors of more than 1 MB")


def test_what_the_device_lacks_is_skipped(tmp_path: Path, engine: NativeEngine) -> None:
    """It is nobody's fault."""

    class Poorer(NativeEngine):
        @property
        def capabilities(self) -> Capabilities:
            known = super().capabilities
            return replace(known, features=frozenset(known.features) - {"shader-f16"})

    half = {"name": "half", "inputs": {"x": {"dtype": "float16", "shape": [8]}}}
    (skipped,) = run(write_benched(tmp_path / "p", None, [half]), Poorer(engine.device, engine._info))
    assert isinstance(skipped, SkippedBench)
    assert skipped.reason == "float16 needs the feature shader-f16, which the device lacks"
    assert not skipped.fault


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"q": {"dtype": "float32", "shape": [8]}}, "unknown input 'q'"),
        ({"x": {"dtype": "int64", "shape": [8]}}, "wrong dtype"),
        ({"x": {"dtype": "float32", "shape": [0]}}, "there is nothing to compute"),
    ],
)
def test_what_is_no_call_is_the_packages_fault(
    tmp_path: Path, engine: NativeEngine, inputs: dict[str, Any], said: str
) -> None:
    """It is said, and the other cases are measured."""
    cases = [{"name": "bad", "inputs": inputs}, BENCH_CASE]
    bad, good = run(write_benched(tmp_path / "p", None, cases), engine)
    assert isinstance(bad, SkippedBench)
    assert bad.fault
    assert said in bad.reason
    assert isinstance(good, BenchResult)


@pytest.mark.parametrize(("reads", "writes"), [(4096, 4096), (4096, 64), (64, 4096), (16, 16), (4112, 4096)])
def test_the_copy_copies(engine: NativeEngine, reads: int, writes: int) -> None:
    """What it reads lands where it writes, whichever is longer and however ragged."""
    kernel = wk.load_kernel(copying.FOLDER, device=engine.device)
    taken = np.arange(1, reads // 4 + 1, dtype=np.uint32)
    got = kernel(taken=taken, outputs={"given": wk.TensorSpec((writes // 4,), "uint32")})["given"]
    common = min(reads, writes) // 4
    assert np.array_equal(got[:common], taken[:common])
    assert np.count_nonzero(got) == got.size or reads < writes


def test_a_large_copy_runs_four_vectors_a_lane(engine: NativeEngine) -> None:
    """And copies all the same."""
    kernel = wk.load_kernel(copying.FOLDER, device=engine.device)
    taken = np.arange(1, 4 * 65_536 + 5, dtype=np.uint32)
    got = kernel(taken=taken, outputs={"given": wk.TensorSpec(taken.shape, "uint32")})["given"]
    assert np.array_equal(got, taken)


def test_a_copy_beyond_one_binding_is_scaled(engine: NativeEngine) -> None:
    """It is measured at the largest size that a binding has."""

    class Narrow(NativeEngine):
        @property
        def capabilities(self) -> Capabilities:
            known = super().capabilities
            return replace(known, limits={**known.limits, "maxStorageBufferBindingSize": 65536})

    copier = copying.Copier(Narrow(engine.device, engine._info))
    whole = copier.time(Moved(4 * 65536, 65536), SHORT)
    part = copier.time(Moved(65536, 16384), SHORT)
    assert whole.median_us == pytest.approx(4 * part.median_us, rel=1e-3)


def test_a_gpu_is_kept_busy_before_it_is_timed(engine: NativeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """By copies, whose number is found out at the first time."""
    monkeypatch.setattr(copying, "_LOAD_BYTES", 65536)
    monkeypatch.setattr(copying, "_LOAD_SECONDS", 0.001)
    monkeypatch.setattr(DeviceCensus, "software", property(lambda self: False))
    copier = copying.Copier(engine)
    assert copier.busy is not None
    sample = copier.time(Moved(4096, 4096), SHORT)
    assert len(sample.runs_us) == 5
    assert copier.busy._rounds >= 1


def test_sets_are_cold_and_tables_shared(tmp_path: Path, engine: NativeEngine) -> None:
    """Small cases get many sets of buffers; an input of which little is read is there once."""
    kernel = wk.load_kernel(write_benched(tmp_path / "p"))
    runner = Runner(engine, effort=SHORT)
    (case,) = benches_of(kernel.package).cases
    result = runner.run(case, kernel)
    assert isinstance(result, BenchResult)
    program = case.call.program(kernel, engine.capabilities)
    arrays = _Fixed({"x": np.ones(4096, np.float32)})
    whole = NativeStand(engine.device, program, arrays, Moved(16384, 16384))
    part = NativeStand(engine.device, program, arrays, Moved(64, 16384))
    try:
        assert whole.sets == part.sets == 32
        assert len({id(inputs[0]) for inputs, _ in whole._sets}) == 32
        assert len({id(inputs[0]) for inputs, _ in part._sets}) == 1
        assert len({id(outputs[0]) for _, outputs in part._sets}) == 32
    finally:
        whole.close()
        part.close()


class _Fixed:
    """The same arrays in every set."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._arrays = arrays

    def of_set(self, index: int) -> dict[str, Any]:
        return self._arrays


@pytest.mark.browser
@pytest.mark.usefixtures("chromium")
def test_chromium_measures_too(tmp_path: Path) -> None:
    """Through the engine's own clock."""
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed")
    opened = open_engine("chromium")
    try:
        result = measured(write_benched(tmp_path / "p", {"fast": WRONG, "plain": RIGHT}), opened)
    finally:
        opened.close()
    assert result.variants["fast"].error == "wrong: y: 1 of 4,096 elements is wrong"
    assert result.variants["plain"].median_us is not None
