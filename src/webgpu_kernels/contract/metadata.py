"""Reads metadata.json: which package this is, what its files should hash to, and how its manifest is written.

Other tools add keys of their own, so unknown ones are let be; what is known is checked.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.cursor import Node, ReadingStopped, Report
from webgpu_kernels.contract.document import checked
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.files import path_fault
from webgpu_kernels.contract.json_text import load_json
from webgpu_kernels.errors import ManifestError, PackageError

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA: Final = "metadata.json"
_SHA256_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What metadata.json says.

    Attributes:
        name: the operator's full name.
        id: what native code calls the package, or None.
        version: the major version, or None.
        license: an SPDX expression, or None.
        digests: file name relative to metadata.json to the Base64 text of its SHA-256.
        commit: the source repository's commit that the package was built from, or None.
        dirty: whether there were changes on top of it, or None.
        spec: the manifest's spec, such as ``2.1``.
        specialized: as it stands; what it means is not known.
        op_path: where the operator lies in the source repository, or None.
        variants: variant id to the templates it renders, or None.
    """

    name: str
    id: str | None
    version: int | None
    license: str | None
    digests: Mapping[str, str]
    commit: str | None
    dirty: bool | None
    spec: str
    specialized: bool | None
    op_path: str | None
    variants: Mapping[str, tuple[str, ...]] | None


def read_metadata(content: str | bytes, *, where: str) -> Metadata:
    """Read metadata.json.

    Args:
        content: its text; bytes are UTF-8.
        where: the package, for messages.

    Returns:
        The metadata.

    Raises:
        PackageError: it is not JSON, or not metadata of a WebGPU package; all defects, in document order.

    Source: FORMAT section 1.
    """
    report = Report()
    try:
        data = load_json(content)
        metadata = _read(Node(data, report))
        report.raise_any(data, "")
    except ManifestError as error:
        count = f"{len(error.defects)} defect{'s' if len(error.defects) != 1 else ''}"
        listed = "".join(f"\n  {defect}" for defect in error.defects)
        raise PackageError(f"{METADATA} has {count}{listed}", where=where) from error
    return metadata


def _read(root: Node) -> Metadata:
    try:
        plain = Node(checked(root), root.report)
        return _read_fields(_open(plain, ("name", "backend", "digest", "webgpu"), METADATA))
    except ReadingStopped:
        root.report.raise_any(root.value, "")
        raise


def _open(node: Node, keys: tuple[str, ...], what: str) -> Fields:
    """Return the members of an object that may have others too."""
    others = tuple(node.value) if isinstance(node.value, dict) else ()
    return Fields(node, (*keys, *others), what)


def _read_fields(fields: Fields) -> Metadata:
    name = fields.need("name", "name the operator with its domain")
    backend = fields.need("backend", 'give {"type": "webgpu"}')
    if backend is not None:
        kind = _open(backend, ("type",), "'backend'")
        kind.need("type", 'give "webgpu"')
        kind.choice("type", ("webgpu",))
    digest = fields.need("digest", "give {algorithm, files}")
    webgpu = fields.need("webgpu", "give {manifestSpec}")
    built = _open(webgpu, ("manifestSpec",), "'webgpu'") if webgpu else None
    commit, dirty = _read_provenance(fields.get("provenance"))
    return Metadata(
        name=(name.string() if name else None) or "",
        id=fields.text("id"),
        version=fields.integer("version", least=0, default=0) if "version" in fields else None,
        license=fields.text("license"),
        digests=_read_digest(_open(digest, ("algorithm", "files"), "'digest'")) if digest else MappingProxyType({}),
        commit=commit,
        dirty=dirty,
        spec=_read_spec(built) if built else "",
        specialized=_flag(built, "specialized") if built else None,
        op_path=built.text("opPath") if built else None,
        variants=_read_variants(built.get("variants")) if built else None,
    )


def _flag(fields: Fields, key: str) -> bool | None:
    return fields.flag(key, default=False) if key in fields else None


def _read_spec(fields: Fields) -> str:
    fields.need("manifestSpec", "say how the manifest is written, such as 2.1")
    return fields.text("manifestSpec") or ""


def _read_digest(fields: Fields) -> Mapping[str, str]:
    fields.need("algorithm", 'give "sha256"')
    fields.choice("algorithm", ("sha256",))
    files = fields.need("files", "give the digest of each file")
    digests = {}
    for name, entry in files.members("files, name to digest") if files else ():
        text = entry.string()
        if fault := path_fault(name):
            entry.fail(fault)
        elif name == METADATA:
            entry.fail("cannot hold its own digest: leave it out")
        elif text is not None and not _is_digest(text):
            entry.fail("must be the Base64 text of a SHA-256, 44 characters")
        digests[name] = text or ""
    if files is not None and isinstance(files.value, dict) and "manifest.json" not in digests:
        files.at("manifest.json", None).fail("is missing: the manifest has a digest too")
    return MappingProxyType(digests)


def _is_digest(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == _SHA256_BYTES
    except (binascii.Error, ValueError):
        return False


def _read_provenance(node: Node | None) -> tuple[str | None, bool | None]:
    """Read which commit the package was built from; newer tools call it ``commit``, older ones ``sha``."""
    kernel = _open(node, (), "'provenance'").get("kernel") if node else None
    if kernel is None:
        return None, None
    fields = _open(kernel, (), "'kernel'")
    return fields.text("commit" if "commit" in fields else "sha"), _flag(fields, "dirty")


def _read_variants(node: Node | None) -> Mapping[str, tuple[str, ...]] | None:
    if node is None:
        return None
    listed = {name: entry.entries("template files") for name, entry in node.members("variants, id to templates")}
    return MappingProxyType(
        {
            name: tuple(text for entry in entries if (text := entry.string()) is not None)
            for name, entries in listed.items()
        }
    )
