"""Time of importing the library, loading a bundled package and making a first call, each in a fresh process.

    python benchmarks/startup.py [STARTS]

Interpreters with and without the library start in turns, so that both meet the same machine; medians are shown.
Bytecode is cached, as it is after any first import.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from machine import describe

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
STARTS = 15
FIRST_CALLS = 5
FIRST_CALL = """
import time
t = [time.perf_counter()]
import webgpu_kernels as wk
t.append(time.perf_counter())
kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
t.append(time.perf_counter())
device = wk.default_device()
t.append(time.perf_counter())
import numpy as np
x = np.ones((1, 8, 8, 32), np.float32)
one = np.ones(32, np.float32)
inputs = {name: device.tensor(array) for name, array in dict(X=x, gamma=one, beta=one, skip=x).items()}
attrs = dict(groups=4, activation=1)
t.append(time.perf_counter())
kernel.explain(inputs, attrs=attrs)
t.append(time.perf_counter())
call = kernel.prepare(inputs, attrs=attrs)
t.append(time.perf_counter())
call(inputs, output="cpu")
t.append(time.perf_counter())
call(inputs, output="cpu")
t.append(time.perf_counter())
print(*[after - before for before, after in zip(t, t[1:])])
"""
STAGES = (
    "import webgpu_kernels",
    "get_kernel: read and compile a bundled package",
    "default_device: import wgpu, open the device",
    "upload the inputs",
    "explain: select, judging every variant",
    "prepare: plan, render, compile the shaders",
    "first run, read back",
    "second run, read back",
)


def main() -> None:
    """Print both tables."""
    print(describe())
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else STARTS
    wall("import webgpu_kernels")
    empty, importing = [], []
    for _ in range(starts):
        empty.append(wall("pass"))
        importing.append(wall("import webgpu_kernels"))
    base, loaded = statistics.median(empty), statistics.median(importing)
    numpy = statistics.median(wall("import numpy") for _ in range(starts)) - base
    for name, seconds in (
        ("empty interpreter", base),
        ("with import webgpu_kernels", loaded),
        ("difference", loaded - base),
    ):
        print(f"{name:<48} {seconds * 1e3:8.1f} ms")
    print(f"{'import numpy alone':<48} {numpy * 1e3:8.1f} ms more than an empty interpreter")
    print(f"\nfirst call, stage by stage (median of {FIRST_CALLS} processes)")
    runs = [stages() for _ in range(FIRST_CALLS)]
    for name, times in zip(STAGES, zip(*runs, strict=True), strict=True):
        print(f"  {name:<46} {statistics.median(times) * 1e3:8.1f} ms")


def wall(code: str) -> float:
    """Return the seconds that a fresh interpreter takes for some code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)
    return time.perf_counter() - start


def stages() -> list[float]:
    """Return the seconds of each stage of a first call in a fresh process."""
    command = [sys.executable, "-c", FIRST_CALL]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    return [float(word) for word in result.stdout.split()]


if __name__ == "__main__":
    main()
