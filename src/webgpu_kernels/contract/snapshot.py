"""A package at one commit of the Hub: files are fetched as they are asked for, and none is let through unchecked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.digests import checked_content, package_id, require_id
from webgpu_kernels.contract.files import read_file
from webgpu_kernels.contract.metadata import METADATA, read_metadata
from webgpu_kernels.contract.remote import check_size
from webgpu_kernels.errors import DigestError, HubError, PackageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.metadata import Metadata
    from webgpu_kernels.contract.remote import Hub
    from webgpu_kernels.contract.source import Source


class Snapshot:
    """The files of a package at a commit.

    metadata.json is taken as it comes: whoever trusts the commit trusts it. Every other file is held against the digest
    that it lists. A file that is not what it should be leaves the cache, together with metadata.json, as either may be
    the one that is wrong.

    Args:
        hub: where they come from.
        source: the repository.
        commit: the commit.
    """

    def __init__(self, hub: Hub, source: Source, commit: str) -> None:
        self.root: Final = hub.snapshot(source.repository, commit)
        self.where: Final = str(source)
        self._hub = hub
        self._source = source
        self._commit = commit
        self._sizes: Mapping[str, int] | None = None
        self._digests: Mapping[str, str] = {}

    def metadata(self) -> tuple[Metadata, bytes]:
        """Read metadata.json; from now on other files can be read, too.

        Returns:
            What it says, and its bytes.

        Raises:
            PackageNotFound: there is no such package.
            PackageError: it is broken, or does not list the files that are there.
            DigestError: its id is not the one that its digests give.
            HubError: it cannot be had.

        Source: FORMAT section 1.
        """
        content = self._content(METADATA)
        try:
            metadata = read_metadata(content, where=self.where)
            require_id(metadata.id, package_id(metadata.name, metadata.digests), where=self.where)
            self._check_listed(metadata.digests)
        except PackageError:
            self.forget(METADATA)
            raise
        self._digests = metadata.digests
        return metadata, content

    def read(self, name: str) -> bytes:
        """Return a file's contents, fetched if need be, and checked.

        Args:
            name: relative to metadata.json.

        Returns:
            Its bytes.

        Raises:
            PackageError: it is too large, or unreadable.
            DigestError: it has no digest, or is not what that says; it has been deleted from the cache.
            HubError: it cannot be had.

        Source: FORMAT section 1.
        """
        if name not in self._digests:
            raise DigestError(f"{name!r} has no digest in {METADATA}", where=self.where)
        content = self._content(name)
        try:
            return checked_content(content, name, self._digests, where=self.where)
        except DigestError as error:
            self.forget(name)
            self.forget(METADATA)
            error.hint = "The copy was deleted: loading again fetches it anew."
            raise

    def forget(self, name: str) -> None:
        """Delete a file from the cache.

        Args:
            name: relative to metadata.json.
        """
        self._hub.forget(self.root / name)

    def _content(self, name: str) -> bytes:
        if not (self.root / name).exists():
            self._fetch(name)
        try:
            return read_file(self.root, name, where=self.where)
        except FileNotFoundError as error:
            raise HubError(f"{name!r} has just gone from the cache", where=self.where, hint="Load again.") from error
        except PackageError:
            self.forget(name)
            raise

    def _fetch(self, name: str) -> None:
        """Bring a file into the cache, once it is known how large it is."""
        if self._sizes is None:
            self._sizes = self._hub.sizes(self._source, self._commit)
            if self._digests:
                self._check_listed(self._digests)
        check_size(name, self._sizes, where=self.where)
        path = self._hub.fetch(self._source, self._commit, name)
        if not (self.root / name).exists():
            # huggingface_hub files what comes under the commit that the answer names.
            self._hub.forget(path)
            raise HubError(f"the Hub gave {name!r} of another commit", where=self.where, expected=self._commit)

    def _check_listed(self, digests: Mapping[str, str]) -> None:
        """Compare the table with what is there; what came from the cache was compared when it was fetched."""
        if self._sizes is None:
            return
        there = set(self._sizes) - {METADATA}
        faults = [f"{name!r} is not there" for name in sorted(set(digests) - there)]
        faults += [f"{name!r} has no digest" for name in sorted(there - set(digests))]
        if faults:
            raise DigestError(f"the files are not those that {METADATA} lists: {', '.join(faults)}", where=self.where)
