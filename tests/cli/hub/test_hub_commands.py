"""Commands that ask the Hub: lock, download, verify, and whom they trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from loopback_hub import REPOSITORY, LoopbackHub, answer, package_files, status

import webgpu_kernels as wk_library
from webgpu_kernels.contract.hub import forget_versions
from webgpu_kernels.contract.lock import LOCK_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk

pytestmark = pytest.mark.usefixtures("hub", "naps")

TABLE = '[tool.webgpu-kernels.kernels]\n"test.Scale" = 1\n'
STRANGER = "somebody/test.Scale"
CALL = ("--input", "x=float32[4]", "--capabilities", "h200")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that wants one kernel, and a folder in it to work in."""
    (tmp_path / "project" / "below").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").write_text(TABLE)
    monkeypatch.chdir(tmp_path / "project" / "below")
    return tmp_path / "project"


def fixed() -> dict[str, bytes]:
    return package_files(extra={"main.wgsl.jinja": b"fn main() { }"})


def test_lock_writes_what_the_versions_are_now(wk: Wk, server: LoopbackHub, project: Path) -> None:
    """Beside the nearest pyproject.toml; what was before is said."""
    first = server.publish(package_files())
    path = project / LOCK_NAME
    assert wk("lock") == (0, f"{REPOSITORY} v1 {first[:12]} added\nwrote {path}\n", "")
    assert json.loads(path.read_text())["kernels"][REPOSITORY]["revision"] == first
    assert wk("lock").out == f"{REPOSITORY} v1 {first[:12]} as before\nwrote {path}\n"
    second = server.publish(fixed())
    forget_versions()
    assert wk("lock").out == f"{REPOSITORY} v1 {second[:12]}, was v1 {first[:12]}\nwrote {path}\n"
    document = wk("lock", "--json").document
    assert document == {
        "lock": str(path),
        "kernels": [{"repository": REPOSITORY, "version": 1, "revision": second, "before": second}],
    }


