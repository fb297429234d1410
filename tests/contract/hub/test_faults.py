"""What can go wrong on the way: each fault ends in a good kernel or in one clear error, and the cache stays clean."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from loopback_hub import (
    REPOSITORY,
    Handler,
    LoopbackHub,
    answer,
    be_slow,
    cut_off,
    hang_up,
    package_files,
    stall,
    status,
)

import webgpu_kernels as wk
from webgpu_kernels.contract.hub import forget_versions
from webgpu_kernels.errors import HubAccessDenied, HubError, HubUnavailable, PackageError, PackageNotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from webgpu_kernels.contract.remote import Hub

    Act = Callable[[Handler], bool]

WAYS = [("GET", "/refs"), ("GET", "/tree/"), ("HEAD", "main.wgsl.jinja"), ("GET", "main.wgsl.jinja")]
FAULTS: dict[str, Act] = {
    "429": status(429),
    "429 and when to come back": status(429, Retry_After="1"),
    "500": status(500),
    "503": status(503),
    "hang up": hang_up,
}
ENDPOINT = r"http://127\.0\.0\.1:\d+"


def assert_clean(hub: Hub, server: LoopbackHub) -> None:
    """Every blob is what its name says, one of the published files, and nothing half-written lies about."""
    published = {
        content
        for repo in server.repositories.values()
        for files in repo.commits.values()
        for content in files.values()
    }
    for blob in hub.cache.glob("kernels--*/blobs/*"):
        content = blob.read_bytes()
        assert content in published
        assert hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == blob.name
    for link in hub.cache.glob("kernels--*/snapshots/**/*"):
        assert link.exists()
    assert list(hub.cache.rglob("*.incomplete")) == list(hub.cache.rglob("*.tmp")) == []


@pytest.mark.usefixtures("naps")
@pytest.mark.parametrize(("method", "part"), WAYS, ids=lambda value: value)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_ends_in_a_good_kernel(
    server: LoopbackHub, hub: Hub, method: str, part: str, fault: str
) -> None:
    """Twice in a row, wherever it strikes."""
    commit = server.publish(package_files())
    server.fail(method, part, FAULTS[fault], times=2)
    kernel = wk.get_kernel(REPOSITORY, version=1)
    assert kernel.revision == commit
    assert kernel.package.template("main.wgsl.jinja").render({}).text == "fn main() {}"
    assert_clean(hub, server)


@pytest.mark.usefixtures("naps", "impatient")
@pytest.mark.parametrize(("method", "part"), WAYS, ids=lambda value: value)
def test_an_answer_that_does_not_come_is_asked_for_again(server: LoopbackHub, hub: Hub, method: str, part: str) -> None:
    """The next one may."""
    commit = server.publish(package_files())
    server.fail(method, part, be_slow)
    assert wk.get_kernel(REPOSITORY, version=1).revision == commit
    assert_clean(hub, server)


@pytest.mark.parametrize("part", ["metadata.json", "manifest.json", "main.wgsl.jinja"])
@pytest.mark.parametrize("after", [0, 1, 5])
@pytest.mark.usefixtures("naps")
def test_a_file_that_was_cut_off_is_continued(
    server: LoopbackHub, hub: Hub, part: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is asked for by a range, as often as it takes."""
    # What came is kept in whole chunks.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1)
    server.publish(package_files())
    server.fail("GET", part, cut_off(after), times=2)
    wk.get_kernel(REPOSITORY, version=1)
    ranges = [seen.range for seen in server.seen if part in seen.path and seen.method == "GET"]
    assert ranges == [None, *([f"bytes={after}-", f"bytes={2 * after}-"] if after else [None, None])]
    assert_clean(hub, server)


