"""metadata.json as it is made: digests, id, templates, provenance; and those of the bundled packages."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from own_packages import commit_all, copy_of, git, inner
from published_packages import published_folder

import webgpu_kernels as wk
from webgpu_kernels.contract import bundled_names, open_package, verify
from webgpu_kernels.errors import PackageError, PackageNotFound
from webgpu_kernels.tools.own import own_package
from webgpu_kernels.tools.pack import differences, metadata_text, packed, provenance_lag

if TYPE_CHECKING:
    from pathlib import Path

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of a bundled package that was never packed, in no repository."""
    return copy_of("ai.onnx.Add", tmp_path)


def pack(package: Path, version: int | None = None) -> str:
    """Pack a package and return the text of its metadata.json."""
    text = metadata_text(packed(own_package(str(package)), version=version))
    (inner(package) / "metadata.json").write_text(text, encoding="utf-8")
    return text


@pytest.mark.parametrize("op_id", bundled_names())
def test_bundled_metadata_is_up_to_date(op_id: str) -> None:
    """Digests, id and variants are those of the files: run ``make pack`` where this fails."""
    own = own_package(op_id)
    assert differences(own, packed(own)) == ()


@pytest.mark.parametrize("op_id", bundled_names())
def test_the_bundled_packages_verify(op_id: str, tmp_path: Path) -> None:
    """As a whole, and when one of them is loaded from its folder."""
    copy = copy_of(op_id, tmp_path, packed=True)
    assert verify(wk.get_kernel(op_id).package).ok
    assert wk.load_kernel(copy, verify=True).op_id == op_id


def test_a_packed_package_verifies(package: Path) -> None:
    """Every file has its digest, and the id is theirs."""
    pack(package)
    assert verify(open_package(package, verify=True)).ok


def test_packing_again_changes_nothing(package: Path) -> None:
    """The same files give the same bytes."""
    assert pack(package) == pack(package)


def test_version_and_license_are_kept(package: Path) -> None:
    """Who packs again need not say them again."""
    first = json.loads(pack(package, version=3))
    (inner(package) / "metadata.json").write_text(json.dumps({**first, "license": "MIT"}), encoding="utf-8")
    again = json.loads(pack(package))
    assert (again["version"], again["license"]) == (3, "MIT")


def test_the_first_version_is_1(package: Path) -> None:
    """And the licence Apache-2.0."""
    document = json.loads(pack(package))
    assert (document["version"], document["license"]) == (1, "Apache-2.0")


def test_each_variant_has_its_templates(tmp_path: Path) -> None:
    """Each of them once, though several passes render it."""
    document = json.loads(pack(copy_of("com.microsoft.SkipGroupNorm", tmp_path)))
    assert document["webgpu"]["variants"]["split_sum"] == [
        "group-norm-slab.wgsl.jinja",
        "group-norm-combine.wgsl.jinja",
    ]


def test_the_reference_is_not_listed(package: Path) -> None:
    """It lies outside build/webgpu, as the card does."""
    files = json.loads(pack(package))["digest"]["files"]
    assert sorted(files) == ["add.wgsl.jinja", "bench.json", "manifest.json", "test.json"]


def test_a_published_package_of_the_older_dialect_gets_its_members(tmp_path: Path) -> None:
    """Spec 1.0 has no list of variants; what does not depend on templates of ours is as it was published."""
    root = published_folder("ai.onnx.Identity", tmp_path)
    published = json.loads((root / "metadata.json").read_text(encoding="utf-8"))
    made = json.loads(metadata_text(packed(own_package(str(root)))))
    for key in ("name", "version", "license", "backend", "webgpu"):
        assert made[key] == published[key]
    assert made["digest"]["files"]["manifest.json"] == published["digest"]["files"]["manifest.json"]


def test_what_differs_is_said_of_each_file(package: Path) -> None:
    """Changed, new and gone ones, and the id that follows from them."""
    pack(package)
    (inner(package) / "test.json").write_text('{"cases": []}', encoding="utf-8")
    (inner(package) / "bench.json").unlink()
    (inner(package) / "new.wgsl").write_text("", encoding="utf-8")
    own = own_package(str(package))
    assert differences(own, packed(own)) == (
        "'bench.json' is not there",
        "'new.wgsl' has no digest",
        "'test.json' is not what its digest says",
        "id is not what the files give",
    )


def test_broken_metadata_is_written_anew(package: Path) -> None:
    """What it says does not matter, nor of which operator it is."""
    metadata = inner(package) / "metadata.json"
    metadata.write_text("{", encoding="utf-8")
    own = own_package(str(package))
    assert differences(own, packed(own)) == ("metadata.json cannot be read",)
    pack(package)
    assert verify(open_package(package)).ok


