"""The main job, run and checked: the end of a Stable Diffusion residual block. ``python -m webgpu_kernels.demo``."""

from __future__ import annotations

import importlib.util
import statistics
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.prepared import PreparedCall

OP_ID: Final = "com.microsoft.SkipGroupNorm"
SHAPE: Final = (2, 64, 64, 320)
GROUPS: Final = 32
EPSILON: Final = 1e-5
ATTRS: Final = {"groups": GROUPS, "activation": 1, "epsilon": EPSILON, "channels_last": 1}
OUTPUTS: Final = ("Y", "S")
REPETITIONS: Final = 7
WIDTH: Final = 80

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How an output compares with the reference, at the element that comes closest to its tolerance.

    Attributes:
        name: the output.
        error: absolute difference there.
        tolerance: what is allowed there.
    """

    name: str
    error: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether every element is within its tolerance; NaN is not."""
        return self.error <= self.tolerance


def main() -> int:
    """Run the demo.

    Returns:
        0, or 1 where the check fails or the kernel cannot run.
    """
    try:
        return _run(wk.default_device(), wk.get_kernel(OP_ID))
    except wk.errors.KernelError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


def _run(device: wk.Device, kernel: Kernel) -> int:
    half = "shader-f16" in device.capabilities.features
    inputs = block_inputs("float16" if half else "float32")
    _print_job(device, kernel, inputs["X"], half=half)
    start = time.perf_counter()
    call = kernel.prepare(inputs, attrs=ATTRS, outputs=OUTPUTS, device=device)
    compile_ms = (time.perf_counter() - start) * 1e3
    _print_passes(call)
    _print_times(call, inputs, compile_ms)
    return _print_checks(compare(call(inputs), kernel, inputs))


def _print_job(device: wk.Device, kernel: Kernel, x: Array, *, half: bool) -> None:
    software = ", software: a GPU is far faster" if device.adapter_info.get("isFallbackAdapter") else ""
    missing = "" if half else "; no float16 here"
    facts = {
        "kernel": kernel.op_id,
        "device": f"{device.name}{software}",
        "job": "the end of a Stable Diffusion residual block, with bias, S and SiLU",
        "tensors": f"{x.dtype} {list(x.shape)} (N, H, W, C), {GROUPS} groups{missing}",
    }
    for name, fact in facts.items():
        print(f"{name:<8}{textwrap.shorten(fact, WIDTH - 8)}")


def _print_passes(call: PreparedCall) -> None:
    _print_row(f"variant {call.variant}", "workgroups", "GPU time", heading=True)
    try:
        times: Mapping[str, float] = call.time()
    except wk.errors.DeviceError:
        times = {}
    for step in call.program.passes:
        gpu = _ms(times[step.id] / 1e6) if step.id in times else "not measured"
        _print_row(step.id, " x ".join(map(str, step.grid)), gpu)


def _print_times(call: PreparedCall, inputs: Mapping[str, Array], compile_ms: float) -> None:
    device = call.device
    tensors = {name: device.tensor(array) for name, array in inputs.items()}

    def on_gpu() -> None:
        call(tensors)
        device.synchronize()

    _print_row("wall time", "", "median", heading=True)
    _print_row("planning and compiling", "once", _ms(compile_ms))
    _print_row("a call on GPU tensors", "until it is done", _ms(median_ms(on_gpu)))
    _print_row("a call on numpy arrays", "in and out", _ms(median_ms(lambda: call(inputs))))


def _print_checks(checks: list[Check]) -> int:
    _print_row("check against the float64 reference", "worst error", "allowed there", heading=True)
    for check in checks:
        _print_row(check.name, f"{check.error:.2e}", f"{check.tolerance:.2e}")
    passed = all(check.passed for check in checks)
    print("\npassed" if passed else "\nFAILED: an output is further from the reference than its tolerance")
    return 0 if passed else 1


def _print_row(label: str, middle: str, right: str, *, heading: bool = False) -> None:
    print(f"\n{label:<40}{middle:>20}{right:>20}" if heading else f"  {label:<38}{middle:>20}{right:>20}")


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.3f} ms"


def block_inputs(dtype: str) -> dict[str, Array]:
    """Draw the tensors of the block, the same ones each time.

    Args:
        dtype: ``"float16"`` or ``"float32"``, of X, skip and bias.

    Returns:
        X and skip of shape (N, H, W, C), row-major, bias (C,) of that dtype; gamma and beta (C,) in float32.

    Source: ONNX Runtime's contrib operator SkipGroupNorm.
    """
    rng = np.random.default_rng(20)
    channels = SHAPE[-1]
    return {
        "X": rng.standard_normal(SHAPE, np.float32).astype(dtype),
        "gamma": rng.uniform(0.5, 1.5, channels).astype(np.float32),
        "beta": rng.uniform(-0.5, 0.5, channels).astype(np.float32),
        "skip": rng.standard_normal(SHAPE, np.float32).astype(dtype),
        "bias": rng.uniform(-0.5, 0.5, channels).astype(dtype),
    }


def compare(results: Mapping[str, Array], kernel: Kernel, inputs: Mapping[str, Array]) -> list[Check]:
    """Compare outputs with the package's float64 reference.

    Args:
        results: output name to array.
        kernel: the kernel whose package holds ``reference.py``.
        inputs: what it was given.

    Returns:
        One check an output.

    Source: docs/accuracy.md.
    """
    expected = load_reference(kernel).reference(inputs, ATTRS, OUTPUTS)
    allowed = tolerances(expected, inputs)
    checks = []
    for name in OUTPUTS:
        error = np.abs(results[name].astype(np.float64) - expected[name])
        worst = np.unravel_index(np.argmax(error / allowed[name]), error.shape)
        checks.append(Check(name=name, error=float(error[worst]), tolerance=float(allowed[name][worst])))
    return checks


def tolerances(expected: Mapping[str, Array], inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return what each element of each output may differ.

    Args:
        expected: the reference's Y and S, (N, H, W, C).
        inputs: what the kernel was given.

    Returns:
        Output name to an array of the output's shape, in float64.

    Source: docs/accuracy.md.
    """
    dtype = inputs["X"].dtype
    ulp = np.spacing(np.abs(expected["S"]).astype(dtype)).astype(np.float64)
    per_group = SHAPE[-1] // GROUPS
    grouped = expected["S"].reshape(SHAPE[0], -1, GROUPS, per_group)
    deviation = np.sqrt(grouped.var(axis=(1, 3)) + EPSILON)
    scale = np.abs(inputs["gamma"]) / np.repeat(deviation, per_group, axis=-1)[:, None, None, :]
    base, relative = (1e-4, 2.0**-9) if dtype == np.float16 else (3e-5, 1e-5)
    return {"Y": base + relative * np.abs(expected["Y"]) + 2 * ulp * scale, "S": ulp}


def load_reference(kernel: Kernel) -> ModuleType:
    """Import the ``reference.py`` beside a bundled package; its folder's name has dots, so it is found by path.

    Args:
        kernel: a bundled kernel.

    Returns:
        The module.

    Source: none.
    """
    path = Path(__file__).parent / "kernels" / kernel.op_id / "reference.py"
    spec = importlib.util.spec_from_file_location("webgpu_kernels_reference", path)
    if not path.exists() or spec is None or spec.loader is None:
        raise wk.errors.PackageError("the package has no reference", where=str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def median_ms(work: Callable[[], object]) -> float:
    """Return the median wall time of some work in milliseconds.

    Args:
        work: what to time; it must wait for the GPU itself.

    Returns:
        Milliseconds.

    Source: none.
    """
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


if __name__ == "__main__":
    sys.exit(main())
