"""Reads binding entries as they are written; ``bindings`` resolves them where a pass uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.vocabulary import ACCESS, ENTRY
from webgpu_kernels.contract.words import VALUE, WGSL_TYPE, name_fault, wgsl_fault

if TYPE_CHECKING:
    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.model import BufferAccess


class Entry(NamedTuple):
    """One binding entry as it is written.

    Attributes:
        fields: its members.
        handle: its key in ``bindings``, or None.
        name: the WGSL variable.
        buffer: how the shader may use it.
        arg: the tensor that it binds, by the callers' name.
        scratch: the intermediate that it binds.
        element_type: a WGSL type, or ``"$name"``.
        length: elements of a fixed-size array, or ``"$name"``.
        struct: the list of a uniform's fields, read again at each use.
        struct_name: the uniform's WGSL type.
        shared: whether several passes may use the entry; a fault may then be one pass's only, and says which.
    """

    fields: Fields
    handle: str | None
    name: str | None
    buffer: BufferAccess | None
    arg: str | None
    scratch: str | None
    element_type: str | None
    length: int | str | None
    struct: Node | None
    struct_name: str | None
    shared: bool

    @property
    def node(self) -> Node:
        """The entry's place in the document."""
        return self.fields.node

    @property
    def label(self) -> str | None:
        """The WGSL variable's name: the given one, else the handle, the port, the intermediate."""
        given = (self.name, self.handle, self.arg, self.scratch)
        return next((label for label in given if label is not None), None)


def read_entry(node: Node, handle: str | None) -> Entry:
    """Read one entry: an object of ``bindings``, or an inline one.

    Args:
        node: the object.
        handle: its key in ``bindings``, or None.

    Returns:
        The entry, to be resolved by the passes that use it.

    Source: FORMAT sections 2 and 6.
    """
    fields = Fields(node, ENTRY)
    entry = Entry(
        fields=fields,
        handle=handle,
        name=fields.text("name"),
        buffer=fields.choice("buffer", ACCESS),
        arg=fields.text("arg"),
        scratch=fields.text("scratch"),
        element_type=read_element_type(fields),
        length=read_length(fields),
        struct=fields.get("struct"),
        struct_name=_read_struct_name(fields),
        shared=handle is not None,
    )
    check_entry(entry)
    if entry.length is not None and (split := fields.get("split")):
        split.fail("stands beside 'length': windows are arrays without a fixed length")
    return entry


def read_element_type(fields: Fields) -> str | None:
    """Read ``elementType``.

    Args:
        fields: the entry.

    Returns:
        A WGSL type, ``"$name"``, or None.

    Source: FORMAT section 6.
    """
    node, text = fields.get("elementType"), fields.text("elementType")
    if node is None or text is None:
        return None
    if text.startswith("$"):
        if fault := name_fault(text[1:]):
            node.fail(f"must be '$' and a name; {text[1:]!r} {fault}")
            return None
    elif not WGSL_TYPE.fullmatch(text) or text.count("<") != text.count(">"):
        node.fail("must be a WGSL type such as f32 or vec4<f32>, or '$' and a name of the pass")
    return text


def read_length(fields: Fields) -> int | str | None:
    """Read ``length``.

    Args:
        fields: the entry.

    Returns:
        A number of elements, ``"$name"``, or None.

    Source: FORMAT section 6.
    """
    node = fields.get("length")
    value = node.value if node else None
    if isinstance(value, str) and VALUE.fullmatch(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if node is not None:
        node.fail_kind("a positive integer, or '$' and a derived name")
    return None


def _read_struct_name(fields: Fields) -> str | None:
    node, text = fields.get("structName"), fields.text("structName")
    if node is None or text is None:
        return None
    if fault := wgsl_fault(text):
        node.fail(fault)
    if "struct" not in fields:
        node.fail("names a struct that the binding does not have: give 'struct'")
    return text


def check_entry(entry: Entry) -> None:
    """Check what holds wherever the entry is used.

    Args:
        entry: the entry; its faults are reported.

    Source: FORMAT section 6.
    """
    fields = entry.fields
    label = entry.label
    if label is None:
        if fields.good:
            fields.node.fail("has no name: give 'name', 'arg' or 'scratch'")
    elif fault := wgsl_fault(label):
        (fields.get("name") or fields.node).fail(f"{label!r} {fault}")
    if entry.arg is not None and entry.scratch is not None:
        fields.node.fail("has 'arg' and 'scratch': keep one of them")
    if "struct" in fields:
        for key in ("arg", "scratch", "elementType", "length", "split"):
            if node := fields.get(key):
                node.fail("stands beside 'struct': a uniform has no tensor, element type or length")
        if entry.buffer not in {None, "uniform"}:
            fields.node.at("buffer", None).fail(f"must be 'uniform' beside 'struct', not {entry.buffer!r}")
    elif entry.buffer == "uniform":
        fields.node.at("buffer", None).fail("'uniform' is for a binding with 'struct'")
