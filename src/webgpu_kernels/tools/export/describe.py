"""From a program to its document: every fact that a host needs, and what readers may want to know beside it."""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from webgpu_kernels.contract import NIBBLE_DTYPES, wgsl_scalar
from webgpu_kernels.device.shader_check import workgroup_needs
from webgpu_kernels.planning.wgsl import enabled_features
from webgpu_kernels.tools.export.document import (
    Binding,
    Bounds,
    Field,
    PassEntry,
    ProgramDocument,
    Requirements,
    ScratchEntry,
    TensorEntry,
    UniformStruct,
    ViewAlias,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from webgpu_kernels.contract.requirements import Requires
    from webgpu_kernels.planning.bindings import PlannedBinding
    from webgpu_kernels.planning.program import Program, ProgramPass, Slot, TensorUse
    from webgpu_kernels.planning.uniforms import PlannedStruct

    BufferSizes = Mapping[tuple[str, str], int]  # source and name to bytes
    StoredAs = Literal["f16", "f32", "i32", "u32", "i64", "u8", "u4"]

_WORD_BYTES: Final = 4


def describe_program(
    program: Program, bindings: Sequence[Sequence[PlannedBinding]] = (), requires: Requires | None = None
) -> ProgramDocument:
    """Describe a program.

    Args:
        program: what a device runs.
        bindings: the planned bindings of each pass, for the names and values that only readers need; or nothing.
        requires: what the variant asks of a device, beside what its program shows.

    Returns:
        The document, without what it does not know: operator, variant, example.

    Source: docs/export.md.
    """
    sizes = _buffer_sizes(program)
    shaders = shader_files(program)
    planned = bindings or [()] * len(program.passes)
    return ProgramDocument(
        requires=_requirements(program, sizes, requires),
        tensors=tuple(_tensors(program)),
        scratch=tuple(ScratchEntry(id=e.id, size_bytes=e.size_bytes, zero_init=e.zero_init) for e in program.scratch),
        passes=tuple(
            _pass(step, shaders[step.wgsl], sizes, known) for step, known in zip(program.passes, planned, strict=True)
        ),
    )


def shader_files(program: Program) -> dict[str, str]:
    """Name the WGSL files of a program: one for each text, called after the first pass that has it.

    Args:
        program: what a device runs.

    Returns:
        Text to file name, in the order of the passes.

    Source: docs/export.md.
    """
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for step in program.passes:
        if step.wgsl in names:
            continue
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", step.id).strip("-").lower() or "pass"
        taken[plain] += 1
        names[step.wgsl] = f"{plain}.wgsl" if taken[plain] == 1 else f"{plain}-{taken[plain]}.wgsl"
    return names


def _buffer_sizes(program: Program) -> BufferSizes:
    tensors = {("tensor", use.name): use.size_bytes for use in (*program.inputs, *program.outputs)}
    return {**tensors, **{("scratch", entry.id): entry.size_bytes for entry in program.scratch}}


def _bound_bytes(slot: Slot, sizes: BufferSizes) -> int:
    if slot.size_bytes is not None:
        return slot.size_bytes
    return len(slot.contents or b"") if slot.source == "uniform" else sizes[slot.source, slot.name]


def _tensors(program: Program) -> Iterator[TensorEntry]:
    inputs = {use.name for use in program.inputs}
    outputs = {use.name for use in program.outputs}
    for use in program.inputs:
        yield _tensor(use, "inout" if use.name in outputs else "input")
    for use in program.outputs:
        if use.name not in inputs:
            yield _tensor(use, "output")


def _tensor(use: TensorUse, role: Literal["input", "output", "inout"]) -> TensorEntry:
    bounds = use.value_range
    return TensorEntry(
        name=use.name,
        role=role,
        dtype=use.dtype,
        shape=use.shape,
        storage=use.storage,
        stored_as=_stored_as(use),
        size_bytes=use.size_bytes,
        layout="packed" if use.layout == "packed" else None,
        narrowing=use.narrowing,
        values=Bounds(least=bounds.least, most=bounds.most) if bounds is not None else None,
    )


def _stored_as(use: TensorUse) -> StoredAs:
    if use.dtype in NIBBLE_DTYPES:
        return "u4"
    if use.layout == "packed":
        return "u8"
    if use.storage == "int64":
        return "i64"
    words: dict[str, StoredAs] = {"f16": "f16", "f32": "f32", "i32": "i32", "u32": "u32"}
    return words[wgsl_scalar(use.storage)]


def _pass(step: ProgramPass, shader: str, sizes: BufferSizes, planned: Sequence[PlannedBinding]) -> PassEntry:
    aliases = tuple(ViewAlias(input=source, output=target) for source, target in step.view_aliases)
    known: Sequence[PlannedBinding | None] = planned or [None] * len(step.slots)
    return PassEntry(
        id=step.id,
        label=step.label,
        shader=shader,
        entry_point="main",
        grid=step.grid,
        workgroup_size=workgroup_needs(step.wgsl).size,
        bindings=tuple(
            _binding(index, slot, sizes, binding)
            for index, (slot, binding) in enumerate(zip(step.slots, known, strict=True))
        ),
        submit_after=step.submit_after or None,
        view_aliases=aliases or None,
    )


def _binding(index: int, slot: Slot, sizes: BufferSizes, planned: PlannedBinding | None) -> Binding:
    contents = slot.contents
    struct = planned.struct if planned is not None else None
    return Binding(
        binding=index,
        type=slot.access,
        source=slot.source,
        name=slot.name,
        offset=slot.offset_bytes,
        size=_bound_bytes(slot, sizes),
        min_binding_size=slot.min_bytes,
        variable=planned.name if planned is not None else None,
        wgsl_type=_wgsl_type(planned) if planned is not None else None,
        contents=base64.b64encode(contents).decode() if contents is not None else None,
        struct=_struct(struct) if struct is not None else None,
    )


def _wgsl_type(binding: PlannedBinding) -> str:
    if binding.struct is not None:
        return binding.element_type
    return f"array<{binding.element_type}{f', {binding.length}' if binding.length is not None else ''}>"


def _struct(struct: PlannedStruct) -> UniformStruct:
    kinds: dict[str, Literal["u32", "i32", "f32"]] = {"u32": "u32", "i32": "i32", "f32": "f32"}
    values: list[int | float | None] = [*struct.values, *[None] * (len(struct.fields) - len(struct.values))]
    fields = (
        Field(name=name, type=kinds[kind], offset=_WORD_BYTES * index, value=_number(value))
        for index, ((name, kind), value) in enumerate(zip(struct.fields, values, strict=True))
    )
    return UniformStruct(name=struct.name, fields=tuple(fields))


def _number(value: float | None) -> int | float | str | None:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _requirements(program: Program, sizes: BufferSizes, declared: Requires | None) -> Requirements:
    features: set[str] = set(declared.features) if declared is not None else set()
    limits = Counter(_buffer_limits(program, sizes))
    for step in program.passes:
        features |= enabled_features(step.wgsl)
        limits |= Counter(_pass_limits(step))
    limits |= Counter(declared.limits if declared is not None else {})
    return Requirements(
        features=tuple(sorted(features)),
        limits=dict(sorted(limits.items())),
        subgroup_min_size=(declared.subgroup_min_size or None) if declared is not None else None,
    )


def _pass_limits(step: ProgramPass) -> dict[str, int]:
    needs = workgroup_needs(step.wgsl)
    uniforms = sum(slot.access == "uniform" for slot in step.slots)
    return {
        "maxComputeWorkgroupStorageSize": needs.storage_bytes,
        "maxComputeInvocationsPerWorkgroup": needs.invocations,
        "maxComputeWorkgroupSizeX": needs.size[0],
        "maxComputeWorkgroupSizeY": needs.size[1],
        "maxComputeWorkgroupSizeZ": needs.size[2],
        "maxComputeWorkgroupsPerDimension": max(step.grid),
        "maxStorageBuffersPerShaderStage": len(step.slots) - uniforms,
        "maxUniformBuffersPerShaderStage": uniforms,
    }


def _buffer_limits(program: Program, sizes: BufferSizes) -> dict[str, int]:
    limits = {"maxBufferSize": max(sizes.values(), default=0)}
    for slot in (slot for step in program.passes for slot in step.slots):
        limit = "maxUniformBufferBindingSize" if slot.source == "uniform" else "maxStorageBufferBindingSize"
        limits[limit] = max(limits.get(limit, 0), _bound_bytes(slot, sizes))
    return limits
