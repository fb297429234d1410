"""program.json: a rendered request as a plain document, for hosts in any language.

Its dataclasses are the format: ``schema.py`` makes the JSON Schema of them, and the names in JSON are theirs in camel
case. A member that is None, and so says nothing, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the schema is made of these annotations
from dataclasses import dataclass, field
from typing import Annotated, Literal

from webgpu_kernels.planning.program import Access, Source  # noqa: TC001 - as above
from webgpu_kernels.tools.export.fields import Count  # noqa: TC001


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One member of a uniform's struct: a 32-bit word."""

    name: Annotated[str, "The member's WGSL name."]
    type: Annotated[Literal["u32", "i32", "f32"], "Its WGSL type."]
    offset: Annotated[Count, "Where it lies in the buffer, in bytes."]
    value: Annotated[
        int | float | str | None, 'The number that is there; "Infinity" and "-Infinity" as text; absent for padding.'
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformStruct:
    """What the bytes of a uniform mean. A host needs only the bytes."""

    name: Annotated[str, "The struct's WGSL name."]
    fields: Annotated[tuple[Field, ...], "Its members in order, padding included."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One buffer of a pass: an entry of its bind group layout and of its bind group, both of group 0."""

    binding: Annotated[Count, "Its number in the group."]
    type: Annotated[Access, "WebGPU's buffer binding type."]
    source: Annotated[Source, "Whether a tensor, a scratch buffer or a uniform of its own is bound."]
    name: Annotated[str, "Name of the tensor, id of the scratch buffer, or the uniform's variable."]
    offset: Annotated[Count, "Where in the buffer the binding starts, in bytes."]
    size: Annotated[Count, "How many bytes are bound."]
    min_binding_size: Annotated[Count, "For the layout: the least bytes that the shader's type needs."]
    variable: Annotated[str | None, "The WGSL variable."] = None
    wgsl_type: Annotated[str | None, "The variable's WGSL type."] = None
    contents: Annotated[str | None, "A uniform's bytes, in Base64."] = None
    struct: Annotated[UniformStruct | None, "What a uniform's bytes mean."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewAlias:
    """A pair of tensors of which a pass makes one a copy of the other."""

    input: Annotated[str, "The tensor that is read."]
    output: Annotated[str, "The tensor that is written."]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassEntry:
    """One dispatch. Passes run in order; one with a zero in its grid is skipped."""

    id: Annotated[str, "Unique in the program."]
    label: Annotated[str, "A name for debuggers and profilers."]
    shader: Annotated[str, "The WGSL file, relative to program.json; passes may share one."]
    entry_point: Annotated[str, "The shader's function."]
    grid: Annotated[tuple[Count, ...], "Workgroups along x, y and z."]
    workgroup_size: Annotated[tuple[Count, ...], "Threads of a workgroup along x, y and z, as the shader says."]
    bindings: Annotated[tuple[Binding, ...], "What is bound."]
    submit_after: Annotated[bool | None, "Whether to submit what is recorded, and wait, after this pass."] = None
    view_aliases: Annotated[
        tuple[ViewAlias, ...] | None, "Where given, the pass is skipped if each pair is the same memory."
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchEntry:
    """A buffer of the host's that passes hand data on in."""

    id: Annotated[str, "What bindings call it."]
    size_bytes: Annotated[Count, "How large it must be."]
    zero_init: Annotated[bool, "Whether it must be cleared before every run."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What the elements of a tensor must lie in, both included."""

    least: Annotated[int, "The least."]
    most: Annotated[int, "The greatest."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorEntry:
    """A buffer of the caller's. It lies row-major; its usage is STORAGE, and COPY_DST or COPY_SRC as it is needed."""

    name: Annotated[str, "The port's name."]
    role: Annotated[Literal["input", "output", "inout"], "Whether it is read, written, or updated in place."]
    dtype: Annotated[str, "What its elements are to the caller, such as float16 or int64."]
    shape: Annotated[tuple[Count, ...], "Its dimensions."]
    storage: Annotated[str, "What they are on the device: dtype, or int32 or uint32 for an int64."]
    stored_as: Annotated[
        Literal["f16", "f32", "i32", "u32", "i64", "u8", "u4"],
        "What one element occupies: narrow integers and bool are widened to a 32-bit word, unless they are packed: "
        "u8 is a byte, u4 half a byte, the low half first.",
    ]
    size_bytes: Annotated[Count, "The buffer's size: what the elements take, rounded up to 4, at least 4."]
    layout: Annotated[Literal["packed"] | None, "packed where uint8 lie four to a word."] = None
    narrowing: Annotated[
        Literal["checked", "saturating"] | None, "What becomes of an int64 beyond its storage: an error, or its bound."
    ] = None
    values: Annotated[Bounds | None, "What its elements must lie in; the shader does not check."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """What a device must have. Limits are lower bounds, whatever WebGPU's defaults are."""

    features: Annotated[tuple[str, ...], "WebGPU features to request."]
    limits: Annotated[Mapping[str, Count], "WebGPU limits by name, as far as the program comes near them."]
    subgroup_min_size: Annotated[int | None, "The least subgroup size that the shaders count on."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The device that the variant was chosen and rendered for. Another one needs only what `requires` says."""

    features: Annotated[tuple[str, ...], "Its features."]
    limits: Annotated[Mapping[str, Count], "Its limits, where they differ from WebGPU's defaults."]
    adapter_info: Annotated[Mapping[str, str | int | bool], "Facts such as vendor and subgroup sizes."]
    wgsl_language_features: Annotated[tuple[str, ...], "Its WGSL language extensions."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """A result is right where |result - expected| <= atol + rtol * |expected|."""

    atol: Annotated[float, "The absolute part."]
    rtol: Annotated[float, "The relative part."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Data to try the program with: files of bytes as buffers hold them, relative to program.json."""

    description: Annotated[str, "Where they come from."]
    inputs: Annotated[Mapping[str, str], "Name of a tensor to file."]
    expected: Annotated[Mapping[str, str] | None, "Name of an output to file, of bytes likewise."] = None
    tolerance: Annotated[Mapping[str, Tolerance] | None, "How near the outputs must come."] = None
    source: Annotated[str | None, "What the expected values come from."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramDocument:
    """A kernel's request, rendered ahead of time: all that a host needs beside the WGSL files."""

    format: Annotated[Literal["webgpu-kernels-program"], "Says that this is such a document."] = (
        "webgpu-kernels-program"
    )
    version: Annotated[Literal[1], "The version of the format; it grows when a host must change."] = 1
    made_by: Annotated[str | None, "The program that wrote it."] = None
    operator: Annotated[str | None, "Such as com.microsoft.SkipGroupNorm."] = None
    variant: Annotated[str | None, "The variant that was chosen."] = None
    request: Annotated[str | None, "The call, for readers."] = None
    package: Annotated[str | None, "The package's id, where it has one."] = None
    revision: Annotated[str | None, "The commit that the package came from, where it came from the Hub."] = None
    requires: Annotated[Requirements, "What a device must have."]
    planned: Annotated[Planned | None, "The device that it was planned for."] = None
    tensors: Annotated[tuple[TensorEntry, ...], "The caller's buffers: inputs, then outputs."]
    scratch: Annotated[tuple[ScratchEntry, ...], "The host's own buffers."] = field(default_factory=tuple)
    passes: Annotated[tuple[PassEntry, ...], "What runs, in order; nothing where every output is empty."]
    example: Annotated[Example | None, "Data to try it with."] = None
