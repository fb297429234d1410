"""``wk export``: a call as files that need nothing of this library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk

ADD = ("ai.onnx.Add", "--input", "a=float32[64,128]", "--input", "b=float32[128]")
CASE = ("com.microsoft.SkipGroupNorm", "--case", "float32_float32_gamma_nhwc_bias_sum")


def test_it_says_what_it_wrote(wk: Wk, tmp_path: Path) -> None:
    """One line a thing."""
    ran = wk("export", *ADD, "-o", tmp_path)
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out == (
        f"ai.onnx.Add: rows_vec4, 1 pass, in {tmp_path}\n"
        "  program.json  how to run it: docs/export.md\n"
        "  add.wgsl\n"
        "  data/  drawn, seed 0, and what it must give, by reference.py\n"
        "  index.html  open it in a browser\n"
    )
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["add.wgsl", "data/a.bin", "data/b.bin", "data/c.expected.bin", "index.html", "program.json"]


def test_a_case_brings_its_data(wk: Wk, tmp_path: Path) -> None:
    """And its tolerance."""
    assert wk("export", *CASE, "-o", tmp_path).code == 0
    example = json.loads((tmp_path / "program.json").read_text("utf-8"))["example"]
    assert example["description"] == f"the case {CASE[2]}"
    assert set(example["tolerance"]) == {"Y", "S"}


def test_a_case_with_another_shape_is_no_longer_that_case(wk: Wk, tmp_path: Path) -> None:
    """Its data would not fit: they are drawn."""
    wk("export", *CASE, "--attr", "groups=8", "-o", tmp_path)
    assert json.loads((tmp_path / "program.json").read_text("utf-8"))["example"]["description"] == "drawn, seed 0"


def test_without_data_there_is_no_example(wk: Wk, tmp_path: Path) -> None:
    """No folder of them either."""
    assert wk("export", *ADD, "--no-data", "-o", tmp_path).code == 0
    assert not (tmp_path / "data").exists()
    assert "example" not in json.loads((tmp_path / "program.json").read_text("utf-8"))


def test_json_holds_the_document_and_the_files(wk: Wk, tmp_path: Path) -> None:
    """For programs."""
    document = wk("export", *ADD, "-o", tmp_path, "--json").document
    assert document["program"] == json.loads((tmp_path / "program.json").read_text("utf-8"))
    assert str(tmp_path / "index.html") in document["files"]


def test_a_described_device_is_planned_for(wk: Wk, tmp_path: Path) -> None:
    """By name or file."""
    assert wk("export", *ADD, "--capabilities", "h200", "-o", tmp_path).code == 0
    planned = json.loads((tmp_path / "program.json").read_text("utf-8"))["planned"]
    assert planned["limits"]["maxComputeInvocationsPerWorkgroup"] == 1024


def test_a_folder_must_be_named(wk: Wk) -> None:
    """Nothing is written into the folder that one happens to be in."""
    ran = wk("export", *ADD)
    assert ran.code == 2
    assert "-o" in ran.err


@pytest.mark.parametrize(("words", "code"), [(("--seed", "-1"), 2), (("--variant", "nosuch"), 3)])
def test_bad_options_are_one_clear_line(wk: Wk, tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    """And nothing is written."""
    ran = wk("export", *ADD, *words, "-o", tmp_path / "out")
    assert ran.code == code
    assert ran.out == ""
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_an_error(wk: Wk, tmp_path: Path) -> None:
    """With the reason."""
    (tmp_path / "file").write_text("")
    ran = wk("export", *ADD, "-o", tmp_path / "file")
    assert ran.code == 3
    assert "cannot be written" in ran.err
