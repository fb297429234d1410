"""Compute pipelines and their layouts, made once for a shader and kept."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.device.failures import is_lost, is_out_of_memory
from webgpu_kernels.device.seam import COMPUTE_STAGE, Wgpu
from webgpu_kernels.device.shader_bounds import check_nesting
from webgpu_kernels.device.shader_check import check_memory, check_workgroup
from webgpu_kernels.device.wgsl_text import for_naga, shader_error
from webgpu_kernels.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.failures import Failed
    from webgpu_kernels.planning.program import ProgramPass

MAX_PIPELINES: Final = 256
"""Pipelines that a device keeps (FORMAT, section 8)."""

Layout = tuple[tuple[str, int], ...]
"""Access and least size of each binding."""


class Pipeline(NamedTuple):
    """A compiled shader and the layout of its bind group."""

    pipeline: Wgpu
    group_layout: Wgpu


class Pipelines:
    """The pipelines of one device, the least recently used leaving first; the caller holds the device's lock.

    Args:
        wgpu_device: where they are made.
        limits: the device's limits under WebGPU's names.
        failed: translates wgpu's errors.
    """

    def __init__(self, wgpu_device: Wgpu, limits: Mapping[str, int], failed: Failed) -> None:
        self._device = wgpu_device
        self._failed = failed
        self._limits = limits
        self._pipelines: OrderedDict[tuple[str, Layout], Pipeline] = OrderedDict()

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._pipelines)

    def get(self, program_pass: ProgramPass, *, where: str) -> Pipeline:
        """Return the pipeline of a pass, compiled now where it is new.

        Args:
            program_pass: shader and bindings.
            where: operator and variant, for messages.

        Returns:
            The pipeline.

        Raises:
            LimitError: the shader's workgroup, or its bindings, are more than the device has.
            ShaderError: the shader does not compile, nests too deep, or its variables take more than WGSL allows.
            DeviceError: the device cannot be used.

        Source: FORMAT, section 8; WebGPU, section 10.2.
        """
        layout = tuple((slot.access, slot.min_bytes) for slot in program_pass.slots)
        key = (program_pass.wgsl, layout)
        found = self._pipelines.get(key)
        if found is not None:
            self._pipelines.move_to_end(key)
            return found
        made = self._pipelines[key] = self._make(program_pass, layout, where)
        if len(self._pipelines) > MAX_PIPELINES:
            self._pipelines.popitem(last=False)
        return made

    def clear(self) -> None:
        """Forget every pipeline; executables keep theirs."""
        self._pipelines.clear()

    def _make(self, program_pass: ProgramPass, layout: Layout, where: str) -> Pipeline:
        place = f"{where}, pass {program_pass.id}"
        check_nesting(program_pass, where=where)
        check_memory(program_pass, where=where)
        check_workgroup(program_pass.wgsl, self._limits, where=place)
        _check_bindings(layout, self._limits, place)
        try:
            module = self._device.create_shader_module(label=program_pass.label, code=for_naga(program_pass.wgsl))
            group_layout = self._device.create_bind_group_layout(entries=_entries(layout))
            pipeline_layout = self._device.create_pipeline_layout(bind_group_layouts=[group_layout])
            stage = {"module": module, "entry_point": "main"}
            pipeline = self._device.create_compute_pipeline(
                label=program_pass.label, layout=pipeline_layout, compute=stage
            )
        except Exception as error:
            if is_lost(error) or is_out_of_memory(error):
                raise self._failed(error, f"compiling {place}") from error
            raise shader_error(error, program_pass, where=where) from error
        return Pipeline(pipeline, group_layout)


def _entries(layout: Layout) -> list[dict[str, object]]:
    return [
        {
            "binding": index,
            "visibility": COMPUTE_STAGE,
            "buffer": {"type": access, "min_binding_size": least_bytes},
        }
        for index, (access, least_bytes) in enumerate(layout)
    ]


def _check_bindings(layout: Layout, limits: Mapping[str, int], where: str) -> None:
    uniforms = sum(access == "uniform" for access, _ in layout)
    counts = {
        "maxStorageBuffersPerShaderStage": len(layout) - uniforms,
        "maxUniformBuffersPerShaderStage": uniforms,
        "maxBindingsPerBindGroup": len(layout),
    }
    for limit, asked in counts.items():
        if asked > limits[limit]:
            raise LimitError(
                "the pass binds too many buffers", limit=limit, asked=asked, available=limits[limit], where=where
            )
