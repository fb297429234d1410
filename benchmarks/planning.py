"""Time of planning a request: derives, clauses and the whole plan for a new one, and the look-up of a known one.

    python benchmarks/planning.py [MANIFEST]

No device is used. MANIFEST is a manifest.json, or the folder of one, with the inputs of SkipGroupNorm; without it the
bundled package is taken.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from machine import describe

import webgpu_kernels as wk
from webgpu_kernels.contract import parse_manifest
from webgpu_kernels.invocation import Invocation
from webgpu_kernels.planning.plan import build_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from webgpu_kernels.contract import Manifest

REQUESTS = 300
ATTRS = {"groups": 32, "activation": 1, "epsilon": 1e-5, "channels_last": 1}
DESKTOP = wk.Capabilities(
    features={"shader-f16", "subgroups", "timestamp-query"},
    limits={
        "maxComputeInvocationsPerWorkgroup": 1024,
        "maxComputeWorkgroupSizeX": 1024,
        "maxComputeWorkgroupStorageSize": 49152,
        "maxStorageBufferBindingSize": 2**31 - 4,
        "maxBufferSize": 2**32 - 4,
    },
    adapter_info={"vendor": "nvidia", "subgroupMinSize": 32, "subgroupMaxSize": 32},
)


def main() -> None:
    """Print the medians."""
    print(describe())
    print(f"{'reading the manifest':<56}{median_us(manifest, 20):10.1f} µs")
    contract = manifest()
    print(f"{len(contract.derive)} derives, {len(contract.variants)} variants, {REQUESTS} requests of new shapes")
    every = timed(lambda call: call.select(contract, DESKTOP, exhaustive=True))
    print(f"{'  all derives and the clauses of every variant':<56}{every:10.1f} µs")
    print(
        f"{'  all derives and the clauses up to the winner':<56}{timed(lambda c: c.select(contract, DESKTOP)):10.1f} µs"
    )
    whole = timed(lambda call: build_plan(call.select(contract, DESKTOP)))
    print(f"{'  the same and the plan of the winner':<56}{whole:10.1f} µs")
    known = {request(index).key: index for index in range(REQUESTS)}
    print(f"{'look-up of a request seen before':<56}{timed(lambda call: known[call.key]):10.1f} µs")


def manifest() -> Manifest:
    """Return the manifest that the command line names, read anew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, nargs="?", help="or its folder; default: the bundled SkipGroupNorm's")
    path: Path | None = parser.parse_args().manifest
    if path is None:
        return wk.get_kernel("com.microsoft.SkipGroupNorm").manifest
    return parse_manifest((path / "manifest.json" if path.is_dir() else path).read_bytes(), where=str(path))


def request(index: int) -> Invocation:
    """Return a call whose shapes no other index has."""
    size = 8 + index
    image, vector = wk.TensorSpec((2, size, 64, 320), "float16"), wk.TensorSpec((320,), "float32")
    inputs = {"X": image, "gamma": vector, "beta": vector, "skip": image, "bias": wk.TensorSpec((320,), "float16")}
    return Invocation(inputs, ATTRS, {}, {"Y": None, "S": None}, {}, None, {})


def timed(work: Callable[[Invocation], object]) -> float:
    """Return the median microseconds of some work on a request of new shapes."""
    calls = iter([request(index) for index in range(REQUESTS)])
    return median_us(lambda: work(next(calls)), REQUESTS)


def median_us(work: Callable[[], object], times: int) -> float:
    """Return the median microseconds of some work."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e6


if __name__ == "__main__":
    main()
