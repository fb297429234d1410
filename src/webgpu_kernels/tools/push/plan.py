"""What a push would change on the Hub: files, the branch, and the contract that callers of the version have."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from webgpu_kernels.contract.hub import hub_package
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.contract.remote import FOLDER
from webgpu_kernels.contract.source import Source
from webgpu_kernels.contract.uploading import begin_branch, commit_files
from webgpu_kernels.errors import HubAccessDenied, PackageNotFound
from webgpu_kernels.kernel import Kernel
from webgpu_kernels.tools.diff import compare_kernels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Package
    from webgpu_kernels.contract.remote import Hub
    from webgpu_kernels.tools.diff import Comparison

_FIRST: Final = "main"
"""The branch that a repository has from the beginning, and that new versions start from."""
_VERSION: Final = re.compile(r"v([1-9][0-9]*)", re.ASCII)

Fate: TypeAlias = Literal["added", "changed", "unchanged"]


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that the version shall have.

    Attributes:
        path: in the repository.
        size_bytes: how large it is.
        fate: what happens to it.
    """

    path: str
    size_bytes: int
    fate: Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPlan:
    """A push before it is done.

    Attributes:
        repository: ``organisation/name``.
        version: the number of its branch.
        next_version: the first number above all that the repository has, and above this one.
        parent: the commit that the push is compared with and will follow.
        begins: whether the branch is new and starts at ``parent``.
        files: what the version shall have, sorted by path.
        contents: path to bytes, of the files that are added or changed.
        deleted: what is there at ``parent`` and shall be gone: files of a package that this one has not.
        message: of the commit.
        comparison: what changes for callers of the version; None where it has none.
    """

    repository: str
    version: int
    next_version: int
    parent: str
    begins: bool
    files: tuple[PlannedFile, ...]
    contents: Mapping[str, bytes]
    deleted: tuple[str, ...]
    message: str
    comparison: Comparison | None

    @property
    def branch(self) -> str:
        """The branch of the version."""
        return f"v{self.version}"

    @property
    def commits(self) -> bool:
        """Whether files change, for which a commit is needed."""
        return bool(self.contents or self.deleted)

    @property
    def changes(self) -> bool:
        """Whether the branch does not hold all this already."""
        return self.begins or self.commits


def plan_push(package: Package, contents: Mapping[str, bytes], source: Source, hub: Hub) -> PushPlan:
    """Compare a package with what a version's branch holds.

    Args:
        package: packed, from a folder.
        contents: all files that the version shall have, by their paths in the repository.
        source: the repository and the version.
        hub: where that is; it is only read.

    Returns:
        The plan.

    Raises:
        PackageNotFound: there is no such repository, or it has no branch to start from.
        PackageError: the branch holds a package that cannot be read, so that nothing can be compared with it.
        HubError: the Hub does not answer.

    Source: FORMAT section 1.
    """
    assert source.version is not None
    assert package.metadata is not None
    branches = _branches(source, hub)
    parent = branches.get(source.branch, branches.get(_FIRST))
    if parent is None:
        raise PackageNotFound(f"has neither a branch {source.branch} nor {_FIRST} to start it from", where=str(source))
    there = hub.blobs(source, parent)
    files = tuple(_planned(path, content, there) for path, content in sorted(contents.items()))
    changed = {file.path for file in files if file.fate != "unchanged"}
    published = source.branch in branches and f"{FOLDER}/{METADATA}" in there
    at = Source(repository=source.repository, revision=parent)
    old = hub_package(at, hub) if published else None
    return PushPlan(
        repository=source.repository,
        version=source.version,
        next_version=max(_versions(branches), default=0) + 1,
        parent=parent,
        begins=source.branch not in branches,
        files=files,
        contents={path: content for path, content in contents.items() if path in changed},
        deleted=tuple(sorted(path for path in there if path.startswith(f"{FOLDER}/") and path not in contents)),
        message=f"sync {package.metadata.commit[:12] if package.metadata.commit else package.metadata.id}",
        comparison=compare_kernels(Kernel(old), Kernel(package)) if old is not None else None,
    )


def push(plan: PushPlan, hub: Hub) -> str:
    """Do what was planned.

    Args:
        plan: of a package that may be published.
        hub: where to.

    Returns:
        The commit that the branch is at then.

    Raises:
        HubError: the Hub does not take it, or the branch has moved since the plan was made; nothing is committed.

    Source: FORMAT section 1.
    """
    if plan.begins:
        begin_branch(hub, plan.repository, plan.branch, plan.parent)
    if not plan.commits:
        return plan.parent
    return commit_files(
        hub,
        plan.repository,
        plan.branch,
        files=plan.contents,
        deleted=plan.deleted,
        message=plan.message,
        parent=plan.parent,
    )


def _branches(source: Source, hub: Hub) -> Mapping[str, str]:
    """Return branches and their commits; who is not let in may have misspelt the name, or has yet to make the place."""
    create = f"Check the name, or create it: hf repos create {source.repository} --type kernel."
    try:
        return hub.branches(source.repository)
    except HubAccessDenied as error:
        hint = f"{create} If it is private, log in with: hf auth login."
        raise HubAccessDenied(error.message, where=error.where, got=error.got, hint=hint) from error
    except PackageNotFound as error:
        message = f"{hub.endpoint} has no such repository, or not for this token"
        raise PackageNotFound(message, where=source.repository, got=error.got, hint=create) from error


def _versions(branches: Mapping[str, str]) -> list[int]:
    return [int(found[1]) for name in branches if (found := _VERSION.fullmatch(name))]


def _planned(path: str, content: bytes, there: Mapping[str, str]) -> PlannedFile:
    if path not in there:
        return PlannedFile(path, len(content), "added")
    same = there[path] == hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    return PlannedFile(path, len(content), "unchanged" if same else "changed")
