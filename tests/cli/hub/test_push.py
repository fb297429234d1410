"""The command push: what is refused, what is sent, and what becomes of a Hub that fails."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from begun_packages import OPERATOR, SHADER, begun, bring_up_to_date, change_json, pattern
from loopback_hub import LoopbackHub, Repository, answer, hang_up, status
from own_packages import commit_all, git, inner

import webgpu_kernels as wk_library
from webgpu_kernels.cli.commands import push as command
from webgpu_kernels.contract import open_package, uploading
from webgpu_kernels.contract.hub import forget_versions
from webgpu_kernels.tools.card import card_text
from webgpu_kernels.tools.push import plan as planning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran, Wk

__all__ = ["begun", "pattern"]

pytestmark = pytest.mark.usefixtures("hub", "naps")

REPOSITORY = f"somebody/{OPERATOR}"
TOKEN = "hf_writer"
STALE = "id is not what the files give, webgpu.specialized is not what the files give"
FILES = [
    "README.md",
    "build/webgpu/bench.json",
    f"build/webgpu/{SHADER}",
    "build/webgpu/manifest.json",
    "build/webgpu/metadata.json",
    "build/webgpu/test.json",
]


@pytest.fixture
def repo(server: LoopbackHub) -> Repository:
    """An empty repository of the operator's name."""
    return server.create(REPOSITORY)


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither lint nor test: they take seconds, and what is tested comes before or after them."""
    monkeypatch.setattr(command, "_tested", lambda *_: ())


@pytest.fixture
def push(wk: Wk, begun: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run the command on a package in the current folder, and make sure that no token is printed."""
    monkeypatch.chdir(begun.parent)

    def run(*words: str, token: str = TOKEN) -> Ran:
        ran = wk("push", OPERATOR, "--repo", REPOSITORY, "--token", token, *words)
        assert token not in ran.out + ran.err
        return ran

    return run


def sent(server: LoopbackHub) -> list[str]:
    """Return what was asked to be changed."""
    return [seen.path.split("/")[5] for seen in server.seen if seen.method == "POST" and "/kernels/" in seen.path]


def describe(package: Path, text: str) -> None:
    """Change a description, which breaks nobody."""

    def change(manifest: Any) -> None:
        manifest["variants"][0]["description"] = text

    change_json(package, "manifest.json", change)


def replace_owner(card: Path) -> None:
    """Let a card be of a repository of somebody else."""
    card.write_text(card_text(open_package(card.parent), owner="me"), "utf-8")


def take_less(manifest: Any) -> None:
    """Refuse values that were taken, which breaks callers."""
    manifest["attributeConstraints"] = {"alpha": {"values": [0.01, 0.5, -0.5, 0.25]}}


@pytest.mark.device
def test_a_first_push_makes_the_version(push: Callable[..., Ran], server: LoopbackHub, repo: Repository) -> None:
    """Linted and tested; the branch starts at main and keeps what is there; what was pushed loads and runs."""
    begin = repo.branches["main"]
    ran = push()
    assert (ran.code, ran.err) == (0, "")
    commit = repo.branches["v1"]
    assert ran.out.splitlines()[-1] == f"published {REPOSITORY}@v1: commit {commit}"
    assert [line.split()[::2] for line in ran.out.splitlines()[2:8]] == [[name, "added"] for name in FILES]
    assert sorted(repo.commits[commit]) == [".gitattributes", *FILES]
    assert repo.branches["main"] == begin
    assert sent(server) == ["branch", "preupload", "commit"]
    assert {seen.token for seen in server.seen} == {TOKEN}
    kernel = wk_library.get_kernel(REPOSITORY, version=1, trust_remote_code=[REPOSITORY])
    assert kernel.revision == commit
    np.testing.assert_array_equal(kernel(x=np.array([-100, 2], np.float32)).y, [-1, 2])


