"""Resolves binding entries where a pass uses them.

An entry says little and the rest follows from what it names: FORMAT section 6 has the defaults. The manifest's handles
are read once and resolved again for each pass, as intermediates and derived names differ from variant to variant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract.dtypes import wgsl_scalar
from webgpu_kernels.contract.entries import read_entry
from webgpu_kernels.contract.formulas import number_or_text
from webgpu_kernels.contract.model import Binding, BufferAccess, ResourceKind, Struct
from webgpu_kernels.contract.structs import read_struct
from webgpu_kernels.contract.words import alternatives

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.entries import Entry
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.contract.model import Intermediate, Port
    from webgpu_kernels.language import Expression

MAX_BINDINGS: Final = 1000
"""WebGPU's default of maxBindingsPerBindGroup."""


class Contract(NamedTuple):
    """What bindings may refer to that is the same for every variant.

    Attributes:
        inputs: the input ports.
        outputs: the output ports.
        ports: all of them, the output where a tensor is both.
        args: the names of the scalar arguments.
        types: the type variables.
        handles: the entries of the manifest's ``bindings``.
        lost: handles that bind what no variant has; they are reported already.
    """

    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    ports: Mapping[str, Port]
    args: Collection[str]
    types: Collection[str]
    handles: Mapping[str, Entry]
    lost: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The pass that uses an entry.

    Attributes:
        node: the pass, for messages.
        contract: ports, arguments, type variables and handles.
        intermediates: the variant's scratch buffers by id.
        names: what the pass's formulas and ``$name`` may use.
    """

    node: Node
    contract: Contract
    intermediates: Mapping[str, Intermediate]
    names: Names


def read_bindings(node: Node, place: Place) -> tuple[Binding, ...]:
    """Read ``bindings`` of a pass.

    Args:
        node: a list of handles, tensors, intermediates and inline entries.
        place: the pass.

    Returns:
        The bindings in binding order.

    Source: FORMAT section 6.
    """
    return bind_entries(((use, _entry(use, place)) for use in some_bindings(node)), place)


def some_bindings(node: Node) -> list[Node]:
    """Return the entries of a list of bindings; one that is longer than any device takes is reported and not read."""
    entries = node.entries("bindings")
    if len(entries) <= MAX_BINDINGS:
        return entries
    node.fail(f"has {len(entries):,} bindings: {MAX_BINDINGS:,} are the most")
    return []


def bind_entries(entries: Iterable[tuple[Node, Entry | None]], place: Place) -> tuple[Binding, ...]:
    """Resolve a pass's entries and check that they get along in one shader.

    Args:
        entries: where each stands in the pass, and the entry, None where it is wrong.
        place: the pass.

    Returns:
        The bindings in binding order.

    Source: FORMAT section 6.
    """
    bindings: dict[str, Binding] = {}
    for use, entry in entries:
        binding = resolve(entry, use, place) if entry else None
        if binding is None:
            continue
        if binding.name in bindings:
            use.fail(f"gives the shader a second variable {binding.name!r}: set 'name' of one of them")
        if fault := _struct_clash(binding, bindings):
            use.fail(fault)
        bindings[binding.name] = binding
    return tuple(bindings.values())


def _entry(use: Node, place: Place) -> Entry | None:
    if isinstance(use.value, dict):
        return read_entry(use, None)
    name = use.string()
    if name is None:
        return None
    return place.contract.handles.get(name) or read_entry(use.replaced({"name": name}, use.note), None)


def _struct_clash(binding: Binding, earlier: Mapping[str, Binding]) -> str | None:
    """Find a struct whose name means something else in the same shader."""
    structs = [other.struct for other in earlier.values() if other.struct is not None]
    clashes = binding.name in {struct.name for struct in structs}
    if binding.struct is not None:
        clashes = clashes or binding.struct.name in {binding.name, *earlier}
        twins = [other for other in structs if other.name == binding.struct.name]
        if any(_layout(twin) != _layout(binding.struct) for twin in twins):
            return f"gives the shader a second struct {binding.struct.name!r}: set 'structName' of one of them"
    return "gives the shader a struct and a variable of the same name: set 'structName'" if clashes else None


def _layout(struct: Struct) -> list[tuple[str, str]]:
    return [(field.name, field.type) for field in struct.fields]


def resolve(entry: Entry, use: Node, place: Place) -> Binding | None:
    """Find what an entry binds in one pass, and apply the defaults.

    Args:
        entry: the entry.
        use: where the pass uses it.
        place: the pass.

    Returns:
        The binding, or None where it is wrong, which is then reported.

    Source: FORMAT section 6.
    """
    label = entry.label
    if label is None or entry.handle in place.contract.lost:
        return None
    if entry.struct is not None:
        fields = _seen_from(place, entry, entry.struct)
        return _uniform(label, read_struct(fields, entry.struct_name, place.names, place.contract.args))
    found = _target(entry, use, place)
    if found is None:
        return None
    _check_references(entry, place)
    resource, target = found
    access = entry.buffer or _default_access(resource, target, place.contract)
    return Binding(
        name=label,
        resource=resource,
        target=target,
        access=access,
        element_type=entry.element_type or _default_element(resource, target, place),
        length=entry.length,
        struct=None,
        split=_split(entry, resource, access, place),
    )


def _split(entry: Entry, resource: ResourceKind, access: BufferAccess, place: Place) -> Expression | None:
    written = entry.fields.get("split")
    if written is None or "split" not in written.report.extensions:
        return None
    node = _seen_from(place, entry, written)
    if resource != "tensor":
        node.fail("is for tensors: an intermediate is bound whole")
    elif access != "read-only-storage":
        node.fail("is for what a pass only reads: a buffer that it writes is bound whole")
    return number_or_text(node, place.names, least=1)


def _uniform(label: str, struct: Struct) -> Binding:
    return Binding(
        name=label, resource="uniform", target=label, access="uniform", element_type=None, length=None, struct=struct
    )


def _seen_from(place: Place, entry: Entry, node: Node) -> Node:
    """Return a member of the entry; what is wrong with a shared one may be wrong in this pass only, and says so."""
    return node.replaced(node.value, f" (in {place.node.path}{place.node.note})") if entry.shared else node


def _target(entry: Entry, use: Node, place: Place) -> tuple[ResourceKind, str] | None:
    """Return what is bound: by ``arg``, by ``scratch``, else by what has the entry's name or its handle."""
    ports, scratch = place.contract.ports, place.intermediates
    if entry.arg is not None:
        return ("tensor", entry.arg) if _is_tensor(entry.arg, entry, place) else None
    if entry.scratch in scratch:
        return "scratch", str(entry.scratch)
    for name in (entry.name, entry.handle) if entry.scratch is None else ():
        if name in scratch:
            return "scratch", str(name)
        if name in ports:
            return "tensor", str(name)
    wanted = entry.scratch or str(entry.label)
    known = tuple(scratch) if entry.scratch else (*place.contract.handles, *ports, *scratch)
    kinds = "intermediates" if entry.scratch else "handles, tensors and intermediates"
    use.fail(f"binds {wanted!r}, which is not there: {alternatives(wanted, known, what=f'{kinds} of this variant')}")
    return None


