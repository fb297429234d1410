"""Reads what callers see: type constraints, input and output tensors, scalar arguments."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from webgpu_kernels.contract.dtypes import PACKABLE_DTYPES, storages_of
from webgpu_kernels.contract.extensions import dtype_hint, known_dtypes
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import formula_of, shape_formula
from webgpu_kernels.contract.model import Port, ScalarArg
from webgpu_kernels.contract.ranges import check_ranged, read_range
from webgpu_kernels.contract.vocabulary import ARG_KINDS, INPUT, LAYOUTS, NARROWINGS, OUTPUT, SCALAR
from webgpu_kernels.contract.words import RESERVED, name_fault, wgsl_fault

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.contract.kinds import Table
    from webgpu_kernels.contract.model import ArgKind

TypeConstraints = MappingProxyType[str, tuple[str, ...]]


def read_type_constraints(node: Node | None) -> TypeConstraints:
    """Read ``typeConstraints``.

    Args:
        node: an object of type variable to non-empty list of logical dtypes, or None.

    Returns:
        The dtypes of each variable, in the manifest's order.

    Source: FORMAT section 2.
    """
    constraints: dict[str, tuple[str, ...]] = {}
    for name, entry in node.members("type variables") if node else ():
        if fault := _variable_fault(name, entry):
            entry.fail(fault)
        dtypes = [_logical_dtype(dtype) for dtype in entry.entries("logical dtypes", least=1)]
        constraints[name] = tuple(dict.fromkeys(dtype for dtype in dtypes if dtype is not None))
    return MappingProxyType(constraints)


def _variable_fault(name: str, node: Node) -> str | None:
    if name in known_dtypes(node):
        return "is the name of a dtype: choose another for the type variable"
    if name in RESERVED:
        return "is a name that expressions reserve: choose another for the type variable"
    return name_fault(name)


def _logical_dtype(node: Node) -> str | None:
    known = known_dtypes(node)
    if node.value in known:
        return str(node.value)
    if (text := node.string()) is not None:
        node.fail(f"is not a logical dtype: {dtype_hint(text, known, what='logical dtypes')}")
    return None


def read_inputs(node: Node | None, types: TypeConstraints, names: Names) -> Mapping[str, Port]:
    """Read ``inputs``.

    Args:
        node: an object of name to port, or None.
        types: the type variables.
        names: what ``rank`` may use.

    Returns:
        The ports in the manifest's order.

    Source: FORMAT section 2.
    """
    ports = _read_ports(node, INPUT, types, names)
    for fields, port in ports:
        _check_narrowing(fields, port, types)
    return MappingProxyType({port.name: port for _, port in ports})


def read_outputs(
    node: Node | None, types: TypeConstraints, names: Names, inputs: Mapping[str, Port]
) -> Mapping[str, Port]:
    """Read ``outputs`` and check the tensors that are inputs too.

    Args:
        node: a non-empty object of name to port, or None.
        types: the type variables.
        names: what ``rank`` and ``shape`` may use.
        inputs: the inputs.

    Returns:
        The ports in the manifest's order.

    Source: FORMAT section 2.
    """
    ports = _read_ports(node, OUTPUT, types, names)
    for fields, port in ports:
        if port.name in inputs:
            _check_in_out(fields.node, inputs[port.name], port)
    if node is not None and node.value == {}:
        node.fail("must not be empty: a kernel computes something")
    return MappingProxyType({port.name: port for _, port in ports})


def _read_ports(node: Node | None, table: Table, types: TypeConstraints, names: Names) -> list[tuple[Fields, Port]]:
    if node is None:
        return []
    if isinstance(node.value, list):
        node.fail("must be an object of name to port; a list of ports is the older dialect, spec 1.0")
        return []
    read = []
    for name, entry in node.members("ports, name to port"):
        if fault := wgsl_fault(name):
            entry.fail(fault)
        fields = Fields(entry, table)
        read.append((fields, _read_port(name, fields, types, names)))
    return read


def _read_port(name: str, fields: Fields, types: TypeConstraints, names: Names) -> Port:
    shape = fields.get("shape")
    port = Port(
        name=name,
        semantic=name,
        dtype=read_port_dtype(fields, types),
        rank=formula_of(fields, "rank", names),
        optional=fields.flag("optional"),
        layout=fields.choice("layout", LAYOUTS),
        shape=shape_formula(shape, names) if shape else None,
        storage=fields.choice("storage", known_dtypes(fields.node)),
        narrowing=fields.choice("narrowing", NARROWINGS),
        description=fields.text("description"),
        onnx=fields.text("onnx"),
        value_range=read_range(fields.get("range"), names),
    )
    _check_storage(fields, port, types)
    check_ranged(fields, possible_dtypes(port, types))
    return port


def read_port_dtype(fields: Fields, types: TypeConstraints) -> str | None:
    """Read ``dtype`` of a port.

    Args:
        fields: the port.
        types: the type variables.

    Returns:
        A type variable, a logical dtype, or None where the port names none.

    Source: FORMAT section 2.
    """
    dtype = fields.text("dtype")
    known = (*types, *known_dtypes(fields.node))
    if dtype is None or dtype in known:
        return dtype
    hint = dtype_hint(dtype, known, what="type variables and logical dtypes")
    fields.node.at("dtype", dtype).fail(f"is no type variable and no logical dtype: {hint}")
    return None


def possible_dtypes(port: Port, types: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the logical dtypes that a port may have.

    Args:
        port: the port.
        types: the type variables.

    Returns:
        One for a concrete dtype, those of the constraint for a type variable, float32 where the port names none.

    Source: FORMAT sections 2 and 9.
    """
    if port.dtype is None:
        return ("float32",)
    return types.get(port.dtype, (port.dtype,))


