"""How many invocations a GPU has in flight at a time: no limit of WebGPU says, and some kernels depend on it.

A workgroup waits in vain for others that have not begun. So a kernel whose workgroups tell one another something should
have no more of them than run side by side.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from webgpu_kernels.device.seam import COPY_DST, COPY_SRC, STORAGE, Wgpu

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKGROUP: Final = 256
"""Invocations of a workgroup: what every device of WebGPU can run."""
_WORKGROUPS: Final = 8192
_RUNS: Final = 3
_POLLS: Final = 64
"""How often a workgroup looks: for tens of microseconds. At half time all that run beside the first one have begun."""
_SHADER: Final = f"""
struct Counts {{
    begun: atomic<u32>,
    beside: atomic<u32>, // workgroups that had begun when the first was half done
}}
@group(0) @binding(0) var<storage, read_write> counts: Counts;

@compute @workgroup_size({WORKGROUP})
fn main(@builtin(local_invocation_index) lane: u32) {{
    if (lane == 0u) {{
        let before = atomicAdd(&counts.begun, 1u);
        for (var polls = 0u; polls < {_POLLS}u; polls++) {{
            let begun = atomicLoad(&counts.begun);
            if (before == 0u && polls == {_POLLS // 2}u) {{
                atomicStore(&counts.beside, begun);
            }}
            if (before != 0u && atomicLoad(&counts.beside) != 0u && polls > {_POLLS // 2}u) {{
                break;
            }}
        }}
    }}
    workgroupBarrier();
}}
"""


def with_residency(facts: Mapping[str, object], wgpu_device: Wgpu) -> dict[str, object]:
    """Add to an adapter's facts how many invocations it has in flight, where that can be told.

    Args:
        facts: WebGPU's adapter facts.
        wgpu_device: a device of it; what else runs on the GPU meanwhile makes the answer smaller.

    Returns:
        The facts, with ``invocationsInFlight`` unless the adapter is a software one, which runs workgroups in turns.

    Source: docs/format.md, "Names in formulas".
    """
    if facts.get("isFallbackAdapter"):
        return dict(facts)
    # A device that cannot run it may still run kernels that do not ask for it; they say themselves what they cannot do.
    with suppress(Exception):
        return {**facts, "invocationsInFlight": invocations_in_flight(wgpu_device)}
    return dict(facts)


def invocations_in_flight(wgpu_device: Wgpu) -> int:
    """Measure how many invocations run side by side, in workgroups of 256 that need few registers.

    Args:
        wgpu_device: the device; it is busy for some hundred microseconds.

    Returns:
        The most of three runs; other work on the GPU makes it less.

    Source: WGSL, section 2 (workgroups of a dispatch run in any order, side by side or not).
    """
    module = wgpu_device.create_shader_module(code=_SHADER)
    pipeline = wgpu_device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    counts = wgpu_device.create_buffer(size=8, usage=STORAGE | COPY_SRC | COPY_DST)
    group = wgpu_device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0), entries=[{"binding": 0, "resource": {"buffer": counts}}]
    )
    found = 0
    for _ in range(_RUNS):
        encoder = wgpu_device.create_command_encoder()
        encoder.clear_buffer(counts)
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(_WORKGROUPS)
        compute.end()
        wgpu_device.queue.submit([encoder.finish()])
        found = max(found, memoryview(wgpu_device.queue.read_buffer(counts)).cast("I")[1])
    return found * WORKGROUP
