"""Host time of a call beside hand-written wgpu-py that runs the same shaders.

    python benchmarks/host.py [ROUNDS]

The peer's buffers are given and its bind groups were made once: a call is an encoder, its dispatches and a submission.
All contenders take turns in one process, the GPU is idle when one starts, and medians are shown.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import wgpu
from machine import counts, describe

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webgpu_kernels.planning.program import Program, ProgramPass, Slot

Array = np.ndarray[Any, np.dtype[Any]]

ROUNDS = 1000
WARM_UP = 20
CASES = (
    ("float32 [1, 8, 8, 32]", (1, 8, 8, 32), "float32", False),
    ("float32 [1, 16, 16, 64], bias and S", (1, 16, 16, 64), "float32", True),
)
TENSOR_USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
UNIFORM_USAGE = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST


class HandWritten:
    """What a program that needs nothing but this one call would do with wgpu-py.

    Args:
        device: wgpu's device.
        program: shaders, bindings and grids.
        arrays: the inputs by name, to be uploaded.
    """

    def __init__(self, device: Any, program: Program, arrays: Mapping[str, Array]) -> None:
        self._device = device
        self._outputs = {use.name: use for use in program.outputs}
        sizes = {use.name: use.size_bytes for use in (*program.inputs, *program.outputs)}
        sizes |= {scratch.id: scratch.size_bytes for scratch in program.scratch}
        self._buffers = {name: device.create_buffer(size=size, usage=TENSOR_USAGE) for name, size in sizes.items()}
        self._upload(arrays)
        self._steps = [(*self._compiled(step), step.grid) for step in program.passes]

    def __call__(self, calls: int = 1) -> None:
        """Encode so many calls in one compute pass and submit; the GPU goes on by itself."""
        encoder = self._device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        for _ in range(calls):
            for pipeline, group, grid in self._steps:
                compute.set_pipeline(pipeline)
                compute.set_bind_group(0, group)
                compute.dispatch_workgroups(*grid)
        compute.end()
        self._device.queue.submit([encoder.finish()])

    def numpy(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Upload, run and read back."""
        self._upload(arrays)
        self()
        read = self._device.queue.read_buffer
        return {
            name: np.frombuffer(read(self._buffers[name]), use.dtype).reshape(use.shape)
            for name, use in self._outputs.items()
        }

    def _upload(self, arrays: Mapping[str, Array]) -> None:
        for name, array in arrays.items():
            self._device.queue.write_buffer(self._buffers[name], 0, array)

    def _compiled(self, step: ProgramPass) -> tuple[Any, Any]:
        slots = list(enumerate(step.slots))
        layout = self._device.create_bind_group_layout(
            entries=[
                {"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": slot.access}}
                for i, slot in slots
            ]
        )
        pipeline = self._device.create_compute_pipeline(
            layout=self._device.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": self._device.create_shader_module(code=step.wgsl), "entry_point": "main"},
        )
        entries = [{"binding": i, "resource": {"buffer": self._bound(slot)}} for i, slot in slots]
        return pipeline, self._device.create_bind_group(layout=layout, entries=entries)

    def _bound(self, slot: Slot) -> Any:
        if slot.contents is not None:
            return self._device.create_buffer_with_data(data=slot.contents, usage=UNIFORM_USAGE)
        return self._buffers[slot.name]


def main() -> None:
    """Print one table a case."""
    (rounds,) = counts(__doc__, rounds=ROUNDS)
    device = wk.default_device()
    print(describe(device.name))
    for title, shape, dtype, full in CASES:
        print(f"{title} ({rounds} rounds)")
        on_gpu, on_host = contenders(device, shape, dtype, full=full)
        report("GPU tensors, host time until the call returns", measure(on_gpu, device, rounds))
        report("numpy in and out, time until the result is there", measure(on_host, device, rounds))


def contenders(
    device: wk.Device, shape: tuple[int, ...], dtype: str, *, full: bool
) -> tuple[dict[str, Callable[[], object]], dict[str, Callable[[], object]]]:
    """Return the ways to make one call, by hand first: on GPU tensors, and from and to numpy.

    Args:
        device: where all of them run.
        shape: of X, (N, H, W, C).
        dtype: of every tensor.
        full: whether bias and S take part.
    """
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm", device=device)
    rng = np.random.default_rng(1)
    shapes = {"X": shape, "gamma": shape[-1:], "beta": shape[-1:], "skip": shape}
    if full:
        shapes["bias"] = shape[-1:]
    arrays = {name: rng.standard_normal(size).astype(dtype) for name, size in shapes.items()}
    attrs, outputs = {"groups": 8, "activation": 1}, ["Y", "S"] if full else ["Y"]
    tensors = {name: device.tensor(array) for name, array in arrays.items()}
    call = kernel.prepare(tensors, attrs=attrs, outputs=outputs)
    out = dict(call(tensors))
    by_hand = HandWritten(device.wgpu_device, call.program, arrays)
    for name, array in by_hand.numpy(arrays).items():
        if not np.array_equal(array, out[name].numpy()):
            raise SystemExit(f"the peer computes another {name}")
    return {
        "by hand": by_hand,
        "prepared call, outputs given": lambda: call(tensors, out=out),
        "prepared call": lambda: call(tensors),
        "unprepared call": lambda: kernel(tensors, attrs=attrs, outputs=outputs),
    }, {
        "by hand": lambda: by_hand.numpy(arrays),
        "prepared call": lambda: call(arrays),
        "unprepared call": lambda: kernel(arrays, attrs=attrs, outputs=outputs),
    }


def measure(ways: Mapping[str, Callable[[], object]], device: wk.Device, rounds: int) -> dict[str, float]:
    """Return each way's median time in microseconds; the ways take turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for index in range(WARM_UP + rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            elapsed = time.perf_counter() - start
            device.synchronize()
            if index >= WARM_UP:
                times[name].append(elapsed)
    return {name: statistics.median(values) * 1e6 for name, values in times.items()}


def report(title: str, medians: Mapping[str, float]) -> None:
    """Print medians beside the first one."""
    base = next(iter(medians.values()))
    print(f"  {title:<52}{'median':>12}{'to hand':>8}{'more':>12}")
    for name, median in medians.items():
        print(f"    {name:<50}{median:9.1f} µs{median / base:8.2f}{median - base:9.1f} µs")
    print()


if __name__ == "__main__":
    main()
