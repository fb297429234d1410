"""What a caller asks for on the Hub: a repository, and the version or the commit of it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from webgpu_kernels.errors import SourceError

ORGANISATION: Final = "webgpu-kernels"
"""Where the published kernels are, and the only owner that is trusted unless a caller says otherwise."""

LOCAL_VARIABLE: Final = "WEBGPU_KERNELS_LOCAL"

# The Hub's own rule: neither ".." nor "--".
_PART: Final = r"[A-Za-z0-9](?:\w|\.(?!\.)|-(?!-))*"
_REPOSITORY: Final = re.compile(rf"{_PART}/{_PART}", re.ASCII)
_LONGEST: Final = 96
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A repository of the Hub, at a version or at a commit.

    Attributes:
        repository: ``organisation/name``.
        version: the number of its branch, or None.
        revision: a commit's 40 hexadecimal digits, or None.
    """

    repository: str
    version: int | None = None
    revision: str | None = None

    @property
    def owner(self) -> str:
        """The organisation or user."""
        return self.repository.partition("/")[0]

    @property
    def name(self) -> str:
        """The repository's own name, which is the operator's."""
        return self.repository.partition("/")[2]

    @property
    def branch(self) -> str:
        """The branch of the version."""
        return f"v{self.version}"

    def __str__(self) -> str:
        """Return ``organisation/name@v1``, or the commit in the version's place."""
        return f"{self.repository}@{self.revision or self.branch}"


def repository_of(name: str) -> str:
    """Return the repository that a text names.

    Args:
        name: ``organisation/name``, or the operator's name alone for one of the published kernels.

    Returns:
        ``organisation/name``.

    Raises:
        SourceError: it names no repository.

    Source: FORMAT section 1.
    """
    repository = name if "/" in name else f"{ORGANISATION}/{name}"
    if len(repository) > _LONGEST or not _REPOSITORY.fullmatch(repository) or repository.endswith((".", ".git")):
        raise SourceError(f"{name!r} names no repository", expected="organisation/domain.Name")
    return repository


def source_of(name: str, version: int | None, revision: str | None) -> Source:
    """Return what a caller asks for.

    Args:
        name: as for ``repository_of``.
        version: a version's number; it follows that branch.
        revision: a commit; these very bytes.

    Returns:
        The source, with one of both.

    Raises:
        SourceError: both are given or none, or one that is no such thing.

    Source: FORMAT section 10.
    """
    repository = repository_of(name)
    if version is None and revision is None:
        raise SourceError(
            "which version is not said",
            where=repository,
            hint="Give version=1 to follow a version, or revision= and a commit for these very bytes.",
        )
    if version is not None and revision is not None:
        raise SourceError("version and revision are both given", where=repository, hint="Give one of them.")
    if revision is None:
        return Source(repository=repository, version=checked_version(version, repository))
    return Source(repository=repository, revision=checked_revision(revision, repository))


def checked_version(version: object, where: str) -> int:
    """Return a version's number, or raise SourceError.

    Args:
        version: what was given.
        where: the repository, for messages.

    Returns:
        The same.

    Raises:
        SourceError: it is no whole number from 1.

    Source: FORMAT section 1 (branch ``v1``).
    """
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SourceError("no version", where=where, expected="a whole number from 1", got=repr(version))
    return version


def checked_revision(revision: object, where: str) -> str:
    """Return a commit, or raise SourceError: a name that moves, or half a commit, stands for no certain bytes.

    Args:
        revision: what was given.
        where: the repository, for messages.

    Returns:
        The same.

    Raises:
        SourceError: it is no whole commit.

    Source: FORMAT section 10.
    """
    if not isinstance(revision, str) or not is_commit(revision):
        raise SourceError(
            "no revision",
            where=where,
            expected="the 40 hexadecimal digits of a commit",
            got=repr(revision),
            hint="To follow a branch v1 give version=1.",
        )
    return revision


def is_commit(text: str) -> bool:
    """Tell whether a text is a whole commit.

    Args:
        text: the text.

    Returns:
        True for 40 hexadecimal digits.
    """
    return _COMMIT.fullmatch(text) is not None


def local_folder(repository: str) -> Path | None:
    """Return the folder that stands for a repository on this machine.

    The environment variable ``WEBGPU_KERNELS_LOCAL`` holds ``organisation/name=folder``, and more of them after the
    character that separates paths.

    Args:
        repository: ``organisation/name``.

    Returns:
        The folder, or None where none is named.

    Raises:
        SourceError: the variable cannot be read.
    """
    for entry in filter(None, os.environ.get(LOCAL_VARIABLE, "").split(os.pathsep)):
        named, equals, folder = entry.partition("=")
        if not equals or not folder or "/" not in named:
            raise SourceError(
                f"the environment variable {LOCAL_VARIABLE} cannot be read",
                expected=f"organisation/name=folder, with {os.pathsep!r} between several",
                got=repr(entry),
            )
        if named == repository:
            return Path(folder).expanduser()
    return None
