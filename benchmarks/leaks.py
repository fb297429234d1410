"""Live wgpu objects and resident memory over many warm calls: both must stay flat.

python benchmarks/leaks.py [CALLS]
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import numpy as np
import wgpu
from machine import counts, describe

import webgpu_kernels as wk

CALLS = 10_000
REPORTS = 10


def main() -> None:
    """Print the counts as the calls go by, and the growth after the first tenth."""
    (calls,) = counts(__doc__, calls=CALLS)
    device = wk.default_device()
    print(describe(device.name))
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    x, one = np.ones((1, 8, 8, 32), np.float32), np.ones(32, np.float32)
    arrays = {"X": x, "gamma": one, "beta": one, "skip": x}
    tensors = {name: kernel.tensor(name, array, device=device) for name, array in arrays.items()}
    attrs = {"groups": 4, "activation": 1}
    print(f"{'calls':>8} {'wgpu objects':>13} {'resident MiB':>13}")
    seen = []
    for done in range(1, calls + 1):
        # Half of the calls start from numpy and end there, half stay on the GPU.
        if done % 2:
            kernel(arrays, attrs=attrs, outputs=["Y", "S"])
        else:
            kernel(tensors, attrs=attrs)
        if done % (calls // REPORTS) == 0:
            device.synchronize()
            gc.collect()
            seen.append((live_objects(), resident_mib()))
            print(f"{done:8} {seen[-1][0]:13} {seen[-1][1]:13.1f}", flush=True)
    print(f"growth after the first tenth: {seen[-1][0] - seen[0][0]} objects, {seen[-1][1] - seen[0][1]:.1f} MiB")


def live_objects() -> int:
    """Return how many of wgpu's objects are alive, in Python and in the native library together."""
    both = (wgpu.diagnostics.object_counts, wgpu.diagnostics.wgpu_native_counts)
    return sum(int(counts.get_dict()["total"]["count"]) for counts in both)


def resident_mib() -> float:
    """Return this process's resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
