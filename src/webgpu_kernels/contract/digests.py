"""Digests of a package's files, and the id that is made of them.

metadata.json is not covered by a digest of its own: whoever trusts the digests trusts where that file came from.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from webgpu_kernels.contract.files import read_file
from webgpu_kernels.contract.listing import check_amount, file_names
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.errors import DigestError, PackageError, PackageNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from webgpu_kernels.contract.metadata import Metadata
    from webgpu_kernels.contract.package import Package

FileStatus: TypeAlias = Literal["ok", "absent", "differs", "unlisted"]

_ID_DIGITS: Final = 7


class FileCheck(NamedTuple):
    """One file of a package against its digest.

    Attributes:
        name: relative to metadata.json.
        status: ``ok``; ``absent``, listed and not there; ``differs``, there with other contents; ``unlisted``, there
            without a digest.
        stated: the digest in metadata.json, or None.
        computed: the digest of the file, or None where there is none.
    """

    name: str
    status: FileStatus
    stated: str | None
    computed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a package's files are worth.

    Attributes:
        files: every listed and every present file, by name.
        stated_id: the id in metadata.json, or None.
        computed_id: the id that the digest table of metadata.json gives.
    """

    files: tuple[FileCheck, ...]
    stated_id: str | None
    computed_id: str

    @property
    def ok(self) -> bool:
        """Whether every file is listed, there and as it was, and the id is the table's."""
        return self.id_ok and all(file.status == "ok" for file in self.files)

    @property
    def id_ok(self) -> bool:
        """Whether the stated id is the one that the digest table gives."""
        return self.stated_id == self.computed_id

    def names(self, status: FileStatus) -> tuple[str, ...]:
        """Return the files of one status.

        Args:
            status: which.

        Returns:
            Their names, sorted.
        """
        return tuple(file.name for file in self.files if file.status == status)


def file_digest(content: bytes) -> str:
    """Return the digest of a file.

    Args:
        content: its bytes.

    Returns:
        The Base64 text of its SHA-256, 44 characters.

    Source: FORMAT section 1 (``digest``).
    """
    return base64.b64encode(_sha256(content)).decode("ascii")


def _sha256(content: bytes) -> bytes:
    import hashlib  # noqa: PLC0415 - loads OpenSSL, and only a package that is verified needs it

    return hashlib.sha256(content).digest()


def package_id(name: str, digests: Mapping[str, str]) -> str:
    """Return a package's id.

    Args:
        name: the operator's full name, such as ``ai.onnx.Identity``.
        digests: file name to digest, without metadata.json.

    Returns:
        Such as ``_ai_onnx_identity_webgpu_ead6cd9``: the name, and seven digits of a hash over the table.

    Source: FORMAT section 1 (id formula).
    """
    return f"_{name.replace('.', '_').lower()}_webgpu_{table_digest(digests)[:_ID_DIGITS]}"


def table_digest(digests: Mapping[str, str]) -> str:
    """Return one digest of several files.

    Args:
        digests: file name to digest.

    Returns:
        The SHA-256 over all names and digests, 64 hexadecimal digits.

    Source: FORMAT section 1 (id formula).
    """
    # JavaScript sorts texts by their UTF-16 units.
    names = sorted(digests, key=lambda file: file.encode("utf-16-be", "surrogatepass"))
    table = "".join(f"{file}\0{digests[file]}\0" for file in names)
    return _sha256(table.encode()).hex()


def verify(package: Package) -> Verification:
    """Compare a package's files with its digest table.

    Args:
        package: one that has metadata.json; of one from the Hub every listed file is fetched that is not in the cache.

    Returns:
        What became of each file, and both ids; a file that differs is a value here, not an error.

    Raises:
        PackageError: there is no metadata.json, or a file is unreadable or leads out of the package.
        DigestError: the Hub has other files at that commit than those that metadata.json lists.
        HubError: the Hub does not give one.

    Source: FORMAT section 1.
    """
    if package.revision is None or package.metadata is None:
        return verify_files(package.root, package.metadata, where=package.where)
    stated = package.metadata.digests
    names = sorted({*stated, *_files(package.root, package.where)})
    return _verification(package.metadata, [_check_fetched(package, name, stated.get(name)) for name in names])


