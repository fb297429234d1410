"""Many small calls, each of which waits for the one before: by themselves, in a batch, and by hand.

    python benchmarks/batch.py [ROUNDS]

Host time until the last call returns, and time until the GPU has done them all; by hand is one encoder with a compute
pass of as many dispatches, its bind groups made once. The gap is what each further call adds on the GPU to a batch
twice as long: a dependent dispatch, by hand the same. All contenders take turns, the GPU is idle when one starts.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np
from host import HandWritten
from machine import counts, describe

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 200
CALLS = 32
SIZE = 4096
ROW = "    {:<28}{:>14}{:>16}"


class Chain:
    """x = x + 1, as often as asked, each on what the one before wrote."""

    def __init__(self, device: wk.Device) -> None:
        self._device = device
        one = device.tensor(np.ones(SIZE, np.float32))
        self._tensors = [device.zeros((SIZE,), "float32") for _ in range(2)]
        kernel = wk.get_kernel("ai.onnx.Add", device=device)
        self._call = kernel.prepare({"a": one, "b": self._tensors[0]})
        self._one = one
        arrays = {"a": np.ones(SIZE, np.float32), "b": np.zeros(SIZE, np.float32)}
        self.by_hand = HandWritten(device.wgpu_device, self._call.program, arrays)

    def separate(self, calls: int) -> None:
        """Call one after another."""
        for number in range(calls):
            source, target = self._tensors[number % 2], self._tensors[1 - number % 2]
            self._call.run({"a": self._one, "b": source}, {"c": target})

    def batch(self, calls: int) -> None:
        """Call one after another in a batch: one submission."""
        with self._device.batch():
            self.separate(calls)

    def check(self) -> None:
        """Stop where a chain does not count."""
        for run in (self.separate, self.batch):
            before = float(self._tensors[0].numpy()[0])
            run(CALLS)
            if float(self._tensors[0].numpy()[-1]) != before + CALLS:
                raise SystemExit("the calls of a chain do not see each other's results")


def main() -> None:
    """Print a table."""
    (rounds,) = counts(__doc__, rounds=ROUNDS)
    device = wk.default_device()
    chain = Chain(device)
    chain.check()
    print(describe(device.name))
    ways: dict[str, Callable[[int], None]] = {
        "by hand, one pass": chain.by_hand,
        "separate calls": chain.separate,
        "in device.batch()": chain.batch,
    }
    host: dict[str, list[float]] = {name: [] for name in ways}
    whole: dict[tuple[str, int], list[float]] = {(name, times): [] for name in ways for times in (1, 4)}
    for _ in range(rounds):
        for name, run in ways.items():
            for times in (1, 4):
                begin = time.perf_counter_ns()
                run(times * CALLS)
                returned = time.perf_counter_ns()
                device.synchronize()
                whole[name, times].append((time.perf_counter_ns() - begin) / 1e3)
                if times == 1:
                    host[name].append((returned - begin) / 1e3)
    print(f"{CALLS} dependent calls of ai.onnx.Add on {SIZE} float32 ({rounds} rounds, medians)")
    print(ROW.format("", "host time, µs", "until done, µs"))
    for name in ways:
        print(ROW.format(name, f"{statistics.median(host[name]):.1f}", f"{statistics.median(whole[name, 1]):.1f}"))
    print("each further call, until done, µs")
    for name in ways:
        further = (statistics.median(whole[name, 4]) - statistics.median(whole[name, 1])) / (3 * CALLS)
        print(ROW.format(name, "", f"{further:.2f}"))


if __name__ == "__main__":
    main()
