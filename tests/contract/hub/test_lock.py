"""Lock files: what is written, what is read, and what is loaded by them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from loopback_hub import FOLDER, REPOSITORY, LoopbackHub, digest, package_files

import webgpu_kernels as wk
from webgpu_kernels.contract.hub import forget_versions
from webgpu_kernels.contract.lock import (
    LOCK_NAME,
    find_lock,
    lock_kernels,
    read_lock,
    wanted_kernels,
    write_lock,
)
from webgpu_kernels.errors import DigestError, LockError, UntrustedRepository

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.contract.remote import Hub


@pytest.fixture
def project(server: LoopbackHub, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lock the kernel in a project's folder, and work in a folder below it."""
    server.publish(package_files())
    write_lock(lock_kernels({REPOSITORY: 1}, hub), tmp_path / LOCK_NAME)
    forget_versions()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


def table_of(text: str, folder: Path) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def test_a_project_says_what_it_wants(tmp_path: Path) -> None:
    """Repositories with versions; the organisation of the published kernels need not be written out."""
    text = '[project]\nname = "x"\n[tool.webgpu-kernels.kernels]\n"test.Scale" = 1\n"a/b.C" = 2\n'
    assert dict(wanted_kernels(table_of(text, tmp_path))) == {"a/b.C": 2, REPOSITORY: 1}
    assert dict(wanted_kernels(table_of('[project]\nname = "x"\n', tmp_path))) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool", "cannot be read: "),
        (
            "[tool]\nwebgpu-kernels = 1",
            "[tool.webgpu-kernels.kernels] is no table of repositories with versions",
        ),
        (
            "[tool.webgpu-kernels]\nkernels = ['a/b']",
            "[tool.webgpu-kernels.kernels] is no table of repositories with versions",
        ),
        (
            "[tool.webgpu-kernels.kernels]\n'a/b' = '1'",
            "[tool.webgpu-kernels.kernels]: a/b: no version: expected a whole number from 1, got '1'",
        ),
        (
            "[tool.webgpu-kernels.kernels]\n'a/b/c' = 1",
            "[tool.webgpu-kernels.kernels]: 'a/b/c' names no repository: expected organisation/domain.Name",
        ),
    ],
)
def test_a_table_that_is_none_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    """With the file's name."""
    path = table_of(text, tmp_path)
    with pytest.raises(LockError) as caught:
        wanted_kernels(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_missing_project_file_is_an_error(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(LockError, match=r"pyproject\.toml: cannot be read: "):
        wanted_kernels(tmp_path / "pyproject.toml")


def test_a_lock_holds_commit_and_digests(server: LoopbackHub, hub: Hub, tmp_path: Path) -> None:
    """Of every file, metadata.json included, which no digest of its own covers."""
    files = package_files()
    commit = server.publish(files)
    path = tmp_path / LOCK_NAME
    lock = lock_kernels({REPOSITORY: 1}, hub)
    write_lock(lock, path)
    digests = {name: digest(content) for name, content in sorted(files.items())}
    assert json.loads(path.read_text()) == {
        "lockVersion": 1,
        "kernels": {REPOSITORY: {"version": 1, "revision": commit, "files": digests}},
    }
    assert path.read_text().endswith("}\n")
    assert read_lock(path) == lock


def test_locking_twice_writes_the_same(server: LoopbackHub, hub: Hub, tmp_path: Path) -> None:
    """In the order of names, so that a change is seen as one."""
    other = "a/test.Scale"
    server.publish(package_files())
    server.publish(package_files(), repository=other)
    for name, wanted in {"one": {REPOSITORY: 1, other: 1}, "two": {other: 1, REPOSITORY: 1}}.items():
        write_lock(lock_kernels(wanted, hub, trust=True), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_locking_trusts_nobody_more(server: LoopbackHub, hub: Hub) -> None:
    """Nothing is asked of the Hub where one of the kernels is not trusted."""
    with pytest.raises(UntrustedRepository):
        lock_kernels({REPOSITORY: 1, "x/test.Scale": 1}, hub)
    assert server.seen == []


@pytest.mark.usefixtures("project")
def test_what_is_locked_is_loaded(server: LoopbackHub) -> None:
    """Wherever the branch has gone; the lock file is looked for in the folders above."""
    locked = server.repositories[REPOSITORY].branches["v1"]
    server.publish(package_files(extra={"main.wgsl.jinja": b"// new"}))
    assert wk.get_kernel(REPOSITORY, locked=True).revision == locked
    assert wk.get_kernel(REPOSITORY, version=1, locked=True).revision == locked
    assert wk.get_kernel("test.Scale", locked=True).revision == locked
    assert wk.get_kernel(REPOSITORY, version=1).revision != locked


def test_a_lock_file_can_be_named(server: LoopbackHub, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For programs that are started anywhere."""
    monkeypatch.chdir("/")
    commit = server.repositories[REPOSITORY].branches["v1"]
    assert wk.get_kernel(REPOSITORY, locked=project / LOCK_NAME).revision == commit


def test_a_locked_kernel_is_no_folder(server: LoopbackHub, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locked means these very bytes, whatever somebody works on."""
    monkeypatch.setenv("WEBGPU_KERNELS_LOCAL", f"{REPOSITORY}={project}")
    commit = server.repositories[REPOSITORY].branches["v1"]
    assert wk.get_kernel(REPOSITORY, locked=True).revision == commit


@pytest.mark.parametrize("name", ["metadata.json", "main.wgsl.jinja"])
def test_other_files_than_the_locked_are_an_error(server: LoopbackHub, hub: Hub, project: Path, name: str) -> None:
    """Even if they agree among themselves."""
    commit = server.repositories[REPOSITORY].branches["v1"]
    other = package_files(license="MIT") if name == "metadata.json" else package_files(extra={name: b"// other"})
    server.repositories[REPOSITORY].commits[commit] = {f"{FOLDER}/{file}": text for file, text in other.items()}
    for file in ("metadata.json", name):
        hub.forget(hub.snapshot(REPOSITORY, commit) / file)
    listed = sorted({repr(name), repr("metadata.json")})
    with pytest.raises(DigestError) as caught:
        wk.get_kernel(REPOSITORY, locked=project / LOCK_NAME)
    assert str(caught.value) == f"{REPOSITORY}@{commit}: is not what the lock file says: {', '.join(listed)}"


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", ["metadata.json", "manifest.json", "main.wgsl.jinja"])
def test_a_locked_file_that_rots_in_the_cache_is_fetched_anew(server: LoopbackHub, hub: Hub, name: str) -> None:
    """After one error: a blank at the end of metadata.json is enough for that, which no other digest is of."""
    commit = wk.get_kernel(REPOSITORY, locked=True).revision
    assert commit is not None
    blob = (hub.snapshot(REPOSITORY, commit) / name).resolve()
    content = blob.read_bytes()
    blob.write_bytes(content + b" ")
    with pytest.raises(DigestError):
        wk.get_kernel(REPOSITORY, locked=True)
    assert wk.get_kernel(REPOSITORY, locked=True).revision == commit
    assert (hub.snapshot(REPOSITORY, commit) / name).read_bytes() == content


def test_a_locked_kernel_is_trusted_like_any(server: LoopbackHub, hub: Hub, tmp_path: Path) -> None:
    """Who wrote the file is not asked."""
    server.publish(package_files(), repository="x/test.Scale")
    write_lock(lock_kernels({"x/test.Scale": 1}, hub, trust=True), tmp_path / LOCK_NAME)
    with pytest.raises(UntrustedRepository):
        wk.get_kernel("x/test.Scale", locked=tmp_path / LOCK_NAME)
    assert wk.get_kernel("x/test.Scale", locked=tmp_path / LOCK_NAME, trust_remote_code=["x"]).revision


def test_what_is_not_locked_is_an_error(project: Path) -> None:
    """Another kernel, or another version of it."""
    path = project / LOCK_NAME
    with pytest.raises(LockError) as caught:
        wk.get_kernel("webgpu-kernels/test.Other", locked=True)
    assert str(caught.value) == f"{path}: does not hold webgpu-kernels/test.Other. Write the lock file anew."
    with pytest.raises(LockError) as caught:
        wk.get_kernel(REPOSITORY, version=2, locked=True)
    assert str(caught.value) == (
        f"{path}: holds another version of {REPOSITORY}: expected 2, got 1. Write the lock file anew."
    )


def test_no_lock_file_is_an_error(tmp_path: Path) -> None:
    """It says where it was looked for."""
    with pytest.raises(LockError) as caught:
        find_lock(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: there is no webgpu-kernels.lock here or above. Write one: webgpu-kernels lock."
    )
    with pytest.raises(LockError, match="gone: cannot be read: "):
        wk.get_kernel(REPOSITORY, locked=tmp_path / "gone")


def test_a_lock_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """And leaves nothing."""
    (tmp_path / LOCK_NAME).mkdir()
    with pytest.raises(LockError, match="cannot be written: "):
        write_lock(lock_kernels({}, None), tmp_path / LOCK_NAME)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == [tmp_path / LOCK_NAME]


PIN = {"version": 1, "revision": "a" * 40, "files": {}}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "must be an object with the keys lockVersion, kernels, not a list of 0"),
        (
            {"lockVersion": 2, "kernels": {}},
            "lockVersion: must be 1, not the number 2: another version of this library wrote it",
        ),
        ({"lockVersion": 1}, "kernels: is missing: name the kernels"),
        (
            {"lockVersion": 1, "kernels": []},
            "kernels: must be an object of locked kernels, repository to commit, not a list of 0",
        ),
        (
            {"lockVersion": 1, "kernels": {"a/b": 1}},
            'kernels["a/b"]: must be an object with the keys version, revision, files, not the number 1',
        ),
        (
            {"lockVersion": 1, "kernels": {"a/b": {**PIN, "files": 1}}},
            'kernels["a/b"].files: must be an object of files, name to digest, not the number 1',
        ),
        (
            {"lockVersion": 1, "kernels": {"a/b": {**PIN, "files": {"x": "y"}}}},
            'kernels["a/b"].files.x: must be the Base64 text of a SHA-256, 44 characters',
        ),
        (
            {"lockVersion": 1, "kernels": {"a/b": {"version": 1, "files": {}}}},
            'kernels["a/b"].revision: is missing: give a commit',
        ),
        (
            {"lockVersion": 1, "kernels": {"a/b": {**PIN, "revision": "main"}}},
            'kernels["a/b"].revision: must be the 40 hexadecimal digits of a commit',
        ),
        (
            {"lockVersion": 1, "kernels": {"a/b": {**PIN, "version": None}}},
            'kernels["a/b"].version: must be an integer of at least 1, not null',
        ),
        (
            {"lockVersion": 1, "kernels": {"../b": PIN}},
            "kernels[\"../b\"]: '../b' names no repository: expected organisation/domain.Name",
        ),
    ],
)
def test_a_lock_file_that_is_none_is_an_error(tmp_path: Path, data: Any, message: str) -> None:
    """It may have been merged by hand."""
    path = tmp_path / LOCK_NAME
    path.write_text(json.dumps(data))
    with pytest.raises(LockError) as caught:
        read_lock(path)
    assert str(caught.value) == f"{path}: the lock file has 1 defect\n  {message}"


def test_a_lock_file_with_the_marks_of_a_merge_is_an_error(tmp_path: Path) -> None:
    """As version control leaves them."""
    path = tmp_path / LOCK_NAME
    path.write_text("<<<<<<< ours\n{}")
    with pytest.raises(LockError, match="is not JSON: Expecting value at line 1, column 1"):
        read_lock(path)
