"""Whether repository, metadata.json and manifest.json are of one package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.contract.model import RepeatGroup
from webgpu_kernels.contract.older import SPECS, dialect_of_spec
from webgpu_kernels.errors import PackageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from webgpu_kernels.contract.metadata import Metadata
    from webgpu_kernels.contract.model import Manifest, Pass, Variant
    from webgpu_kernels.contract.older import Dialect
    from webgpu_kernels.contract.source import Source


def passes_of(variant: Variant) -> Iterator[Pass]:
    """Give a variant's passes, those of repeat groups once.

    Args:
        variant: the variant.

    Yields:
        Its passes, in order.
    """
    return _flat(variant.passes)


def _flat(steps: Iterable[Pass | RepeatGroup]) -> Iterator[Pass]:
    for step in steps:
        if isinstance(step, RepeatGroup):
            yield from _flat(step.passes)
        else:
            yield step


def dialect_stated(metadata: Metadata, *, where: str) -> Dialect:
    """Return how the manifest is written.

    Args:
        metadata: what metadata.json says.
        where: the package, for messages.

    Returns:
        The dialect of its spec.

    Raises:
        PackageError: the spec is none that is read here.

    Source: FORMAT section 1 (manifest spec versions).
    """
    dialect = dialect_of_spec(metadata.spec)
    if dialect is None:
        raise PackageError(
            "the manifest is written for another spec",
            where=where,
            expected=f"one of {', '.join(SPECS)}",
            got=metadata.spec,
        )
    return dialect


def check_op_id(manifest: Manifest, metadata: Metadata, *, where: str) -> None:
    """Let a manifest pass that is of the operator that metadata.json names.

    Args:
        manifest: the manifest.
        metadata: what metadata.json says.
        where: the package, for messages.

    Raises:
        PackageError: it is another's.

    Source: FORMAT section 1.
    """
    if metadata.name != manifest.op_id:
        raise PackageError(
            f"{METADATA} and manifest.json are of two packages",
            where=where,
            expected=manifest.op_id,
            got=metadata.name,
        )


def check_repository(metadata: Metadata, source: Source, *, where: str) -> None:
    """Let metadata pass that is of the repository, and of the version, that a caller asked for.

    Args:
        metadata: what metadata.json says.
        source: what was asked for.
        where: the package, for messages.

    Raises:
        PackageError: it is of another operator or version.

    Source: FORMAT section 10.
    """
    if metadata.name != source.name:
        raise PackageError(
            f"{METADATA} is of another operator than the repository",
            where=where,
            expected=source.name,
            got=metadata.name,
        )
    if source.version is not None and metadata.version not in {None, source.version}:
        raise PackageError(
            f"{METADATA} is of another version than the branch",
            where=where,
            expected=str(source.version),
            got=str(metadata.version),
        )


def check_local(manifest: Manifest, source: Source, *, where: str) -> None:
    """Let the package of a folder pass that is of the operator that its repository is named for.

    Args:
        manifest: the folder's.
        source: the repository that the folder stands for.
        where: the folder, for messages.

    Raises:
        PackageError: it is another's.

    Source: FORMAT section 1.
    """
    if manifest.op_id != source.name:
        raise PackageError(
            f"stands for {source.repository} and is another operator's",
            where=where,
            expected=source.name,
            got=manifest.op_id,
        )


def check_templates(manifest: Manifest, metadata: Metadata, *, where: str) -> None:
    """Let a manifest pass whose templates all have digests and are those that metadata.json lists for each variant.

    Metadata without such a list, as that of spec 1.0, is held against the digests alone.

    Args:
        manifest: the manifest.
        metadata: what metadata.json says.
        where: the package, for messages.

    Raises:
        PackageError: it is not so.

    Source: FORMAT section 10.
    """
    used = {variant.id: {step.shader for step in passes_of(variant)} for variant in manifest.variants}
    if missing := sorted(set().union(*used.values()) - set(metadata.digests)):
        raise PackageError(f"the manifest uses templates that have no digest: {_listed(missing)}", where=where)
    if metadata.variants is None:
        return
    listed = {name: set(templates) for name, templates in metadata.variants.items()}
    for name in sorted({*used, *listed}):
        if used.get(name) != listed.get(name):
            raise PackageError(
                f"{METADATA} and manifest.json do not agree on the templates of variant {name!r}",
                where=where,
                expected=_listed(used[name]) if name in used else "no such variant",
                got=_listed(listed[name]) if name in listed else "no such variant",
            )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names)) or "none"
