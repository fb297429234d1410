"""GPU time of each pass or of whole calls, by timestamp queries."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.arrays import np
from webgpu_kernels.device.encoding import refuse_dead
from webgpu_kernels.device.mapping import READ
from webgpu_kernels.device.seam import COPY_DST, COPY_SRC, MAP_READ, QUERY_RESOLVE, timestamp_period_ns
from webgpu_kernels.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.device.binding import BoundSet
    from webgpu_kernels.device.device import Device
    from webgpu_kernels.device.native import Dispatch
    from webgpu_kernels.device.seam import Wgpu

MAX_QUERIES: Final = 4096
"""Timestamps in one query set (WebGPU, section 20.1)."""
_BYTES: Final = 8


class _Queries(NamedTuple):
    """A query set and the buffers that its timestamps pass through."""

    query_set: Wgpu
    resolved: Wgpu
    staging: Wgpu


def time_passes(device: Device, bound: BoundSet, repeat: int) -> Mapping[str, tuple[int, ...]]:
    """Run a bound program and time its passes, each in a compute pass of its own.

    Args:
        device: where it runs.
        bound: the program.
        repeat: how many runs.

    Returns:
        For each id, the GPU time of every run in nanoseconds.

    Raises:
        DeviceError: the device has no timestamp queries, or fails.

    Source: WebGPU, section 20.4 "Timestamp query".
    """
    _require_timestamps(device)
    names = [name for segment in bound.segments for name in segment.names]
    if not names:
        return MappingProxyType({})
    with device.lock, device.translating("timing"):
        queries = _make_queries(device, 2 * len(names))
        runs = [_run(device, bound, queries, 2 * len(names)) for _ in range(repeat)]
    return MappingProxyType({name: tuple(int(run[index]) for run in runs) for index, name in enumerate(names)})


def time_calls(device: Device, sets: Sequence[BoundSet], repeat: int) -> tuple[int, ...]:
    """Run bound programs in turns and time each run as a whole, encoded as a call encodes it.

    Args:
        device: where they run.
        sets: one program bound to several sets of memory: more of them than a cache holds, and none is warm.
        repeat: how many runs.

    Returns:
        The GPU time of every run in nanoseconds, from the start of its first dispatch to the end of its last.

    Raises:
        DeviceError: the device has no timestamp queries, or fails.

    Source: WebGPU, section 20.4 "Timestamp query".
    """
    _require_timestamps(device)
    if not any(segment.names for segment in sets[0].segments):
        return (0,) * repeat
    count = 2 * repeat
    with device.lock, device.translating("timing"):
        queries = _make_queries(device, count)
        refuse_dead(sets)
        # Submissions run one after another, so that no run overlaps the next, and none waits for the host: a GPU that
        # idles between short runs lowers its clocks.
        for index in range(repeat):
            encoder = device.wgpu_device.create_command_encoder()
            _encode_whole(encoder, sets[index % len(sets)], queries.query_set, 2 * index)
            device.wgpu_device.queue.submit([encoder.finish()])
        spans = _spans(device, device.wgpu_device.create_command_encoder(), queries, count)
    return tuple(spans.tolist())


def medians(times: Mapping[str, tuple[int, ...]]) -> Mapping[str, int]:
    """Return the median of each pass's runs.

    Args:
        times: what ``time_passes`` returned.

    Returns:
        Nanoseconds for each id.

    Source: none.
    """
    return MappingProxyType({name: int(np.median(runs)) for name, runs in times.items()})


def _require_timestamps(device: Device) -> None:
    if "timestamp-query" not in device.capabilities.features:
        raise DeviceError(
            f"{device.name} has no timestamp queries",
            expected="the feature timestamp-query",
            hint="Time whole calls on the host instead, with Device.synchronize",
        )


def _make_queries(device: Device, count: int) -> _Queries:
    if count > MAX_QUERIES:
        raise DeviceError("too many passes to time", expected=f"at most {MAX_QUERIES // 2}", got=str(count // 2))
    wgpu_device, size = device.wgpu_device, count * _BYTES
    return _Queries(
        wgpu_device.create_query_set(type="timestamp", count=count),
        wgpu_device.create_buffer(size=size, usage=QUERY_RESOLVE | COPY_SRC),
        wgpu_device.create_buffer(size=size, usage=MAP_READ | COPY_DST),
    )


def _run(device: Device, bound: BoundSet, queries: _Queries, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    refuse_dead((bound,))
    encoder = device.wgpu_device.create_command_encoder()
    index = 0
    for segment in bound.segments:
        for buffer, offset, size in segment.clears:
            encoder.clear_buffer(buffer, offset, size)
        for dispatch in segment.dispatches:
            _timed(encoder, dispatch, queries.query_set, index)
            index += 2
    return _spans(device, encoder, queries, count)


def _encode_whole(encoder: Wgpu, bound: BoundSet, query_set: Wgpu, index: int) -> None:
    """Encode all passes as a call does, a timestamp before the first and one after the last."""
    segments = bound.segments
    last = max(at for at, segment in enumerate(segments) if segment.dispatches)
    marks = {"query_set": query_set, "beginning_of_pass_write_index": index}
    for at, segment in enumerate(segments):
        for buffer, offset, size in segment.clears:
            encoder.clear_buffer(buffer, offset, size)
        if not segment.dispatches:
            continue
        if at == last:
            marks = {"query_set": query_set, **marks, "end_of_pass_write_index": index + 1}
        compute = encoder.begin_compute_pass(timestamp_writes=marks or None)
        for pipeline, group, x, y, z in segment.dispatches:
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group)
            compute.dispatch_workgroups(x, y, z)
        compute.end()
        marks = {}


def _spans(device: Device, encoder: Wgpu, queries: _Queries, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Submit, wait, and return what lies between each two timestamps, in nanoseconds."""
    encoder.resolve_query_set(queries.query_set, 0, count, queries.resolved, 0)
    encoder.copy_buffer_to_buffer(queries.resolved, 0, queries.staging, 0, count * _BYTES)
    device.wgpu_device.queue.submit([encoder.finish()])
    mappings, size = device.transfers.mappings, count * _BYTES
    mappings.wait(mappings.start(queries.staging, READ, size))
    ticks = np.frombuffer(mappings.view(queries.staging, size), np.uint64).copy()
    mappings.unmap(queries.staging)
    period = timestamp_period_ns(device.wgpu_device)
    return np.asarray(np.maximum(ticks[1::2].astype(np.int64) - ticks[::2].astype(np.int64), 0) * period, np.int64)


def _timed(encoder: Wgpu, dispatch: Dispatch, query_set: Wgpu, index: int) -> None:
    writes = {
        "query_set": query_set,
        "beginning_of_pass_write_index": index,
        "end_of_pass_write_index": index + 1,
    }
    pipeline, group, x, y, z = dispatch
    compute = encoder.begin_compute_pass(timestamp_writes=writes)
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, group)
    compute.dispatch_workgroups(x, y, z)
    compute.end()
