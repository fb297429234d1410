"""Programs in headless Chromium: the same outputs, Tint's errors in the package's terms, and no browser left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from chromium_here import descendants, open_or_skip, settings_or_skip
from hand_made_programs import HEADER, Programs

from webgpu_kernels.errors import (
    DeviceClosed,
    DeviceError,
    DeviceLost,
    LimitError,
    NoAdapterError,
    ShaderError,
)
from webgpu_kernels.planning.program import Program, Scratch, Slot
from webgpu_kernels.tools.engines import open_engine
from webgpu_kernels.tools.engines.browser import find_settings
from webgpu_kernels.tools.engines.chromium import open_chromium

if TYPE_CHECKING:
    from collections.abc import Callable

    from webgpu_kernels.tools.engines.chromium import ChromiumEngine

pytestmark = pytest.mark.browser

IN, OUT = "@group(0) @binding(0) var<storage, read>", "@group(0) @binding(1) var<storage, read_write>"


def copying(make: Programs, body: str, count: int = 4, kind: str = "u32", dtype: str = "uint32") -> Program:
    """A program of one pass from x to y with a body of one's own."""
    wgsl = f"{IN} x: array<{kind}>;\n{OUT} y: array<{kind}>;\n{HEADER}\n{body}\n}}"
    step = make.step(wgsl, make.slot("x", "read-only-storage"), make.slot("y", "storage"))
    return make.program((step,), (make.use("x", (count,), dtype),), (make.use("y", (count,), dtype, output=True),))


def test_it_says_what_the_device_is(browser_engine: ChromiumEngine) -> None:
    """Capabilities and census are those of the page's device."""
    facts = browser_engine.capabilities
    assert facts.adapter_info["architecture"] == "swiftshader"
    assert facts.adapter_info["subgroupMinSize"] == 4
    assert "timestamp-query" in facts.features
    assert "shader-f16" not in facts.features
    assert facts.limits["maxStorageBufferBindingSize"] > 2**27
    assert "packed_4x8_integer_dot_product" in facts.wgsl_language_features
    census = browser_engine.census
    assert (census.engine, census.vendor, census.kind, census.software) == ("chromium", "google", "cpu", True)
    assert census.version.startswith("Chromium ")


def test_a_program_gives_its_outputs_and_times(browser_engine: ChromiumEngine, make: Programs) -> None:
    """One run, then as many timed ones as were asked for."""
    x = np.linspace(-3, 3, 256, dtype=np.float32)
    outcome = browser_engine.run(make.scale(), {"x": x}, repeat=3)
    assert np.array_equal(outcome.outputs["y"], 2 * x)
    assert outcome.outputs["y"].dtype == np.float32
    assert len(outcome.times_ns) == 3
    assert all(time >= 0 for time in outcome.times_ns)
    assert not outcome.unwritten


def test_no_times_are_taken_that_nobody_asked_for(browser_engine: ChromiumEngine, make: Programs) -> None:
    """Without repeat there are none."""
    assert browser_engine.run(make.scale(), {"x": np.ones(256, np.float32)}).times_ns == ()


def test_megabytes_pass_unharmed(browser_engine: ChromiumEngine, make: Programs) -> None:
    """Data go as bytes, in both directions."""
    x = np.random.default_rng(1).standard_normal(1 << 20).astype(np.float32)
    assert np.array_equal(browser_engine.run(make.scale(1 << 20), {"x": x}).outputs["y"], 2 * x)


def test_an_element_that_nothing_wrote_stands_out(browser_engine: ChromiumEngine, make: Programs) -> None:
    """Outputs are poisoned before the run."""
    outcome = browser_engine.run(copying(make, "if (id.x != 2) { y[id.x] = x[id.x]; }"), {"x": np.arange(4)})
    assert outcome.unwritten["y"].tolist() == [2]
    assert outcome.outputs["y"][[0, 1, 3]].tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    ("dtype", "values", "wanted"),
    [
        ("int8", [-128, -1, 0, 127], [-128, -1, 0, 127]),
        ("uint8", [0, 1, 200, 255], [0, 1, 200, 255]),
        ("int16", [-32768, -1, 0, 32767], [-32768, -1, 0, 32767]),
        ("bool", [True, False, True, True], [True, False, True, True]),
    ],
)
def test_narrow_elements_are_widened_and_cut_again(
    browser_engine: ChromiumEngine, make: Programs, dtype: str, values: list[Any], wanted: list[Any]
) -> None:
    """As on every engine, each takes a word on the device."""
    outcome = browser_engine.run(
        copying(make, "if (id.x < 4) { y[id.x] = x[id.x]; }", dtype=dtype), {"x": np.array(values, dtype)}
    )
    assert outcome.outputs["y"].dtype == np.dtype(dtype)
    assert outcome.outputs["y"].tolist() == wanted


