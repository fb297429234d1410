"""Reads metadata.json: which package this is, what its files should hash to, and how its manifest is written.

Other tools add keys of their own, so unknown ones are let be; what is known is checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.files import path_fault
from webgpu_kernels.contract.kinds import Entries, Flag, Key, Members, Table, Text, Whole, Words
from webgpu_kernels.contract.vocabulary import PATH
from webgpu_kernels.errors import PackageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node

METADATA: Final = "metadata.json"
DIGEST: Final = re.compile(r"[A-Za-z0-9+/]{43}=")

_TEXT: Final = Text()
_BACKEND: Final = Table(
    "'backend'", Key("type", Words(("webgpu",)), "What the kernel runs on.", 'give "webgpu"'), open=True
)
_DIGEST: Final = Table(
    "'digest'",
    Key("algorithm", Words(("sha256",)), "How the digests were made.", 'give "sha256"'),
    Key(
        "files",
        Members(Text(DIGEST.pattern), Text(PATH, (METADATA,)), needed=("manifest.json",)),
        "Each file, with the Base64 text of its SHA-256.",
        "give the digest of each file",
    ),
    open=True,
)
_KERNEL: Final = Table(
    "'kernel'",
    Key("commit", _TEXT, "The commit of the source repository."),
    Key("sha", _TEXT, "The commit, as older tools call it."),
    Key("dirty", Flag(), "Whether there were changes on top of it."),
    open=True,
)
_PROVENANCE: Final = Table("'provenance'", Key("kernel", _KERNEL, "What the package was built from."), open=True)
_WEBGPU: Final = Table(
    "'webgpu'",
    Key(
        "manifestSpec",
        _TEXT,
        "How the manifest is written, such as 2.1.",
        "say how the manifest is written, such as 2.1",
    ),
    Key("specialized", Flag(), "As published packages have it."),
    Key("opPath", _TEXT, "Where the operator lies in the source repository."),
    Key("variants", Members(Entries(_TEXT)), "Each variant, with the templates that it renders."),
    open=True,
)
METADATA_TABLE: Final = Table(
    METADATA,
    Key("$schema", _TEXT, "The JSON Schema that an editor holds this file against."),
    Key("name", _TEXT, "The operator with its domain.", "name the operator with its domain"),
    Key("id", _TEXT, "What native code calls the package, made of its digests."),
    Key("version", Whole(0), "The major version: the package is pushed to the branch v<version>."),
    Key("license", _TEXT, "An SPDX expression."),
    Key("backend", _BACKEND, "What the kernel runs on.", 'give {"type": "webgpu"}'),
    Key("digest", _DIGEST, "What the package's files hash to.", "give {algorithm, files}"),
    Key("provenance", _PROVENANCE, "What the package was built from."),
    Key("webgpu", _WEBGPU, "How the manifest is written.", "give {manifestSpec}"),
    open=True,
)


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
    return read_document(content, _read, what=METADATA, where=where, error=PackageError)


def _read(root: Node) -> Metadata:
    fields = Fields(root, METADATA_TABLE)
    backend, digest, webgpu = fields.get("backend"), fields.get("digest"), fields.get("webgpu")
    fields.text("$schema")
    if backend is not None:
        Fields(backend, _BACKEND).choice("type", ("webgpu",))
    built = Fields(webgpu, _WEBGPU) if webgpu else None
    commit, dirty = _read_provenance(fields.get("provenance"))
    return Metadata(
        name=fields.text("name") or "",
        id=fields.text("id"),
        version=fields.integer("version") if "version" in fields else None,
        license=fields.text("license"),
        digests=_read_digest(Fields(digest, _DIGEST)) if digest else MappingProxyType({}),
        commit=commit,
        dirty=dirty,
        spec=(built.text("manifestSpec") if built else None) or "",
        specialized=_flag(built, "specialized") if built else None,
        op_path=built.text("opPath") if built else None,
        variants=_read_variants(built.get("variants")) if built else None,
    )


def _flag(fields: Fields, key: str) -> bool | None:
    return fields.flag(key) if key in fields else None


def _read_digest(fields: Fields) -> Mapping[str, str]:
    fields.choice("algorithm", ("sha256",))
    files = fields.get("files")
    digests = read_digests(files) if files else MappingProxyType({})
    if files is not None and METADATA in digests:
        files.at(METADATA, None).fail("cannot hold its own digest: leave it out")
    if files is not None and isinstance(files.value, dict) and "manifest.json" not in digests:
        files.at("manifest.json", None).fail("is missing: the manifest has a digest too")
    return digests


def read_digests(node: Node) -> Mapping[str, str]:
    """Read what files hash to.

    Args:
        node: an object of file name to the Base64 text of its SHA-256.

    Returns:
        The digests by name; what is wrong is reported.

    Source: FORMAT section 1.
    """
    digests = {}
    for name, entry in node.members("files, name to digest"):
        text = entry.string()
        if fault := path_fault(name):
            entry.fail(fault)
        elif text is not None and not DIGEST.fullmatch(text):
            entry.fail("must be the Base64 text of a SHA-256, 44 characters")
        digests[name] = text or ""
    return MappingProxyType(digests)


def _read_provenance(node: Node | None) -> tuple[str | None, bool | None]:
    """Read which commit the package was built from; newer tools call it ``commit``, older ones ``sha``."""
    kernel = Fields(node, _PROVENANCE).get("kernel") if node else None
    if kernel is None:
        return None, None
    fields = Fields(kernel, _KERNEL)
    commit, sha = fields.text("commit"), fields.text("sha")
    return commit if "commit" in fields else sha, _flag(fields, "dirty")


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
