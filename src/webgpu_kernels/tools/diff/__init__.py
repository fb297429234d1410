"""What changed between two packages, and whether it breaks callers who stay on the same version.

A caller writes names of ports, attributes, scalar arguments and tunables, and has tensors and a device. A change breaks
where a call that was taken may now be refused, or may now mean something else. Formulas that read differently count as
different: whether two of them agree everywhere cannot be decided. How the operator is computed is not the contract:
variants, templates and demotions may change, as long as every call of the package's own suites finds a variant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.tools.diff.changes import Change, Comparison, breaks
from webgpu_kernels.tools.diff.documents import compare_files, compare_metadata
from webgpu_kernels.tools.diff.implementations import compare_variants
from webgpu_kernels.tools.diff.needs import compare_heading, compare_needs
from webgpu_kernels.tools.diff.options import compare_args, compare_attributes, compare_tunables
from webgpu_kernels.tools.diff.tensors import compare_tensors
from webgpu_kernels.tools.diff.witnesses import lost_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.kernel import Kernel

__all__ = ["Change", "Comparison", "compare_kernels", "compare_manifests"]


def compare_kernels(old: Kernel, new: Kernel) -> Comparison:
    """Compare two packages: their contracts, their files, and what becomes of the calls of the old one's suites.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Returns:
        Every change; those that break callers first.

    Raises:
        PackageError: a suite or a template cannot be read.
    """
    found = [*_contract(old.manifest, new.manifest)]
    if old.op_id == new.op_id:
        found += compare_metadata(old.package, new.package)
        found += compare_files(old.package, new.package)
        found += lost_calls(old, new)
    return Comparison.of(found)


def compare_manifests(old: Manifest, new: Manifest) -> Comparison:
    """Compare two contracts.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Returns:
        Every change; those that break callers first.
    """
    return Comparison.of(_contract(old, new))


def _contract(old: Manifest, new: Manifest) -> Iterator[Change]:
    if old.op_id != new.op_id:
        yield breaks("name", f"another operator: was {old.op_id}, is {new.op_id}")
        return
    yield from compare_heading(old, new)
    yield from compare_tensors(old, new)
    yield from compare_args(old, new)
    yield from compare_attributes(old, new)
    yield from compare_tunables(old, new)
    yield from compare_needs(old, new)
    yield from compare_variants(old, new)
