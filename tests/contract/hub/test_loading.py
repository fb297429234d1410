"""Kernels from the Hub: what is loaded, from where, and how often it is asked for."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from huggingface_hub import constants
from loopback_hub import REPOSITORY, LoopbackHub, package_files
from sample_manifests import scale_manifest

import webgpu_kernels as wk
from webgpu_kernels.contract.hub import forget_versions
from webgpu_kernels.errors import PackageError, PackageNotFound, SourceError

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.contract.remote import Hub


def other_files() -> dict[str, bytes]:
    """Return the same package after a fix."""
    return package_files(extra={"main.wgsl.jinja": b"fn main() { }"})


def test_a_version_is_its_branchs_commit(server: LoopbackHub, hub: Hub) -> None:
    """The kernel says which, and where it came from."""
    commit = server.publish(package_files())
    kernel = wk.get_kernel(REPOSITORY, version=1)
    assert (kernel.op_id, kernel.revision) == ("test.Scale", commit)
    assert kernel.package.where == f"{REPOSITORY}@v1"
    assert kernel.package.root == hub.cache / "kernels--webgpu-kernels--test.Scale/snapshots" / commit / "build/webgpu"
    assert kernel.package.template("main.wgsl.jinja").render({}).text == "fn main() {}"


@pytest.mark.usefixtures("hub")
def test_a_revision_is_these_very_bytes(server: LoopbackHub) -> None:
    """Wherever the branch has gone since."""
    commit = server.publish(package_files())
    server.publish(other_files())
    kernel = wk.get_kernel(REPOSITORY, revision=commit)
    assert kernel.revision == commit
    assert kernel.package.where == f"{REPOSITORY}@{commit}"
    assert server.asked("/refs") == 0


@pytest.mark.usefixtures("hub")
def test_an_operator_with_a_version_is_a_published_kernel(server: LoopbackHub) -> None:
    """The organisation need not be written out."""
    commit = server.publish(package_files())
    assert wk.get_kernel("test.Scale", version=1).revision == commit


@pytest.mark.usefixtures("hub")
def test_an_operator_alone_is_bundled(server: LoopbackHub) -> None:
    """Nothing is asked of the Hub, and there is no revision."""
    assert wk.get_kernel("com.microsoft.SkipGroupNorm").revision is None
    with pytest.raises(PackageNotFound):
        wk.get_kernel("test.Scale")
    assert server.seen == []


@pytest.mark.usefixtures("hub")
def test_a_version_is_resolved_once_a_process(server: LoopbackHub) -> None:
    """Two kernels of one program are the same; the next process sees the fix."""
    first = server.publish(package_files())
    assert wk.get_kernel(REPOSITORY, version=1).revision == first
    second = server.publish(other_files())
    assert wk.get_kernel(REPOSITORY, version=1).revision == first
    assert server.asked("/refs") == 1
    forget_versions()
    assert wk.get_kernel(REPOSITORY, version=1).revision == second


@pytest.mark.usefixtures("hub")
def test_threads_get_the_same_commit(server: LoopbackHub) -> None:
    """Also where the branch moves while they load."""
    server.publish(package_files())
    found: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: found.append(wk.get_kernel(REPOSITORY, version=1).revision)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    server.publish(other_files())
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert server.asked("/refs") == 1


@pytest.mark.usefixtures("hub")
def test_what_is_cached_is_not_asked_for(server: LoopbackHub) -> None:
    """A commit does not change: the second load of a revision needs no network."""
    commit = server.publish(package_files())
    wk.get_kernel(REPOSITORY, revision=commit)
    before = len(server.seen)
    wk.get_kernel(REPOSITORY, revision=commit)
    assert len(server.seen) == before


@pytest.mark.usefixtures("hub")
def test_metadata_comes_first_and_suites_when_asked_for(server: LoopbackHub) -> None:
    """Who only runs a kernel does not pay for its tests."""
    server.publish(package_files())
    kernel = wk.get_kernel(REPOSITORY, version=1)
    got = [seen.path.rpartition("/")[2] for seen in server.seen if seen.method == "GET" and "/resolve/" in seen.path]
    assert got == ["metadata.json", "manifest.json", "main.wgsl.jinja"]
    assert kernel.package.read("test.json") == b'{"cases": []}'
    assert server.asked("test.json") == 1
    kernel.package.read("test.json")
    assert server.asked("test.json") == 1


@pytest.mark.usefixtures("hub")
def test_included_files_are_there_before_they_are_needed(server: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """In folders below, too: a call neither waits for the network nor fails by it."""
    included = {"main.wgsl.jinja": b'{% include "parts/a.wgsl" %}', "parts/a.wgsl": b"// a"}
    server.publish(package_files(extra=included))
    kernel = wk.get_kernel(REPOSITORY, version=1)
    offline(monkeypatch)
    assert kernel.package.template("main.wgsl.jinja").render({}).text == "// a"


@pytest.mark.usefixtures("hub")
def test_a_newer_version_is_mentioned_once(server: LoopbackHub, caplog: pytest.LogCaptureFixture) -> None:
    """By the log, so that a program's output and warnings stay its own."""
    server.publish(package_files())
    server.publish(package_files(version=2), branch="v2")
    server.publish(package_files(version=12), branch="v12")
    server.publish(package_files(), branch="v99-draft")
    with caplog.at_level(logging.WARNING, "webgpu_kernels"):
        wk.get_kernel(REPOSITORY, version=1)
        wk.get_kernel(REPOSITORY, version=1)
        wk.get_kernel(REPOSITORY, version=12)
    assert caplog.messages == [f"{REPOSITORY}: version 1 is loaded; there is a version 12"]


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    forget_versions()