def _check_storage(fields: Fields, port: Port, types: TypeConstraints) -> None:
    dtypes = possible_dtypes(port, types)
    if port.layout == "packed" and not set(dtypes) <= set(PACKABLE_DTYPES):
        fields.node.at("layout", None).fail(f"'packed' is for uint8, this port is {' or '.join(dtypes)}")
    for dtype in dtypes if port.storage else ():
        if port.storage not in storages_of(dtype):
            allowed = " or ".join(storages_of(dtype))
            fields.node.at("storage", None).fail(f"must be {allowed} for {dtype}, not {port.storage}")


def _is_projected(port: Port, types: TypeConstraints) -> bool:
    return port.storage in {"int32", "uint32"} and "int64" in possible_dtypes(port, types)


def _check_narrowing(fields: Fields, port: Port, types: TypeConstraints) -> None:
    if _is_projected(port, types):
        fields.need("narrowing", f"say how int64 values become {port.storage}, 'checked' or 'saturating'")
    elif narrowing := fields.get("narrowing"):
        narrowing.fail("is for int64 inputs with 'storage' int32 or uint32: leave it out")


def _check_in_out(node: Node, source: Port, target: Port) -> None:
    if source.dtype != target.dtype:
        node.at("dtype", None).fail(
            f"must be {source.dtype or 'absent'}, as in 'inputs': {target.name!r} is one tensor, read and written"
        )
    if (source.storage or source.dtype) != (target.storage or target.dtype):
        node.at("storage", None).fail(
            f"must be {source.storage or 'absent'}, as in 'inputs': {target.name!r} is one tensor, read and written"
        )
    if source.layout is not None:
        node.fail(f"is packed in 'inputs': a tensor that is written, such as {target.name!r}, cannot be")


def read_args(node: Node | None, ports: Collection[str]) -> Mapping[str, ScalarArg]:
    """Read ``args``, the scalars that are no attributes.

    Args:
        node: an object of name to argument, or None.
        ports: the tensors' names, which an argument must not have.

    Returns:
        The arguments in the manifest's order.

    Source: FORMAT section 2.
    """
    args: dict[str, ScalarArg] = {}
    for name, entry in node.members("scalar arguments") if node else ():
        if fault := name_fault(name):
            entry.fail(fault)
        if name in ports:
            entry.fail("is the name of a tensor too: a call could not tell them apart")
        args[name] = read_scalar(name, Fields(entry, SCALAR))
    return MappingProxyType(args)


def read_scalar(name: str, fields: Fields) -> ScalarArg:
    """Read one scalar argument.

    Args:
        name: what calls and expressions call it.
        fields: its entry in ``args``.

    Returns:
        The argument.

    Source: FORMAT section 2 (``args``).
    """
    kind = _read_kind(fields)
    one_of = fields.get("oneOf")
    if one_of is not None and kind != "string":
        one_of.fail("is for arguments of kind 'string': leave it out")
    choices = [entry.string() for entry in one_of.entries("strings", least=1)] if one_of else []
    return ScalarArg(
        name=name,
        kind=kind,
        required=fields.flag("required"),
        one_of=tuple(choice for choice in choices if choice is not None) if one_of else None,
        description=fields.text("description"),
        onnx=fields.text("onnx"),
    )


def _read_kind(fields: Fields) -> ArgKind:
    node = fields.get("kind")
    if node is not None and node.value == "tensor":
        node.fail("'tensor' is the older dialect, spec 1.0: declare tensors in 'inputs' and 'outputs'")
        return "u32"
    return fields.choice("kind", ARG_KINDS) or "u32"
