"""The command init: what it makes satisfies every other command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk

OPERATOR = "com.example.LeakyRelu"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_tells_what_it_made_and_what_comes_next(wk: Wk, here: Path) -> None:
    """In a folder of the operator's name."""
    code, out, err = wk("init", OPERATOR)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "com.example.LeakyRelu: a package that runs and passes, in com.example.LeakyRelu",
        "  README.md                           the card, made by card",
        "  build/webgpu/bench.json             benchmark cases",
        "  build/webgpu/leaky-relu.wgsl.jinja  the shader of both variants",
        "  build/webgpu/manifest.json          the contract and the variants",
        "  build/webgpu/metadata.json          digests and id, made by pack",
        "  build/webgpu/test.json              correctness cases",
        "  reference.py                        the operator in numpy, for the tests",
        "  schemas/bench.schema.json           for editors",
        "  schemas/manifest.schema.json        for editors",
        "  schemas/test.schema.json            for editors",
        "next",
        "  webgpu-kernels test com.example.LeakyRelu   run the cases on every variant",
        "  webgpu-kernels lint com.example.LeakyRelu   look for all that can be wrong",
        "  webgpu-kernels bench com.example.LeakyRelu  measure",
        "  webgpu-kernels pack com.example.LeakyRelu   after a change: metadata.json",
        "  webgpu-kernels card com.example.LeakyRelu   after a change: the card",
        "docs/publishing.md leads from here to the Hub.",
    ]
    assert [path.name for path in here.iterdir()] == [OPERATOR]


def test_it_answers_programs(wk: Wk) -> None:
    """With the files, relative to the folder."""
    document = wk("init", OPERATOR, "-o", "mine", "--json").document
    assert (document["opId"], document["folder"], len(document["files"])) == (OPERATOR, "mine", 10)


@pytest.mark.device
@pytest.mark.slow
def test_every_command_is_content_with_it(wk: Wk, here: Path) -> None:
    """Tests pass, lint finds nothing, card and metadata are up to date, digests agree."""
    assert wk("init", OPERATOR, "-o", "mine").code == 0
    for words in (
        ("lint", "--strict"),
        ("test",),
        ("card", "--check"),
        ("pack", "--check"),
        ("verify",),
        ("diff", "mine"),
    ):
        code, out, err = wk(*words, "mine")
        assert (code, err) == (0, ""), (words, out)
    assert wk("lint", "mine").out.startswith("mine: nothing found\n")
    assert wk("test", "mine").out.splitlines()[-1].startswith("13 passed: 10 cases")


def test_a_bad_name_is_a_mistake_of_the_command_line(wk: Wk, here: Path) -> None:
    """Nothing is written."""
    said = "is no operator's name: the domain is missing: expected domain.Name, such as com.example.LeakyRelu"
    assert wk("init", "LeakyRelu") == (2, "", f"'LeakyRelu': {said}\n")
    assert list(here.iterdir()) == []


def test_it_overwrites_nothing(wk: Wk, here: Path) -> None:
    """Not even a package that it made."""
    wk("init", OPERATOR)
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert wk("init", OPERATOR) == (
        3,
        "",
        f"error: {OPERATOR}: is there already and holds something. Name a new folder with -o.\n",
    )
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before
