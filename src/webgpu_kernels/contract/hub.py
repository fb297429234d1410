"""Packages from the Hub: a version is resolved to a commit, the package of that commit is checked, and then opened."""

from __future__ import annotations

import logging
import re
import threading
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.agreement import check_repository, check_templates
from webgpu_kernels.contract.files import suffix_fault
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.contract.package import assemble
from webgpu_kernels.contract.snapshot import Snapshot
from webgpu_kernels.errors import DigestError, HubUnavailable, PackageNotFound

if TYPE_CHECKING:
    from webgpu_kernels.contract.lock import Pin
    from webgpu_kernels.contract.package import Package
    from webgpu_kernels.contract.remote import Hub
    from webgpu_kernels.contract.source import Source

_LOG: Final = logging.getLogger("webgpu_kernels")
_VERSION: Final = re.compile(r"v([1-9][0-9]{0,8})")


class _Branch:
    """A version of a repository as this process sees it: at one commit, from the first load that succeeds."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.commit: str | None = None


_BRANCHES: Final[dict[tuple[str, str, str, str], _Branch]] = {}
_BRANCHES_LOCK: Final = threading.Lock()


def hub_package(source: Source, hub: Hub, *, pin: Pin | None = None) -> Package:
    """Load a package from the Hub.

    Nobody's trust is asked for here: see ``check_trusted``.

    Args:
        source: the repository, and the version or commit of it.
        hub: where from.
        pin: what its files must be, beside what its own digests say; None where nothing is locked.

    Returns:
        The package; manifest and templates are in the cache and checked, other files are fetched when they are read.

    Raises:
        PackageNotFound: there is no such repository, version, commit or package.
        PackageError: its parts are not of one package, or break the format.
        DigestError: a file is not what its digest says, or not listed; or the id is another.
        HubError: the Hub does not give it.
        ManifestError: the manifest breaks the format.

    Source: FORMAT sections 1 and 10.
    """
    if source.revision is not None:
        return _load(source, hub, source.revision, pin)
    branch = _branch_of(source, hub)
    if branch.commit is not None:
        return _load(source, hub, branch.commit, pin)
    # Only the first load of a version holds the lock, so that two threads do not resolve it to two commits.
    with branch.lock:
        commit = branch.commit or _resolve(source, hub)
        package = _load(source, hub, commit, pin)
        if branch.commit is None:
            # A commit is remembered once all of it is here: what is found offline is complete.
            hub.remember(source.repository, source.branch, commit)
            branch.commit = commit
    return package


def forget_versions() -> None:
    """Let the next load of each version ask the Hub again where its branch is."""
    with _BRANCHES_LOCK:
        _BRANCHES.clear()


def _branch_of(source: Source, hub: Hub) -> _Branch:
    key = (hub.endpoint, str(hub.cache), source.repository, source.branch)
    with _BRANCHES_LOCK:
        return _BRANCHES.setdefault(key, _Branch())


def _resolve(source: Source, hub: Hub) -> str:
    """Return the commit of a version: the Hub's answer, or else where the branch was last seen."""
    known = hub.remembered(source.repository, source.branch)
    try:
        branches = hub.branches(source.repository, patient=known is None)
    except HubUnavailable:
        if known is None:
            raise
        _LOG.info("%s: the Hub does not answer; the cached commit %s is used", source, known)
        return known
    versions = sorted(int(found[1]) for name in branches if (found := _VERSION.fullmatch(name)))
    commit = branches.get(source.branch)
    if commit is None:
        there = ", ".join(str(version) for version in versions) or "none"
        raise PackageNotFound(f"there is no version {source.version}", where=source.repository, expected=there)
    assert source.version is not None
    if versions[-1] > source.version:
        _LOG.warning("%s: version %d is loaded; there is a version %d", source.repository, source.version, versions[-1])
    return commit


def _load(source: Source, hub: Hub, commit: str, pin: Pin | None) -> Package:
    snapshot = Snapshot(hub, source, commit)
    metadata, content = snapshot.metadata()
    if pin is not None:
        try:
            pin.check(metadata, content, where=snapshot.where)
        except DigestError:
            # It may be the copy that is wrong, and would be for ever.
            snapshot.forget(METADATA)
            raise
    check_repository(metadata, source, where=snapshot.where)
    package = assemble(snapshot.root, metadata, where=snapshot.where, revision=commit, read=snapshot.read)
    check_templates(package.manifest, metadata, where=snapshot.where)
    # Before one is needed: a call must neither wait for the network nor fail by it.
    for name in metadata.digests:
        if suffix_fault(name) is None:
            snapshot.read(name)
    return package
