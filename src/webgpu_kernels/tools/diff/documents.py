"""What changed in a package's files: what its metadata says, and which templates are others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract.files import suffix_fault
from webgpu_kernels.contract.listing import template_names
from webgpu_kernels.tools.cases import SUITES, has_file
from webgpu_kernels.tools.diff.changes import breaks, keeps, listed, turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.contract import Package
    from webgpu_kernels.tools.diff.changes import Change


def compare_metadata(old: Package, new: Package) -> Iterator[Change]:
    """Compare what metadata.json says of two packages, where both have one.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        Each change.

    Source: FORMAT, section 1.
    """
    before, after = old.metadata, new.metadata
    if before is None or after is None:
        return
    if before.spec != after.spec:
        yield breaks("metadata.webgpu.manifestSpec", f"was {before.spec}, is {after.spec}: loaders read one of them")
    if before.version != after.version:
        yield keeps("metadata.version", f"was {before.version}, is {after.version}: another version of the contract")
    if before.license != after.license:
        yield keeps("metadata.license", turned(before.license, after.license))


def compare_files(old: Package, new: Package) -> Iterator[Change]:
    """Compare the templates and suites of two packages.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        One change for all files that are gone, one for those that are new, one for those with other contents.

    Raises:
        PackageError: one cannot be read.

    Source: FORMAT, section 1.
    """
    before, after = _names(old), _names(new)
    words = {
        "gone": [name for name in before if name not in after],
        "new": [name for name in after if name not in before],
        "changed": [name for name in before if name in after and old.read(name) != new.read(name)],
    }
    for word, names in words.items():
        if names:
            yield keeps("files", f"{word}: {listed(names)}")


def _names(package: Package) -> list[str]:
    if package.revision is not None and package.metadata is not None:
        templates = [name for name in package.metadata.digests if suffix_fault(name) is None]
    else:
        templates = list(template_names(package.root, where=package.where))
    return sorted(templates) + [name for name in SUITES if has_file(package, name)]