def test_an_empty_output_runs_nothing(browser_engine: ChromiumEngine, make: Programs) -> None:
    """No pass is no work, and no time."""
    use = make.use("y", (0, 3), output=True)
    outcome = browser_engine.run(make.program((), (), (use,)), {}, repeat=2)
    assert outcome.outputs["y"].shape == (0, 3)
    assert outcome.times_ns == (0, 0)


def test_a_tensor_is_updated_in_place(browser_engine: ChromiumEngine, make: Programs) -> None:
    """An output that is an input, too, starts as what was given."""
    declaration = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;"
    wgsl = f"{declaration}\n{HEADER}\nif (id.x < 4) {{ x[id.x] += 1; }}\n}}"
    program = make.program(
        (make.step(wgsl, make.slot("x", "storage")),), (make.use("x", (4,)),), (make.use("x", (4,), output=True),)
    )
    outcome = browser_engine.run(program, {"x": np.arange(4, dtype=np.float32)})
    assert outcome.outputs["x"].tolist() == [1, 2, 3, 4]


def test_scratch_starts_as_the_program_asks(browser_engine: ChromiumEngine, make: Programs) -> None:
    """Cleared where it says so, poisoned elsewhere; and submissions follow one another."""
    first = (
        f"@group(0) @binding(0) var<storage, read_write> s: array<u32>;\n{HEADER}\nif (id.x == 0) {{ s[0] += 1; }}\n}}"
    )
    second = f"{IN} x: array<u32>;\n{OUT} y: array<u32>;\n{HEADER}\nif (id.x < 2) {{ y[id.x] = x[id.x]; }}\n}}"
    for zero_init, rest in ((True, 0), (False, 0xFFEAFFEA)):
        steps = (
            replace(make.step(first, make.slot("s", "storage", "scratch"), name="count"), submit_after=True),
            make.step(second, make.slot("s", "read-only-storage", "scratch"), make.slot("y", "storage"), name="copy"),
        )
        scratch = (Scratch("s", 8, zero_init),)
        program = make.program(steps, (), (make.use("y", (2,), "uint32", output=True),), scratch)
        outcome = browser_engine.run(program, {}, repeat=1)
        assert outcome.outputs["y"].tolist() == [rest + 1, rest]


def test_what_a_program_keeps_is_cleared_here(browser_engine: ChromiumEngine, make: Programs) -> None:
    """A browser's host knows nothing of it, and need not: zeros are what a first run finds."""
    for repeat in (0, 2):
        outcome = browser_engine.run(make.counting(), {"x": np.zeros(1, np.float32)}, repeat=repeat)
        assert outcome.outputs["y"].tolist() == [0, 0]


def test_a_window_of_a_tensor_is_bound(browser_engine: ChromiumEngine, make: Programs) -> None:
    """Offset and size of a binding are the program's."""
    program = copying(make, "if (id.x < 4) { y[id.x] = x[id.x] + arrayLength(&x); }")
    window = Slot("read-only-storage", "tensor", "x", 0, 256, 64)
    program = make.program(
        (make.step(program.passes[0].wgsl, window, make.slot("y", "storage")),),
        (make.use("x", (128,), "uint32"),),
        (make.use("y", (4,), "uint32", output=True),),
    )
    outcome = browser_engine.run(program, {"x": np.arange(128, dtype=np.uint32)})
    assert outcome.outputs["y"].tolist() == [64 + 16, 65 + 16, 66 + 16, 67 + 16]


def test_a_pass_with_an_empty_grid_is_skipped(browser_engine: ChromiumEngine, make: Programs) -> None:
    """It is not even compiled."""
    program = make.scale()
    broken = make.step("no WGSL", grid=(0, 1, 1), name="skipped")
    outcome = browser_engine.run(replace(program, passes=(broken, *program.passes)), {"x": np.ones(256, np.float32)})
    assert outcome.outputs["y"].sum() == 512


