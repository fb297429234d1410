"""Which outputs a call computes, and their dtypes and shapes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract import dtype_of_onnx_code
from webgpu_kernels.errors import DtypeError, EvaluationError, KernelError, RequestError, ShapeError
from webgpu_kernels.planning.attributes import unknown_name
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.quantities import MAX_RANK, as_counts
from webgpu_kernels.planning.request import Request, check_dtype, check_layout
from webgpu_kernels.planning.scope import Scope, evaluate_in, request_scope
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Manifest, Port
    from webgpu_kernels.language import Value

_SHAPE: Final = re.compile(r"\b(?:shapes|ranks)\.([A-Za-z_]\w*)")
_CHOSEN: Final = frozenset({"attrs", "args", "tunables", "device"})


def infer_outputs(request: Request, wanted: Mapping[str, TensorSpec | None]) -> Request:
    """Add the outputs to a request: every required one, and the optional ones that are wanted.

    Args:
        request: the bound call.
        wanted: output name to a spec that the caller fixes, or None.

    Returns:
        The request with outputs and the type variables they bind.

    Raises:
        UnknownNameError: an output the contract does not have.
        DtypeError: the dtype cannot be inferred, or a fixed one is not the port's.
        ShapeError: the shape cannot be inferred, or a fixed one differs.

    Source: FORMAT, sections 4 (step 4) and 9.
    """
    manifest = request.manifest
    for name in wanted:
        if name not in manifest.outputs:
            raise unknown_name("output", name, manifest.outputs, manifest.op_id)
    ports = [port for port in manifest.outputs.values() if not port.optional or port.name in wanted]
    bound = dict(request.dtypes)
    dtypes = {port.name: _output_dtype(request, port, wanted.get(port.name), bound) for port in ports}
    shapes = _output_shapes(request, ports, wanted)
    outputs = {port.name: TensorSpec(shapes[port.name], dtypes[port.name]) for port in ports}
    return replace(request, outputs=outputs, dtypes=bound)


def _output_dtype(request: Request, port: Port, fixed: TensorSpec | None, bound: dict[str, str]) -> str:
    if fixed is not None:
        check_layout(request.manifest, port, fixed)
        check_dtype(request.manifest, port, fixed, bound, {})
        return fixed.dtype
    inferred = _infer_dtype(request, port, bound)
    if port.dtype in request.manifest.type_constraints:
        bound.setdefault(str(port.dtype), inferred)
    return inferred


def _infer_dtype(request: Request, port: Port, bound: Mapping[str, str]) -> str:
    """Try the format's sources of an output's dtype, in its stated order."""
    manifest = request.manifest
    if port.dtype is None:
        return "float32"
    if port.dtype not in manifest.type_constraints:
        return port.dtype
    if port.dtype in bound:
        return bound[port.dtype]
    allowed = manifest.type_constraints[port.dtype]
    where = f"{manifest.op_id}: output {port.name!r}"
    if _needs_to(manifest):
        return _dtype_of_to(request, allowed, where)
    if len(allowed) == 1:
        return allowed[0]
    for spec in request.inputs.values():
        if spec.dtype in allowed:
            return spec.dtype
    raise DtypeError(
        "the dtype cannot be inferred",
        where=where,
        expected=f"one of {', '.join(allowed)}",
        hint=f"Give outputs={{'{port.name}': TensorSpec(shape, dtype)}}.",
    )


def _needs_to(manifest: Manifest) -> bool:
    to = manifest.attributes.get("to")
    return manifest.domain == "ai.onnx" and to is not None and to.required


def _dtype_of_to(request: Request, allowed: tuple[str, ...], where: str) -> str:
    code = request.attrs["to"]
    dtype = dtype_of_onnx_code(code) if isinstance(code, int) else None
    if dtype is None or dtype not in allowed:
        raise DtypeError(
            "attribute 'to' names another dtype",
            where=where,
            expected=f"the ONNX code of {', '.join(allowed)}",
            got=repr(code),
        )
    return dtype


def _output_shapes(
    request: Request, ports: list[Port], wanted: Mapping[str, TensorSpec | None]
) -> dict[str, tuple[int, ...]]:
    fixed = {name: spec for name, spec in wanted.items() if spec is not None}
    seen = replace(request, outputs=fixed, capabilities=Capabilities())
    shapes: dict[str, tuple[int, ...]] = {}
    scope: Scope | None = None
    faults: dict[str, KernelError] = {}
    for port in ports:
        where = f"{request.manifest.op_id}: output {port.name!r}"
        if port.shape is None:
            if port.name not in fixed:
                raise ShapeError(
                    "the contract does not infer the shape",
                    where=where,
                    hint=f"Give outputs={{'{port.name}': TensorSpec(shape, dtype)}}.",
                )
            shapes[port.name] = fixed[port.name].shape
            continue
        scope = scope if scope is not None else _shape_scope(seen, ports, faults)
        shapes[port.name] = _checked(_shape_value(seen, port, scope, faults), fixed.get(port.name), where)
    return shapes


def _shape_scope(request: Request, ports: list[Port], faults: dict[str, KernelError]) -> Scope:
    """Evaluate only the derives that shapes reach; one that fails stays undefined, as the format has it, and noted."""
    scope = request_scope(request)
    namespace: dict[str, Value] = {}
    scope["derive"] = namespace
    needed = _reached(request.manifest, ports)
    for entry in request.manifest.derive:
        if entry.name not in needed:
            continue
        try:
            value = evaluate_in(entry.expression, scope, where=entry.name)
        except KernelError as error:
            # Of one that failed by another, the first is the cause.
            known = next((faults[name] for name in entry.expression.names if name in faults), error)
            faults[entry.name] = known
            continue
        scope[entry.name] = namespace[entry.name] = value
    return scope


def _reached(manifest: Manifest, ports: list[Port]) -> set[str]:
    needed: set[str] = set()
    for port in ports:
        if port.shape is not None:
            needed |= port.shape.names
    if "derive" in needed:
        return {entry.name for entry in manifest.derive}
    for entry in reversed(manifest.derive):
        if entry.name in needed:
            needed |= entry.expression.names
    return needed


def _shape_value(request: Request, port: Port, scope: Scope, faults: Mapping[str, KernelError]) -> Value:
    assert port.shape is not None
    where = f"{request.manifest.op_id}: output {port.name!r}"
    try:
        return evaluate_in(port.shape, scope, where=where)
    except KernelError as error:
        cause = next((faults[name] for name in sorted(port.shape.names) if name in faults), error)
        raise _shape_fault(request, port, cause, where) from cause


def _shape_fault(request: Request, port: Port, cause: KernelError, where: str) -> RequestError:
    """Blame the inputs where nothing but their shapes decides: the caller gave those, not the output's."""
    reached = _reached(request.manifest, [port])
    formulas = [entry.expression for entry in request.manifest.derive if entry.name in reached]
    formulas += [port.shape] if port.shape is not None else []
    asked = dict.fromkeys(name for formula in formulas for name in _SHAPE.findall(formula.source))
    inputs = [name for name in asked if name in request.inputs]
    if not isinstance(cause, EvaluationError) or not inputs or reached & _CHOSEN:
        return RequestError(f"the shape cannot be evaluated for this call: {cause}", where=where)
    named = ", ".join(map(repr, inputs))
    return ShapeError(
        f"no shape follows for the output {port.name!r}" + ("" if cause.expected else f": {cause}"),
        where=f"{request.manifest.op_id}: {'inputs' if len(inputs) > 1 else 'input'} {named}",
        expected=cause.expected,
        got=", ".join(f"{name} {list(request.inputs[name].shape)}" for name in inputs),
        hint=f"The contract computes it by {port.shape.source}." if port.shape is not None else None,
    )


def _checked(value: Value, fixed: TensorSpec | None, where: str) -> tuple[int, ...]:
    if isinstance(value, list) and len(value) > MAX_RANK:
        raise ShapeError(f"the shape has {len(value):,} dimensions", where=where, expected=f"at most {MAX_RANK}")
    shape = as_counts(value) if isinstance(value, list) else None
    if shape is None:
        raise ShapeError("the shape is not a list of non-negative integers", where=where, got=repr(value))
    if fixed is not None and fixed.shape != shape:
        raise ShapeError("wrong shape", where=where, expected=str(list(shape)), got=str(list(fixed.shape)))
    return shape
