"""A call bound to its contract: which tensors, of what dtypes and shapes, with which attributes, on what device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webgpu_kernels.contract import NIBBLE_DTYPES
from webgpu_kernels.errors import DtypeError, LayoutError, MissingValueError
from webgpu_kernels.planning.attributes import bind_arguments, bind_attributes, bind_tunables, unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Manifest, Port, Tunable
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.spec import TensorSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call after the checks that need no expression.

    Attributes:
        manifest: the contract.
        inputs: the supplied tensors, in the contract's order.
        outputs: the tensors to compute, in the contract's order; filled by ``infer_outputs``.
        attrs: defaults overlaid by the call.
        args: the passed scalar arguments.
        tunables: the call's overrides.
        dtypes: type variable to logical dtype, for those bound so far.
        capabilities: the device.
    """

    manifest: Manifest
    inputs: Mapping[str, TensorSpec]
    outputs: Mapping[str, TensorSpec] = field(default_factory=dict)
    attrs: Mapping[str, object]
    args: Mapping[str, object]
    tunables: Mapping[str, object]
    dtypes: Mapping[str, str]
    capabilities: Capabilities

    @property
    def tensors(self) -> dict[str, TensorSpec]:
        """Every supplied and computed tensor by name."""
        return {**self.inputs, **self.outputs}


def bind_request(
    manifest: Manifest,
    inputs: Mapping[str, TensorSpec],
    *,
    attrs: Mapping[str, object],
    args: Mapping[str, object],
    tunables: Mapping[str, object],
    capabilities: Capabilities,
) -> Request:
    """Check names, presence, attributes, dtypes and layouts of a call.

    Args:
        manifest: the contract.
        inputs: tensors by port name.
        attrs: attributes by name.
        args: scalar arguments by name.
        tunables: overrides by name.
        capabilities: the device the call is for.

    Returns:
        The request, its outputs still empty.

    Raises:
        RequestError: of the kind that says what is wrong, naming the port or attribute.

    Source: FORMAT, section 4, step 0.
    """
    ordered = _named_inputs(manifest, inputs)
    bound_attrs = bind_attributes(manifest, attrs)
    bound_args = bind_arguments(manifest, args)
    bound_tunables = bind_tunables(declared_tunables(manifest), tunables, manifest.op_id)
    return Request(
        manifest=manifest,
        inputs=ordered,
        attrs=bound_attrs,
        args=bound_args,
        tunables=bound_tunables,
        dtypes=_bind_dtypes(manifest, ordered),
        capabilities=capabilities,
    )


def declared_tunables(manifest: Manifest) -> dict[str, Tunable]:
    """Return every tunable that the manifest or one of its variants declares; the manifest's declaration wins."""
    tunables: dict[str, Tunable] = {}
    for variant in manifest.variants:
        tunables.update(variant.tunables)
    return tunables | dict(manifest.tunables)


def _named_inputs(manifest: Manifest, inputs: Mapping[str, TensorSpec]) -> dict[str, TensorSpec]:
    where = manifest.op_id
    for name in inputs:
        if name not in manifest.inputs:
            raise unknown_name("input", name, manifest.inputs, where)
    required = [name for name, port in manifest.inputs.items() if not port.optional]
    missing = ", ".join(repr(name) for name in required if name not in inputs)
    if missing:
        raise MissingValueError(
            f"missing input{'s' if ', ' in missing else ''} {missing}",
            where=where,
            hint=f"Required are: {', '.join(required)}.",
        )
    return {name: inputs[name] for name in manifest.inputs if name in inputs}


def _bind_dtypes(manifest: Manifest, inputs: Mapping[str, TensorSpec]) -> dict[str, str]:
    bound: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name, spec in inputs.items():
        port = manifest.inputs[name]
        check_dtype(manifest, port, spec, bound, owners)
        check_layout(manifest, port, spec)
    return bound


def check_dtype(
    manifest: Manifest, port: Port, spec: TensorSpec, bound: dict[str, str], owners: dict[str, str]
) -> None:
    """Check one tensor's dtype against its port, binding the port's type variable.

    Args:
        manifest: the contract.
        port: the port.
        spec: the tensor.
        bound: type variable to dtype so far; extended.
        owners: type variable to the port that bound it, for the message; extended.

    Raises:
        DtypeError: not what the port takes, or not what another port of the same variable has.

    Source: FORMAT, section 9.
    """
    where = f"{manifest.op_id}: {port.name!r}"
    variable = port.dtype
    if variable is None or variable not in manifest.type_constraints:
        if spec.dtype != (variable or "float32"):
            raise DtypeError("wrong dtype", where=where, expected=variable or "float32", got=spec.dtype)
        return
    allowed = manifest.type_constraints[variable]
    if spec.dtype not in allowed:
        raise DtypeError(
            "wrong dtype", where=where, expected=f"{variable}, one of {', '.join(allowed)}", got=spec.dtype
        )
    known = bound.setdefault(variable, spec.dtype)
    owner = owners.setdefault(variable, port.name)
    if known != spec.dtype:
        raise DtypeError(
            "dtypes differ",
            where=where,
            expected=f"{known} as {owner!r} has (both are {variable})",
            got=spec.dtype,
            hint=f"Convert one of them, for example with {port.name}.astype('{known}').",
        )


def check_layout(manifest: Manifest, port: Port, spec: TensorSpec) -> None:
    """Check that a tensor is stored as its port needs.

    A spec without storage describes a host array, which is encoded on upload; one with storage is on a device.

    Raises:
        LayoutError: another layout or storage than the port's.

    Source: FORMAT, sections 2 and 9.
    """
    storage = port.storage or spec.dtype
    if spec.storage not in {None, storage}:
        raise _layout_error(manifest, port, "storage", expected=storage, got=spec.storage)
    on_device, layout = spec.storage is not None, layout_of(port, spec.dtype)
    if (on_device or spec.layout is not None) and spec.layout != layout:
        raise _layout_error(manifest, port, "layout", expected=layout, got=spec.layout)


def layout_of(port: Port, dtype: str) -> str | None:
    """Return the layout of a tensor of that dtype at a port.

    Args:
        port: the port.
        dtype: the tensor's logical dtype, one of the port's.

    Returns:
        The port's; None for int4 and uint4, which have only one.

    Source: docs/format.md, "Extensions".
    """
    return None if dtype in NIBBLE_DTYPES else port.layout


def _layout_error(manifest: Manifest, port: Port, what: str, *, expected: str | None, got: str | None) -> LayoutError:
    return LayoutError(
        f"wrong {what}",
        where=f"{manifest.op_id}: {port.name!r}",
        expected=expected or "none",
        got=got or "none",
        hint=f"Make the tensor with kernel.tensor({port.name!r}, array).",
    )