def test_lock_may_be_told_where_the_project_is(
    wk: Wk, server: LoopbackHub, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its folder or its file."""
    server.publish(package_files())
    monkeypatch.chdir(tmp_path)
    assert wk("lock", "--project", project).code == 0
    assert wk("lock", "--project", project / "pyproject.toml").code == 0
    assert (project / LOCK_NAME).exists()
    (tmp_path / "none").mkdir()
    monkeypatch.chdir(tmp_path / "none")
    assert wk("lock") == (
        3,
        "",
        f"error: {tmp_path / 'none'}: there is no pyproject.toml here or above. Name its folder with --project.\n",
    )


def test_lock_wants_kernels(wk: Wk, project: Path) -> None:
    """A project that names none is probably a mistake."""
    (project / "pyproject.toml").write_text("[tool]\n")
    assert wk("lock").err == (
        f"error: {project / 'pyproject.toml'}: names no kernels. Add the table [tool.webgpu-kernels.kernels] with "
        'lines such as "owner/domain.Name" = 1.\n'
    )


def test_lock_check_asks_nobody_and_writes_nothing(wk: Wk, server: LoopbackHub, project: Path) -> None:
    """It compares; 1 where the lock file is out of date."""
    server.publish(package_files())
    assert wk("lock", "--check").code == 1
    assert wk("lock").code == 0
    asked = len(server.seen)
    assert wk("lock", "--check") == (0, "up to date\n", "")
    text = '[tool.webgpu-kernels.kernels]\n"test.Scale" = 2\n"a/b.C" = 1\n'
    (project / "pyproject.toml").write_text(text)
    code, out, _ = wk("lock", "--check")
    assert code == 1
    assert out.splitlines() == [
        "a/b.C: version 1 is wanted and not locked",
        f"{REPOSITORY}: version 2 is wanted, version 1 is locked",
        "out of date: run webgpu-kernels lock",
    ]
    (project / "pyproject.toml").write_text('[tool.webgpu-kernels.kernels]\n"a/b.C" = 1\n')
    assert wk("lock", "--check", "--json").document["faults"] == [
        "a/b.C: version 1 is wanted and not locked",
        f"{REPOSITORY}: is locked and not wanted",
    ]
    assert len(server.seen) == asked


def test_lock_that_fails_leaves_the_lock_file_as_it_was(wk: Wk, server: LoopbackHub, project: Path) -> None:
    """Nothing is half-written."""
    server.publish(package_files())
    assert wk("lock").code == 0
    before = (project / LOCK_NAME).read_bytes()
    server.publish(fixed())
    forget_versions()
    server.fail("GET", "/main.wgsl.jinja", status(500), times=99)
    server.fail("HEAD", "/main.wgsl.jinja", status(500), times=99)
    assert wk("lock").code == 3
    assert (project / LOCK_NAME).read_bytes() == before
    assert sorted(path.name for path in project.iterdir()) == ["below", "pyproject.toml", LOCK_NAME]


def test_download_fetches_what_is_locked(wk: Wk, server: LoopbackHub, project: Path) -> None:
    """The very commit, also where the branch has moved; then it loads without network."""
    assert (project / "pyproject.toml").exists()
    first = server.publish(package_files())
    assert wk("lock").code == 0
    server.publish(fixed())
    forget_versions()
    assert wk("download") == (0, f"{REPOSITORY} {first[:12]}\n", "")
    asked = len(server.seen)
    assert wk("download", "--json").document["packages"][0]["revision"] == first
    assert wk_library.get_kernel(REPOSITORY, locked=True).revision == first
    assert len(server.seen) == asked


def test_download_fetches_what_is_named(wk: Wk, server: LoopbackHub, hub: object) -> None:
    """With its suites; nothing is locked by it."""
    commit = server.publish(package_files())
    assert wk("download", f"{REPOSITORY}@v1").out == f"{REPOSITORY}@v1 {commit[:12]}\n"
    assert server.asked("test.json") == 1
    assert wk("download", "ai.onnx.Add").out == "ai.onnx.Add is here already\n"
    assert hub


def test_download_wants_a_lock_file_or_names(
    wk: Wk, server: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not both of them, and one of them."""
    monkeypatch.chdir(tmp_path)
    assert wk("download").err == (
        f"error: {tmp_path}: there is no {LOCK_NAME} here or above. Write one: webgpu-kernels lock.\n"
    )
    assert wk("download", "a/b@v1", "--lock", "x").err == "Name packages or a lock file, not both.\n"
    assert server.seen == []


def test_download_of_other_bytes_than_locked_is_an_error(wk: Wk, server: LoopbackHub, project: Path) -> None:
    """Though the digests agree with each other."""
    commit = server.publish(package_files())
    assert wk("lock").code == 0
    text = (project / LOCK_NAME).read_text()
    digests = json.loads(text)["kernels"][REPOSITORY]["files"]
    (project / LOCK_NAME).write_text(text.replace(digests["test.json"], digests["main.wgsl.jinja"]))
    ran = wk("download")
    assert (ran.code, ran.err) == (3, f"error: {REPOSITORY}@{commit}: is not what the lock file says: 'test.json'\n")


def test_verify_fetches_every_listed_file(wk: Wk, server: LoopbackHub) -> None:
    """Of the commit, which is said."""
    commit = server.publish(package_files())
    code, out, err = wk("verify", f"{REPOSITORY}@v1")
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [f"{REPOSITORY}@v1: good, 3 files", f"  commit {commit}"]
    assert server.asked("test.json") == 1


def test_verify_tells_what_is_not_as_listed(wk: Wk, server: LoopbackHub) -> None:
    """Also a file without which the package is not loaded at all: both end with 1."""
    commit = server.publish(package_files())
    headers = {"ETag": '"other"', "X-Repo-Commit": commit}
    server.fail("GET", "/test.json", answer(b'{"cases": 00}', headers))
    assert wk("verify", f"{REPOSITORY}@{commit}").out.splitlines() == [
        f"{REPOSITORY}@{commit}: not as listed",
        f"  commit {commit}",
        "  test.json is not what its digest says",
    ]
    other = server.publish(fixed())
    bad = b"fn main() {x}"
    server.fail("GET", "/main.wgsl.jinja", answer(bad, {"ETag": '"bad"', "X-Repo-Commit": other}), times=9)
    ran = wk("verify", f"{REPOSITORY}@{other}", "--json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.document["packages"][0]["good"] is False
    assert "'main.wgsl.jinja' is not what its digest says" in ran.document["packages"][0]["reason"]


def test_a_stranger_is_trusted_by_an_option_of_the_command_line(wk: Wk, server: LoopbackHub) -> None:
    """The message says which; the owner's name will do, too."""
    server.publish(package_files(), repository=STRANGER)
    ran = wk("explain", f"{STRANGER}@v1", *CALL)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        f"error: {STRANGER}: nobody said that this repository is trusted: expected webgpu-kernels. "
        f"Read its templates, then give --trust {STRANGER}.\n"
    )
    assert server.seen == []
    for words in (["--trust", STRANGER], ["--trust", "somebody"], ["--trust-remote-code"]):
        assert wk("explain", f"{STRANGER}@v1", *CALL, *words).code == 0


def test_lock_and_download_trust_nobody_either(wk: Wk, server: LoopbackHub, project: Path) -> None:
    """The same options widen it."""
    server.publish(package_files(), repository=STRANGER)
    (project / "pyproject.toml").write_text(f'[tool.webgpu-kernels.kernels]\n"{STRANGER}" = 1\n')
    hint = f"Read its templates, then give --trust {STRANGER}.\n"
    assert wk("lock").err.endswith(hint)
    assert wk("lock", "--trust", STRANGER).code == 0
    assert wk("download").err.endswith(hint)
    assert wk("download", "--trust", "somebody").code == 0


def test_a_hub_that_does_not_answer_is_one_clear_error(wk: Wk, server: LoopbackHub) -> None:
    """No traceback."""
    server.publish(package_files())
    server.fail("GET", "/refs", status(503), times=9)
    code, out, err = wk("verify", f"{REPOSITORY}@v1")
    assert (code, out) == (3, "")
    assert err.startswith(f"error: {REPOSITORY}: ")
    assert len(err.splitlines()) == 1


def test_two_revisions_are_compared(wk: Wk, server: LoopbackHub) -> None:
    """By their commits."""
    first, second = server.publish(package_files()), server.publish(fixed())
    ran = wk("diff", f"{REPOSITORY}@{first}", f"{REPOSITORY}@{second}")
    assert ran.code == 0
    assert "files changed: main.wgsl.jinja" in [" ".join(line.split()) for line in ran.out.splitlines()]
