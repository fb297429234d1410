"""One look-up in a quantised table, through this library and through ONNX Runtime's providers, in turns.

    .venv/bin/python benchmarks/gather.py [ROUNDS]

Each case is timed over ROUNDS look-ups, 50 where none are given. The table is on the device, or in the model, before
the clock starts; indices come from numpy and the rows are back in numpy when it stops. ONNX Runtime's WebGPU provider
takes part where the package onnxruntime-webgpu is installed (it has the CPU provider, too) and finds an adapter;
onnxruntime has the CPU provider alone.
"""

from __future__ import annotations

import statistics
import time
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from machine import counts, describe

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Array = np.ndarray[Any, np.dtype[Any]]

ROUNDS = 50
WARM_UP = 5
BLOCK_SIZE = 32
# ONNX Runtime's threads go on spinning for a while after a run.
PAUSE_S = 0.01
PROVIDERS = {"CPUExecutionProvider": "onnxruntime, CPU", "WebGpuExecutionProvider": "onnxruntime, WebGPU"}


class Case(NamedTuple):
    """A table, 4 bits a value, and how many of its rows are looked up."""

    rows: int
    columns: int
    indices: int
    dtype: str


CASES = (
    Case(32000, 2048, 1, "float32"),
    Case(32000, 2048, 128, "float32"),
    Case(32000, 2048, 2048, "float32"),
    Case(32000, 2048, 2048, "float16"),
    Case(32000, 8960, 512, "float32"),
    Case(32000, 128, 4096, "float32"),
    Case(151936, 2048, 512, "float32"),
)


def main() -> None:
    """Print one table a case."""
    (rounds,) = counts(__doc__, rounds=ROUNDS)
    device = wk.default_device()
    print(describe(device.name) + f"peer      {peer_versions()}\n")
    for case in CASES:
        print(f"{case.indices} of {case.rows} x {case.columns}, 4 bits, {case.dtype} ({rounds} rounds)")
        compare(case, device, rounds)


def peer_versions() -> str:
    """Name the ONNX Runtime packages that are installed."""
    found = []
    for name in ("onnxruntime", "onnxruntime-webgpu"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found) or "none: install onnx and onnxruntime, or onnxruntime-webgpu"


def compare(case: Case, device: wk.Device, rounds: int) -> None:
    """Time one case and print its table."""
    arrays, attrs = request(case)
    kernel = wk.get_kernel("com.microsoft.GatherBlockQuantized", device=device)
    table = {name: kernel.tensor(name, array) for name, array in arrays.items() if name != "indices"}
    call = kernel.prepare({**table, "indices": arrays["indices"]}, attrs=attrs, output="cpu")
    ways: dict[str, Callable[[], Array]] = {
        "webgpu-kernels": lambda: call({**table, "indices": arrays["indices"]})["output"]
    }
    ways |= peers(arrays, attrs)
    wanted = ways["webgpu-kernels"]()
    differing = {name: int(np.count_nonzero(way() != wanted)) for name, way in ways.items()}
    report(measure(ways, rounds), differing)
    if "timestamp-query" in device.capabilities.features:
        print(f"    of webgpu-kernels', on the GPU{sum(call.time(repeat=rounds).values()) / 1e3:17.1f} µs")
    print()


def request(case: Case) -> tuple[dict[str, Array], dict[str, Any]]:
    """Draw a case's inputs."""
    draw = np.random.default_rng(0)
    blocks = case.columns // BLOCK_SIZE
    arrays = {
        "data": draw.integers(0, 256, (case.rows, case.columns // 2), np.uint8),
        "indices": draw.integers(0, case.rows, case.indices),
        "scales": draw.random((case.rows, blocks), np.float32).astype(case.dtype),
        "zero_points": draw.integers(0, 256, (case.rows, blocks // 2), np.uint8),
    }
    return arrays, {"bits": 4, "block_size": BLOCK_SIZE}


def peers(arrays: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Callable[[], Array]]:
    """Return a call of each provider that there is."""
    try:
        import onnx_runtime_peer  # noqa: PLC0415 - optional
        import onnxruntime  # noqa: PLC0415
    except ImportError:
        return {}
    feeds = {"indices": arrays["indices"]}
    ways: dict[str, Callable[[], Array]] = {}
    for provider in onnxruntime.get_available_providers():
        if provider in PROVIDERS:
            try:
                session = onnx_runtime_peer.session(arrays, attrs, provider, threads=0)
                session.run(None, feeds)
            except Exception as error:  # noqa: BLE001 - ONNX Runtime's errors share no other base
                print(f"    {PROVIDERS[provider]}: {str(error).splitlines()[0]}")
                continue
            ways[PROVIDERS[provider]] = lambda run=session.run: run(None, feeds)[0]  # type: ignore[misc]
    return ways


def measure(ways: Mapping[str, Callable[[], Array]], rounds: int) -> dict[str, float]:
    """Return each way's median time in microseconds; the ways take turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for index in range(WARM_UP + rounds):
        for name, way in ways.items():
            time.sleep(PAUSE_S)
            start = time.perf_counter()
            way()
            elapsed = time.perf_counter() - start
            if index >= WARM_UP:
                times[name].append(elapsed)
    return {name: statistics.median(values) * 1e6 for name, values in times.items()}


def report(medians: Mapping[str, float], differing: Mapping[str, int]) -> None:
    """Print medians beside the first one, and in how many values the results differ."""
    base = next(iter(medians.values()))
    print(f"    {'':<30}{'median':>17}{'to ours':>10}{'other values':>14}")
    for name, median in medians.items():
        print(f"    {name:<30}{median:14.1f} µs{median / base:10.2f}{differing[name]:14}")


if __name__ == "__main__":
    main()