@pytest.mark.usefixtures("untried")
def test_a_commit_is_called_after_the_source(push: Callable[..., Ran], begun: Path, repo: Repository) -> None:
    """By the last commit that changed the files, as those of the published kernels are."""
    source = json.loads((inner(begun) / "metadata.json").read_text())["provenance"]["kernel"]["sha"]
    push()
    assert repo.messages == [f"sync {source[:12]}"]


@pytest.mark.usefixtures("untried")
def test_the_second_push_sends_what_differs(
    push: Callable[..., Ran], begun: Path, server: LoopbackHub, repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only that; what is unchanged is told so."""
    push()
    describe(begun, "Four at a time.")
    bring_up_to_date(begun)
    seen: list[set[str]] = []

    def spy(*arguments: Any, **options: Any) -> str:
        seen.append(set(options["files"]))
        return uploading.commit_files(*arguments, **options)

    monkeypatch.setattr(planning, "commit_files", spy)
    ran = push("--json")
    assert (ran.code, ran.err) == (0, "")
    fates = {file["path"].rpartition("/")[2]: file["fate"] for file in ran.document["files"]}
    assert fates == {
        "README.md": "changed",
        "bench.json": "unchanged",
        SHADER: "unchanged",
        "manifest.json": "changed",
        "metadata.json": "changed",
        "test.json": "unchanged",
    }
    assert seen == [{"README.md", "build/webgpu/manifest.json", "build/webgpu/metadata.json"}]
    assert ran.document["newBranch"] is False
    assert ran.document["commit"] == repo.branches["v1"]
    assert repo.commits[repo.branches["v1"]]["README.md"] == (begun / "README.md").read_bytes()
    assert b"Four at a time." in repo.commits[repo.branches["v1"]]["build/webgpu/manifest.json"]
    assert sent(server)[3:] == ["preupload", "commit"]


@pytest.mark.usefixtures("untried")
def test_nothing_is_sent_where_all_is_there(push: Callable[..., Ran], server: LoopbackHub, repo: Repository) -> None:
    """No empty commits."""
    push()
    asked, commit = len(sent(server)), repo.branches["v1"]
    ran = push()
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"{REPOSITORY}@v1 holds all this already")
    assert len(sent(server)) == asked
    assert push("--json").document["commit"] is None
    assert repo.branches["v1"] == commit


@pytest.mark.usefixtures("untried")
def test_files_that_are_gone_are_deleted(push: Callable[..., Ran], begun: Path, repo: Repository) -> None:
    """Those of the package, not others of the repository."""
    push()
    (inner(begun) / SHADER).rename(inner(begun) / "other.wgsl.jinja")
    text = (inner(begun) / "manifest.json").read_text("utf-8")
    (inner(begun) / "manifest.json").write_text(text.replace(SHADER, "other.wgsl.jinja"), "utf-8")
    bring_up_to_date(begun)
    ran = push()
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines() if f"/{SHADER}" in line] == [
        [f"build/webgpu/{SHADER}", "deleted"]
    ]
    there = sorted(repo.commits[repo.branches["v1"]])
    assert there == sorted([".gitattributes", "build/webgpu/other.wgsl.jinja", *(n for n in FILES if SHADER not in n)])


@pytest.mark.usefixtures("untried")
def test_a_breaking_change_is_refused_and_may_be_another_version(
    push: Callable[..., Ran], begun: Path, server: LoopbackHub, repo: Repository
) -> None:
    """Callers of version 1 keep what they have; both versions load."""
    push()
    first, asked = repo.branches["v1"], len(sent(server))
    change_json(begun, "manifest.json", take_less)
    bring_up_to_date(begun)
    ran = push()
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines()[-2:] == [
        "refused: breaks callers: attributes.alpha.values: must be one of 0.01, 0.5, -0.5, 0.25 now",
        f"  Publish it as another version: webgpu-kernels pack {OPERATOR} --version 2, then card",
    ]
    assert len(sent(server)) == asked
    assert push("--version", "2").out.splitlines() == [
        "refused: metadata.json is of version 1, not 2",
        f"  Pack it for that version: webgpu-kernels pack {OPERATOR} --version 2",
    ]
    bring_up_to_date(begun, version=2)
    assert push("--version", "2").code == 0
    assert repo.branches["v1"] == first
    for version in (1, 2):
        kernel = wk_library.get_kernel(REPOSITORY, version=version, trust_remote_code=True)
        assert kernel.revision == repo.branches[f"v{version}"]
    assert push("--version", "1").out.startswith("refused: metadata.json is of version 2, not 1\n")
    assert push().out.splitlines()[-1] == f"{REPOSITORY}@v2 holds all this already"


@pytest.mark.usefixtures("untried")
def test_the_remedy_names_a_version_that_is_free(push: Callable[..., Ran], begun: Path, repo: Repository) -> None:
    """Above all that are there."""
    push()
    repo.branches["v7"] = repo.branches["v1"]
    change_json(begun, "manifest.json", take_less)
    bring_up_to_date(begun)
    assert "--version 8" in push().out.splitlines()[-1]


@pytest.mark.usefixtures("untried")
def test_a_dry_run_sends_nothing(push: Callable[..., Ran], server: LoopbackHub, repo: Repository) -> None:
    """It says what would be, in words and for programs."""
    before = dict(repo.branches)
    ran = push("--dry-run")
    assert ran.code == 0
    last = ran.out.splitlines()[-1]
    assert last.startswith("--dry-run: nothing was sent; the commit would be 'sync ")
    assert last.endswith("', of a new branch")
    document = push("--dry-run", "--json").document
    assert document["dryRun"] is True
    assert (document["commit"], document["newBranch"], document["version"]) == (None, True, 1)
    assert [file["fate"] for file in document["files"]] == ["added"] * 6
    assert repo.branches == before
    assert {seen.method for seen in server.seen} <= {"GET", "HEAD"}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda package: (package / "README.md").unlink(),
            ["refused: there is no README.md", f"  Write it: webgpu-kernels card {OPERATOR} --owner somebody"],
        ),
        (
            lambda package: (package / "README.md").write_text("# mine"),
            [
                "refused: README.md is not what the manifest says now",
                f"  Write it again: webgpu-kernels card {OPERATOR} --owner somebody",
            ],
        ),
        (
            lambda package: replace_owner(package / "README.md"),
            [
                f"refused: the examples of README.md load another repository than {REPOSITORY}",
                f"  Write it: webgpu-kernels card {OPERATOR} --owner somebody",
            ],
        ),
        (
            lambda package: (inner(package) / "metadata.json").unlink(),
            [
                "refused: metadata.json is out of date: there is no metadata.json",
                f"  Write it: webgpu-kernels pack {OPERATOR}",
            ],
        ),
        (
            lambda package: (inner(package) / "metadata.json").write_text("{"),
            [
                "refused: metadata.json is out of date: metadata.json cannot be read",
                f"  Write it: webgpu-kernels pack {OPERATOR}",
            ],
        ),
        (
            lambda package: (inner(package) / SHADER).write_text("fn main() {}"),
            [
                f"refused: metadata.json is out of date: {SHADER!r} is not what its digest says, {STALE}",
                f"  Write it: webgpu-kernels pack {OPERATOR}",
            ],
        ),
    ],
)
def test_what_is_not_up_to_date_is_refused(
    push: Callable[..., Ran], begun: Path, server: LoopbackHub, spoil: Callable[[Path], object], said: list[str]
) -> None:
    """Without asking the Hub; each is said with the command that helps."""
    spoil(begun)
    ran = push()
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines()[:2] == said
    assert server.seen == []
    document = push("--json").document
    assert document["refused"][0] == {"reason": said[0].removeprefix("refused: "), "remedy": said[1].strip()}


def test_a_package_without_tests_is_refused(push: Callable[..., Ran], begun: Path, server: LoopbackHub) -> None:
    """Somebody else could not know whether it is right."""
    (inner(begun) / "test.json").unlink()
    bring_up_to_date(begun)
    assert push().out.splitlines() == [
        "refused: there is no test.json",
        "  Write cases: docs/suites.md says how",
    ]
    assert server.seen == []


@pytest.mark.usefixtures("untried")
def test_files_of_no_commit_are_refused(push: Callable[..., Ran], begun: Path, repo: Repository) -> None:
    """Nobody could find out where they come from; who wants that may say so."""
    describe(begun, "Changed.")
    remedy = f"  Commit them, then webgpu-kernels pack {OPERATOR}; or give --allow-dirty"
    commits = len(git(begun, "log", "--format=%H").split())
    bring_up_to_date(begun)
    git(begun, "reset", "-q", "--soft", f"HEAD~{len(git(begun, 'log', '--format=%H').split()) - commits}")
    assert push().out.splitlines() == ["refused: files have changes in no commit", remedy]
    assert push("--allow-dirty").code == 0
    commit_all(begun)
    assert push().out.splitlines()[0].startswith("refused: metadata.json says commit ")
    assert push().out.splitlines()[1:] == [f"  Write it again: webgpu-kernels pack {OPERATOR}"]
    bring_up_to_date(begun)
    assert push().code == 0


@pytest.mark.usefixtures("untried")
def test_a_folder_without_git_is_of_no_commit(push: Callable[..., Ran], begun: Path, repo: Repository) -> None:
    """As it comes from init."""
    shutil.rmtree(begun / ".git")
    text = json.loads((inner(begun) / "metadata.json").read_text())
    del text["provenance"]
    (inner(begun) / "metadata.json").write_text(json.dumps(text))
    assert push().out.splitlines() == [
        "refused: git knows of no commit of the files",
        f"  Commit them, then webgpu-kernels pack {OPERATOR}; or give --allow-dirty",
    ]
    assert push("--allow-dirty").code == 0
    assert repo.messages == [f"sync {text['id']}"]


@pytest.mark.device
def test_what_lint_and_tests_find_is_refused(push: Callable[..., Ran], begun: Path, server: LoopbackHub) -> None:
    """Both are told, and nothing is sent."""
    repo = server.create(REPOSITORY)

    def spoil(manifest: Any) -> None:
        manifest["when"] = ["size >= 0"]

    change_json(begun, "manifest.json", spoil)
    shader = inner(begun) / SHADER
    shader.write_text(shader.read_text("utf-8").replace("value < ", "value > "), "utf-8")
    bring_up_to_date(begun)
    ran = push()
    assert (ran.code, ran.err) == (1, "")
    told = [line for line in ran.out.splitlines() if line.startswith(("refused", "  "))]
    assert told[0].startswith("refused: L501 manifest.json: variants[0].passes[0]: the shader needs shader-f16")
    assert told[-2].startswith("refused: ")
    assert told[-2].endswith(" tests fail, float32_vectors on vec4 first")
    assert told[-1] == f"  See why: webgpu-kernels test {OPERATOR}"
    assert sent(server) == []
    assert list(repo.branches) == ["main"]


def test_a_repository_bears_its_operators_name(wk: Wk, begun: Path, server: LoopbackHub) -> None:
    """Loaders take no other."""
    ran = wk("push", begun, "--repo", "somebody/com.example.Other")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines()[:2] == [
        "refused: the package is of com.example.LeakyRelu, the repository of com.example.Other",
        "  A repository bears its operator's name: --repo somebody/com.example.LeakyRelu",
    ]
    assert server.seen == []


@pytest.mark.parametrize("text", ["somebody/com.example.LeakyRelu@v1", "nowhere"])
def test_only_a_package_of_this_machine_can_be_pushed(wk: Wk, server: LoopbackHub, text: str) -> None:
    """One of the Hub is there already."""
    ran = wk("push", text, "--repo", REPOSITORY)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"error: {text}: no such package")
    assert server.seen == []


def test_repository_and_version_are_checked(wk: Wk, begun: Path) -> None:
    """Before anything is done."""
    assert wk("push", begun).code == 2
    assert wk("push", begun, "--repo", REPOSITORY, "--version", "0") == (2, "", "--version takes a number from 1 on.\n")
    ran = wk("push", begun, "--repo", "some body/x")
    assert (ran.code, ran.err) == (
        3,
        "error: 'some body/x' names no repository: expected organisation/domain.Name\n",
    )


@pytest.mark.usefixtures("untried")
def test_a_repository_has_to_be_there(push: Callable[..., Ran], server: LoopbackHub) -> None:
    """The message says how to make one."""
    ran = push()
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        f"error: {REPOSITORY}: {server.endpoint} has no such repository, or not for this token: got status 404. "
        f"Check the name, or create it: hf repos create {REPOSITORY} --type kernel.\n"
    )


@pytest.mark.usefixtures("untried")
def test_a_repository_without_main_has_nothing_to_start_from(push: Callable[..., Ran], repo: Repository) -> None:
    """Which the Hub's own never are."""
    repo.branches.clear()
    assert push().err == (f"error: {REPOSITORY}@v1: has neither a branch v1 nor main to start it from\n")


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("begun_already", [False, True])
def test_a_token_that_may_only_read_changes_nothing(
    push: Callable[..., Ran], server: LoopbackHub, repo: Repository, begun_already: bool
) -> None:
    """One clear error, without the token."""
    if begun_already:
        repo.branches["v1"] = repo.branches["main"]
    before = dict(repo.branches)
    ran = push(token="hf_reader")
    assert ran.code == 3
    assert ran.err == (
        f"error: {REPOSITORY}@v1: {server.endpoint} does not let this token write: got status 403. "
        "Log in with a token that may: hf auth login, or --token.\n"
    )
    assert repo.branches == before


@pytest.mark.usefixtures("untried")
def test_writing_needs_a_token(wk: Wk, begun: Path, repo: Repository) -> None:
    """Reading a public repository does not."""
    ran = wk("push", begun, "--repo", REPOSITORY)
    assert ran.code == 3
    assert "Log in" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert list(repo.branches) == ["main"]


@pytest.mark.usefixtures("untried")
def test_strangers_are_not_told_whether_a_repository_is_there(wk: Wk, begun: Path, server: LoopbackHub) -> None:
    """So the message names both: the place may be missing, or the token."""
    ran = wk("push", begun, "--repo", REPOSITORY)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.endswith(
        f"Check the name, or create it: hf repos create {REPOSITORY} --type kernel. If it is private, log in with: "
        "hf auth login.\n"
    )
    assert list(server.repositories) == []


@pytest.mark.usefixtures("untried")
def test_a_token_that_cannot_be_one_is_not_shown(push: Callable[..., Ran], repo: Repository) -> None:
    """Not in the HTTP library's words either."""
    assert push(token="hf_\n").err == "error: the token is empty or holds characters that no token has\n"


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize(("part", "number"), [("/branch/", 409), ("/commit/", 412), ("/commit/", 409)])
def test_whoever_came_first_is_not_overwritten(
    push: Callable[..., Ran], server: LoopbackHub, repo: Repository, part: str, number: int
) -> None:
    """The commit names the one that it was compared with."""
    server.fail("POST", part, status(number))
    ran = push()
    assert ran.code == 3
    assert ran.err == (
        f"error: {REPOSITORY}@v1: somebody else has changed the branch meanwhile, so nothing was committed: "
        f"got status {number}. Push again: it is compared with what is there now.\n"
    )
    assert repo.messages == []
    assert push().code == 0


@pytest.mark.usefixtures("untried")
def test_a_branch_that_moves_under_the_push_is_noticed(
    push: Callable[..., Ran], begun: Path, server: LoopbackHub, repo: Repository
) -> None:
    """By the Hub, which is told from where the change starts."""
    push()
    describe(begun, "Changed.")
    bring_up_to_date(begun)

    def move(_: object) -> bool:
        other = "f" * 40
        repo.commits[other] = repo.commits[repo.branches["v1"]]
        repo.branches["v1"] = other
        return False

    server.fail("POST", "/preupload/", move)
    assert "somebody else has changed the branch meanwhile" in push().err
    assert repo.branches["v1"] == "f" * 40
    assert push().code == 0


@pytest.mark.usefixtures("untried")
def test_a_hub_that_fails_leaves_a_push_to_be_repeated(
    push: Callable[..., Ran], server: LoopbackHub, repo: Repository
) -> None:
    """Also where the branch was begun before: it holds nothing yet, and the second push goes on."""
    server.fail("POST", "/commit/", status(500))
    ran = push()
    assert ran.code == 3
    assert ran.err == (
        f"error: {REPOSITORY}@v1: {server.endpoint} does not take the commit: got status 500. Try again later.\n"
    )
    assert repo.branches["v1"] == repo.branches["main"]
    assert server.asked("/commit/", "POST") == 1
    assert push().code == 0
    assert repo.branches["v1"] != repo.branches["main"]


@pytest.mark.usefixtures("untried")
def test_a_lost_answer_is_not_a_lost_commit(push: Callable[..., Ran], server: LoopbackHub, repo: Repository) -> None:
    """The commit is not sent twice; pushing again finds it there."""

    def take_and_hang_up(handler: Any) -> bool:
        handler.send_json = lambda _: None
        handler.close_connection = True
        return False

    server.fail("POST", "/commit/", take_and_hang_up)
    ran = push()
    assert ran.code == 3
    assert f"the connection to {server.endpoint} broke, and it is not known whether the commit arrived" in ran.err
    assert ran.err.endswith("Push again: what is there already is not committed twice.\n")
    assert len(repo.messages) == 1
    assert push().out.splitlines()[-1] == f"{REPOSITORY}@v1 holds all this already"
    assert len(repo.messages) == 1


@pytest.mark.usefixtures("untried")
def test_a_connection_that_breaks_is_one_clear_error(push: Callable[..., Ran], server: LoopbackHub) -> None:
    """Whenever it breaks."""
    repo = server.create(REPOSITORY)
    server.fail("POST", "/branch/", hang_up)
    ran = push("--json")
    assert ran.code == 3
    assert ran.document["error"]["kind"] == "HubUnavailable"
    assert list(repo.branches) == ["main"]


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("part", ["/preupload/", "/commit/"])
@pytest.mark.parametrize("body", [b"5", b"null", b"[]", b"[" * 100_000, b'{"commitOid": 5, "commitUrl": 7}', b"\xff"])
def test_an_answer_that_is_not_the_hubs_is_one_clear_error(
    push: Callable[..., Ran], server: LoopbackHub, repo: Repository, part: str, body: bytes
) -> None:
    """Whatever huggingface_hub makes of it; the commit may have arrived."""
    assert repo.messages == []
    server.fail("POST", part, answer(body, {"Content-Type": "application/json"}))
    ran = push()
    assert ran.code == 3
    assert ran.err.startswith(f"error: {REPOSITORY}@v1: {server.endpoint} does not take the commit: got ")
    assert ran.err.endswith(" Push again: what is there already is not committed twice.\n")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.usefixtures("untried")
def test_a_card_that_the_hub_does_not_take_is_told(push: Callable[..., Ran], server: LoopbackHub) -> None:
    """In the Hub's words."""
    server.create(REPOSITORY)
    body = json.dumps({"errors": [{"message": "license is unknown"}], "warnings": []}).encode()
    server.fail("POST", "/validate-yaml", answer(body, {"Content-Type": "application/json"}, 400))
    ran = push()
    assert ran.code == 3
    assert "license is unknown" in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.usefixtures("untried")
def test_a_published_package_that_cannot_be_read_is_not_replaced_unseen(
    push: Callable[..., Ran], server: LoopbackHub, repo: Repository
) -> None:
    """What breaks callers cannot be known then."""
    push()
    forget_versions()
    commit = repo.branches["v1"]
    broken = {**repo.commits[commit], "build/webgpu/manifest.json": b"{}"}
    repo.commits["e" * 40] = broken
    repo.branches["v1"] = "e" * 40
    ran = push()
    assert ran.code == 3
    assert "'manifest.json' is not what its digest says" in ran.err
    assert repo.branches["v1"] == "e" * 40
