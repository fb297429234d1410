"""The Hub and its cache on this disk, through huggingface_hub.

It is imported inside functions: it is an optional extra, and takes long to import. Where it would retry or wait without
end, or not at all, the bounds are said here.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from webgpu_kernels.contract.answers import ask, bounded_bar, unintelligible
from webgpu_kernels.contract.faults import fault_of, is_passing, pause_s
from webgpu_kernels.contract.files import MAX_FILE_BYTES, blobs_of, read_some
from webgpu_kernels.contract.listing import MAX_BYTES
from webgpu_kernels.contract.source import is_commit
from webgpu_kernels.contract.writing import replace_text
from webgpu_kernels.errors import HubExtraMissing, PackageError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webgpu_kernels.contract.source import Source

FOLDER: Final = "build/webgpu"
KIND: Final = "kernel"
_TRIES: Final = 3
_WAIT_S: Final = 1.0
_LONGEST_NOTE: Final = 100
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """An endpoint with the cache of what came from it.

    Attributes:
        endpoint: such as ``https://huggingface.co``.
        cache: the folder where huggingface_hub keeps repositories.
        token: who asks: a text; None or True for the saved token, False for nobody. Sent to the endpoint only.
    """

    endpoint: str
    cache: Path
    token: str | bool | None = field(default=None, repr=False)

    def branches(self, repository: str, *, patient: bool = True) -> Mapping[str, str]:
        """Return where a repository's branches are now.

        Args:
            repository: ``organisation/name``.
            patient: whether to try again where the Hub fails in a way that passes.

        Returns:
            Branch to commit.

        Raises:
            PackageNotFound: there is no such repository.
            HubAccessDenied: it is not for this token.
            HubUnavailable: the Hub does not answer as it should.

        Source: huggingface_hub, ``list_repo_refs``, which knows no timeout.
        """
        answer, _ = self._ask(f"{repository}/refs", repository, tries=_TRIES if patient else 1)
        try:
            branches = {str(branch["name"]): str(branch["targetCommit"]) for branch in answer["branches"]}
        except (KeyError, TypeError) as error:
            raise unintelligible(repository, self.endpoint) from error
        # A commit becomes part of addresses and paths.
        if not all(map(is_commit, branches.values())):
            raise unintelligible(repository, self.endpoint)
        return branches

    def sizes(self, source: Source, commit: str) -> Mapping[str, int]:
        """Return which files a package has at a commit.

        Args:
            source: the repository.
            commit: the commit.

        Returns:
            File name, relative to ``build/webgpu``, to bytes.

        Raises:
            PackageNotFound: there is no such repository, no such commit, or no package in it.
            HubAccessDenied: it is not for this token.
            HubUnavailable: the Hub does not answer as it should.

        Source: huggingface_hub, ``list_repo_tree``, which knows no timeout.
        """
        fault = "has more files than the Hub lists at once, so it is no package"
        files = self._files(source, f"{commit}/{FOLDER}", lambda entry: int(entry["size"]), fault)
        return {path.removeprefix(f"{FOLDER}/"): size for path, size in files.items()}

    def blobs(self, source: Source, commit: str) -> Mapping[str, str]:
        """Return what a repository holds at a commit: all of its files, also those of no package.

        Args:
            source: the repository.
            commit: the commit.

        Returns:
            Path in the repository to what Git calls the file's contents, or those of a pointer to large storage.

        Raises:
            PackageNotFound: there is no such repository or commit.
            HubAccessDenied: it is not for this token.
            HubUnavailable: the Hub does not answer as it should.

        Source: huggingface_hub, ``list_repo_tree``, which knows no timeout.
        """
        fault = "has more files than the Hub lists at once"
        return self._files(source, commit, lambda entry: str(entry["oid"]), fault)

    def _files(self, source: Source, tree: str, said_of: Callable[[Any], _T], fault: str) -> dict[str, _T]:
        """Return the files of a commit, or of a folder at one, by path; more than are listed at once are a fault."""
        where = str(source)
        answer, more = self._ask(f"{source.repository}/tree/{tree}?recursive=true", where, tries=_TRIES)
        if more:
            raise PackageError(fault, where=where)
        try:
            return {str(entry["path"]): said_of(entry) for entry in answer if entry["type"] == "file"}
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise unintelligible(where, self.endpoint) from error

    def _ask(self, path: str, where: str, *, tries: int) -> tuple[Any, bool]:
        """Return an answer of the Hub's API, and whether there is more of it."""
        # Documented, and exported in a way that mypy does not see.
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # noqa: PLC0415

        def answered() -> tuple[Any, bool]:
            headers = build_hf_headers(token=self.token, library_name="webgpu-kernels")
            return ask(f"{self.endpoint}/api/{KIND}s/{path}", headers, where=where, endpoint=self.endpoint)

        return self._persistently(answered, where, tries=tries)

    def fetch(self, source: Source, commit: str, name: str) -> Path:
        """Bring a file into the cache.

        Args:
            source: the repository.
            commit: the commit.
            name: relative to ``build/webgpu``.

        Returns:
            Where it lies; its contents are as they came, whole but not checked.

        Raises:
            PackageNotFound: there is no such file, commit or repository.
            HubAccessDenied: it is not for this token.
            HubUnavailable: the Hub does not answer as it should.
            HubError: it cannot be written, or came in another size than was said.
            PackageError: it is larger than a package's file may be, whatever was said.

        Source: huggingface_hub, ``hf_hub_download``.
        """
        from huggingface_hub import constants, hf_hub_download  # noqa: PLC0415

        def fetch() -> Path:
            path = hf_hub_download(
                source.repository,
                f"{FOLDER}/{name}",
                repo_type=KIND,
                revision=commit,
                endpoint=self.endpoint,
                cache_dir=self.cache,
                token=self.token,
                etag_timeout=constants.HF_HUB_ETAG_TIMEOUT,
                library_name="webgpu-kernels",
                tqdm_class=bounded_bar(),
            )
            return Path(path)

        return self._persistently(fetch, f"{source}: {name}", tries=_TRIES)

    def _persistently(self, action: Callable[[], _T], where: str, *, tries: int) -> _T:
        """Do what may fail in a way that passes, and report the failure that does not."""
        from httpx2 import HTTPError  # noqa: PLC0415 - comes with huggingface_hub, whose errors are partly its

        wait_s = _WAIT_S
        while True:
            tries -= 1
            try:
                return action()
            except PackageError as error:
                error.where = error.where or where
                raise
            except ValueError as error:  # what huggingface_hub does not fetch in this way, such as 50 GB
                raise fault_of(error, where=where, endpoint=self.endpoint) from error
            except (HTTPError, OSError) as error:
                if not tries or not is_passing(error):
                    raise fault_of(error, where=where, endpoint=self.endpoint) from error
                time.sleep(max(wait_s, pause_s(error)))
            wait_s *= 2

    def snapshot(self, repository: str, commit: str) -> Path:
        """Return the folder of a package in the cache, whether it is there or not.

        Args:
            repository: ``organisation/name``.
            commit: the commit.

        Returns:
            The folder that holds metadata.json.

        Source: huggingface_hub, layout of the cache.
        """
        return self._stored(repository) / "snapshots" / commit / FOLDER

    def remembered(self, repository: str, branch: str) -> str | None:
        """Return where a branch was when it was last seen from this machine.

        Args:
            repository: ``organisation/name``.
            branch: such as ``v1``.

        Returns:
            A commit, or None.

        Source: huggingface_hub, layout of the cache (``refs``).
        """
        try:
            noted = read_some(self._stored(repository) / "refs" / branch, _LONGEST_NOTE).decode("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return noted if is_commit(noted) else None

    def remember(self, repository: str, branch: str, commit: str) -> None:
        """Note where a branch is, for the day without network.

        Args:
            repository: ``organisation/name``.
            branch: such as ``v1``.
            commit: a commit whose files are all in the cache.

        Source: huggingface_hub, layout of the cache (``refs``).
        """
        if self.remembered(repository, branch) == commit:
            return
        noted = self._stored(repository) / "refs" / branch
        # A cache that cannot be written is read all the same.
        with suppress(OSError):
            noted.parent.mkdir(parents=True, exist_ok=True)
            replace_text(noted, commit)

    def forget(self, path: Path) -> None:
        """Delete a file from the cache, so that it is fetched anew.

        Args:
            path: as ``fetch`` returned it; a link into the blobs of its repository, or the file itself where links are
                not to be had. What another link leads to is somebody else's.

        Source: huggingface_hub, layout of the cache (``blobs``).
        """
        blob, blobs = path.resolve(), blobs_of(path.parent.resolve())
        path.unlink(missing_ok=True)
        if blob.parent == blobs and blob.is_relative_to(self.cache.resolve()):
            blob.unlink(missing_ok=True)

    def stored(self) -> tuple[Path, ...]:
        """Return the folders of the cache that hold kernels, one a repository, sorted.

        Source: huggingface_hub, layout of the cache.
        """
        return tuple(sorted(path for path in self.cache.glob(f"{KIND}s--*") if path.is_dir()))

    def _stored(self, repository: str) -> Path:
        return self.cache / f"{KIND}s--{repository.replace('/', '--')}"


def connect(token: str | bool | None = None) -> Hub:
    """Return the Hub that the environment names: HF_ENDPOINT, HF_HOME and what else huggingface_hub reads.

    Args:
        token: as for ``Hub``.

    Returns:
        The Hub; nothing is asked of it yet.

    Raises:
        HubExtraMissing: huggingface_hub is not installed.
        SourceError: the token is none.
    """
    # A text that cannot stand in a header would come back, secret and all, in the HTTP library's message.
    if isinstance(token, str) and not (token and token.isascii() and token.isprintable() and " " not in token):
        raise SourceError("the token is empty or holds characters that no token has")
    try:
        from huggingface_hub import constants  # noqa: PLC0415
    except ImportError as error:
        raise HubExtraMissing(
            "packages of the Hub need huggingface_hub, which is not installed",
            hint="Install it with: pip install 'huggingface_hub>=2.4,<3'.",
        ) from error
    return Hub(endpoint=constants.ENDPOINT, cache=Path(constants.HF_HUB_CACHE).expanduser(), token=token)


def check_size(name: str, sizes: Mapping[str, int], *, where: str) -> None:
    """Let a file pass that is not too large to be fetched, nor is all that it belongs to.

    Args:
        name: relative to ``build/webgpu``.
        sizes: what ``Hub.sizes`` returned.
        where: the package, for messages.

    Raises:
        PackageError: it is larger than a package's file may be, or all files are larger than a package.
    """
    if sizes.get(name, 0) > MAX_FILE_BYTES:
        raise PackageError(
            f"{name!r} is larger than a package's file may be, so it is not fetched",
            where=where,
            expected=f"at most {MAX_FILE_BYTES:,} bytes",
            got=f"{sizes[name]:,}",
        )
    if sum(sizes.values()) > MAX_BYTES:
        raise PackageError(
            "its files together are larger than a package may be, so they are not fetched",
            where=where,
            expected=f"at most {MAX_BYTES:,} bytes",
            got=f"{sum(sizes.values()):,}",
        )
