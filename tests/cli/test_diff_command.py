"""``wk diff``: what it prints and how it ends; what counts as breaking is tested beside the comparison."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sample_manifests import scale_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk


def write(folder: Path, **changes: Any) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(scale_manifest(**changes)))
    (folder / "main.wgsl.jinja").write_text("fn main() {}")
    return folder


def test_no_difference_is_said(wk: Wk) -> None:
    """And ends with 0."""
    assert wk("diff", "ai.onnx.Add", "ai.onnx.Add") == (0, "no difference\n", "")


def test_what_breaks_callers_stands_first_and_ends_with_1(wk: Wk, tmp_path: Path) -> None:
    """In two tables, then a sentence."""
    old = write(tmp_path / "old", attributes={"a": {"default": 1}})
    new = write(tmp_path / "new", attributes={"a": {"default": 2}, "b": {"default": 0}})
    code, out, err = wk("diff", old, new)
    assert (code, err) == (1, "")
    assert [" ".join(line.split()) for line in out.splitlines() if "──" not in line] == [
        "breaks callers",
        "attributes.a.default was 1, is 2",
        "",
        "breaks nobody",
        "attributes.b is new, and may be left out",
        "",
        "1 change breaks callers: publish it as another version",
    ]


def test_what_breaks_nobody_ends_with_0(wk: Wk, tmp_path: Path) -> None:
    """The same two, the other way round."""
    old, new = write(tmp_path / "old"), write(tmp_path / "new", attributes={"b": {"default": 0}})
    ran = wk("diff", old, new)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "callers are not broken")


def test_programs_get_a_list(wk: Wk, tmp_path: Path) -> None:
    """Each with whether it breaks."""
    old, new = write(tmp_path / "old"), write(tmp_path / "new", args={"k": {"kind": "u32"}}, description="Scales.")
    ran = wk("diff", old, new, "--json")
    assert ran.code == 1
    assert ran.document == {
        "old": str(old),
        "new": str(new),
        "breaking": True,
        "changes": [
            {"path": "args.k", "what": "is new, and needed", "breaking": True},
            {"path": "descriptions", "what": "other words: description", "breaking": False},
        ],
    }


def test_a_package_that_cannot_be_read_is_an_error(wk: Wk, tmp_path: Path) -> None:
    """Whichever of the two it is."""
    assert wk("diff", "ai.onnx.Add", tmp_path).code == 3
    assert wk("diff", tmp_path, "ai.onnx.Add").code == 3
    assert wk("diff", "ai.onnx.Add").code == 2
