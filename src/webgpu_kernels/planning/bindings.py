"""The bindings of a pass: WGSL types, sizes, uniform contents, and their checks against the device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webgpu_kernels.contract import stored_bytes, wgsl_scalar
from webgpu_kernels.errors import PlanError
from webgpu_kernels.planning.uniforms import PlannedStruct, plan_struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Binding, BufferAccess, ResourceKind
    from webgpu_kernels.language import Value
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.planning.scope import Scope

_SCALAR_BYTES = {"f32": 4, "i32": 4, "u32": 4, "f16": 2}
_VECTOR = re.compile(r"vec([234])(?:<\s*(f32|i32|u32|f16)\s*>|([fiuh]))\Z")
_SHORT = {"f": "f32", "i": "i32", "u": "u32", "h": "f16"}
_ATOMIC = re.compile(r"atomic<\s*([iu]32)\s*>\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBinding:
    """One ``@group(0) @binding(i)``.

    Attributes:
        name: the WGSL variable.
        resource: tensor, scratch or uniform.
        target: what is bound: port, intermediate or the uniform itself.
        access: the buffer binding type.
        element_type: WGSL element type of the array; for a uniform its struct's name.
        length: elements of a fixed-size array, None for a runtime-sized one.
        min_bytes: the least bytes a binding must have.
        struct: the uniform's layout and contents, None otherwise.
        offset_bytes: where in the tensor it starts.
        size_bytes: bytes of a window, None for the whole tensor.
    """

    name: str
    resource: ResourceKind
    target: str
    access: BufferAccess
    element_type: str
    length: int | None
    min_bytes: int
    struct: PlannedStruct | None = None
    offset_bytes: int = 0
    size_bytes: int | None = None

    @property
    def declaration(self) -> str:
        """The WGSL variable without its group and binding (FORMAT, section 6)."""
        if self.struct is not None:
            return f"var<uniform> {self.name}: {self.element_type};"
        mode = "read" if self.access == "read-only-storage" else "read_write"
        length = f", {self.length}u" if self.length is not None else ""
        return f"var<storage, {mode}> {self.name}: array<{self.element_type}{length}>;"


def tensor_bytes(request: Request, name: str) -> int:
    """Return a tensor's bytes on the device: rounded up to 4, at least 4.

    Source: FORMAT, section 9.
    """
    manifest = request.manifest
    spec = request.tensors[name]
    port = manifest.inputs.get(name) or manifest.outputs[name]
    return stored_bytes(spec.size, port.storage or spec.dtype, port.layout)


def plan_binding(
    binding: Binding, scope: Scope, request: Request, sizes: Mapping[str, int], where: str
) -> PlannedBinding:
    """Evaluate one binding of a pass.

    Args:
        binding: its declaration.
        scope: the pass's scope; ``$name`` looks here.
        request: the bound call.
        sizes: bytes of every tensor and intermediate.
        where: operator, variant and pass, for messages.

    Returns:
        The binding with its types, least size and, for a uniform, contents.

    Raises:
        PlanError: an element type, length or uniform field that makes no sense, or a tensor too small for them.

    Source: FORMAT, section 6.
    """
    path = f"{where}: binding {binding.name!r}"
    if binding.struct is not None:
        struct = plan_struct(binding.struct, scope, request, path)
        return PlannedBinding(
            name=binding.name,
            resource="uniform",
            target=binding.target,
            access="uniform",
            element_type=struct.name,
            length=None,
            min_bytes=len(struct.contents),
            struct=struct,
        )
    element_type = str(_looked_up(binding.element_type, scope, request, path))
    length = _length(binding, scope, request, path)
    if binding.target not in sizes:
        raise PlanError(f"tensor {binding.target!r} is bound but not part of this call", where=path)
    least = element_bytes(element_type, path) * (length or 1)
    if least > sizes[binding.target]:
        raise PlanError(
            "the buffer is too small for its type",
            where=path,
            expected=f"{least} bytes for array<{element_type}{f', {length}u' if length else ''}>",
            got=f"{sizes[binding.target]} bytes",
        )
    return PlannedBinding(
        name=binding.name,
        resource=binding.resource,
        target=binding.target,
        access=binding.access,
        element_type=element_type,
        length=length,
        min_bytes=least,
    )


def _looked_up(value: object, scope: Scope, request: Request, path: str) -> Value:
    """Resolve ``$name`` in the values of the pass, then among the type variables."""
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    name = value[1:]
    values = scope["derive"]
    if isinstance(values, dict) and name in values:
        return values[name]
    if name in request.dtypes:
        return wgsl_scalar(request.dtypes[name])
    if name in scope:
        return scope[name]
    raise PlanError(f"{value} names no value of this pass", where=path)


def _length(binding: Binding, scope: Scope, request: Request, path: str) -> int | None:
    if binding.length is None:
        return None
    value = _looked_up(binding.length, scope, request, path)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise PlanError("wrong array length", where=path, expected="a positive integer", got=repr(value))
    return value


def element_bytes(element_type: str, where: str) -> int:
    """Return the array stride in bytes of a scalar, vector or atomic type.

    Raises:
        PlanError: any other type: its size cannot be known here.

    Source: WGSL, section "Alignment and Size".
    """
    atomic = _ATOMIC.match(element_type)
    if element_type in _SCALAR_BYTES or atomic:
        return _SCALAR_BYTES[atomic.group(1) if atomic else element_type]
    vector = _VECTOR.match(element_type)
    if vector is None:
        raise PlanError(
            "unknown element type",
            where=where,
            expected="f32, f16, i32, u32, a vec2, vec3 or vec4 of one",
            got=repr(element_type),
        )
    scalar = vector.group(2) or _SHORT[vector.group(3)]
    lanes = int(vector.group(1))
    return _SCALAR_BYTES[scalar] * (4 if lanes == 3 else lanes)  # vec3 is aligned like vec4