def test_a_view_of_other_memory_is_copied(browser_engine: ChromiumEngine, make: Programs) -> None:
    """The outputs have memory of their own, so that a pass with view aliases runs."""
    program = copying(make, "if (id.x < 4) { y[id.x] = x[id.x]; }")
    step = replace(program.passes[0], view_aliases=(("x", "y"),))
    outcome = browser_engine.run(replace(program, passes=(step,)), {"x": np.arange(4)})
    assert outcome.outputs["y"].tolist() == [0, 1, 2, 3]


def test_tint_s_error_names_the_template_s_line(browser_engine: ChromiumEngine, make: Programs) -> None:
    """The line of the WGSL is traced to where it came from."""
    with pytest.raises(ShaderError) as caught:
        browser_engine.run(copying(make, "y[id.x] = nowhere;"), {"x": np.arange(4)})
    assert str(caught.value) == (
        "test.Op, pass only: the shader does not compile (line 4 of the WGSL, kernel.wgsl.jinja:14): "
        "unresolved value 'nowhere'"
    )
    assert (caught.value.template, caught.value.template_line, caught.value.wgsl_line) == ("kernel.wgsl.jinja", 14, 4)


def test_tint_refuses_a_barrier_that_not_all_reach(browser_engine: ChromiumEngine, make: Programs) -> None:
    """Uniformity is what browsers check and wgpu does not."""
    with pytest.raises(ShaderError, match="'workgroupBarrier' must only be called from uniform control flow"):
        browser_engine.run(copying(make, "if (x[id.x] > 1) { workgroupBarrier(); }"), {"x": np.arange(4)})


def test_a_shader_without_the_entry_point_is_refused(browser_engine: ChromiumEngine, make: Programs) -> None:
    """What fails only when the pipeline is made names no line."""
    step = make.step("@compute @workgroup_size(1) fn other() {}")
    with pytest.raises(ShaderError, match="the shader does not compile: ") as caught:
        browser_engine.run(make.program((step,), (), ()), {})
    assert caught.value.wgsl_line is None
    assert '"main"' in str(caught.value)


def test_a_workgroup_beyond_the_limits_is_refused(browser_engine: ChromiumEngine, make: Programs) -> None:
    """The limit is named, with what was asked and what there is."""
    step = make.step("@compute @workgroup_size(512) fn main() {}")
    with pytest.raises(LimitError) as caught:
        browser_engine.run(make.program((step,), (), ()), {})
    assert str(caught.value) == (
        "test.Op: the program asks too much of the device: needs 512, the device's "
        "maxComputeInvocationsPerWorkgroup is 256"
    )


def test_a_feature_that_is_not_there_is_named(browser_engine: ChromiumEngine, make: Programs) -> None:
    """A float16 program does not get as far as Tint."""
    step = make.step("enable f16;\n@compute @workgroup_size(1) fn main() {}")
    with pytest.raises(DeviceError, match="the device lacks shader-f16, which the program needs"):
        browser_engine.run(make.program((step,), (), ()), {})


def test_a_buffer_beyond_the_device_s_is_refused(browser_engine: ChromiumEngine, make: Programs) -> None:
    """Before memory is asked for."""
    output = replace(make.use("y", (4,), output=True), size_bytes=2**40)
    with pytest.raises(LimitError, match=r"needs 1099511627776, the device's maxBufferSize is \d+$"):
        browser_engine.run(make.program((), (), (output,)), {})


@pytest.mark.parametrize("kind", ["renderer", "gpu-process"])
def test_a_crash_is_one_error_and_the_next_run_works(make: Programs, kind: str) -> None:
    """Whether the page or the GPU's process dies: nobody has to open another engine."""
    before = descendants(os.getpid())
    engine = open_or_skip()
    try:
        mine = {pid: words for pid, words in descendants(os.getpid()).items() if pid not in before}
        doomed = [pid for pid, words in mine.items() if f"--type={kind}" in words]
        assert doomed
        for pid in doomed:
            threading.Timer(0.5, os.kill, (pid, signal.SIGKILL)).start()
        with pytest.raises(DeviceLost, match=r"test\.Op: "):
            engine.run(make.spin(4000), {"x": np.ones(64, np.float32)})
        assert engine.run(make.scale(), {"x": np.ones(256, np.float32)}).outputs["y"].sum() == 512
    finally:
        engine.close()


