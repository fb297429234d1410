"""The package that is looked at, with what several rules need of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from webgpu_kernels.contract.json_text import load_json
from webgpu_kernels.contract.package import MANIFEST
from webgpu_kernels.tools.lint.findings import Place
from webgpu_kernels.tools.lint.formulas import Paths
from webgpu_kernels.tools.own import CARD
from webgpu_kernels.tools.suites.references import REFERENCE_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.contract import Manifest, Package
    from webgpu_kernels.kernel import Kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A package under scrutiny.

    Attributes:
        kernel: what calls are described to.
        document: the manifest as plain JSON.
        paths: where parts of the manifest stand in it.
    """

    kernel: Kernel
    document: object
    paths: Paths

    @property
    def package(self) -> Package:
        """The package."""
        return self.kernel.package

    @property
    def manifest(self) -> Manifest:
        """The contract."""
        return self.kernel.manifest

    @property
    def folder(self) -> Path:
        """The package's folder: the one that holds the card and ``build/webgpu``."""
        return folder_of(self.package.root)


def subject_of(kernel: Kernel) -> Subject:
    """Gather what the rules need.

    Args:
        kernel: the kernel.

    Returns:
        The subject.

    Raises:
        PackageError: the manifest cannot be read again.
    """
    document = load_json(kernel.package.read(MANIFEST))
    return Subject(kernel=kernel, document=document, paths=Paths(kernel.manifest, document))


def folder_of(root: Path) -> Path:
    """Return the folder of a package whose manifest lies in ``root``.

    Args:
        root: the folder that holds manifest.json.

    Returns:
        The one above ``build/webgpu``, else the same.
    """
    return root.parent.parent if root.parts[-2:] == ("build", "webgpu") else root


def file_of(root: Path, file: str) -> Path:
    """Return the file that a place names.

    Args:
        root: the folder that holds manifest.json.
        file: as a place says it: card and reference lie in the package's folder, everything else beside the manifest.

    Returns:
        Its path.
    """
    return folder_of(root) / file if file in {CARD, REFERENCE_FILE} else root / file


def in_manifest(path: str) -> Place:
    """Return a place in the manifest.

    Args:
        path: the JSON path.

    Returns:
        The place.
    """
    return Place(MANIFEST, path)
