"""Whose packages are loaded, and who gets to see the token."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest
from loopback_hub import FOLDER, REPOSITORY, Handler, LoopbackHub, package_files

import webgpu_kernels as wk
from webgpu_kernels.errors import (
    DigestError,
    HubAccessDenied,
    HubError,
    HubUnavailable,
    LockError,
    SourceError,
    UntrustedRepository,
)

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.contract.remote import Hub

STRANGE = "somebody/test.Scale"


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("trust", [False, [], ["somebody/test.Other"], ["some"], ["test.Scale"], "somebod", (), {"x"}])
def test_a_stranger_is_not_trusted(server: LoopbackHub, trust: Any) -> None:
    """Nothing is asked of the Hub."""
    server.publish(package_files(), repository=STRANGE)
    with pytest.raises(UntrustedRepository) as caught:
        wk.get_kernel(STRANGE, version=1, trust_remote_code=trust)
    assert caught.value.message == "nobody said that this repository is trusted"
    assert isinstance(caught.value, PermissionError)
    assert server.seen == []


def test_the_error_says_whom_to_trust() -> None:
    """And that somebody should look first."""
    with pytest.raises(UntrustedRepository) as caught:
        wk.get_kernel(STRANGE, revision="a" * 40, trust_remote_code=["friends"])
    assert str(caught.value) == (
        f"{STRANGE}: nobody said that this repository is trusted: expected webgpu-kernels, friends. "
        f"Read its templates, then give trust_remote_code=['{STRANGE}']."
    )


def test_errors_survive_another_process() -> None:
    """A worker's error is the same error for its caller."""
    for kind in (UntrustedRepository, HubAccessDenied, HubUnavailable, HubError, DigestError, LockError, SourceError):
        error = kind("wrong", where="here", expected="a", got="b", hint="Do.")
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind
        assert str(copy) == "here: wrong: expected a, got b. Do."


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("trust", [True, [STRANGE], ["somebody"], ("other", "somebody"), "somebody", {STRANGE}])
def test_trust_is_widened_by_the_caller(server: LoopbackHub, trust: Any) -> None:
    """To everybody, to an organisation, to a repository."""
    commit = server.publish(package_files(), repository=STRANGE)
    assert wk.get_kernel(STRANGE, version=1, trust_remote_code=trust).revision == commit


@pytest.mark.usefixtures("hub")
def test_what_is_cached_is_not_trusted_for_that(server: LoopbackHub) -> None:
    """Another program's trust is not this one's."""
    server.publish(package_files(), repository=STRANGE)
    wk.get_kernel(STRANGE, version=1, trust_remote_code=True)
    with pytest.raises(UntrustedRepository):
        wk.get_kernel(STRANGE, version=1)


@pytest.mark.usefixtures("hub")
def test_a_private_repository_wants_the_token(server: LoopbackHub) -> None:
    """Every request carries it."""
    commit = server.publish(package_files())
    server.repositories[REPOSITORY].token = "secret"
    with pytest.raises(HubAccessDenied) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        f"{REPOSITORY}: {server.endpoint} does not give it to this token, or has no such repository: got status 401. "
        "Check the name; give token= or log in with: hf auth login."
    )
    server.seen.clear()
    kernel = wk.get_kernel(REPOSITORY, version=1, token="secret")
    assert kernel.revision == commit
    assert kernel.package.read("test.json")
    assert {seen.token for seen in server.seen} == {"secret"}


@pytest.mark.usefixtures("hub")
def test_the_saved_token_is_used_unless_forbidden(server: LoopbackHub, tmp_path: Path) -> None:
    """As huggingface_hub does everywhere."""
    server.publish(package_files())
    with pytest.raises(HubAccessDenied) as caught:
        wk.get_kernel(REPOSITORY, version=1, token=True)
    assert str(caught.value) == f"{REPOSITORY}: token=True, and no token is saved. Log in with: hf auth login."
    (tmp_path / "token").write_text("saved")
    wk.get_kernel(REPOSITORY, version=1, token=False)
    assert {seen.token for seen in server.seen} == {None}
    server.seen.clear()
    wk.get_kernel(REPOSITORY, version=1).package.read("test.json")
    assert {seen.token for seen in server.seen} == {"saved"}


@pytest.mark.usefixtures("hub")
def test_the_token_does_not_follow_a_file_elsewhere(server: LoopbackHub) -> None:
    """Large files lie with somebody else, who is told nothing."""
    files = package_files()
    server.publish(files)
    with LoopbackHub() as elsewhere:
        commit = elsewhere.publish(files)
        there = f"{elsewhere.endpoint}/kernels/{REPOSITORY}/resolve/{commit}/{FOLDER}/main.wgsl.jinja"

        def send_away(handler: Handler) -> bool:
            size = str(len(files["main.wgsl.jinja"]))
            facts = {"Location": there, "X-Repo-Commit": commit, "X-Linked-Etag": '"tag"', "X-Linked-Size": size}
            handler.send_body(302, b"", facts)
            return True

        server.fail("HEAD", "main.wgsl.jinja", send_away)
        wk.get_kernel(REPOSITORY, version=1, token="secret")
        assert [(seen.method, seen.token) for seen in elsewhere.seen] == [("GET", None)]


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("part", ["/refs", "/tree/"])
def test_the_token_does_not_follow_a_question_elsewhere(server: LoopbackHub, part: str) -> None:
    """A redirect to another origin goes there as a stranger's."""
    files = package_files()
    server.publish(files)
    with LoopbackHub() as elsewhere:
        elsewhere.publish(files)

        def send_away(handler: Handler) -> bool:
            handler.send_body(307, b"", {"Location": f"{elsewhere.endpoint}{handler.path}"})
            return True

        server.fail("GET", part, send_away)
        wk.get_kernel(REPOSITORY, version=1, token="secret")
        assert [(seen.method, seen.token) for seen in elsewhere.seen] == [("GET", None)]


def test_the_token_is_not_shown(hub: Hub) -> None:
    """Not where the Hub is printed, in a traceback's locals, say."""
    assert "secret" not in repr(type(hub)(endpoint=hub.endpoint, cache=hub.cache, token="secret"))
