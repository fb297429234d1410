"""Making bind groups: which memory each pass of a program binds, and whether it may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.device.binding import BindingCache, BoundSet, Segment
from webgpu_kernels.device.native import gone
from webgpu_kernels.device.seam import COPY_DST, STORAGE, UNIFORM, Wgpu
from webgpu_kernels.errors import DeviceError, LimitError, PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from webgpu_kernels.device.binding import Key
    from webgpu_kernels.device.device import Device
    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.native import Dispatch
    from webgpu_kernels.device.pipelines import Pipeline
    from webgpu_kernels.device.tensor import Tensor
    from webgpu_kernels.planning.program import Program, ProgramPass, Slot

_UNIFORM_ALIGNMENT: Final = 256


class Range(NamedTuple):
    """Bytes of a buffer."""

    buffer: Wgpu
    offset: int
    size: int

    def part(self, slot: Slot) -> Range:
        """Return what a slot binds of it."""
        if slot.size_bytes is None:
            return self
        return Range(self.buffer, self.offset + slot.offset_bytes, slot.size_bytes)

    def overlaps(self, other: Range) -> bool:
        """Tell whether they share a byte."""
        return (
            self.buffer is other.buffer
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )


class Binder:
    """Turns tensors into bind groups for one program; holds its pipelines and uniforms.

    Args:
        device: where it runs; the caller holds its lock.
        program: the program.

    Raises:
        LimitError, ShaderError, DeviceError: as for ``Executable.compile``.
    """

    def __init__(self, device: Device, program: Program) -> None:
        self._device = device
        self._program = program
        self._passes = tuple(step for step in program.passes if all(step.grid))
        for step in self._passes:
            _check_grid(device, program.where, step)
        self._pipelines = tuple(device.pipelines.get(step, where=program.where) for step in self._passes)
        self._sizes = {use.name: use.size_bytes for use in (*program.inputs, *program.outputs)}
        self._uniforms = _make_uniforms(device, program, self._passes)
        self._passing = tuple(entry for entry in program.scratch if not entry.kept)
        for scratch in program.scratch:
            _check_binding_size(device, program.where, scratch.id, scratch.size_bytes)
        for slot in (slot for step in self._passes for slot in step.slots if slot.source == "tensor"):
            size_bytes = self._sizes[slot.name] if slot.size_bytes is None else slot.size_bytes
            _check_binding_size(device, program.where, slot.name, size_bytes)
        # What a program keeps is not the arena's: another program would write there between two of its runs.
        self._kept = {
            ("scratch", entry.id): Range(_zeroed(device, entry.size_bytes), 0, entry.size_bytes)
            for entry in program.scratch
            if entry.kept
        }

    def bind(self, cache: BindingCache, key: Key, given: Sequence[Tensor], results: Sequence[Tensor]) -> BoundSet:
        """Make the bind groups of every pass for these tensors.

        Args:
            cache: where the set will be kept.
            key: under which key.
            given: tensors of the program's inputs, checked.
            results: tensors of its outputs, checked.

        Returns:
            The bound set.

        Raises:
            PlanError: a pass would read and write the same memory, or binds too few bytes.
            DeviceError: the device cannot be used.

        Source: FORMAT, section 8.
        """
        memory = {
            use.name: tensor.allocation
            for use, tensor in zip((*self._program.inputs, *self._program.outputs), (*given, *results), strict=True)
        }
        scratch = self._device.scratch.get(self._passing, self._program.where)
        ranges = self._ranges(memory, scratch)
        segments = tuple(self._segments(ranges, scratch))
        used = {allocation.uid: allocation for allocation in (*memory.values(), *scratch.values())}
        written = [memory[use.name] for use in self._program.outputs]
        return BoundSet(cache, key, segments, used.values(), written)

    def _ranges(
        self, memory: Mapping[str, Allocation], scratch: Mapping[str, Allocation]
    ) -> dict[tuple[str, str], Range]:
        ranges = {
            ("tensor", name): Range(allocation.buffer, allocation.offset, self._sizes[name])
            for name, allocation in memory.items()
        }
        for entry in self._passing:
            ranges["scratch", entry.id] = Range(scratch[entry.id].buffer, 0, entry.size_bytes)
        return ranges | self._kept

    def _segments(
        self, ranges: Mapping[tuple[str, str], Range], scratch: Mapping[str, Allocation]
    ) -> Iterator[Segment]:
        clears = tuple((scratch[entry.id].buffer, 0, entry.size_bytes) for entry in self._passing if entry.zero_init)
        dispatches: list[Dispatch] = []
        names: list[str] = []
        for index, step in enumerate(self._passes):
            if not _is_view(step, ranges):
                dispatches.append(self._dispatch(index, step, ranges))
                names.append(step.id)
            if step.submit_after:
                yield Segment(clears, tuple(dispatches), tuple(names), waits=True)
                clears, dispatches, names = (), [], []
        if dispatches:
            yield Segment(clears, tuple(dispatches), tuple(names), waits=False)

    def _dispatch(self, index: int, step: ProgramPass, ranges: Mapping[tuple[str, str], Range]) -> Dispatch:
        where = f"{self._program.where}, pass {step.id}"
        bound = [
            self._uniforms[index, slot.name] if slot.source == "uniform" else ranges[slot.source, slot.name].part(slot)
            for slot in step.slots
        ]
        _check_conflicts(step.slots, bound, where)
        group = self._group(self._pipelines[index], bound, where)
        return (self._pipelines[index].pipeline, group, *step.grid)

    def _group(self, pipeline: Pipeline, bound: Sequence[Range], where: str) -> Wgpu:
        if any(gone(part.buffer) for part in bound):
            raise DeviceError(f"memory of {where} was collected already", hint="Do not call kernels in finalizers")
        entries = [
            {"binding": index, "resource": {"buffer": part.buffer, "offset": part.offset, "size": part.size}}
            for index, part in enumerate(bound)
        ]
        try:
            return self._device.wgpu_device.create_bind_group(layout=pipeline.group_layout, entries=entries)
        except Exception as error:
            raise self._device.failed(error, f"binding {where}") from error


def _is_view(step: ProgramPass, ranges: Mapping[tuple[str, str], Range]) -> bool:
    """Tell whether a pass would only copy memory onto itself."""
    return bool(step.view_aliases) and all(
        ranges["tensor", source] == ranges["tensor", target] for source, target in step.view_aliases
    )


def _check_conflicts(slots: Sequence[Slot], bound: Sequence[Range], where: str) -> None:
    """Refuse what WebGPU refuses: a buffer read and written in one pass, or written twice where ranges overlap."""
    for index, (slot, part) in enumerate(zip(slots, bound, strict=True)):
        if part.size < slot.min_bytes:
            raise PlanError(
                f"{slot.name} is smaller than the shader's array",
                where=where,
                expected=f"at least {slot.min_bytes} bytes",
                got=str(part.size),
            )
        for other, rest in zip(slots[:index], bound[:index], strict=True):
            both_written = slot.access == other.access == "storage"
            one_written = "storage" in {slot.access, other.access}
            if part.buffer is rest.buffer and one_written and (part.overlaps(rest) or not both_written):
                raise PlanError(
                    f"{other.name} and {slot.name} share memory that the pass writes",
                    where=where,
                    hint="Give tensors of their own memory",
                )


def _check_grid(device: Device, where: str, step: ProgramPass) -> None:
    available = device.capabilities.limits["maxComputeWorkgroupsPerDimension"]
    if max(step.grid) > available:
        raise LimitError(
            "the grid is too large",
            limit="maxComputeWorkgroupsPerDimension",
            asked=max(step.grid),
            available=available,
            where=f"{where}, pass {step.id}",
        )


def _check_binding_size(device: Device, where: str, name: str, size_bytes: int) -> None:
    limits = device.capabilities.limits
    for limit in ("maxStorageBufferBindingSize", "maxBufferSize"):
        if size_bytes > limits[limit]:
            raise LimitError(
                f"{name} is too large", limit=limit, asked=size_bytes, available=limits[limit], where=where
            )


def _make_uniforms(device: Device, program: Program, passes: Sequence[ProgramPass]) -> dict[tuple[int, str], Range]:
    """Put the uniforms of every pass into one buffer, each at its own aligned place."""
    places: dict[tuple[int, str], tuple[int, bytes]] = {}
    used = 0
    for index, step in enumerate(passes):
        for slot in step.slots:
            if slot.source == "uniform":
                contents = slot.contents or b""
                _check_uniform_size(device, program.where, slot.name, len(contents))
                places[index, slot.name] = (used, contents)
                used += -(-len(contents) // _UNIFORM_ALIGNMENT) * _UNIFORM_ALIGNMENT
    if not used:
        return {}
    data = bytearray(used)
    for offset, contents in places.values():
        data[offset : offset + len(contents)] = contents
    buffer = _uniform_buffer(device, data)
    return {place: Range(buffer, offset, len(contents)) for place, (offset, contents) in places.items()}


def _zeroed(device: Device, size_bytes: int) -> Wgpu:
    try:
        return device.wgpu_device.create_buffer(size=size_bytes, usage=STORAGE)
    except Exception as error:
        raise device.failed(error, "allocating an intermediate") from error


def _uniform_buffer(device: Device, data: bytearray) -> Wgpu:
    try:
        buffer = device.wgpu_device.create_buffer(size=len(data), usage=UNIFORM | COPY_DST, mapped_at_creation=True)
        buffer.write_mapped(data)
        buffer.unmap()
    except Exception as error:
        raise device.failed(error, "allocating uniforms") from error
    return buffer


def _check_uniform_size(device: Device, where: str, name: str, size_bytes: int) -> None:
    available = device.capabilities.limits["maxUniformBufferBindingSize"]
    if size_bytes > available:
        raise LimitError(
            f"the uniform {name} is too large",
            limit="maxUniformBufferBindingSize",
            asked=size_bytes,
            available=available,
            where=where,
        )