def test_a_run_without_end_is_ended(make: Programs) -> None:
    """After the time it may take the browser is closed, and the next run starts another."""
    engine = open_or_skip(timeout_s=1.5)
    try:
        with pytest.raises(DeviceLost) as caught:
            engine.run(make.spin(4000), {"x": np.ones(64, np.float32)})
        assert str(caught.value) == (
            "test.Op: Chromium gave no answer within 1.5 s while running, and was ended. "
            "WEBGPU_KERNELS_CHROMIUM_TIMEOUT allows more seconds"
        )
        assert engine.run(make.scale(), {"x": np.ones(256, np.float32)}).outputs["y"].sum() == 512
    finally:
        engine.close()


def test_closing_ends_the_browser(make: Programs) -> None:
    """No process is left; a second close does nothing, and a run says what happened."""
    before = descendants(os.getpid())
    engine = open_or_skip()
    engine.close()
    engine.close()
    assert left_after(10, lambda: [pid for pid in descendants(os.getpid()) if pid not in before]) == []
    with pytest.raises(DeviceClosed) as caught:
        engine.run(make.scale(), {"x": np.ones(256, np.float32)})
    assert str(caught.value) == "test.Op: the engine was closed"


INTERRUPTED = """
import numpy as np
from chromium_here import open_or_skip
from hand_made_programs import Programs
engine = open_or_skip()
print("ready", flush=True)
try:
    engine.run(Programs().spin(4000), {"x": np.ones(64, np.float32)})
except KeyboardInterrupt:
    engine.close()
    print("closed", flush=True)
"""


def test_ctrl_c_ends_the_browser(tmp_path: Path) -> None:
    """A run that is interrupted leaves at once, and no process behind."""
    settings_or_skip()
    tests = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", INTERRUPTED]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    started = descendants(process.pid)
    assert started
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate(timeout=30)
    assert (output, complaints) == ("closed\n", "")
    assert left_after(10, lambda: [pid for pid in started if (Path("/proc") / str(pid) / "exe").exists()]) == []


def left_after(seconds: float, look: Callable[[], list[int]]) -> list[int]:
    """Wait until nothing is left, and return what is."""
    end = time.monotonic() + seconds
    while (left := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def test_without_chromium_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message names Debian's package and the variable."""
    monkeypatch.delenv("WEBGPU_KERNELS_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoAdapterError) as caught:
        open_engine("chromium")
    assert str(caught.value) == (
        "Chromium is not on PATH. On Debian: apt-get install chromium. Else name it in WEBGPU_KERNELS_CHROMIUM"
    )


def test_a_variable_that_names_no_program_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not passed over for what PATH has."""
    monkeypatch.setenv("WEBGPU_KERNELS_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(NoAdapterError) as caught:
        open_engine("chromium")
    assert caught.value.message == "WEBGPU_KERNELS_CHROMIUM is /nowhere/chromium, and that is no program"


def test_a_program_that_is_no_browser_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, with what to look at."""
    settings_or_skip()
    monkeypatch.setenv("WEBGPU_KERNELS_CHROMIUM", "/bin/false")
    with pytest.raises(NoAdapterError) as caught:
        open_engine("chromium")
    assert str(caught.value).startswith("/bin/false does not start (")
    assert "\n" not in str(caught.value)


def test_arguments_of_ones_own_reach_the_browser() -> None:
    """WEBGPU_KERNELS_CHROMIUM_ARGS is split as a shell would."""
    environment = {"WEBGPU_KERNELS_CHROMIUM": "/bin/sh", "WEBGPU_KERNELS_CHROMIUM_ARGS": "--one '--two=a b'"}
    settings = find_settings(software=False, environment=environment)
    assert settings.arguments[-2:] == ("--one", "--two=a b")
    assert "--use-webgpu-adapter=swiftshader" not in settings.arguments


def test_an_adapter_that_is_not_there_is_an_error() -> None:
    """Never another one in its place."""
    settings_or_skip()
    with pytest.raises(NoAdapterError, match=r"no such adapter in Chromium: expected swiftshader.*, got 'GeForce'"):
        open_chromium("GeForce")


def test_a_timeout_that_is_no_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the browser starts."""
    settings_or_skip()
    monkeypatch.setenv("WEBGPU_KERNELS_CHROMIUM_TIMEOUT", "soon")
    with pytest.raises(NoAdapterError) as caught:
        open_chromium()
    assert str(caught.value) == "WEBGPU_KERNELS_CHROMIUM_TIMEOUT: expected a number of seconds, got 'soon'"
