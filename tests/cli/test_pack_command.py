"""``wk pack``: writes metadata.json, or says that it is out of date."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from own_packages import copy_of, inner

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that was never packed, in no repository."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return copy_of("ai.onnx.Add", tmp_path)


def id_of(package: Path) -> str:
    return str(json.loads((inner(package) / "metadata.json").read_text(encoding="utf-8"))["id"])


def test_it_packs_once(wk: Wk, package: Path) -> None:
    """And says the id; a second time there is nothing to do."""
    first = wk("pack", package)
    assert first == (0, f"{package}: packed, {id_of(package)}\n", "")
    assert wk("pack", package) == (0, f"{package}: nothing to change, {id_of(package)}\n", "")
    assert wk("verify", package).code == 0


def test_check_writes_nothing_and_says_what_to_do(wk: Wk, package: Path) -> None:
    """It ends with 1 where a package is out of date."""
    assert wk("pack", package, "--check") == (
        1,
        f"{package}: out of date\n  there is no metadata.json\n  Write it: webgpu-kernels pack {package}\n",
        "",
    )
    assert not (inner(package) / "metadata.json").exists()
    wk("pack", package)
    assert wk("pack", package, "--check") == (0, f"{package}: up to date\n", "")


def test_a_version_can_be_given(wk: Wk, package: Path) -> None:
    """It stays until another is given."""
    wk("pack", package, "--version", "2")
    assert wk("pack", package, "--json").document["packages"][0]["version"] == 2


def test_a_licence_can_be_given(wk: Wk, package: Path) -> None:
    """It stays, too."""
    wk("pack", package, "--license", "MIT")
    wk("pack", package)
    assert json.loads((inner(package) / "metadata.json").read_text(encoding="utf-8"))["license"] == "MIT"


@pytest.mark.parametrize("version", ["0", "-1", "one", "1e3", "9999999999"])
def test_a_version_is_a_number(wk: Wk, package: Path, version: str) -> None:
    """From 1."""
    code, out, err = wk("pack", package, f"--version={version}")
    assert (code, out) == (2, "")
    assert f"'{version}' is no version: give a number from 1" in err


def test_programs_get_what_differs(wk: Wk, package: Path) -> None:
    """And whether anything was written."""
    wk("pack", package)
    (inner(package) / "bench.json").unlink()
    ran = wk("pack", package, "--check", "--json")
    assert ran.code == 1
    (document,) = ran.document["packages"]
    assert document["differences"] == ["'bench.json' is not there", "id is not what the files give"]
    assert (document["written"], document["file"]) == (False, str(inner(package) / "metadata.json"))
