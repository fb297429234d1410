"""A package as its author has it: a folder that can be written, whatever its metadata.json says or lacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.agreement import passes_of
from webgpu_kernels.contract.files import path_fault, read_file
from webgpu_kernels.contract.json_text import load_json
from webgpu_kernels.contract.listing import check_amount, file_names
from webgpu_kernels.contract.metadata import METADATA, read_metadata
from webgpu_kernels.contract.older import is_older
from webgpu_kernels.contract.package import BUNDLED, MANIFEST, assemble, bundled_names, find_root
from webgpu_kernels.errors import PackageError, PackageNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.metadata import Metadata
    from webgpu_kernels.contract.package import Package

CARD: Final = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPackage:
    """A package in a folder of its author's.

    Attributes:
        package: manifest and templates, read without metadata.json.
        stated: what metadata.json says, or None where there is none or it cannot be read.
        folder: the package's root, which holds README.md and ``build/webgpu``; None where manifest.json lies elsewhere.
    """

    package: Package
    stated: Metadata | None
    folder: Path | None

    @property
    def root(self) -> Path:
        """The folder that holds manifest.json."""
        return self.package.root

    @property
    def where(self) -> str:
        """What messages call the package."""
        return self.package.where

    @property
    def spec(self) -> str:
        """How the manifest is written: ``2.1``, or ``1.0`` for the older dialect."""
        return spec_of(self.package)

    @property
    def variants(self) -> Mapping[str, tuple[str, ...]]:
        """Variant id to the templates that it renders, each once, in the order of their first pass."""
        return {
            variant.id: tuple(dict.fromkeys(step.shader for step in passes_of(variant)))
            for variant in self.package.manifest.variants
        }

    @property
    def card(self) -> Path:
        """Where its README.md belongs.

        Raises:
            PackageError: manifest.json does not lie in ``build/webgpu``.
        """
        if self.folder is None:
            raise PackageError(
                "has no place for a card, which lies beside the folder build",
                where=self.where,
                expected=f"build/webgpu/{MANIFEST}",
                got=MANIFEST,
            )
        return self.folder / CARD

    def contents(self) -> Mapping[str, bytes]:
        """Read all files that digests cover.

        Returns:
            File name, relative to ``root``, to bytes; sorted by name, without metadata.json.

        Raises:
            PackageError: they are too many; one is hidden, too large, unreadable, or bears a name that no package's
                file may have.
        """
        names = file_names(self.root, where=self.where)
        check_amount(self.root, names, where=self.where)
        found = {}
        for name in names:
            if name == METADATA:
                continue
            if fault := path_fault(name):
                raise PackageError(f"{name!r} {fault}", where=self.where, hint="Rename it.")
            if any(part.startswith(".") for part in name.split("/")):
                raise PackageError(
                    f"{name!r} is hidden, and would be published", where=self.where, hint="Delete or rename it."
                )
            found[name] = read_file(self.root, name, where=self.where)
        return found


def own_package(text: str) -> OwnPackage:
    """Open a package to write into it.

    Args:
        text: a folder, or a bundled operator such as ``ai.onnx.Add``. A folder that is there comes first.

    Returns:
        The package.

    Raises:
        PackageNotFound: it is neither.
        PackageError: its files cannot be read.
        ManifestError: the manifest breaks the format.

    Source: FORMAT section 1.
    """
    folder = Path(text)
    if not folder.exists() and text in bundled_names():
        folder = BUNDLED / text
    elif not folder.exists():
        raise PackageNotFound(
            "no such package to write into",
            where=text,
            expected="a folder or a bundled operator",
            hint="A package of the Hub cannot be changed here: get its files first." if "/" in text else None,
        )
    root = find_root(folder, text)
    whole = root.resolve()
    inner = whole.parts[-2:] == ("build", "webgpu")
    return OwnPackage(
        package=assemble(root, None, where=text), stated=_stated(root, text), folder=whole.parents[1] if inner else None
    )


def spec_of(package: Package) -> str:
    """Return how a package's manifest is written: ``2.1``, or ``1.0`` for the older dialect.

    Args:
        package: from anywhere.

    Raises:
        PackageError: the manifest cannot be read again.
    """
    return "1.0" if is_older(load_json(package.read(MANIFEST))) else "2.1"


def _stated(root: Path, where: str) -> Metadata | None:
    """Read metadata.json, which is about to be written anew: what is wrong with it does not matter."""
    try:
        return read_metadata(read_file(root, METADATA, where=where), where=where)
    except (FileNotFoundError, PackageError):
        return None
