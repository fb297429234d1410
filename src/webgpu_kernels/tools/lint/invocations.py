"""What a shader's invocations know before they run: their ids, uniforms, lengths of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.device.shader_check import workgroup_needs
from webgpu_kernels.errors import KernelError
from webgpu_kernels.planning.bindings import element_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from webgpu_kernels.planning.bindings import PlannedBinding
    from webgpu_kernels.planning.program import ProgramPass
    from webgpu_kernels.planning.uniforms import PlannedStruct
    from webgpu_kernels.tools.lint.wgsl_values import Known


def invocations(
    step: ProgramPass, bindings: Sequence[PlannedBinding], lengths: Mapping[str, int]
) -> Iterator[dict[str, Known]]:
    """Give what is known in the first and the last invocation, of the first and the last workgroup.

    Args:
        step: the pass.
        bindings: its bindings, for the values of uniforms.
        lengths: what ``arrayLength`` gives of them.

    Yields:
        Name to value; built-in values begin with ``@``, lengths of arrays with ``arrayLength``.
    """
    known: dict[str, Known] = {each.name: _integers(each.struct) for each in bindings if each.struct is not None}
    known |= {f"arrayLength {name}": length for name, length in lengths.items()}
    size = workgroup_needs(step.wgsl).size
    last = tuple(count - 1 for count in step.grid)
    for group in dict.fromkeys([(0, 0, 0), last]):
        for lane in dict.fromkeys([(0, 0, 0), tuple(count - 1 for count in size)]):
            ids = {
                "@workgroup_id": _vector(group),
                "@local_invocation_id": _vector(lane),
                "@num_workgroups": _vector(step.grid),
                "@global_invocation_id": _vector([g * s + i for g, s, i in zip(group, size, lane, strict=True)]),
                "@local_invocation_index": lane[0] + size[0] * (lane[1] + size[1] * lane[2]),
            }
            yield {**known, **ids}


def _vector(values: Sequence[int]) -> Known:
    return dict(zip("xyz", values, strict=True))


def _integers(planned: PlannedStruct) -> dict[str, int]:
    """Return the fields of a uniform that are integers."""
    return {name: value for (name, _), value in zip(planned.fields, planned.values, strict=False) if type(value) is int}


def array_lengths(bindings: Sequence[PlannedBinding], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return what ``arrayLength`` gives of each storage binding.

    Args:
        bindings: of a pass.
        sizes: bytes of what they bind.

    Returns:
        Variable to elements.
    """
    lengths: dict[str, int] = {}
    for binding in bindings:
        size = binding.size_bytes if binding.size_bytes is not None else sizes.get(binding.target)
        if binding.struct is None and size is not None:
            try:
                lengths[binding.name] = size // element_bytes(binding.element_type, "")
            except KernelError:
                continue
    return lengths
