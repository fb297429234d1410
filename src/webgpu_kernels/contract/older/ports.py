"""Reads tensors of the older dialect: ports are lists, and ``args`` says what callers call them.

A port has a *role*, which is its name in ``shapes``, ``ranks`` and ``tensorDtypes``; the argument whose ``semantic`` is
that role has the name in calls and in ``present``, and says how the tensor is stored.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.contract.dtypes import LOGICAL_DTYPES, storages_of
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import formula_of, shape_formula
from webgpu_kernels.contract.model import Port
from webgpu_kernels.contract.older.vocabulary import (
    ARGUMENT,
    INPUT_PORT,
    OUTPUT_PORT,
    SCALAR_ARGUMENT,
    SIDES,
    TENSOR_ARGUMENT,
)
from webgpu_kernels.contract.ports import possible_dtypes, read_port_dtype, read_scalar
from webgpu_kernels.contract.vocabulary import LAYOUTS, NARROWINGS
from webgpu_kernels.contract.words import alternatives, name_fault, wgsl_fault

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.contract.model import ScalarArg
    from webgpu_kernels.contract.older.vocabulary import Side
    from webgpu_kernels.contract.ports import TypeConstraints


class Signature(NamedTuple):
    """What callers see: tensors by the names of calls, and scalar arguments."""

    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    args: Mapping[str, ScalarArg]


class _Tensor(NamedTuple):
    """One argument of kind ``tensor``; ``side`` is None where it does not say."""

    name: str
    semantic: str
    side: Side | None
    fields: Fields


class _Declared(NamedTuple):
    """One port of ``inputs`` or ``outputs``."""

    role: str
    side: Side
    fields: Fields


def read_signature(fields: Fields, types: TypeConstraints, names: Names) -> Signature:
    """Read ``inputs``, ``outputs`` and ``args``.

    Args:
        fields: the manifest.
        types: the type variables.
        names: what ``rank`` and ``shape`` may use.

    Returns:
        Tensors and scalar arguments in the manifest's order; a port that no argument names is called by its role.

    Source: FORMAT section 12.
    """
    tensors, scalars = _read_args(fields.get("args"))
    outputs = fields.get("outputs")
    roles: dict[Side, dict[str, _Declared]] = {"input": _read_roles(fields.get("inputs"), "input", ())}
    roles["output"] = _read_roles(outputs, "output", roles["input"])
    if outputs is not None and outputs.value == []:
        outputs.fail("must not be empty: a kernel computes something")
    chosen = _match(tensors, roles)
    ports = {
        side: [_read_port(entry, chosen.get((side, role)), types, names) for role, entry in listed.items()]
        for side, listed in roles.items()
    }
    _check_names(tensors, roles, chosen, scalars)
    return Signature(
        inputs=MappingProxyType({port.name: port for port in ports["input"]}),
        outputs=MappingProxyType({port.name: port for port in ports["output"]}),
        args=MappingProxyType(scalars),
    )


def _read_args(node: Node | None) -> tuple[list[_Tensor], dict[str, ScalarArg]]:
    tensors, scalars = [], {}
    for name, entry in node.members("arguments, name to argument") if node else ():
        if ARGUMENT.takes(entry.value):
            tensors.append(_read_tensor(name, Fields(entry, TENSOR_ARGUMENT)))
            continue
        if fault := name_fault(name):
            entry.fail(fault)
        fields = Fields(entry, SCALAR_ARGUMENT)
        fields.text("semantic")
        if (side := fields.choice("role", SIDES)) == "output":
            entry.at("role", side).fail("'output' is for tensors: a kernel returns no scalars")
        scalars[name] = read_scalar(name, fields)
    return tensors, scalars


def _read_tensor(name: str, fields: Fields) -> _Tensor:
    if fault := wgsl_fault(name):
        fields.node.fail(fault)
    fields.text("description")
    semantic = fields.text("semantic") or name
    return _Tensor(name=name, semantic=semantic, side=fields.choice("role", SIDES), fields=fields)


def _read_roles(node: Node | None, side: Side, others: Collection[str]) -> dict[str, _Declared]:
    """Return the ports of one list by role."""
    roles: dict[str, _Declared] = {}
    if node is not None and not isinstance(node.value, list):
        node.fail_kind("a list of ports, each with a role, as spec 1.0 has it")
        return roles
    for entry in node.entries("ports") if node else ():
        fields = Fields(entry, INPUT_PORT if side == "input" else OUTPUT_PORT)
        role = fields.get("role")
        name = role.string() if role else None
        if role is None or name is None:
            continue
        if fault := wgsl_fault(name):
            role.fail(fault)
        if name in roles or name in others:
            role.fail(
                f"is taken: another port has the role {name!r}, and expressions could not tell their shapes apart"
            )
        roles[name] = _Declared(role=name, side=side, fields=fields)
    return roles


def _match(tensors: list[_Tensor], roles: Mapping[Side, Mapping[str, _Declared]]) -> dict[tuple[Side, str], _Tensor]:
    """Find the port of each tensor argument."""
    chosen: dict[tuple[Side, str], _Tensor] = {}
    for tensor in tensors:
        sides = [side for side in SIDES if tensor.semantic in roles[side] and tensor.side in {None, side}]
        if not sides:
            known = [role for side in SIDES if tensor.side in {None, side} for role in roles[side]]
            what = tensor.side or "port"
            hint = alternatives(tensor.semantic, known, what=f"roles of {what}s")
            tensor.fields.node.at("semantic", None).fail(f"{tensor.semantic!r} is the role of no {what}: {hint}")
            continue
        place = sides[0], tensor.semantic
        if place in chosen:
            tensor.fields.node.at("semantic", None).fail(
                f"{tensor.semantic!r} has an argument already, {chosen[place].name!r}: keep one of them"
            )
        chosen[place] = tensor
    return chosen


def _read_port(declared: _Declared, tensor: _Tensor | None, types: TypeConstraints, names: Names) -> Port:
    fields = declared.fields
    shape, layout, optional = fields.get("shape"), fields.choice("layout", LAYOUTS), fields.flag("optional")
    argument = tensor.fields if tensor else None
    port = Port(
        name=tensor.name if tensor else declared.role,
        semantic=declared.role,
        dtype=read_port_dtype(fields, types),
        rank=formula_of(fields, "rank", names),
        # The operator may leave open what this kernel needs: the argument has the last word.
        optional=not argument.flag("required", default=not optional) if argument else optional,
        layout=layout,
        shape=shape_formula(shape, names) if shape else None,
        storage=_read_storage(argument, types) if argument else None,
        narrowing=argument.choice("narrowing", NARROWINGS) if argument else None,
        description=fields.text("description"),
        onnx=fields.text("onnx"),
    )
    _check_storage(port, declared, argument, types)
    return port


def _read_storage(fields: Fields, types: TypeConstraints) -> str | None:
    """Read an argument's ``dtype``, which says how the tensor is stored; a type variable says nothing new."""
    text = fields.text("dtype")
    if text is None or text in types:
        return None
    if text not in LOGICAL_DTYPES:
        hint = alternatives(text, LOGICAL_DTYPES, what="dtypes")
        fields.node.at("dtype", text).fail(f"is no dtype: {hint}")
        return None
    return text


