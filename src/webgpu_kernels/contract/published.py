"""Packages that are published: the newest of a version, a fixed commit, or what a lock file says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract.agreement import check_local
from webgpu_kernels.contract.hub import hub_package
from webgpu_kernels.contract.lock import find_lock, locked_source
from webgpu_kernels.contract.package import Package, open_package
from webgpu_kernels.contract.remote import connect
from webgpu_kernels.contract.source import LOCAL_VARIABLE, local_folder, repository_of, source_of
from webgpu_kernels.contract.trust import check_trusted
from webgpu_kernels.errors import KernelError

if TYPE_CHECKING:
    import os

    from webgpu_kernels.contract.trust import Trust


def followed_package(
    name: str, version: int | None, revision: str | None, trust: Trust, token: str | bool | None
) -> Package:
    """Return a package of the Hub by version or commit, or the folder that stands for its repository.

    Args:
        name: an operator or a repository.
        version: the version to follow, or None.
        revision: the commit, or None.
        trust: whose repositories beside the organisation's are trusted.
        token: who asks the Hub.

    Returns:
        The package, its files checked.

    Raises:
        PackageError: of the kind that says what is wrong.

    Source: FORMAT, sections 1 and 10.
    """
    source = source_of(name, version, revision)
    folder = local_folder(source.repository)
    if folder is not None:
        try:
            package = open_package(folder)
            check_local(package.manifest, source, where=package.where)
        except KernelError as error:
            said = f"{LOCAL_VARIABLE} names this folder for {source.repository}."
            error.hint = f"{error.hint} {said}" if error.hint else said
            raise
        return package
    check_trusted(source, trust)
    return hub_package(source, connect(token))


def locked_package(
    name: str, version: int | None, locked: bool | str | os.PathLike[str], trust: Trust, token: str | bool | None
) -> Package:
    """Return the package that a lock file names.

    Args:
        name: an operator or a repository.
        version: the version that it must be, or None.
        locked: the lock file, or True for the nearest one.
        trust: as for ``followed_package``.
        token: as for ``followed_package``.

    Returns:
        The package at the locked commit, its files as the lock file has them.

    Raises:
        PackageError: of the kind that says what is wrong.

    Source: FORMAT, sections 1 and 10.
    """
    path = find_lock() if locked is True else locked
    assert not isinstance(path, bool)
    source, pin = locked_source(repository_of(name), version, path)
    check_trusted(source, trust)
    return hub_package(source, connect(token), pin=pin)
