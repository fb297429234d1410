"""GPU time of GatherBlockQuantized beside kernels that move the same bytes and compute nothing.

    python benchmarks/gather_gpu.py [ROUNDS] [--all]

Timestamp queries, the best median of three series, in which the kernels take turns. Indices and outputs rotate among
sets, so that no cache holds what a run is about to write, and the GPU is kept busy up to the first run. With --all, two
tables in all ways to store and to look them up: 96 lines.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import wgpu
from busy import START_BYTES, Busy
from machine import describe

import webgpu_kernels as wk
from webgpu_kernels.device.seam import timestamp_period_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.planning.program import ProgramPass, Slot

ROUNDS = 25
SERIES = 3
UNTIMED = 10
ROTATED_BYTES = 128 << 20
MOST_SETS = 16
ROW = "{:<15}{:>5}{:>6}{:>9}{:>13}{:>9}{:>9}{:>9}{:>13}{:>10}{:>14}"
USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST
COPY = """
@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read> zero_points: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4<u32>>;

fn word(at: u32) -> u32 {
    let row = indices[at / STORES];
    let part = at % STORES;
    let scale = scales[(row * SCALE_BYTES + part * SCALE_BYTES / STORES) / 4u];
    let zero_point = zero_points[(row * ZERO_POINT_BYTES + part * ZERO_POINT_BYTES / STORES) / 4u];
    return table[row * WORDS + part * WORDS / STORES] ^ scale ^ zero_point;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup_id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let first = workgroup_id.x * 512u + lane;
    let second = min(first + 256u, TOTAL - 1u);
    let value = READ_FIRST;
    let other = READ_SECOND;
    if (first < TOTAL) {
        output[first] = vec4<u32>(value);
        output[second] = vec4<u32>(other);
    }
}
"""


class Case(NamedTuple):
    """A table, and how many of its rows are looked up."""

    rows: int
    columns: int
    indices: int
    bits: int = 4
    dtype: str = "float32"
    zero_points: bool = True
    block_size: int = 32


class Work(NamedTuple):
    """A compiled shader, its grid, and one bind group for each set of buffers."""

    pipeline: Any
    groups: Sequence[Any]
    grid: tuple[int, int, int]


CASES = (
    Case(151936, 2048, 4096),
    Case(151936, 2048, 4096, zero_points=False),
    Case(151936, 2048, 4096, dtype="float16"),
    Case(151936, 2048, 4096, bits=8),
    Case(151936, 2048, 4096, bits=8, dtype="float16"),
    Case(151936, 2048, 4096, bits=2),
    Case(151936, 4096, 2048),
    Case(151936, 8960, 1024, block_size=128),
    Case(151936, 8960, 1024, block_size=128, dtype="float16"),
    Case(151936, 1024, 4096),
    Case(151936, 128, 4096),
    Case(151936, 2048, 256),
    Case(151936, 2048, 1),
    Case(151936, 8960, 1, block_size=128),
)

ALL = tuple(
    Case(rows, columns, indices, bits, dtype, zero_points, block_size)
    for (rows, columns), bits, block_size, zero_points, dtype, indices in itertools.product(
        ((151936, 2048), (262144, 8960)), (4, 8), (32, 128), (True, False), ("float32", "float16"), (4096, 128, 1)
    )
)
HEADINGS = "table bits block T2 zero_points indices µs copy_µs copy/kernel write_µs GB/s_written"


def main() -> None:
    """Print one line a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=ROUNDS, help=f"runs of each (default {ROUNDS})")
    parser.add_argument("--all", action="store_true", help="two tables, every way to store and to look them up")
    options = parser.parse_args()
    rounds = options.rounds
    device = wk.default_device()
    print(describe(device.name))
    print(ROW.format(*[heading.replace("_", " ") for heading in HEADINGS.split()]))
    busy = Busy(device)
    for case in ALL if options.all else CASES:
        bench = Bench(device, case, busy)
        times = bench.times_us([bench.kernel(), bench.copy(), bench.copy(reads=False)], rounds)
        own, copy, write = [f"{time:.1f}" for time in times]
        shown = [own, copy, f"{times[1] / times[0]:.0%}", write]
        table, zero_points = f"{case.rows} x {case.columns}", "yes" if case.zero_points else "no"
        rate = bench.output_bytes / times[0] / 1e3
        shown.append(f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}")
        print(
            ROW.format(table, case.bits, case.block_size, case.dtype, zero_points, case.indices, *shown),
            flush=True,
        )


