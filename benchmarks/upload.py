"""Uploading a large array, beside chunked writes by hand: time, and host memory beyond the array and the buffer.

    python benchmarks/upload.py [MIB] [ROUNDS]

Each way runs in processes of its own, in turns, so that peak memory is its own. On software Vulkan the buffer lies in
host memory, too, and counts once.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import wgpu
from machine import counts, describe

import webgpu_kernels as wk

MIB, ROUNDS = 300, 5
CHUNK = 16 << 20
WAYS = ("by hand", "device.tensor")


def main() -> None:
    """Print a table, or with a third argument measure one way."""
    if len(sys.argv) > 3:
        print(*upload(sys.argv[3], int(sys.argv[1])))
        return
    mib, rounds = counts(__doc__, mib=MIB, rounds=ROUNDS)
    device = wk.default_device()
    print(describe(device.name))
    found: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            command = [sys.executable, __file__, str(mib), "1", way]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            found[way].append(tuple(float(word) for word in result.stdout.split()))
    print(f"{mib} MiB of float32 ({rounds} processes each, medians)")
    print(f"    {'':<16}{'ms':>9}{'to by hand':>13}{'host memory on top, MiB':>26}")
    medians = {way: [statistics.median(column) for column in zip(*runs, strict=True)] for way, runs in found.items()}
    for way, (ms, extra) in medians.items():
        print(f"    {way:<16}{ms:>9.1f}{ms / medians['by hand'][0]:>13.2f}{extra:>26.1f}")


def upload(way: str, mib: int) -> tuple[float, float]:
    """Upload once; return milliseconds until the GPU has it, and MiB of peak memory beyond array and buffer."""
    device = wk.default_device()
    array = np.arange(mib << 18, dtype=np.float32)
    warm = np.ones(1 << 18, np.float32)
    kept = [by_hand(device, warm) if way == "by hand" else device.tensor(warm)]
    device.synchronize()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    kept.append(by_hand(device, array) if way == "by hand" else device.tensor(array))
    device.synchronize()
    ms = (time.perf_counter() - begin) * 1e3
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    in_host_memory = bool(device.capabilities.adapter_info.get("isFallbackAdapter"))
    return ms, peak - (mib if in_host_memory else 0)


def by_hand(device: wk.Device, array: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> object:
    """Write an array in chunks, and submit after each so that none piles up."""
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    buffer = device.wgpu_device.create_buffer(size=array.nbytes, usage=usage)
    flat = array.view(np.uint8)
    for start in range(0, array.nbytes, CHUNK):
        device.wgpu_device.queue.write_buffer(buffer, start, flat[start : start + CHUNK])
        device.wgpu_device.queue.submit([])
    return buffer


if __name__ == "__main__":
    main()