def _is_tensor(arg: str, entry: Entry, place: Place) -> bool:
    if arg in place.contract.ports:
        return True
    fail_arg(entry, place.contract.ports, place.intermediates)
    return False


def fail_arg(entry: Entry, ports: Collection[str], scratch: Collection[str]) -> None:
    """Report an ``arg`` that is no tensor.

    Args:
        entry: the entry.
        ports: the tensors.
        scratch: the intermediates, which ``arg`` does not name.
    """
    hint = "it is an intermediate, use 'scratch'" if entry.arg in scratch else None
    hint = hint or alternatives(str(entry.arg), ports, what="tensors")
    entry.node.at("arg", None).fail(f"{entry.arg!r} is no input or output: {hint}")


def _default_access(resource: ResourceKind, target: str, contract: Contract) -> BufferAccess:
    return "read-only-storage" if resource == "tensor" and target not in contract.outputs else "storage"


def _default_element(resource: ResourceKind, target: str, place: Place) -> str:
    if resource == "scratch":
        return wgsl_scalar(place.intermediates[target].dtype)
    port = place.contract.ports[target]
    stored = port.storage or port.dtype or "float32"
    return f"${stored}" if stored in place.contract.types else wgsl_scalar(stored)


def _check_references(entry: Entry, place: Place) -> None:
    for key, value in (("elementType", entry.element_type), ("length", entry.length)):
        if isinstance(value, str) and value.startswith("$") and (fault := place.names.value_fault(value[1:])):
            node = entry.fields.get(key)
            assert node is not None
            _seen_from(place, entry, node).fail(fault)