class Bench:
    """Buffers of one case and the ways to fill its outputs.

    Args:
        device: where to run.
        case: sizes and dtypes.
        busy: what keeps the device's clocks up.
    """

    def __init__(self, device: wk.Device, case: Case, busy: Busy) -> None:
        self._gpu, self._case, self._busy = device.wgpu_device, case, busy
        self.output_bytes = case.indices * case.columns * (4 if case.dtype == "float32" else 2)
        lanes, blocks = 8 // case.bits, case.columns // case.block_size
        specs = {
            "data": wk.TensorSpec((case.rows, case.columns // lanes), "uint8"),
            "indices": wk.TensorSpec((case.indices,), "int32"),
            "scales": wk.TensorSpec((case.rows, blocks), case.dtype),
        }
        if case.zero_points:
            specs["zero_points"] = wk.TensorSpec((case.rows, -(-blocks // lanes)), "uint8")
        kernel = wk.get_kernel("com.microsoft.GatherBlockQuantized", device=device)
        call = kernel.prepare(specs, attrs={"bits": case.bits, "block_size": case.block_size})
        self._step: ProgramPass = call.program.passes[0]
        sets = min(MOST_SETS, max(4, ROTATED_BYTES // self.output_bytes))
        self._shared = {use.name: self._buffer(use.size_bytes) for use in call.program.inputs if use.name != "indices"}
        draw = np.random.default_rng(0)
        self._sets = [{"indices": self._indices(draw), "output": self._buffer(self.output_bytes)} for _ in range(sets)]

    def kernel(self) -> Work:
        """Return the kernel's own shader."""
        slots = self._step.slots
        return self._work(
            self._step.wgsl, self._step.grid, [slot.access for slot in slots], [self._entries(slot) for slot in slots]
        )

    def copy(self, *, reads: bool = True) -> Work:
        """Return a shader that writes the output, and unless told otherwise reads the same rows of every input."""
        case = self._case
        stores = case.columns * (4 if case.dtype == "float32" else 2) // 16
        blocks = case.columns // case.block_size
        numbers = {
            "STORES": stores,
            "WORDS": case.columns * case.bits // 32,
            "TOTAL": stores * case.indices,
            "SCALE_BYTES": blocks * (4 if case.dtype == "float32" else 2),
            "ZERO_POINT_BYTES": -(-blocks * case.bits // 8) if case.zero_points else 0,
        }
        text = COPY
        text = text.replace("READ_FIRST", "word(min(first, TOTAL - 1u))" if reads else "lane")
        text = text.replace("READ_SECOND", "word(second)" if reads else "first")
        for name, number in numbers.items():
            text = text.replace(name, f"{number}u")
        grid = (-(-numbers["TOTAL"] // 512), 1, 1)
        data = self._whole(self._shared["data"])
        # Past the largest binding a read returns something else, and takes as long.
        data["size"] = min(data["size"], self._gpu.limits["max-storage-buffer-binding-size"])
        indices, outputs = ([self._whole(buffers[name]) for buffers in self._sets] for name in ("indices", "output"))
        scales, zero_points = (
            self._whole(self._shared[name]) for name in ("scales", "zero_points" if case.zero_points else "scales")
        )
        entries = [[data], indices, [scales], [zero_points], outputs]
        return self._work(text, grid, ["read-only-storage"] * 4 + ["storage"], entries)

    def times_us(self, works: Sequence[Work], rounds: int) -> list[float]:
        """Return the best median of each: now and then a whole series takes longer."""
        self._busy.spin(START_BYTES)
        series = [[statistics.median(self._series_us(work, rounds)) for work in works] for _ in range(SERIES)]
        return [min(medians) for medians in zip(*series, strict=True)]

    def _series_us(self, work: Work, rounds: int) -> list[float]:
        queries = self._gpu.create_query_set(type="timestamp", count=2 * rounds)
        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        resolved = self._gpu.create_buffer(size=16 * rounds, usage=usage)
        encoder = self._gpu.create_command_encoder()
        groups = itertools.cycle(work.groups)
        for index in range(-UNTIMED, rounds):
            writes = {
                "query_set": queries,
                "beginning_of_pass_write_index": 2 * index,
                "end_of_pass_write_index": 2 * index + 1,
            }
            compute = encoder.begin_compute_pass(timestamp_writes=writes if index >= 0 else None)
            compute.set_pipeline(work.pipeline)
            compute.set_bind_group(0, next(groups))
            compute.dispatch_workgroups(*work.grid)
            compute.end()
        encoder.resolve_query_set(queries, 0, 2 * rounds, resolved, 0)
        commands = encoder.finish()
        self._busy.spin(START_BYTES // 8)
        self._gpu.queue.submit([commands])
        stamps = np.frombuffer(self._gpu.queue.read_buffer(resolved), np.uint64).reshape(-1, 2)
        ticks: list[int] = (stamps[:, 1] - stamps[:, 0]).tolist()
        return [count * timestamp_period_ns(self._gpu) / 1e3 for count in ticks]

    def _work(self, wgsl: str, grid: tuple[int, int, int], kinds: Sequence[str], entries: Sequence[list[Any]]) -> Work:
        """Compile; each binding has one resource for all sets, or one for each."""
        visible = wgpu.ShaderStage.COMPUTE
        layout = self._gpu.create_bind_group_layout(
            entries=[{"binding": i, "visibility": visible, "buffer": {"type": kind}} for i, kind in enumerate(kinds)]
        )
        pipeline = self._gpu.create_compute_pipeline(
            layout=self._gpu.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": self._gpu.create_shader_module(code=wgsl), "entry_point": "main"},
        )
        groups = [
            self._gpu.create_bind_group(
                layout=layout,
                entries=[{"binding": i, "resource": entry[number % len(entry)]} for i, entry in enumerate(entries)],
            )
            for number in range(len(self._sets))
        ]
        return Work(pipeline, groups, grid)

    def _entries(self, slot: Slot) -> list[Any]:
        if slot.contents is not None:
            made = self._gpu.create_buffer_with_data(data=slot.contents, usage=wgpu.BufferUsage.UNIFORM)
            return [self._whole(made)]
        if slot.name in self._shared:
            buffer = self._shared[slot.name]
            size = buffer.size - slot.offset_bytes if slot.size_bytes is None else slot.size_bytes
            return [{"buffer": buffer, "offset": slot.offset_bytes, "size": size}]
        return [self._whole(buffers[slot.name]) for buffers in self._sets]

    def _indices(self, draw: np.random.Generator) -> Any:
        values = draw.integers(0, self._case.rows, self._case.indices).astype(np.int32)
        return self._gpu.create_buffer_with_data(data=values, usage=USAGE)

    def _buffer(self, size_bytes: int) -> Any:
        return self._gpu.create_buffer(size=size_bytes, usage=USAGE)

    @staticmethod
    def _whole(buffer: Any) -> dict[str, Any]:
        return {"buffer": buffer, "offset": 0, "size": buffer.size}


if __name__ == "__main__":
    main()
