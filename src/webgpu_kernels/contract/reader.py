"""Reads a manifest, checks all that can be known without a call, and reports every defect at once.

This is spec 2.1; a manifest of the older dialect goes to ``older``.

Where the format leaves a point open, the reader decides, mostly to accept:

* ``attributeConstraints`` may name an attribute that ``attributes`` does not: it is declared thereby.
* A derived name may hide a function, as lookup finds derived names first; it must not hide a namespace.
* No name starts with two underscores; ids of variants and passes default to their position, counted from 0.
* A port whose type variable allows several dtypes may declare a storage that fits each of them.
* Where an intermediate has a tensor's name, bindings mean the intermediate; ``arg`` and ``scratch`` say which.
* An entry whose ``name`` is no tensor or intermediate binds what its handle names; handles may be unused.
* An input may be bound with ``buffer: storage``; uniforms that share a struct must agree on its fields.
* Repeat groups may hold repeat groups; ``index`` defaults to ``index``.
* A view alias names a tensor by the shader's variable or by its port.
* ``profile`` and the top level's ``onnx`` hold any JSON; names of features and limits are not checked.
* Families are expanded as ``families`` says.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from webgpu_kernels.contract.attributes import read_attributes, read_tunables
from webgpu_kernels.contract.bindings import Contract, fail_arg
from webgpu_kernels.contract.derive import derived_at, read_derive
from webgpu_kernels.contract.documents import read_root
from webgpu_kernels.contract.entries import Entry, read_entry
from webgpu_kernels.contract.extensions import SPLIT_WINDOW, read_extensions
from webgpu_kernels.contract.families import expand_variants
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import Names, clauses
from webgpu_kernels.contract.heading import read_domain, read_name, read_since
from webgpu_kernels.contract.json_text import load_json
from webgpu_kernels.contract.model import Manifest
from webgpu_kernels.contract.older import is_older
from webgpu_kernels.contract.ports import read_args, read_inputs, read_outputs, read_type_constraints
from webgpu_kernels.contract.requirements import read_requires
from webgpu_kernels.contract.variants import Outer, read_variants
from webgpu_kernels.contract.vocabulary import CONFORMANCE, MANIFEST
from webgpu_kernels.contract.words import alternatives

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.older import Dialect


def parse_manifest(text: str | bytes, *, where: str = "", dialect: Dialect | None = None) -> Manifest:
    """Parse and read a manifest.

    Args:
        text: JSON; bytes are UTF-8.
        where: what the text is, for messages.
        dialect: which one it is written in; by default the shape of the document tells.

    Returns:
        The manifest.

    Raises:
        ManifestError: the text is not JSON, or the manifest breaks the format; all defects, in document order.

    Source: FORMAT sections 2 and 12.
    """
    return read_manifest(load_json(text, where=where), where=where, dialect=dialect)


def read_manifest(data: object, *, where: str = "", dialect: Dialect | None = None) -> Manifest:
    """Read a manifest.

    Args:
        data: the parsed JSON.
        where: what it is, for messages.
        dialect: which one it is written in; by default the shape of the document tells.

    Returns:
        The manifest.

    Raises:
        ManifestError: it breaks the format; all defects, in document order.

    Source: FORMAT section 2.
    """

    def read(root: Node) -> Manifest:
        older = is_older(root.value) if dialect is None else dialect == "1.0"
        return _read_older(root) if older else _read(Fields(root, MANIFEST))

    return read_root(data, read, where=where)


def _read_older(root: Node) -> Manifest:
    from webgpu_kernels.contract.older.reader import read_older  # noqa: PLC0415 - few manifests are that old

    return read_older(root)


def _read(fields: Fields) -> Manifest:
    fields.text("$schema")
    extensions = read_extensions(fields.get("extensions"))
    fields.node.report.extensions = extensions
    types = read_type_constraints(fields.get("typeConstraints"))
    formulas = fields.get("derive")
    constants = frozenset({SPLIT_WINDOW} if "split" in extensions else ())
    names = Names(frozenset(types), derived_at(formulas), constants=constants)
    derive = read_derive(formulas, names)
    inputs = read_inputs(fields.get("inputs"), types, names)
    outputs = read_outputs(fields.get("outputs"), types, names, inputs)
    args = read_args(fields.get("args"), {*inputs, *outputs})
    requires = read_requires(fields.get("requires"))
    variants = fields.get("variants")
    nodes = expand_variants(variants) if variants else []
    handles = _read_handles(fields.get("bindings"))
    ports = MappingProxyType({**inputs, **outputs})
    contract = Contract(
        inputs=inputs,
        outputs=outputs,
        ports=ports,
        args=args.keys(),
        types=types.keys(),
        handles=handles,
        lost=_lost_handles(handles, ports, _scratch_ids(nodes)),
    )
    when = clauses(fields.get("when"), names)
    onnx = fields.get("onnx")
    return Manifest(
        domain=read_domain(fields),
        name=read_name(fields),
        description=fields.text("description"),
        conformance=fields.choice("conformance", CONFORMANCE),
        since_version=read_since(fields),
        inputs=inputs,
        outputs=outputs,
        args=args,
        attributes=read_attributes(fields.get("attributes"), fields.get("attributeConstraints")),
        type_constraints=types,
        tunables=read_tunables(fields.get("tunables")),
        derive=derive,
        requires=requires,
        variants=read_variants(nodes, Outer(names=names, when=when, requires=requires, contract=contract)),
        onnx=onnx.value if onnx else None,
        extensions=extensions,
    )


def _read_handles(node: Node | None) -> Mapping[str, Entry]:
    if node is None:
        return MappingProxyType({})
    return MappingProxyType({name: read_entry(entry, name) for name, entry in node.members("handles, name to entry")})


def _scratch_ids(nodes: list[Node]) -> frozenset[str]:
    """Return the ids of every variant's intermediates, before any of them is checked."""
    lists = [node.value.get("intermediates") for node in nodes if isinstance(node.value, dict)]
    entries = [entry for each in lists if isinstance(each, list) for entry in each if isinstance(entry, dict)]
    return frozenset(str(entry.get("id")) for entry in entries)


def _lost_handles(handles: Mapping[str, Entry], ports: Collection[str], scratch: Collection[str]) -> frozenset[str]:
    """Report the handles that bind what no variant has, once and where they stand."""
    lost = set()
    for handle, entry in handles.items():
        if "struct" in entry.fields or not entry.fields.good:
            continue
        if entry.arg is not None and entry.arg not in ports:
            fail_arg(entry, ports, scratch)
        elif entry.scratch is not None and entry.scratch not in scratch:
            hint = alternatives(entry.scratch, scratch, what="intermediates")
            entry.node.at("scratch", None).fail(f"{entry.scratch!r} is no intermediate of any variant: {hint}")
        elif entry.arg or entry.scratch or {entry.name, handle} & {*ports, *scratch}:
            continue
        else:
            hint = alternatives(entry.name or handle, (*ports, *scratch), what="tensors and intermediates")
            entry.node.fail(f"binds no tensor or intermediate: {hint}")
        lost.add(handle)
    return frozenset(lost)
