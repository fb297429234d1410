"""Changes of a repository of the Hub, through huggingface_hub: a version's branch, and one commit on it.

No commit is sent twice: after a connection that broke, only a look at the branch tells whether it arrived.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from webgpu_kernels.contract.remote import KIND
from webgpu_kernels.errors import HubAccessDenied, HubError, HubUnavailable, PackageNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from webgpu_kernels.contract.remote import Hub
    from webgpu_kernels.errors import PackageError

_T = TypeVar("_T")
_DENIED: Final = frozenset({401, 403})
_MOVED: Final = frozenset({409, 412})
SILENCE_S: Final = 30.0
"""How long a server may say nothing before it counts as gone: a commit takes it a while."""
_AGAIN: Final = "Push again: what is there already is not committed twice."


def begin_branch(hub: Hub, repository: str, branch: str, start: str) -> None:
    """Create a branch.

    Args:
        hub: where.
        repository: ``organisation/name``.
        branch: its name, such as ``v2``.
        start: the commit it starts from.

    Raises:
        PackageNotFound: there is no such repository.
        HubAccessDenied: this token may not write there.
        HubError: the branch exists by now, or the Hub does not take it.

    Source: huggingface_hub, ``create_branch``.
    """
    from huggingface_hub import HfApi  # noqa: PLC0415 - an extra

    def begin() -> None:
        HfApi(endpoint=hub.endpoint, token=hub.token).create_branch(
            repository, branch=branch, revision=start, repo_type=KIND
        )

    _once(begin, f"{repository}@{branch}", hub.endpoint)


def commit_files(
    hub: Hub,
    repository: str,
    branch: str,
    *,
    files: Mapping[str, bytes],
    deleted: Collection[str],
    message: str,
    parent: str,
) -> str:
    """Commit files to a branch, all or none of them.

    Args:
        hub: where.
        repository: ``organisation/name``.
        branch: the branch.
        files: path in the repository to contents.
        deleted: paths that shall be gone.
        message: of the commit.
        parent: where the branch must be now.

    Returns:
        The commit.

    Raises:
        PackageNotFound: there is no such repository or branch.
        HubAccessDenied: this token may not write there.
        HubError: the branch is not at ``parent`` any more, or the Hub does not take the commit.

    Source: huggingface_hub, ``create_commit``.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi  # noqa: PLC0415 - an extra

    added = [CommitOperationAdd(path, content) for path, content in files.items()]
    gone = [CommitOperationDelete(path) for path in deleted]

    def commit() -> str:
        made = HfApi(endpoint=hub.endpoint, token=hub.token, library_name="webgpu-kernels").create_commit(
            repository,
            [*added, *gone],
            commit_message=message,
            repo_type=KIND,
            revision=branch,
            parent_commit=parent,
        )
        return str(made.oid)

    return _once(commit, f"{repository}@{branch}", hub.endpoint)


def _once(action: Callable[[], _T], where: str, endpoint: str) -> _T:
    from httpx2 import HTTPError  # noqa: PLC0415 - comes with huggingface_hub, whose errors are partly its

    try:
        with _bounded():
            return action()
    # All but the first two: huggingface_hub takes answers for the Hub's without looking.
    except (HTTPError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _fault(error, where, endpoint) from error


@contextmanager
def _bounded() -> Iterator[None]:
    """Wait no longer than this for a server that says nothing; huggingface_hub's writing calls know no timeout."""
    from httpx2 import Timeout  # noqa: PLC0415 - as above
    from huggingface_hub import get_session  # noqa: PLC0415 - an extra

    session = get_session()
    before, session.timeout = session.timeout, Timeout(SILENCE_S)
    try:
        yield
    finally:
        session.timeout = before


def _fault(error: Exception, where: str, endpoint: str) -> PackageError:
    """Return what a failure to write is called here."""
    from httpx2 import HTTPError  # noqa: PLC0415 - as above
    from huggingface_hub.errors import (  # noqa: PLC0415 - an extra
        HfHubHTTPError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
    )

    if isinstance(error, LocalTokenNotFoundError):
        return HubAccessDenied("no token is saved, and writing needs one", where=where, hint="Log in: hf auth login.")
    if isinstance(error, OfflineModeIsEnabled):
        return HubUnavailable("HF_HUB_OFFLINE forbids to write to the Hub", where=where, hint="Unset it.")
    if isinstance(error, HfHubHTTPError):
        return _fault_of_status(error.response.status_code, where, endpoint)
    if isinstance(error, HTTPError):
        return HubUnavailable(
            f"the connection to {endpoint} broke, and it is not known whether the commit arrived",
            where=where,
            got=_one_line(error),
            hint=_AGAIN,
        )
    # Such as front matter of the card that the Hub does not take, or an answer that is not the Hub's.
    return HubError(f"{endpoint} does not take the commit", where=where, got=_one_line(error), hint=_AGAIN)


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300].rstrip(": .")


def _fault_of_status(status: int, where: str, endpoint: str) -> PackageError:
    got = f"status {status}"
    if status in _DENIED:
        hint = "Log in with a token that may: hf auth login, or --token."
        return HubAccessDenied(f"{endpoint} does not let this token write", where=where, got=got, hint=hint)
    if status in _MOVED:
        return HubError(
            "somebody else has changed the branch meanwhile, so nothing was committed",
            where=where,
            got=got,
            hint="Push again: it is compared with what is there now.",
        )
    if status == 404:
        return PackageNotFound(f"{endpoint} has no such repository or branch", where=where, got=got)
    passing = status == 429 or status >= 500
    return HubUnavailable(
        f"{endpoint} does not take the commit", where=where, got=got, hint="Try again later." if passing else None
    )
