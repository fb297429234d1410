"""A kernel package in a folder: its manifest and, when they are asked for, its templates."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.files import path_fault, read_file, suffix_fault, template_names
from webgpu_kernels.contract.metadata import METADATA, read_metadata
from webgpu_kernels.contract.model import Pass, RepeatGroup
from webgpu_kernels.contract.older import SPECS, dialect_of_spec
from webgpu_kernels.contract.reader import parse_manifest
from webgpu_kernels.contract.words import alternatives
from webgpu_kernels.errors import PackageError, PackageNotFound
from webgpu_kernels.language import compile_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from webgpu_kernels.contract.metadata import Metadata
    from webgpu_kernels.contract.model import Manifest
    from webgpu_kernels.contract.older import Dialect
    from webgpu_kernels.language import Template

BUNDLED: Final = Path(__file__).resolve().parent.parent / "kernels"
_INNER: Final = Path("build") / "webgpu"
_MANIFEST: Final = "manifest.json"


class Package:
    """A package's manifest and templates; usable by several threads.

    Args:
        root: the folder that holds manifest.json.
        manifest: what it says.
        where: what messages call the package.
        metadata: what metadata.json says, None where there is none.
    """

    def __init__(self, root: Path, manifest: Manifest, *, where: str, metadata: Metadata | None = None) -> None:
        self.root: Final = root
        self.manifest: Final = manifest
        self.metadata: Final = metadata
        self.where: Final = where
        self._templates: dict[str, Template] = {}
        self._lock = Lock()

    def template(self, name: str) -> Template:
        """Return a template, compiled at the first call.

        Args:
            name: relative to ``root``, as a pass's ``shader`` says.

        Returns:
            The same template every time.

        Raises:
            PackageError: the file is missing, unreadable or outside the package.
            LanguageError: it is no template.

        Source: FORMAT section 7.
        """
        with self._lock:
            if name not in self._templates:
                self._templates[name] = self._compiled(name)
            return self._templates[name]

    def _compiled(self, name: str) -> Template:
        asker = self._asker(name)
        source = self._text(name, asked_by=asker)
        by_way = f"{asker}, by way of {name!r},"
        return compile_template(source, name=name, include=lambda part: self._text(part, asked_by=by_way))

    def _text(self, name: str, *, asked_by: str) -> str:
        if fault := path_fault(name) or suffix_fault(name):
            raise PackageError(f"the template {name!r} {fault}; {asked_by} asks for it", where=self.where)
        try:
            return read_file(self.root, name, where=self.where).decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise PackageError(
                f"{name!r} is not UTF-8: {error.reason} at byte {error.start}", where=self.where
            ) from error
        except FileNotFoundError as error:
            there = ", ".join(template_names(self.root)) or "none"
            raise PackageError(
                f"the template {name!r} is missing; {asked_by} asks for it",
                where=self.where,
                hint=f"Templates that are there: {there}.",
            ) from error

    def _asker(self, name: str) -> str:
        """Say which pass uses a template."""
        for variant in self.manifest.variants:
            for pass_ in _passes(variant.passes):
                if pass_.shader == name:
                    return f"variant {variant.id!r}, pass {pass_.id!r}"
        return "the caller"

    def __repr__(self) -> str:
        """Return the package's class, operator and folder."""
        return f"<Package {self.manifest.op_id} at {self.root}>"


def _passes(steps: Iterable[Pass | RepeatGroup]) -> Iterator[Pass]:
    for step in steps:
        if isinstance(step, RepeatGroup):
            yield from _passes(step.passes)
        else:
            yield step


def open_package(path: str | os.PathLike[str]) -> Package:
    """Open a package in a folder.

    Args:
        path: the folder that holds ``build/webgpu/manifest.json``, or the folder of manifest.json itself.

    Returns:
        The package, its manifest read and checked; templates are read when they are asked for.

    Raises:
        PackageNotFound: there is no such folder, or no manifest in it.
        PackageError: the manifest is unreadable or outside the folder.
        PackageError: metadata.json is broken, of another operator, or states a spec that is not read here.
        ManifestError: it breaks the format.

    Source: FORMAT section 1.
    """
    folder = Path(path)
    return _open(folder, where=os.fspath(path))


def _open(folder: Path, *, where: str) -> Package:
    root = _find_root(folder, where)
    metadata = _read_metadata(root, where)
    dialect = _dialect(metadata, where) if metadata else None
    manifest = parse_manifest(read_file(root, _MANIFEST, where=where), where=f"{where}: {_MANIFEST}", dialect=dialect)
    if metadata is not None and metadata.name != manifest.op_id:
        raise PackageError(
            f"{METADATA} and {_MANIFEST} are of two packages", where=where, expected=manifest.op_id, got=metadata.name
        )
    return Package(root, manifest, where=where, metadata=metadata)


def _read_metadata(root: Path, where: str) -> Metadata | None:
    try:
        content = read_file(root, METADATA, where=where)
    except FileNotFoundError:
        return None
    return read_metadata(content, where=where)


def _dialect(metadata: Metadata, where: str) -> Dialect:
    dialect = dialect_of_spec(metadata.spec)
    if dialect is None:
        raise PackageError(
            "the manifest is written for another spec",
            where=where,
            expected=f"one of {', '.join(SPECS)}",
            got=metadata.spec,
        )
    return dialect


def _find_root(folder: Path, where: str) -> Path:
    if folder.is_file():
        raise PackageNotFound("is a file, not a package", where=where, hint="Give the folder that holds it.")
    if not folder.is_dir():
        raise PackageNotFound("there is no such folder", where=where)
    for root in (folder / _INNER, folder):
        if (root / _MANIFEST).exists():
            if not root.resolve().is_relative_to(folder.resolve()):
                raise PackageError(
                    f"'build/webgpu' is a link that leads out of the package, to {root.resolve()}", where=where
                )
            return root
    raise PackageNotFound(
        "holds no package", where=where, expected="build/webgpu/manifest.json, or manifest.json in the folder itself"
    )


def bundled_names() -> tuple[str, ...]:
    """Return the operators whose packages come with this library.

    Returns:
        Their ids, sorted.

    Source: DESIGN, folders.
    """
    return tuple(sorted(found.parents[2].name for found in BUNDLED.glob(f"*/{_INNER.as_posix()}/{_MANIFEST}")))


def bundled_package(op_id: str) -> Package:
    """Open a package that comes with this library.

    Args:
        op_id: the operator's full name, such as ``com.microsoft.SkipGroupNorm``.

    Returns:
        The package.

    Raises:
        PackageNotFound: no such package is bundled; the message names those that are.

    Source: DESIGN, folders.
    """
    names = bundled_names()
    if op_id not in names:
        hint = alternatives(op_id, names, what="bundled kernels")
        raise PackageNotFound(
            f"no kernel {op_id!r} is bundled", hint=f"{hint[0].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}"
        )
    return _open(BUNDLED / op_id, where=op_id)
