"""The program of a request: everything a device needs, and nothing it has to decide.

This is the seam between planning and execution: WGSL, layouts, uniform bytes, grids and sizes, all plain values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from webgpu_kernels.contract import Narrowing

Access = Literal["uniform", "read-only-storage", "storage"]
Source = Literal["tensor", "scratch", "uniform"]


class Slot(NamedTuple):
    """One ``@group(0) @binding(i)`` of a pass; i is its position in ``ProgramPass.slots``.

    Attributes:
        access: the buffer binding type, in WebGPU's words.
        source: whether ``name`` is a tensor, an intermediate or a uniform of this pass.
        name: port name, intermediate id or the uniform's WGSL name.
        min_bytes: size of a fixed-size array or struct in bytes; 0 for a runtime-sized array.
        offset_bytes: where in the tensor the binding starts.
        size_bytes: bytes of a window of the tensor, None for the whole.
        contents: little-endian words of a uniform, None otherwise.
    """

    access: Access
    source: Source
    name: str
    min_bytes: int = 0
    offset_bytes: int = 0
    size_bytes: int | None = None
    contents: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPass:
    """One dispatch of ``main``.

    Attributes:
        id: the pass id, expanded inside repeat groups (``group[i].pass``).
        label: a readable name for debuggers.
        wgsl: the complete shader text.
        lines: for each line of ``wgsl`` the (template, line from 1) it came from; ("", 0) for generated lines.
        slots: the bindings in order.
        grid: workgroups along x, y, z; a zero skips the pass.
        submit_after: whether the work so far is submitted and waited for after this pass.
        view_aliases: pairs (input, output) of tensor names; the pass is skipped where both are the same buffer range.
    """

    id: str
    label: str
    wgsl: str
    lines: tuple[tuple[str, int], ...]
    slots: tuple[Slot, ...]
    grid: tuple[int, int, int]
    submit_after: bool = False
    view_aliases: tuple[tuple[str, str], ...] = ()


class Scratch(NamedTuple):
    """One intermediate buffer.

    Attributes:
        id: its name in the manifest.
        size_bytes: bytes to allocate, a positive multiple of 4.
        zero_init: whether it must be cleared before the first pass.
        kept: whether the shaders also take what the program's last run left there, with zeros before the first one:
            a buffer of the program's own then needs no clearing.
    """

    id: str
    size_bytes: int
    zero_init: bool = False
    kept: bool = False


class ValueRange(NamedTuple):
    """What the elements of a host array must lie in, both bounds included, and what they are, in words or None."""

    least: int
    most: int
    what: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorUse:
    """One supplied input or computed output.

    Attributes:
        name: the port.
        shape: dimensions, row-major.
        dtype: logical dtype, such as ``"float16"``.
        storage: storage dtype on the device: the logical one, or int32/uint32 for a projected int64.
        layout: ``"packed"`` or None.
        narrowing: ``"checked"``, ``"saturating"`` or None.
        size_bytes: bytes on the device, a positive multiple of 4.
        is_output: whether the call computes it.
        value_range: what a host array's elements must lie in, None for anything.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    storage: str
    layout: str | None
    narrowing: Narrowing | None
    size_bytes: int
    is_output: bool
    value_range: ValueRange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a request runs on one kind of device.

    Attributes:
        where: operator and variant, for messages.
        passes: in order; empty where every output is empty.
        scratch: the intermediates that the passes bind.
        inputs: the supplied tensors, in the contract's order.
        outputs: the computed tensors, in the contract's order.
    """

    where: str
    passes: tuple[ProgramPass, ...]
    scratch: tuple[Scratch, ...]
    inputs: tuple[TensorUse, ...]
    outputs: tuple[TensorUse, ...]
