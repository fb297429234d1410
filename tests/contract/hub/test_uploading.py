"""Changes of a repository: a branch, a commit, and what is said where the Hub takes neither."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import huggingface_hub
import pytest
from huggingface_hub import constants
from loopback_hub import LoopbackHub, Repository, answer, be_slow, hang_up, status

from webgpu_kernels.contract import uploading
from webgpu_kernels.contract.uploading import begin_branch, commit_files
from webgpu_kernels.errors import HubAccessDenied, HubError, HubUnavailable, PackageError, PackageNotFound

if TYPE_CHECKING:
    from webgpu_kernels.contract.remote import Hub

NAME = "somebody/test.Scale"
CARD = b"---\nlicense: apache-2.0\n---\n# card\n"
pytestmark = pytest.mark.usefixtures("naps")


@pytest.fixture
def repo(server: LoopbackHub) -> Repository:
    return server.create(NAME)


@pytest.fixture
def writer(hub: Hub) -> Hub:
    """Return the Hub for somebody who may write."""
    return dataclasses.replace(hub, token="hf_writer")


def commit(hub: Hub, repo: Repository, branch: str = "main", **changes: Any) -> str:
    """Commit one file, or what is said."""
    given = {
        "files": {"a/b.txt": b"1"},
        "deleted": (),
        "message": "sync",
        "parent": repo.branches.get(branch, "0" * 40),
    }
    return commit_files(hub, NAME, branch, **{**given, **changes})


def test_a_branch_begins_at_a_commit(writer: Hub, repo: Repository) -> None:
    """Nothing is in it that was not there."""
    begin_branch(writer, NAME, "v2", repo.branches["main"])
    assert repo.branches["v2"] == repo.branches["main"]


def test_a_branch_begins_once(writer: Hub, repo: Repository) -> None:
    """Somebody may have been quicker."""
    with pytest.raises(HubError) as caught:
        begin_branch(writer, NAME, "main", repo.branches["main"])
    assert str(caught.value) == (
        f"{NAME}@main: somebody else has changed the branch meanwhile, so nothing was committed: got status 409. "
        "Push again: it is compared with what is there now."
    )


def test_a_commit_adds_changes_and_deletes(writer: Hub, repo: Repository) -> None:
    """In one step; its id comes back."""
    first = commit(writer, repo, files={"a.txt": b"1", "b.txt": b"1", "README.md": CARD})
    assert first == repo.branches["main"]
    second = commit(writer, repo, files={"a.txt": b"2\0\xff"}, deleted=("b.txt",), message="again")
    assert second == repo.branches["main"]
    assert repo.commits[second] == {".gitattributes": b"", "README.md": CARD, "a.txt": b"2\0\xff"}
    assert repo.messages == ["sync", "again"]


def test_a_commit_follows_the_one_it_was_made_for(writer: Hub, repo: Repository) -> None:
    """Else nothing of it is there."""
    before = repo.branches["main"]
    with pytest.raises(HubError, match="somebody else has changed the branch meanwhile, so nothing was committed"):
        commit(writer, repo, parent="a" * 40)
    assert repo.branches["main"] == before


DENIED = ". Log in with a token that may: hf auth login, or --token."
LATER = ". Try again later."


class Refusal(NamedTuple):
    """A status, and what is made of it."""

    number: int
    kind: type[PackageError]
    said: str
    hint: str = ""


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(401, HubAccessDenied, "does not let this token write", DENIED),
        Refusal(403, HubAccessDenied, "does not let this token write", DENIED),
        Refusal(404, PackageNotFound, "has no such repository or branch"),
        Refusal(400, HubUnavailable, "does not take the commit"),
        Refusal(413, HubUnavailable, "does not take the commit"),
        Refusal(429, HubUnavailable, "does not take the commit", LATER),
        Refusal(500, HubUnavailable, "does not take the commit", LATER),
        Refusal(503, HubUnavailable, "does not take the commit", LATER),
    ],
    ids=lambda refusal: str(refusal.number),
)
@pytest.mark.parametrize("part", ["/commit/main", "/branch/v1"])
def test_a_refusal_is_one_clear_error(
    writer: Hub, server: LoopbackHub, repo: Repository, part: str, refusal: Refusal
) -> None:
    """Asked for once, as whoever refuses may have done it all the same."""
    server.fail("POST", part, status(refusal.number), times=9)
    with pytest.raises(refusal.kind) as caught:
        commit(writer, repo) if part == "/commit/main" else begin_branch(writer, NAME, "v1", repo.branches["main"])
    where = f"{NAME}@{part.rpartition('/')[2]}"
    assert str(caught.value) == (
        f"{where}: {server.endpoint} {refusal.said}: got status {refusal.number}{refusal.hint}"
    )
    assert server.asked(part, "POST") == 1


def test_what_changes_nothing_is_tried_again(writer: Hub, server: LoopbackHub, repo: Repository) -> None:
    """The question which files are large, in huggingface_hub."""
    server.fail("POST", "/preupload/", status(503))
    assert commit(writer, repo) == repo.branches["main"]


def test_a_connection_that_breaks_leaves_it_open(writer: Hub, server: LoopbackHub, repo: Repository) -> None:
    """Whether the commit arrived is not known here."""
    server.fail("POST", "/commit/", hang_up, times=9)
    with pytest.raises(HubUnavailable) as caught:
        commit(writer, repo)
    assert str(caught.value).startswith(
        f"{NAME}@main: the connection to {server.endpoint} broke, and it is not known whether the commit arrived: "
        "got RemoteProtocolError"
    )
    assert str(caught.value).endswith(". Push again: what is there already is not committed twice.")
    assert server.asked("/commit/", "POST") == 1


@pytest.mark.parametrize("part", ["/preupload/", "/commit/", "/branch/"])
def test_a_server_that_says_nothing_is_not_waited_for(
    writer: Hub, server: LoopbackHub, repo: Repository, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """One error, soon; the caller's own requests know no other bound afterwards than before."""
    monkeypatch.setattr(uploading, "SILENCE_S", 0.2)
    server.fail("POST", part, be_slow, times=99)
    before = huggingface_hub.get_session().timeout
    begin = time.monotonic()
    with pytest.raises(HubUnavailable) as caught:
        begin_branch(writer, NAME, "v2", repo.branches["main"]) if part == "/branch/" else commit(writer, repo)
    assert str(caught.value).startswith(
        f"{NAME}@{'v2' if part == '/branch/' else 'main'}: the connection to {server.endpoint} broke, and it is not "
        "known whether the commit arrived: got ReadTimeout"
    )
    assert time.monotonic() - begin < 4
    assert huggingface_hub.get_session().timeout == before


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}"])
def test_an_answer_that_is_not_the_hubs_is_an_error(
    writer: Hub, server: LoopbackHub, repo: Repository, body: bytes
) -> None:
    """Such as that of a proxy."""
    server.fail("POST", "/commit/", answer(body, {"Content-Type": "application/json"}))
    with pytest.raises(HubError, match="does not take the commit") as caught:
        commit(writer, repo)
    assert "\n" not in str(caught.value)