def test_a_missing_template_is_an_error(package: Path) -> None:
    """A package without it is of no use to anybody."""
    (inner(package) / "add.wgsl.jinja").unlink()
    with pytest.raises(PackageError) as caught:
        packed(own_package(str(package)))
    assert caught.value.message == "the manifest uses templates that have no digest: 'add.wgsl.jinja'"


def test_hidden_files_are_refused(package: Path) -> None:
    """They would be published with the others."""
    (inner(package) / ".manifest.json.swp").write_text("", encoding="utf-8")
    with pytest.raises(PackageError, match=r"'\.manifest\.json\.swp' is hidden, and would be published"):
        packed(own_package(str(package)))


def test_links_out_of_the_package_are_refused(package: Path) -> None:
    """A link would publish whatever it leads to."""
    (package.parent / "secret").write_text("", encoding="utf-8")
    (inner(package) / "notes.txt").symlink_to(package.parent / "secret")
    with pytest.raises(PackageError, match=r"'notes\.txt' is a link that leads out of the package"):
        packed(own_package(str(package)))


def test_a_template_with_something_to_fill_in_makes_it_specialized(package: Path) -> None:
    """Whether a shader's text depends on the request."""
    assert json.loads(pack(package))["webgpu"]["specialized"] is True
    (inner(package) / "add.wgsl.jinja").write_text("fn main() { }", encoding="utf-8")
    assert json.loads(pack(package))["webgpu"]["specialized"] is False


def test_packages_of_the_hub_cannot_be_packed() -> None:
    """Only folders can be written."""
    with pytest.raises(PackageNotFound, match="no such package to write into: expected a folder or a bundled operator"):
        own_package("owner/test.Scale@v1")


def test_outside_of_a_repository_there_is_no_provenance(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows where the files come from."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(package.parent))
    assert "provenance" not in json.loads(pack(package))


def test_without_git_what_was_known_is_kept(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the files are the same."""
    document = json.loads(pack(package))
    document["provenance"] = {"kernel": {"sha": "c" * 40, "dirty": False}}
    (inner(package) / "metadata.json").write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert json.loads(pack(package))["provenance"] == document["provenance"]
    (inner(package) / "bench.json").unlink()
    assert "provenance" not in json.loads(pack(package))


@needs_git
def test_files_that_no_commit_has_have_no_provenance(package: Path) -> None:
    """Rather none than a wrong one."""
    git(package, "init", "-q")
    assert "provenance" not in json.loads(pack(package))


@needs_git
def test_provenance_is_the_last_commit_that_changed_another_file(package: Path) -> None:
    """A commit of metadata.json alone, or of the card, does not change what metadata.json says."""
    first = commit_all(package)
    text = pack(package)
    assert json.loads(text)["provenance"] == {"kernel": {"sha": first, "dirty": False}}
    (package / "README.md").write_text("# Another\n", encoding="utf-8")
    assert commit_all(package) != first
    assert pack(package) == text


@needs_git
@pytest.mark.parametrize("name", ["add.wgsl.jinja", "ignored.json"])
def test_changes_that_no_commit_holds_make_it_dirty(package: Path, name: str) -> None:
    """Of a file that git knows, and of one that it was told to ignore."""
    (package / ".gitignore").write_text("ignored.json\n", encoding="utf-8")
    commit = commit_all(package)
    with (inner(package) / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert json.loads(pack(package))["provenance"] == {"kernel": {"sha": commit, "dirty": True}}


@needs_git
def test_a_newer_commit_of_the_same_files_is_only_mentioned(package: Path) -> None:
    """The commit that brings them and their metadata.json cannot be named in it."""
    commit_all(package)
    with (inner(package) / "bench.json").open("a", encoding="utf-8") as file:
        file.write("\n")
    old = json.loads(pack(package))["provenance"]["kernel"]["sha"]
    new = commit_all(package)
    own = own_package(str(package))
    assert differences(own, packed(own)) == ()
    said = f"metadata.json says commit {old[:12]} with changes, and the files are of commit {new[:12]}"
    assert provenance_lag(own, packed(own)) == said


@needs_git
def test_a_shallow_clone_does_not_guess(package: Path, tmp_path: Path) -> None:
    """Its first commit seems to have changed everything; what metadata.json says is kept."""
    first = commit_all(package)
    text = pack(package)
    commit_all(package)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", package.as_uri(), str(clone))
    assert pack(clone) == text
    assert json.loads(text)["provenance"]["kernel"]["sha"] == first
