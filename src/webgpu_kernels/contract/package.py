"""A kernel package in a folder: its manifest and, when they are asked for, its templates."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.agreement import check_op_id, check_templates, dialect_stated, passes_of
from webgpu_kernels.contract.digests import checked_content, require, verify_files
from webgpu_kernels.contract.files import path_fault, read_file, read_if_there, suffix_fault
from webgpu_kernels.contract.listing import template_names
from webgpu_kernels.contract.metadata import METADATA, read_metadata
from webgpu_kernels.contract.reader import parse_manifest
from webgpu_kernels.contract.words import alternatives, sentence
from webgpu_kernels.errors import PackageError, PackageNotFound
from webgpu_kernels.language import compile_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from webgpu_kernels.contract.metadata import Metadata
    from webgpu_kernels.contract.model import Manifest
    from webgpu_kernels.language import Template

BUNDLED: Final = Path(__file__).resolve().parent.parent / "kernels"
_INNER: Final = Path("build") / "webgpu"
MANIFEST: Final = "manifest.json"


class Package:
    """A package's manifest and templates; usable by several threads.

    Args:
        root: the folder that holds manifest.json.
        manifest: what it says.
        where: what messages call the package.
        metadata: what metadata.json says, None where there is none; or what reads it when it is asked for.
        revision: the commit that its files are of, None where they come from a folder.
        read: gives the contents of a file by its name and checks them; by default any file of ``root`` will do.
    """

    def __init__(
        self,
        root: Path,
        manifest: Manifest,
        *,
        where: str,
        metadata: Metadata | Callable[[], Metadata | None] | None = None,
        revision: str | None = None,
        read: Callable[[str], bytes] | None = None,
    ) -> None:
        self.root: Final = root
        self.manifest: Final = manifest
        self._metadata = metadata
        self.where: Final = where
        self.revision: Final = revision
        self._read = read or (lambda name: read_file(root, name, where=where))
        self._templates: dict[str, Template] = {}
        self._lock = Lock()

    @property
    def metadata(self) -> Metadata | None:
        """What metadata.json says, None where there is none.

        Raises:
            PackageError: it is broken; of a package that was opened this is known already, unless it is bundled.
        """
        if callable(self._metadata):
            self._metadata = self._metadata()
        return self._metadata

    def read(self, name: str) -> bytes:
        """Return a file of the package, such as ``test.json``; of one from the Hub it is fetched now.

        Args:
            name: relative to ``root``.

        Returns:
            Its bytes.

        Raises:
            PackageError: it is missing, unreadable or outside the package, or is not what its digest says.

        Source: FORMAT section 1.
        """
        try:
            return self._read(name)
        except FileNotFoundError as error:
            raise PackageError(f"there is no file {name!r}", where=self.where) from error

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
            return self._read(name).decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise PackageError(
                f"{name!r} is not UTF-8: {error.reason} at byte {error.start}", where=self.where
            ) from error
        except FileNotFoundError as error:
            there = ", ".join(template_names(self.root, where=self.where)) or "none"
            raise PackageError(
                f"the template {name!r} is missing; {asked_by} asks for it",
                where=self.where,
                hint=f"Templates that are there: {there}.",
            ) from error

    def _asker(self, name: str) -> str:
        """Say which pass uses a template."""
        for variant in self.manifest.variants:
            for pass_ in passes_of(variant):
                if pass_.shader == name:
                    return f"variant {variant.id!r}, pass {pass_.id!r}"
        return "the caller"

    def __repr__(self) -> str:
        """Return the package's class, operator and folder."""
        return f"<Package {self.manifest.op_id} at {self.root}>"


def open_package(path: str | os.PathLike[str], *, verify: bool = False) -> Package:
    """Open a package in a folder.

    Args:
        path: the folder that holds ``build/webgpu/manifest.json``, or the folder of manifest.json itself.
        verify: whether its files must be those that metadata.json lists, now and whenever one is read.

    Returns:
        The package, its manifest read and checked; templates are read when they are asked for.

    Raises:
        PackageNotFound: there is no such folder, or no manifest in it.
        PackageError: the manifest is unreadable or outside the folder.
        PackageError: metadata.json is broken, of another operator, or states a spec that is not read here; or there
            is none to verify by.
        DigestError: a file is not what its digest says, has none, or is not there; or the id is another.
        ManifestError: it breaks the format.

    Source: FORMAT section 1.
    """
    try:
        where = os.fsdecode(path)
        Path(where).is_dir()
    except (TypeError, OSError, ValueError) as error:
        raise PackageNotFound(f"is no path ({error})", where=repr(path)[:120], expected="a folder") from error
    return _open(Path(where), where=where, verify=verify)


def _open(folder: Path, *, where: str, verify: bool = False) -> Package:
    root = find_root(folder, where)
    metadata = _read_metadata(root, where)
    if not verify:
        return assemble(root, metadata, where=where)
    require(verify_files(root, metadata, where=where), where=where)
    assert metadata is not None
    digests = metadata.digests

    def read(name: str) -> bytes:
        return checked_content(read_file(root, name, where=where), name, digests, where=where)

    package = assemble(root, metadata, where=where, read=read)
    check_templates(package.manifest, metadata, where=where)
    return package


def assemble(
    root: Path,
    metadata: Metadata | None,
    *,
    where: str,
    revision: str | None = None,
    read: Callable[[str], bytes] | None = None,
) -> Package:
    """Read and check a manifest, and make a package of what is known.

    Args:
        root: the folder that holds it.
        metadata: as for ``Package``.
        where: as for ``Package``.
        revision: as for ``Package``.
        read: as for ``Package``.

    Returns:
        The package.

    Raises:
        PackageError: the manifest is unreadable, of another operator than the metadata's, or of another spec.
        ManifestError: it breaks the format.

    Source: FORMAT section 1.
    """
    dialect = dialect_stated(metadata, where=where) if metadata else None
    content = read(MANIFEST) if read else read_file(root, MANIFEST, where=where)
    manifest = parse_manifest(content, where=f"{where}: {MANIFEST}", dialect=dialect)
    if metadata is not None:
        check_op_id(manifest, metadata, where=where)
    return Package(root, manifest, where=where, metadata=metadata, revision=revision, read=read)


def _read_metadata(root: Path, where: str) -> Metadata | None:
    content = read_if_there(root, METADATA, where=where)
    return None if content is None else read_metadata(content, where=where)


def find_root(folder: Path, where: str) -> Path:
    """Find the folder of manifest.json.

    Args:
        folder: that folder, or the one that holds ``build/webgpu``.
        where: what messages call it.

    Returns:
        The folder that holds manifest.json.

    Raises:
        PackageNotFound: there is no such folder, or no manifest in it.
        PackageError: it is a link that leads out of the folder.

    Source: FORMAT section 1.
    """
    if folder.is_file():
        raise PackageNotFound("is a file, not a package", where=where, hint="Give the folder that holds it.")
    if not folder.is_dir():
        raise PackageNotFound("there is no such folder", where=where)
    for root in (folder / _INNER, folder):
        if (root / MANIFEST).exists():
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
    return tuple(sorted(found.parents[2].name for found in BUNDLED.glob(f"*/{_INNER.as_posix()}/{MANIFEST}")))


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
            f"no kernel {op_id!r} is bundled", hint=f"{sentence(hint)} With version= it is looked for on the Hub."
        )
    root = BUNDLED / op_id / _INNER
    manifest = assemble(root, None, where=op_id).manifest
    # Loading must be quick, and a test holds it against the manifest.
    return Package(root, manifest, where=op_id, metadata=lambda: _read_metadata(root, op_id))