@pytest.mark.usefixtures("hub")
def test_offline_the_newest_cached_commit_is_used(server: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked of the Hub."""
    server.publish(package_files())
    wk.get_kernel(REPOSITORY, version=1)
    second = server.publish(other_files())
    forget_versions()
    wk.get_kernel(REPOSITORY, version=1)
    server.publish(package_files(extra={"main.wgsl.jinja": b"// not seen here"}))
    before = len(server.seen)
    offline(monkeypatch)
    assert wk.get_kernel(REPOSITORY, version=1).revision == second
    assert len(server.seen) == before


@pytest.mark.usefixtures("hub")
def test_without_network_the_newest_cached_commit_is_used(server: LoopbackHub, naps: list[float]) -> None:
    """A Hub that does not answer is not asked twice where there is something to fall back on."""
    commit = server.publish(package_files())
    wk.get_kernel(REPOSITORY, version=1)
    forget_versions()
    server.__exit__()
    assert wk.get_kernel(REPOSITORY, version=1).revision == commit
    assert naps == []


@pytest.mark.usefixtures("hub", "naps")
def test_offline_a_commit_that_came_in_part_is_not_used(server: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older one is whole."""
    first = server.publish(package_files())
    wk.get_kernel(REPOSITORY, version=1)
    server.publish(other_files())
    forget_versions()
    server.fail("GET", "main.wgsl.jinja", lambda handler: handler.refuse(500), times=100)
    with pytest.raises(PackageError):
        wk.get_kernel(REPOSITORY, version=1)
    offline(monkeypatch)
    assert wk.get_kernel(REPOSITORY, version=1).revision == first


@pytest.mark.usefixtures("hub")
def test_offline_without_a_copy_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to do."""
    offline(monkeypatch)
    with pytest.raises(ConnectionError) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        f"{REPOSITORY}: is not in the cache, and HF_HUB_OFFLINE forbids to ask the Hub. Load it once with network."
    )


@pytest.mark.usefixtures("hub")
def test_offline_a_file_without_a_copy_is_one_error(server: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a suite that nobody asked for before."""
    commit = server.publish(package_files())
    package = wk.get_kernel(REPOSITORY, revision=commit).package
    offline(monkeypatch)
    with pytest.raises(ConnectionError, match=r"test\.json: is not in the cache, and HF_HUB_OFFLINE forbids"):
        package.read("test.json")


@pytest.mark.usefixtures("hub")
def test_a_version_that_is_not_there_names_those_that_are(server: LoopbackHub) -> None:
    """In the order of numbers."""
    for version in (10, 2):
        server.publish(package_files(version=version), branch=f"v{version}")
    with pytest.raises(PackageNotFound) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == f"{REPOSITORY}: there is no version 1: expected 2, 10"


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {},
            (
                f"{REPOSITORY}: which version is not said. "
                "Give version=1 to follow a version, or revision= and a commit for these very bytes."
            ),
        ),
        (
            {"version": 1, "revision": "a" * 40},
            f"{REPOSITORY}: version and revision are both given. Give one of them.",
        ),
        (
            {"revision": "main"},
            (
                f"{REPOSITORY}: no revision: expected the 40 hexadecimal digits of a commit, got 'main'. "
                "To follow a branch v1 give version=1."
            ),
        ),
        ({"version": 0}, f"{REPOSITORY}: no version: expected a whole number from 1, got 0"),
        ({"version": True}, f"{REPOSITORY}: no version: expected a whole number from 1, got True"),
        ({"version": "1"}, f"{REPOSITORY}: no version: expected a whole number from 1, got '1'"),
        (
            {"revision": "a" * 40, "locked": True},
            f"{REPOSITORY}: revision and locked are both given. Give one of them.",
        ),
        ({"version": 1, "token": "a b"}, "the token is empty or holds characters that no token has"),
        ({"version": 1, "token": "a\n"}, "the token is empty or holds characters that no token has"),
        ({"version": 1, "token": ""}, "the token is empty or holds characters that no token has"),
    ],
)
def test_what_cannot_be_followed_is_refused(server: LoopbackHub, options: dict[str, Any], message: str) -> None:
    """Exactly one of version and revision, and one that is one; nothing is asked of the Hub."""
    with pytest.raises(SourceError) as caught:
        wk.get_kernel(REPOSITORY, **options)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)
    assert server.seen == []


