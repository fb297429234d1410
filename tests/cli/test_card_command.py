"""``wk card``: writes README.md, or says that it is out of date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from own_packages import copy_of, inner

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose card is of something else."""
    package = copy_of("ai.onnx.Add", tmp_path)
    (package / "README.md").write_text("# Another\n", encoding="utf-8")
    return package


def test_it_writes_once(wk: Wk, package: Path) -> None:
    """A second time there is nothing to do."""
    assert wk("card", package) == (0, f"{package}: written\n", "")
    assert (package / "README.md").read_text(encoding="utf-8").startswith("---\nlibrary_name: kernels\n")
    assert wk("card", package) == (0, f"{package}: nothing to change\n", "")


def test_check_writes_nothing_and_says_what_to_do(wk: Wk, package: Path) -> None:
    """It ends with 1 where a card is out of date, or not there."""
    remedy = f"  Write it: webgpu-kernels card {package}\n"
    assert wk("card", package, "--check") == (1, f"{package}: out of date\n{remedy}", "")
    assert (package / "README.md").read_text(encoding="utf-8") == "# Another\n"
    (package / "README.md").unlink()
    assert wk("card", package, "--check") == (1, f"{package}: there is no card\n{remedy}", "")
    wk("card", package)
    assert wk("card", package, "--check") == (0, f"{package}: up to date\n", "")


def test_lint_reports_a_card_that_is_out_of_date(wk: Wk, package: Path) -> None:
    """Until it is written anew."""
    code, out, _ = wk("lint", package)
    assert code == 1
    assert "L005" in out
    wk("card", package)
    assert "L005" not in wk("lint", package).out


def test_an_owner_can_be_named(wk: Wk, package: Path) -> None:
    """And stays."""
    wk("card", package, "--owner", "ann")
    assert 'getKernel("ann/ai.onnx.Add"' in (package / "README.md").read_text(encoding="utf-8")
    assert wk("card", package).out == f"{package}: nothing to change\n"


def test_an_owner_is_one_name(wk: Wk, package: Path) -> None:
    """Not a repository."""
    code, _, err = wk("card", package, "--owner", "ann/x")
    assert code == 2
    assert "'ann/x' is no user or organisation of the Hub" in err


def test_programs_get_the_text(wk: Wk, package: Path) -> None:
    """And where it lies."""
    ran = wk("card", package, "--json")
    (document,) = ran.document["packages"]
    assert document["text"] == (package / "README.md").read_text(encoding="utf-8")
    assert (document["file"], document["stale"], document["written"]) == (str(package / "README.md"), True, True)


def test_a_folder_of_the_manifest_alone_has_no_place_for_a_card(wk: Wk, package: Path, tmp_path: Path) -> None:
    """It lies above build/webgpu."""
    bare = tmp_path / "bare"
    inner(package).rename(bare)
    code, out, err = wk("card", bare)
    assert (code, out) == (3, "")
    assert err == (
        f"error: {bare}: has no place for a card, which lies beside the folder build: "
        "expected build/webgpu/manifest.json, got manifest.json\n"
    )


def test_what_is_nowhere_is_an_error(wk: Wk) -> None:
    """As for every command."""
    code, out, err = wk("card", "ai.onnx.Ad")
    assert (code, out) == (3, "")
    assert "Did you mean 'ai.onnx.Add'?" in err
