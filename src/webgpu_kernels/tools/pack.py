"""Makes metadata.json: digests, id, provenance and which templates each variant renders.

The same files give the same bytes. Where git cannot tell where they come from (no git, a shallow clone, an archive),
what metadata.json says of that is kept as long as its digests are those of the files.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract import Metadata, file_digest, package_id
from webgpu_kernels.contract.agreement import check_templates
from webgpu_kernels.contract.files import suffix_fault
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.tools.provenance import Provenance, provenance_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.tools.own import OwnPackage

LICENSE: Final = "Apache-2.0"


def packed(own: OwnPackage, *, version: int | None = None, license_: str | None = None) -> Metadata:
    """Work out what metadata.json has to say.

    Args:
        own: the package.
        version: the number of its contract; by default that of metadata.json, or 1.
        license_: an SPDX expression; by default that of metadata.json, or ``Apache-2.0``.

    Returns:
        All of it; provenance is None where nobody knows it.

    Raises:
        PackageError: a file is hidden, too large or unreadable, or a template is not there.

    Source: FORMAT section 1 (metadata.json).
    """
    contents = own.contents()
    digests = {name: file_digest(content) for name, content in contents.items()}
    manifest, stated = own.package.manifest, own.stated
    found = provenance_of(own.root) or _kept(stated, digests)
    fresh = Metadata(
        name=manifest.op_id,
        id=package_id(manifest.op_id, digests),
        version=version or (stated.version if stated else None) or 1,
        license=license_ or (stated.license if stated else None) or LICENSE,
        digests=MappingProxyType(digests),
        commit=found.commit if found else None,
        dirty=found.dirty if found else None,
        spec=own.spec,
        specialized=_is_specialized(contents),
        op_path=f"ops/{manifest.op_id}",
        variants=MappingProxyType(own.variants) if own.spec != "1.0" else None,
    )
    check_templates(manifest, fresh, where=own.where)
    return fresh


def _kept(stated: Metadata | None, digests: Mapping[str, str]) -> Provenance | None:
    if stated is None or stated.commit is None or dict(stated.digests) != digests:
        return None
    return Provenance(stated.commit, bool(stated.dirty))


def _is_specialized(contents: Mapping[str, bytes]) -> bool:
    """Tell whether a shader is written anew for each request: any template has something to fill in."""
    templates = (content for name, content in contents.items() if suffix_fault(name) is None)
    return any(b"{{" in content or b"{%" in content for content in templates)


def metadata_text(metadata: Metadata) -> str:
    """Write metadata as JSON.

    Args:
        metadata: what it says.

    Returns:
        The text of metadata.json; members that are None are left out.

    Source: FORMAT section 1 (metadata.json).
    """
    provenance = {"kernel": {"sha": metadata.commit, "dirty": metadata.dirty}} if metadata.commit else None
    variants = {name: list(files) for name, files in metadata.variants.items()} if metadata.variants else None
    webgpu = {
        "manifestSpec": metadata.spec,
        "specialized": metadata.specialized,
        "opPath": metadata.op_path,
        "variants": variants,
    }
    document: dict[str, Any] = {
        "name": metadata.name,
        "id": metadata.id,
        "version": metadata.version,
        "license": metadata.license,
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": dict(metadata.digests)},
        "provenance": provenance,
        "webgpu": {key: value for key, value in webgpu.items() if value is not None},
    }
    given = {key: value for key, value in document.items() if value is not None}
    return json.dumps(given, indent=2, ensure_ascii=False) + "\n"


def differences(own: OwnPackage, fresh: Metadata) -> tuple[str, ...]:
    """Say in what metadata.json is out of date; where its files come from does not count.

    A commit that holds the files and metadata.json cannot be named in it, so provenance is behind until the next
    ``pack``; ``provenance_lag`` tells.

    Args:
        own: the package.
        fresh: what metadata.json has to say.

    Returns:
        One sentence for each difference, none where it is up to date.
    """
    stated = own.stated
    if stated is None:
        there = (own.root / METADATA).exists()
        return (f"{METADATA} cannot be read" if there else f"there is no {METADATA}",)
    found = [
        f"{name!r} {_fault(stated.digests.get(name), fresh.digests.get(name))}"
        for name in sorted({*stated.digests, *fresh.digests})
        if stated.digests.get(name) != fresh.digests.get(name)
    ]
    pairs: dict[str, tuple[object, object]] = {
        "name": (stated.name, fresh.name),
        "id": (stated.id, fresh.id),
        "version": (stated.version, fresh.version),
        "license": (stated.license, fresh.license),
        "webgpu.manifestSpec": (stated.spec, fresh.spec),
        "webgpu.specialized": (stated.specialized, fresh.specialized),
        "webgpu.opPath": (stated.op_path, fresh.op_path),
        "webgpu.variants": (stated.variants and dict(stated.variants), fresh.variants and dict(fresh.variants)),
    }
    changed = [f"{key} is not what the files give" for key, (old, new) in pairs.items() if old != new]
    return tuple(found + changed)


def _fault(stated: str | None, fresh: str | None) -> str:
    if stated is None:
        return "has no digest"
    return "is not there" if fresh is None else "is not what its digest says"


def provenance_lag(own: OwnPackage, fresh: Metadata) -> str | None:
    """Say in what metadata.json is behind about where the files come from.

    Args:
        own: the package.
        fresh: what metadata.json has to say.

    Returns:
        A sentence, or None.
    """
    stated = own.stated
    if stated is None or (stated.commit, stated.dirty) == (fresh.commit, fresh.dirty):
        return None
    return f"{METADATA} says {_origin(stated)}, and the files are of {_origin(fresh)}"


def _origin(metadata: Metadata) -> str:
    if metadata.commit is None:
        return "no commit"
    return f"commit {metadata.commit[:12]}{' with changes' if metadata.dirty else ''}"