@pytest.mark.parametrize(
    "name", ["", "/", "a/", "/b", "a/b/c", "../x", "a/..", "a/b..c", "a/b--c", "a b/c", "a/b\n", "a/é", "a/" + "b" * 95]
)
def test_what_names_no_repository_is_refused(name: str) -> None:
    """It becomes part of an address and of a path."""
    with pytest.raises(SourceError) as caught:
        wk.get_kernel(name, version=1)
    assert str(caught.value) == f"{name!r} names no repository: expected organisation/domain.Name"


def folder_of(path: Path, manifest: Any = None) -> Path:
    path.mkdir()
    (path / "manifest.json").write_text(json.dumps(manifest or scale_manifest()))
    return path


@pytest.mark.usefixtures("hub")
def test_a_folder_may_stand_for_a_repository(
    server: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For people who work on it: no digests, no trust, no network."""
    folder = folder_of(tmp_path / "mine")
    monkeypatch.setenv("WEBGPU_KERNELS_LOCAL", os.pathsep.join([f"else/test.Scale={folder}", f"a/test.Scale={folder}"]))
    kernel = wk.get_kernel("a/test.Scale", version=3)
    assert (kernel.package.root, kernel.revision) == (folder, None)
    with pytest.raises(SourceError, match="which version is not said"):
        wk.get_kernel("a/test.Scale")
    assert server.seen == []


def test_a_folder_of_another_operator_stands_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would run in the other's place."""
    folder = folder_of(tmp_path / "mine", scale_manifest(name="Shrink"))
    monkeypatch.setenv("WEBGPU_KERNELS_LOCAL", f"{REPOSITORY}={folder}")
    with pytest.raises(PackageError) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        f"{folder}: stands for {REPOSITORY} and is another operator's: expected test.Scale, got test.Shrink. "
        f"WEBGPU_KERNELS_LOCAL names this folder for {REPOSITORY}."
    )


def test_a_folder_that_is_not_there_says_who_named_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever set the variable long ago looks for the fault elsewhere."""
    monkeypatch.setenv("WEBGPU_KERNELS_LOCAL", f"{REPOSITORY}={tmp_path / 'gone'}")
    with pytest.raises(PackageNotFound) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        f"{tmp_path / 'gone'}: there is no such folder. WEBGPU_KERNELS_LOCAL names this folder for {REPOSITORY}."
    )


@pytest.mark.parametrize("value", ["/folder", "test.Scale=/folder", f"{REPOSITORY}="])
def test_a_variable_that_maps_nothing_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error must not send anybody to the Hub in silence."""
    monkeypatch.setenv("WEBGPU_KERNELS_LOCAL", value)
    with pytest.raises(SourceError) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        "the environment variable WEBGPU_KERNELS_LOCAL cannot be read: "
        f"expected organisation/name=folder, with ':' between several, got {value!r}"
    )


def test_without_huggingface_hub_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError) as caught:
        wk.get_kernel(REPOSITORY, version=1)
    assert str(caught.value) == (
        "packages of the Hub need huggingface_hub, which is not installed. "
        "Install it with: pip install 'huggingface_hub>=2.4,<3'."
    )


def test_the_environment_of_huggingface_hub_counts(server: LoopbackHub, tmp_path: Path) -> None:
    """Its endpoint, its cache and its token, in a process of its own; and nothing is imported before it is needed."""
    commit = server.publish(package_files())
    server.repositories[REPOSITORY].token = "secret"
    program = (
        "import sys, webgpu_kernels as wk\n"
        "print(sorted({'huggingface_hub', 'httpx2'} & set(sys.modules)))\n"
        f"print(wk.get_kernel({REPOSITORY!r}, version=1).revision)"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {
        "HF_ENDPOINT": server.endpoint,
        "HF_HOME": str(tmp_path / "home"),
        "HF_TOKEN": "secret",
        "NO_PROXY": "127.0.0.1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment
    )
    assert (result.stdout, result.stderr) == (f"[]\n{commit}\n", "")
    assert (tmp_path / "home/hub/kernels--webgpu-kernels--test.Scale/refs/v1").read_text() == commit
