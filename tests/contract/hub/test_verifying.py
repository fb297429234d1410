"""Packages of the Hub against their digests: every listed file, fetched where it is not in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from loopback_hub import FOLDER, REPOSITORY, LoopbackHub, answer, package_files, status

import webgpu_kernels as wk
from webgpu_kernels.contract import verify
from webgpu_kernels.errors import DigestError, HubUnavailable

if TYPE_CHECKING:
    from webgpu_kernels.contract.remote import Hub


@pytest.mark.usefixtures("hub")
def test_every_listed_file_is_fetched_and_compared(server: LoopbackHub) -> None:
    """Loading fetches no suite; verifying does."""
    server.publish(package_files())
    package = wk.get_kernel(REPOSITORY, version=1).package
    assert server.asked("test.json") == 0
    report = verify(package)
    assert server.asked("test.json") == 1
    assert report.ok
    assert report.names("ok") == ("main.wgsl.jinja", "manifest.json", "test.json")


@pytest.mark.usefixtures("hub")
def test_a_file_that_differs_is_a_value_and_leaves_the_cache(server: LoopbackHub) -> None:
    """Whoever verifies wants to know of every file, not of the first."""
    server.publish(package_files())
    package = wk.get_kernel(REPOSITORY, version=1).package
    server.fail("GET", "/test.json", answer(b'{"cases": 00}', {"ETag": '"x"', "X-Repo-Commit": str(package.revision)}))
    report = verify(package)
    assert not report.ok
    assert report.names("differs") == ("test.json",)
    (check,) = [file for file in report.files if file.name == "test.json"]
    assert check.computed not in {None, check.stated}
    assert not (package.root / "test.json").exists()
    assert report.names("ok") == ("main.wgsl.jinja", "manifest.json")


def test_a_file_that_was_changed_in_the_cache_differs(server: LoopbackHub, hub: Hub) -> None:
    """What lies there is read again."""
    server.publish(package_files())
    package = wk.get_kernel(REPOSITORY, version=1).package
    assert package.root.is_relative_to(hub.cache)
    (package.root / "main.wgsl.jinja").resolve().write_bytes(b"fn main() { x }")
    assert verify(package).names("differs") == ("main.wgsl.jinja",)


@pytest.mark.usefixtures("hub")
def test_a_file_without_a_digest_is_found_in_the_cache(server: LoopbackHub) -> None:
    """Somebody put it there."""
    server.publish(package_files())
    package = wk.get_kernel(REPOSITORY, version=1).package
    (package.root / "stray.wgsl").write_text("// x")
    assert verify(package).names("unlisted") == ("stray.wgsl",)


@pytest.mark.usefixtures("hub")
def test_another_list_of_files_is_an_error(server: LoopbackHub) -> None:
    """The commit has a file that no digest covers."""
    commit = server.publish(package_files())
    wk.get_kernel(REPOSITORY, version=1)
    server.repositories[REPOSITORY].commits[commit] = {
        **server.repositories[REPOSITORY].commits[commit],
        f"{FOLDER}/stray.wgsl": b"// x",
    }
    package = wk.get_kernel(REPOSITORY, revision=commit).package
    with pytest.raises(DigestError, match=r"lists: 'stray\.wgsl' has no digest$"):
        verify(package)


@pytest.mark.usefixtures("hub", "naps")
def test_a_hub_that_does_not_answer_is_an_error(server: LoopbackHub) -> None:
    """A file that cannot be had is neither good nor bad."""
    server.publish(package_files())
    package = wk.get_kernel(REPOSITORY, version=1).package
    server.fail("HEAD", "/test.json", status(500), times=9)
    server.fail("GET", "/test.json", status(500), times=9)
    with pytest.raises(HubUnavailable):
        verify(package)
