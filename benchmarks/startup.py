"""Time of importing the library, loading a bundled package and making a first call, each in a fresh process.

    python benchmarks/startup.py [STARTS]

Interpreters with and without the library start in turns, so that both meet the same machine. The fastest start is what
the library needs, the median what it took while the machine did other things, too.
Bytecode is cached, as it is after any first import.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from machine import counts, describe

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
    (starts,) = counts(__doc__, starts=STARTS)
    wall("import webgpu_kernels")
    codes = {
        "empty interpreter": "pass",
        "import numpy": "import numpy",
        "import webgpu_kernels": "import webgpu_kernels",
    }
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(starts):
        for name, code in codes.items():
            times[name].append(wall(code))
    base = times["empty interpreter"]
    print(f"{f'{starts} starts':<48}{'median':>12}{'fastest':>12}")
    for name, seconds in times.items():
        print_row(name, statistics.median(seconds), min(seconds))
    loaded = times["import webgpu_kernels"]
    print_row(
        "more than an empty interpreter", statistics.median(loaded) - statistics.median(base), min(loaded) - min(base)
    )
    print(f"\n{f'first call, stage by stage, {min(starts, FIRST_CALLS)} processes':<48}{'median':>12}{'fastest':>12}")
    for name, stage in zip(STAGES, zip(*(stages() for _ in range(min(starts, FIRST_CALLS))), strict=True), strict=True):
        print_row(name, statistics.median(stage), min(stage))


def print_row(name: str, median: float, fastest: float) -> None:
    """Print two times in milliseconds."""
    print(f"  {name:<46}{median * 1e3:9.1f} ms{fastest * 1e3:9.1f} ms")


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