def test_front_matter_that_the_hub_refuses_is_told(writer: Hub, server: LoopbackHub, repo: Repository) -> None:
    """In its words, on one line; nothing is sent then."""
    body = b'{"errors": [{"message": "license is unknown"}, {"message": "no tags"}], "warnings": []}'
    server.fail("POST", "/validate-yaml", answer(body, {"Content-Type": "application/json"}, 400))
    with pytest.raises(HubError) as caught:
        commit(writer, repo, files={"README.md": CARD})
    assert str(caught.value) == (
        f"{NAME}@main: {server.endpoint} does not take the commit: got ValueError: Invalid metadata in README.md. "
        "- license is unknown - no tags. Push again: what is there already is not committed twice."
    )
    assert server.asked("/commit/", "POST") == 0


def test_writing_needs_network(writer: Hub, repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """HF_HUB_OFFLINE is respected."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnavailable) as caught:
        commit(writer, repo)
    assert str(caught.value) == f"{NAME}@main: HF_HUB_OFFLINE forbids to write to the Hub. Unset it."


def test_a_token_is_not_shown(hub: Hub, repo: Repository) -> None:
    """Neither in the message nor in what it arose from."""
    reader = dataclasses.replace(hub, token="hf_secret")
    with pytest.raises(HubAccessDenied) as caught:
        commit(reader, repo)
    assert "hf_secret" not in f"{caught.value!r} {caught.value.__cause__!r} {reader!r}"


def test_the_saved_token_may_be_demanded(hub: Hub, repo: Repository) -> None:
    """And none be there."""
    with pytest.raises(HubAccessDenied) as caught:
        commit(dataclasses.replace(hub, token=True), repo)
    assert str(caught.value) == (f"{NAME}@main: no token is saved, and writing needs one. Log in: hf auth login.")
