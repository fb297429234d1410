"""The lock file: which commits a project's kernels are, and what their files hash to.

pyproject.toml says which versions a project wants::

    [tool.webgpu-kernels.kernels]
    "webgpu-kernels/com.microsoft.SkipGroupNorm" = 1

and ``webgpu-kernels.lock`` beside it, JSON, which commits these were when it was written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract.cursor import describe
from webgpu_kernels.contract.digests import file_digest
from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.files import read_file, read_some, reason_of
from webgpu_kernels.contract.hub import hub_package
from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES
from webgpu_kernels.contract.kinds import Key, Members, Table, Text, Whole, Words
from webgpu_kernels.contract.metadata import DIGEST, METADATA, read_digests
from webgpu_kernels.contract.source import Source, checked_version, is_commit, repository_of
from webgpu_kernels.contract.trust import check_trusted
from webgpu_kernels.contract.vocabulary import PATH
from webgpu_kernels.contract.writing import replace_text
from webgpu_kernels.errors import DigestError, LockError, SourceError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.metadata import Metadata
    from webgpu_kernels.contract.remote import Hub
    from webgpu_kernels.contract.trust import Trust

LOCK_NAME: Final = "webgpu-kernels.lock"
_LOCK_VERSION: Final = 1
_PIN: Final = Table(
    "a locked kernel",
    Key("version", Whole(1), "The version that was locked.", "give a whole number from 1"),
    Key("revision", Text("[0-9a-f]{40}"), "The commit that it was.", "give a commit"),
    Key("files", Members(Text(DIGEST.pattern), Text(PATH)), "Each file's digest.", "give the digest of each file"),
)
LOCK: Final = Table(
    "a lock file",
    Key("lockVersion", Words((_LOCK_VERSION,)), "How the file is written.", f"give {_LOCK_VERSION}"),
    Key("kernels", Members(_PIN), "Repository to what is locked of it.", "name the kernels"),
)
"""The whole of a lock file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """What a lock file says of one kernel.

    Attributes:
        version: the version that was locked.
        revision: the commit that it was.
        digests: file name to digest, metadata.json among them.
    """

    version: int
    revision: str
    digests: Mapping[str, str]

    def check(self, metadata: Metadata, content: bytes, *, where: str) -> None:
        """Let a package pass whose files are the locked ones.

        Args:
            metadata: what its metadata.json says.
            content: that file's bytes.
            where: the package, for messages.

        Raises:
            DigestError: they are others.
        """
        found = {**metadata.digests, METADATA: file_digest(content)}
        names = sorted(set(found) | set(self.digests))
        if others := [name for name in names if found.get(name) != self.digests.get(name)]:
            raise DigestError(f"is not what the lock file says: {', '.join(map(repr, others))}", where=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A lock file.

    Attributes:
        kernels: repository to what is locked of it, by name.
    """

    kernels: Mapping[str, Pin]


def wanted_kernels(pyproject: str | os.PathLike[str]) -> Mapping[str, int]:
    """Read which kernels a project wants.

    Args:
        pyproject: its pyproject.toml.

    Returns:
        Repository to version, by name.

    Raises:
        LockError: the file is missing or broken, or its table is.
    """
    import tomllib  # noqa: PLC0415 - only who writes a lock file needs it

    path = Path(pyproject)
    where = str(path)
    try:
        data = tomllib.loads(read_some(path, MAX_TEXT_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise LockError(f"cannot be read: {reason_of(error)}", where=where) from error
    table: Any = data
    for key in ("tool", "webgpu-kernels", "kernels"):
        table = table.get(key, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise LockError("[tool.webgpu-kernels.kernels] is no table of repositories with versions", where=where)
    try:
        wanted = {repository_of(name): checked_version(version, name) for name, version in table.items()}
    except SourceError as error:
        raise LockError(f"[tool.webgpu-kernels.kernels]: {error}", where=where) from error
    return MappingProxyType(dict(sorted(wanted.items())))


def lock_kernels(wanted: Mapping[str, int], hub: Hub, *, trust: Trust = False) -> Lock:
    """Find out which commits versions are now, and load and check these.

    Args:
        wanted: repository to version.
        hub: where they are.
        trust: as for ``check_trusted``.

    Returns:
        The lock.

    Raises:
        UntrustedRepository: one is not trusted; nothing was asked of the Hub.
        PackageError: as ``hub_package`` does.
    """
    sources = [Source(repository=repository, version=version) for repository, version in sorted(wanted.items())]
    for source in sources:
        check_trusted(source, trust)
    return Lock(kernels=MappingProxyType({source.repository: _pin(source, hub) for source in sources}))


def _pin(source: Source, hub: Hub) -> Pin:
    package = hub_package(source, hub)
    assert source.version is not None
    assert package.metadata is not None
    assert package.revision is not None
    content = read_file(package.root, METADATA, where=str(source))
    digests = {**package.metadata.digests, METADATA: file_digest(content)}
    return Pin(version=source.version, revision=package.revision, digests=MappingProxyType(digests))


def write_lock(lock: Lock, path: str | os.PathLike[str]) -> None:
    """Write a lock file; whoever reads it meanwhile finds the old one or the new one.

    Args:
        lock: what it says.
        path: the file.

    Raises:
        LockError: it cannot be written.
    """
    kernels = {
        repository: {"version": pin.version, "revision": pin.revision, "files": dict(sorted(pin.digests.items()))}
        for repository, pin in sorted(lock.kernels.items())
    }
    text = json.dumps({"lockVersion": _LOCK_VERSION, "kernels": kernels}, indent=2)
    try:
        replace_text(Path(path), f"{text}\n")
    except OSError as error:
        raise LockError(f"cannot be written: {reason_of(error)}", where=str(path)) from error


def find_lock(start: str | os.PathLike[str] | None = None) -> Path:
    """Return the nearest lock file.

    Args:
        start: the folder to look in, and then in those above; by default the current one.

    Returns:
        The file.

    Raises:
        LockError: there is none.
    """
    folder = Path(start or ".").resolve()
    for place in (folder, *folder.parents):
        if (place / LOCK_NAME).is_file():
            return place / LOCK_NAME
    raise LockError(f"there is no {LOCK_NAME} here or above", where=str(folder), hint="Write one: webgpu-kernels lock.")


def read_lock(path: str | os.PathLike[str]) -> Lock:
    """Read a lock file.

    Args:
        path: the file.

    Returns:
        What it says.

    Raises:
        LockError: it is missing or broken.
    """
    where = str(path)
    try:
        content = read_some(Path(path), MAX_TEXT_BYTES)
    except (OSError, ValueError) as error:
        raise LockError(f"cannot be read: {reason_of(error)}", where=where) from error
    return read_document(content, _read_lock, what="the lock file", where=where, error=LockError)


def _read_lock(root: Node) -> Lock:
    fields = Fields(root, LOCK)
    version = fields.get("lockVersion")
    if version is not None and (version.value != _LOCK_VERSION or isinstance(version.value, bool)):
        version.fail(
            f"must be {_LOCK_VERSION}, not {describe(version.value)}: another version of this library wrote it"
        )
    kernels = fields.get("kernels")
    members = kernels.members("locked kernels, repository to commit") if kernels else []
    return Lock(kernels=MappingProxyType({_repository(name, entry): _read_pin(entry) for name, entry in members}))


def _repository(name: str, entry: Node) -> str:
    try:
        return repository_of(name)
    except SourceError as error:
        entry.fail(str(error))
        return name


def _read_pin(entry: Node) -> Pin:
    fields = Fields(entry, _PIN)
    revision, files = fields.text("revision"), fields.get("files")
    if revision is not None and not is_commit(revision):
        entry.at("revision", None).fail("must be the 40 hexadecimal digits of a commit")
    return Pin(
        version=fields.integer("version"),
        revision=revision or "",
        digests=read_digests(files) if files else MappingProxyType({}),
    )


def locked_source(repository: str, version: int | None, path: str | os.PathLike[str]) -> tuple[Source, Pin]:
    """Return the commit of a kernel that a lock file holds.

    Args:
        repository: ``organisation/name``.
        version: the version that a caller means, or None for whichever is locked.
        path: the lock file.

    Returns:
        The source, and what its files must be.

    Raises:
        LockError: the file is missing or broken, or holds no such kernel or another version of it.
    """
    pin = read_lock(path).kernels.get(repository)
    hint = "Write the lock file anew."
    if pin is None:
        raise LockError(f"does not hold {repository}", where=str(path), hint=hint)
    if version not in {None, pin.version}:
        raise LockError(
            f"holds another version of {repository}",
            where=str(path),
            expected=str(version),
            got=str(pin.version),
            hint=hint,
        )
    return Source(repository=repository, revision=pin.revision), pin
