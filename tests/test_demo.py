"""What ``make demo`` runs ends well on this machine, and says so plainly where it does not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import webgpu_kernels as wk
from webgpu_kernels import demo

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.mark.device
def test_demo_passes_within_80_columns_and_without_noise() -> None:
    """The demo prints device, variant, passes, times and check, fits a terminal, and leaves stderr empty."""
    result = subprocess.run([sys.executable, "-m", "webgpu_kernels.demo"], capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "kernel  com.microsoft.SkipGroupNorm"
    assert lines[-1] == "passed"
    assert max(map(len, lines)) <= 80


@pytest.mark.device
def test_a_wrong_result_fails_the_demo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One element beyond its tolerance gives exit code 1 and the word FAILED."""
    monkeypatch.setattr(demo, "REPETITIONS", 1)
    original = demo.compare

    def off_by_one(results: Mapping[str, demo.Array], *rest: object) -> list[demo.Check]:
        wrong = results["Y"].copy()
        wrong[-1, -1, -1, -1] += 1
        return original({**results, "Y": wrong}, *rest)  # type: ignore[arg-type]  # the rest goes through untouched

    monkeypatch.setattr(demo, "compare", off_by_one)
    assert demo.main() == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("FAILED: ")


@pytest.mark.device
def test_without_float16_the_demo_runs_in_float32(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A device without shader-f16 and timestamp queries runs the same block in float32 and says both."""
    monkeypatch.setattr(demo, "REPETITIONS", 1)
    with wk.Device() as device:
        here = device.capabilities
        kept = set(here.features) - {"shader-f16", "timestamp-query"}
        less = wk.Capabilities(features=kept, limits=here.limits, adapter_info=here.adapter_info)
        monkeypatch.setattr(device, "capabilities", less)
        monkeypatch.setattr(wk, "default_device", lambda: device)
        assert demo.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == "tensors float32 [2, 64, 64, 320] (N, H, W, C), 32 groups; no float16 here"
    assert lines[6].endswith("not measured")
    assert lines[-1] == "passed"


def test_not_a_number_is_not_within_any_tolerance() -> None:
    """NaN compares false with everything, so it must not pass as "no error found"."""
    assert not demo.Check(name="Y", error=float("nan"), tolerance=1.0).passed


def test_library_errors_are_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A machine without an adapter gets the library's sentence, not a traceback."""

    def refuse() -> wk.Device:
        raise wk.errors.NoAdapterError("no Vulkan adapter on this machine")

    monkeypatch.setattr(wk, "default_device", refuse)
    assert demo.main() == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "demo: no Vulkan adapter on this machine\n"


def test_the_block_is_the_same_each_time() -> None:
    """Two runs check the same numbers."""
    first, second = demo.block_inputs("float16"), demo.block_inputs("float16")
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert first["X"].dtype == np.float16
    assert first["gamma"].dtype == np.float32