@pytest.mark.usefixtures("naps", "impatient")
def test_a_file_that_stalls_is_continued(server: LoopbackHub, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was cut off."""
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1)
    server.publish(package_files())
    server.fail("GET", "main.wgsl.jinja", stall(5))
    wk.get_kernel(REPOSITORY, version=1)
    assert [seen.range for seen in server.seen if "main.wgsl" in seen.path and seen.method == "GET"][:2] == [
        None,
        "bytes=5-",
    ]
    assert_clean(hub, server)


MESSAGES: dict[str, tuple[type[PackageError], str]] = {
    "429": (HubUnavailable, r"fails, and the cache has no copy: got status 429\. Try again later\."),
    "500": (HubUnavailable, r"fails, and the cache has no copy: got status 500\. Try again later\."),
    "501": (HubUnavailable, r"fails, and the cache has no copy: got status 501"),
    "401": (HubAccessDenied, "does not give it to this token, or has no such repository: got status 401"),
    "403": (HubAccessDenied, "does not give it to this token, or has no such repository: got status 403"),
    "404": (PackageNotFound, "has no such thing: got status 404"),
    "hang up": (HubUnavailable, "does not answer as the Hub would, and the cache has no copy: got RemoteProtocolError"),
}


@pytest.mark.usefixtures("naps")
@pytest.mark.parametrize(("method", "part"), WAYS, ids=lambda value: value)
@pytest.mark.parametrize("fault", MESSAGES)
def test_a_fault_that_stays_is_one_clear_error(
    server: LoopbackHub, hub: Hub, method: str, part: str, fault: str
) -> None:
    """And once it is gone, the next load is good."""
    commit = server.publish(package_files())
    server.fail(method, part, hang_up if fault == "hang up" else status(int(fault)), times=1000)
    kind, message = MESSAGES[fault]
    with pytest.raises(kind, match=f"^{REPOSITORY}[^ ]*( main.wgsl.jinja)?: {ENDPOINT} {message}"):
        wk.get_kernel(REPOSITORY, version=1)
    assert_clean(hub, server)
    server.faults.clear()
    assert wk.get_kernel(REPOSITORY, version=1).revision == commit
    assert_clean(hub, server)


@pytest.mark.usefixtures("naps", "impatient")
@pytest.mark.parametrize(("method", "part"), WAYS, ids=lambda value: value)
def test_a_hub_that_never_answers_is_given_up(server: LoopbackHub, hub: Hub, method: str, part: str) -> None:
    """Nobody waits without end."""
    server.publish(package_files())
    server.fail(method, part, be_slow, times=1000)
    with pytest.raises(
        HubUnavailable, match=r"and the cache has no copy: got \w+Timeout\. Check the connection and try again\.$"
    ):
        wk.get_kernel(REPOSITORY, version=1)
    assert_clean(hub, server)


@pytest.mark.usefixtures("naps")
def test_a_file_that_is_always_cut_off_at_once_is_given_up(server: LoopbackHub, hub: Hub) -> None:
    """Half of it does not stay."""
    server.publish(package_files())
    server.fail("GET", "main.wgsl.jinja", cut_off(0), times=1000)
    with pytest.raises(HubUnavailable, match="does not answer as the Hub would, and the cache has no copy"):
        wk.get_kernel(REPOSITORY, version=1)
    assert_clean(hub, server)


@pytest.mark.usefixtures("naps")
def test_a_server_that_is_not_there_is_one_error(server: LoopbackHub, hub: Hub) -> None:
    """Such as a machine without network."""
    server.__exit__()
    with pytest.raises(HubUnavailable) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        f"{REPOSITORY}: {hub.endpoint} does not answer as the Hub would, and the cache has no copy: got ConnectError. "
        "Check the connection and try again."
    )


@pytest.mark.usefixtures("hub")
def test_a_server_says_when_to_come_back(server: LoopbackHub, naps: list[float]) -> None:
    """It is heeded as far as anybody would wait for it."""
    server.publish(package_files())
    server.fail("GET", "/refs", status(429, Retry_After="4"))
    server.fail("GET", "/tree/", status(429, Retry_After="86400"))
    wk.get_kernel(REPOSITORY, version=1)
    assert naps == [4.0, 10.0]


@pytest.mark.usefixtures("naps")
@pytest.mark.parametrize(
    ("part", "body"),
    [
        ("/refs", b"<html>"),
        ("/refs", b"[]"),
        ("/refs", b'{"branches": [1]}'),
        ("/refs", b'{"branches": [{"name": "v1", "targetCommit": "../.."}]}'),
    ],
)
def test_an_answer_that_is_not_the_hubs_is_one_error(server: LoopbackHub, hub: Hub, part: str, body: bytes) -> None:
    """Such as the page of a portal that wants a login first."""
    server.publish(package_files())
    server.fail("GET", part, answer(body), times=1000)
    with pytest.raises(HubUnavailable) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        f"{REPOSITORY}: {hub.endpoint} answers something else than the Hub would. "
        "If HF_ENDPOINT is set, check that it is an endpoint of the Hub; otherwise check proxies."
    )


@pytest.mark.usefixtures("hub", "naps")
def test_a_list_of_files_that_is_none_is_one_error(server: LoopbackHub) -> None:
    """As for branches."""
    server.publish(package_files())
    server.fail("GET", "/tree/", answer(b'[{"type": "file"}]'))
    with pytest.raises(HubUnavailable, match=f"^{REPOSITORY}@v1: {ENDPOINT} answers something else"):
        wk.get_kernel(REPOSITORY, version=1)


@pytest.mark.usefixtures("hub", "naps")
def test_an_answer_without_a_commit_is_one_error(server: LoopbackHub) -> None:
    """A file server is no Hub."""
    server.publish(package_files())
    server.fail("HEAD", "/resolve/", answer(b"{}", {"ETag": '"x"'}), times=99)
    with pytest.raises(HubUnavailable, match=r"does not answer as the Hub would.*: got FileMetadataError\. "):
        wk.get_kernel(REPOSITORY, version=1)


@pytest.mark.usefixtures("naps")
def test_a_size_that_is_not_kept_is_one_error(server: LoopbackHub, hub: Hub) -> None:
    """More, or less, than was announced is no file."""
    server.publish(package_files())
    server.fail("GET", "main.wgsl.jinja", answer(b"short"), times=99)
    with pytest.raises(HubError, match=r"main\.wgsl\.jinja: cannot be brought into the cache: got Consistency check"):
        wk.get_kernel(REPOSITORY, version=1)
    assert_clean(hub, server)


def test_a_branch_that_moves_under_way_gives_one_commit(server: LoopbackHub, hub: Hub) -> None:
    """All files are of the commit that was found first."""
    first = server.publish(package_files())

    def move(_: Handler) -> bool:
        server.publish(package_files(extra={"main.wgsl.jinja": b"// changed"}))
        return False

    server.fail("GET", "metadata.json", move)
    kernel = wk.get_kernel(REPOSITORY, version=1)
    assert kernel.revision == first
    assert kernel.package.read("main.wgsl.jinja") == b"fn main() {}"
    assert_clean(hub, server)


@pytest.mark.usefixtures("hub")
def test_a_commit_that_vanishes_under_way_is_one_error(server: LoopbackHub) -> None:
    """The branch was rewritten; the next load takes what is there."""
    first = server.publish(package_files())

    def rewrite(_: Handler) -> bool:
        del server.repositories[REPOSITORY].commits[first]
        return False

    server.fail("HEAD", "manifest.json", rewrite)
    with pytest.raises(PackageNotFound, match=r"manifest\.json: .* has no such thing: got status 404"):
        wk.get_kernel(REPOSITORY, version=1)
    second = server.publish(package_files(extra={"main.wgsl.jinja": b"// anew"}))
    assert wk.get_kernel(REPOSITORY, version=1).revision == second


@pytest.mark.parametrize(
    ("options", "kind"),
    [({"version": 1}, HubAccessDenied), ({"version": 1, "token": "wrong"}, PackageNotFound)],
)
@pytest.mark.usefixtures("hub")
def test_a_repository_that_is_not_there_is_one_error(
    server: LoopbackHub, options: dict[str, Any], kind: type[PackageError]
) -> None:
    """Strangers are not told whether it is private."""
    with pytest.raises(kind):
        wk.get_kernel("webgpu-kernels/test.Nothing", **options)
    assert server.asked("/refs") == 1


@pytest.mark.usefixtures("hub")
def test_a_commit_that_is_not_there_is_one_error(server: LoopbackHub) -> None:
    """Or a repository without a package."""
    server.publish(package_files())
    with pytest.raises(LookupError, match=f"^{REPOSITORY}@{'a' * 40}: {ENDPOINT} has no such thing: got status 404"):
        wk.get_kernel(REPOSITORY, revision="a" * 40)
    server.repositories[REPOSITORY].commits["b" * 40] = {"README.md": b""}
    with pytest.raises(LookupError, match="has no such thing: got status 404"):
        wk.get_kernel(REPOSITORY, revision="b" * 40)


def test_a_cache_that_cannot_be_written_is_one_error(server: LoopbackHub, hub: Hub) -> None:
    """Here a file lies where its folder should be."""
    server.publish(package_files())
    hub.cache.write_text("in the way")
    with pytest.raises(HubError, match=rf"^{REPOSITORY}@v1: metadata\.json: cannot be brought into the cache: got "):
        wk.get_kernel(REPOSITORY, version=1)


@pytest.mark.usefixtures("hub", "naps")
def test_a_note_that_is_no_commit_is_not_followed(server: LoopbackHub, hub: Hub) -> None:
    """Other programs write into the cache, too."""
    server.publish(package_files())
    wk.get_kernel(REPOSITORY, version=1)
    forget_versions()
    (hub.cache / "kernels--webgpu-kernels--test.Scale/refs/v1").write_text("../../elsewhere")
    server.fail("GET", "/refs", status(500), times=1000)
    with pytest.raises(HubUnavailable, match="fails, and the cache has no copy: got status 500"):
        wk.get_kernel(REPOSITORY, version=1)


@pytest.mark.usefixtures("hub")
def test_a_branch_that_cannot_be_noted_is_no_fault(server: LoopbackHub, hub: Hub) -> None:
    """What matters is the kernel."""
    commit = server.publish(package_files())
    (hub.cache / "kernels--webgpu-kernels--test.Scale").mkdir(parents=True)
    (hub.cache / "kernels--webgpu-kernels--test.Scale/refs").write_text("in the way")
    assert wk.get_kernel(REPOSITORY, version=1).revision == commit
    forget_versions()
    assert wk.get_kernel(REPOSITORY, version=1).revision == commit
