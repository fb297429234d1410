"""Reads bindings of the older dialect: sets of entries that name a tensor twice, by argument and by semantic."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.bindings import bind_entries, some_bindings
from webgpu_kernels.contract.entries import Entry, check_entry, read_element_type, read_length
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.older.vocabulary import BUFFER, ENTRY, STRUCT
from webgpu_kernels.contract.vocabulary import ACCESS
from webgpu_kernels.contract.words import alternatives, wgsl_fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.bindings import Place
    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.model import Binding, BufferAccess, Port

UNIFORM: Final = "kernel.params"

Entries = tuple[tuple["Node", Entry | None], ...]
Sets = MappingProxyType[str, Entries]


def read_sets(node: Node | None, ports: Mapping[str, Port]) -> Sets:
    """Read ``bindingSets``.

    Args:
        node: an object of name to list of entries, or None.
        ports: the tensors, by the names of calls.

    Returns:
        Each set's entries with their places; an entry is None where it is wrong.

    Source: FORMAT section 12.
    """
    sets = node.members("binding sets, name to list of bindings") if node else []
    return MappingProxyType({name: _read_entries(listed, ports, shared=True) for name, listed in sets})


def _read_entries(node: Node, ports: Mapping[str, Port], *, shared: bool) -> Entries:
    return tuple((entry, _read_entry(entry, ports, shared=shared)) for entry in some_bindings(node))


def read_bindings(node: Node, place: Place, sets: Sets) -> tuple[Binding, ...]:
    """Read ``bindings`` of a pass, or those that its variant gives to all passes.

    Args:
        node: a set's name, or a list of entries.
        place: the pass.
        sets: the manifest's sets.

    Returns:
        The bindings in binding order.

    Source: FORMAT section 12.
    """
    if not isinstance(node.value, str):
        return bind_entries(_read_entries(node, place.contract.ports, shared=False), place)
    if node.value not in sets:
        node.fail(f"is no binding set: {alternatives(node.value, sets, what='binding sets')}")
        return ()
    note = f" (in {place.node.path}{place.node.note})"
    return bind_entries(((use.replaced(use.value, note), entry) for use, entry in sets[node.value]), place)


def _read_entry(node: Node, ports: Mapping[str, Port], *, shared: bool) -> Entry | None:
    fields = Fields(node, ENTRY)
    buffer = _read_access(fields.get("buffer"))
    semantic = fields.text("semantic")
    if "struct" in fields or semantic == UNIFORM:
        return _read_uniform(fields, buffer, semantic, shared=shared)
    arg = _find_port(fields, semantic, ports)
    if arg is None and "arg" in fields:
        return None
    entry = Entry(
        fields=fields,
        handle=None,
        name=fields.text("name") if "name" in fields else semantic,
        buffer=buffer,
        arg=arg,
        scratch=fields.text("scratch") or (semantic if arg is None else None),
        element_type=read_element_type(fields),
        length=read_length(fields),
        struct=None,
        struct_name=None,
        shared=shared,
    )
    check_entry(entry)
    return entry if fields.good and entry.label else None


def _read_access(node: Node | None) -> BufferAccess | None:
    if node is None:
        return None
    fields = Fields(node, BUFFER)
    return fields.choice("type", ACCESS)


def _find_port(fields: Fields, semantic: str | None, ports: Mapping[str, Port]) -> str | None:
    """Return the tensor that an entry binds, by the name of calls; None where it binds none or is wrong."""
    node, arg = fields.get("arg"), fields.text("arg")
    if node is None or arg is None:
        return {port.semantic: port.name for port in ports.values()}.get(semantic or "")
    if arg not in ports:
        node.fail(f"is no tensor argument: {alternatives(arg, ports, what='tensor arguments')}")
        return None
    if semantic not in {None, ports[arg].semantic}:
        fields.node.at("semantic", None).fail(
            f"must be {ports[arg].semantic!r}, as the argument {arg!r} has it, not {semantic!r}"
        )
    return arg


def _read_uniform(fields: Fields, buffer: BufferAccess | None, semantic: str | None, *, shared: bool) -> Entry | None:
    node = fields.need("struct", "a uniform has fields")
    if semantic not in {None, UNIFORM}:
        fields.node.at("semantic", None).fail(f"must be {UNIFORM!r} beside 'struct', not {semantic!r}")
    struct = Fields(node, STRUCT) if node else None
    listed = struct.get("fields") if struct else None
    struct_name = struct.text("name") if struct else None
    if struct_name is not None and (fault := wgsl_fault(struct_name)):
        fields.node.at("struct", None).at("name", None).fail(fault)
    entry = Entry(
        fields=fields,
        handle=None,
        name=fields.text("name") if "name" in fields else "params",
        buffer=buffer,
        arg=None,
        scratch=None,
        element_type=None,
        length=None,
        struct=listed,
        struct_name=struct_name,
        shared=shared,
    )
    check_entry(entry)
    return entry if listed else None