def _check_storage(port: Port, declared: _Declared, argument: Fields | None, types: TypeConstraints) -> None:
    dtypes = possible_dtypes(port, types)
    if port.layout == "packed" and set(dtypes) != {"uint8"}:
        declared.fields.node.at("layout", None).fail(f"'packed' is for uint8, this port is {' or '.join(dtypes)}")
    if argument is None:
        return
    for dtype in dtypes if port.storage else ():
        if port.storage not in storages_of(dtype):
            allowed = " or ".join(storages_of(dtype))
            argument.node.at("dtype", None).fail(f"must be {allowed} for {dtype}, not {port.storage}")
    projected = declared.side == "input" and port.storage in {"int32", "uint32"} and "int64" in dtypes
    if projected:
        argument.need("narrowing", f"say how int64 values become {port.storage}, 'checked' or 'saturating'")
    elif narrowing := argument.get("narrowing"):
        narrowing.fail("is for int64 inputs with 'dtype' int32 or uint32: leave it out")


def _check_names(
    tensors: list[_Tensor],
    roles: Mapping[Side, Mapping[str, _Declared]],
    chosen: Collection[tuple[Side, str]],
    scalars: Collection[str],
) -> None:
    """Report ports without an argument whose role is another's name in calls."""
    taken = {*scalars, *(tensor.name for tensor in tensors)}
    for side in SIDES:
        for role, port in roles[side].items():
            if role in taken and (side, role) not in chosen:
                port.fields.node.fail(
                    f"is called {role!r} in calls, as another argument is: give it one of its own in 'args'"
                )
