"""``wk verify``: folders against their digests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from loopback_hub import metadata, package_files

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A package as it should be."""
    return write(tmp_path / "good", package_files())


def id_of(files: dict[str, bytes]) -> str:
    return str(json.loads(files["metadata.json"])["id"])


def test_a_good_package_is_one_line_and_its_id(wk: Wk, good: Path) -> None:
    """With how many files there are."""
    assert wk("verify", good) == (0, f"{good}: good, 3 files\n  {id_of(package_files())}\n", "")


def test_what_is_wrong_is_said_of_each_file(wk: Wk, good: Path) -> None:
    """Changed, missing, unlisted; the command ends with 1."""
    (good / "main.wgsl.jinja").write_text("fn main() { }")
    (good / "test.json").unlink()
    (good / "stray.wgsl").write_text("// x")
    code, out, err = wk("verify", good)
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        f"{good}: not as listed",
        "  main.wgsl.jinja is not what its digest says",
        "  stray.wgsl is there and not listed",
        "  test.json is listed and not there",
    ]


def test_an_id_that_is_not_the_digests_is_said(wk: Wk, tmp_path: Path) -> None:
    """Both of them."""
    files = package_files(id="_test_scale_webgpu_0000000")
    package = write(tmp_path / "other", files)
    said = f"  the id is _test_scale_webgpu_0000000, the digests give {id_of(package_files())}"
    assert wk("verify", package).out.splitlines() == [f"{package}: not as listed", said]


def test_several_packages_are_all_verified(wk: Wk, good: Path, tmp_path: Path) -> None:
    """Also after one that is not as it should be; one of them is enough to end with 1."""
    files = package_files()
    bad = write(tmp_path / "bad", {**files, "test.json": b"{}"})
    code, out, _ = wk("verify", bad, good)
    assert code == 1
    assert [line for line in out.splitlines() if not line.startswith(" ")] == [
        f"{bad}: not as listed",
        f"{good}: good, 3 files",
    ]


def test_programs_get_each_file_with_its_digests(wk: Wk, good: Path) -> None:
    """And both ids."""
    (good / "test.json").unlink()
    ran = wk("verify", good, "--json")
    assert (ran.code, ran.document["good"]) == (1, False)
    (package,) = ran.document["packages"]
    listed = json.loads(metadata({k: v for k, v in package_files().items() if k != "metadata.json"}))["digest"]["files"]
    assert package["id"] == {"stated": id_of(package_files()), "computed": id_of(package_files())}
    assert (package["package"], package["opId"], package["revision"]) == (str(good), "test.Scale", None)
    absent: dict[str, Any] = {
        "name": "test.json",
        "status": "absent",
        "stated": listed["test.json"],
        "computed": None,
    }
    assert absent in package["files"]
    assert [file["status"] for file in package["files"]] == ["ok", "ok", "absent"]


def test_a_package_without_digests_cannot_be_verified(wk: Wk, good: Path) -> None:
    """That is an error, no answer."""
    (good / "metadata.json").unlink()
    assert wk("verify", good) == (
        3,
        "",
        f"error: {good}: has no metadata.json, so there is nothing to verify by\n",
    )


def test_a_package_must_be_named(wk: Wk) -> None:
    """Or all of the bundled ones."""
    code, out, err = wk("verify")
    assert (code, out) == (2, "")
    assert err.startswith("Name a package, or give --all for every bundled one: ai.onnx.Add, ")