def verify_files(root: Path, metadata: Metadata | None, *, where: str) -> Verification:
    """Compare the files of a folder with a digest table.

    Args:
        root: the folder that holds metadata.json.
        metadata: what that file says, or None where there is none.
        where: the package, for messages.

    Returns:
        As ``verify`` does.

    Raises:
        PackageError: as ``verify`` does.

    Source: FORMAT section 1.
    """
    if metadata is None:
        raise PackageError(f"has no {METADATA}, so there is nothing to verify by", where=where)
    names = sorted({*metadata.digests, *_files(root, where)})
    check_amount(root, names, where=where)
    return _verification(metadata, [_check(root, name, metadata.digests.get(name), where) for name in names])


def _verification(metadata: Metadata, files: Sequence[FileCheck]) -> Verification:
    return Verification(
        files=tuple(files),
        stated_id=metadata.id,
        computed_id=package_id(metadata.name, metadata.digests),
    )


def require(report: Verification, *, where: str) -> None:
    """Let a package pass whose every file is listed, there and as it was, and whose id is the table's.

    Args:
        report: what became of its files.
        where: the package, for messages.

    Raises:
        DigestError: it is not so; the message names every file that is at fault.

    Source: FORMAT section 1.
    """
    words = {"differs": "is not what its digest says", "absent": "is not there", "unlisted": "has no digest"}
    if faults := [f"{file.name!r} {words[file.status]}" for file in report.files if file.status != "ok"]:
        raise DigestError(f"the files are not those that {METADATA} lists: {', '.join(faults)}", where=where)
    require_id(report.stated_id, report.computed_id, where=where)


def require_id(stated: str | None, computed: str, *, where: str) -> None:
    """Let an id pass that is the digest table's.

    Args:
        stated: the id in metadata.json.
        computed: the id that the table gives.
        where: the package, for messages.

    Raises:
        DigestError: it is another, or none.

    Source: FORMAT section 1 (id formula).
    """
    if stated != computed:
        raise DigestError(
            f"the id in {METADATA} is not the one that its digests give",
            where=where,
            expected=computed,
            got=stated or "none",
        )


def checked_content(content: bytes, name: str, digests: Mapping[str, str], *, where: str) -> bytes:
    """Let the contents of a file pass that are what its digest says.

    Args:
        content: its bytes.
        name: relative to metadata.json.
        digests: file name to digest.
        where: the package, for messages.

    Returns:
        The same bytes.

    Raises:
        DigestError: they are others, or the file has no digest.

    Source: FORMAT section 1 (``digest``).
    """
    stated = digests.get(name)
    if stated is None:
        raise DigestError(f"{name!r} has no digest in {METADATA}", where=where)
    computed = file_digest(content)
    if computed != stated:
        raise DigestError(f"{name!r} is not what its digest says", where=where, expected=stated, got=computed)
    return content


def _files(root: Path, where: str) -> list[str]:
    return [name for name in file_names(root, where=where) if name != METADATA]


def _check(root: Path, name: str, stated: str | None, where: str) -> FileCheck:
    try:
        computed = file_digest(read_file(root, name, where=where))
    except FileNotFoundError:
        # A link that leads nowhere is there all the same.
        return FileCheck(name=name, status="absent" if stated else "unlisted", stated=stated, computed=None)
    status: FileStatus = "unlisted" if stated is None else "ok" if stated == computed else "differs"
    return FileCheck(name=name, status=status, stated=stated, computed=computed)


def _check_fetched(package: Package, name: str, stated: str | None) -> FileCheck:
    """Check a file of a commit of the Hub; one that differs has left the cache then."""
    if stated is None:
        return _check(package.root, name, None, package.where)
    try:
        package.read(name)
    except PackageNotFound:
        return FileCheck(name=name, status="absent", stated=stated, computed=None)
    except DigestError as error:
        if error.got is None:  # not this file is at fault, but the list of files
            raise
        return FileCheck(name=name, status="differs", stated=stated, computed=error.got)
    return FileCheck(name=name, status="ok", stated=stated, computed=stated)
