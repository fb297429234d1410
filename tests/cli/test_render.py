"""``wk render``: the WGSL that a call runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import webgpu_kernels as wk_library
from webgpu_kernels.tools.capabilities import load_capabilities

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk

ADD = ("ai.onnx.Add", "--input", "a=float16[8,1]", "--input", "b=float16[4]", "--capabilities", "h200")
NORM = ("com.microsoft.SkipGroupNorm", "--capabilities", "h200", "--variant", "split_plain")
LARGE = (
    '{"inputs": {"X": {"dtype": "float32", "shape": [1, 64, 64, 320]}, "gamma": {"dtype": "float32", "shape": [320]}, '
    '"beta": {"dtype": "float32", "shape": [320]}, "skip": {"dtype": "float32", "shape": [1, 64, 64, 320]}}, '
    '"attrs": {"groups": 32, "activation": 1}}'
)


def passes_of_norm() -> dict[str, str]:
    spec = wk_library.TensorSpec
    image, channels = spec((1, 64, 64, 320), "float32"), spec((320,), "float32")
    kernel = wk_library.get_kernel("com.microsoft.SkipGroupNorm")
    rendering = kernel.render(
        {"X": image, "gamma": channels, "beta": channels, "skip": image},
        attrs={"groups": 32, "activation": 1},
        variant="split_plain",
        capabilities=load_capabilities("h200"),
    )
    return dict(rendering)


def test_one_pass_is_printed_as_it_is(wk: Wk) -> None:
    """It compiles as it stands."""
    code, out, err = wk("render", *ADD)
    assert (code, err) == (0, "")
    assert out.startswith("enable f16;\nstruct Params {")
    assert out.endswith("}\n")
    assert "// pass" not in out


def test_several_passes_are_told_apart(wk: Wk) -> None:
    """By a comment, in their order."""
    shaders = passes_of_norm()
    out = wk("render", *NORM, "--request", LARGE).out
    heads = [line for line in out.splitlines() if line.startswith("// pass ")]
    assert heads == [f"// pass {name}" for name in shaders]
    assert len(shaders) == 3


def test_one_pass_may_be_asked_for(wk: Wk) -> None:
    """By its id; another one is refused with those that there are."""
    shaders = passes_of_norm()
    last = list(shaders)[-1]
    assert wk("render", *NORM, "--request", LARGE, "--pass", last).out == f"{shaders[last].rstrip()}\n"
    code, out, err = wk("render", *NORM, "--request", LARGE, "--pass", "xyzzy")
    assert (code, out) == (2, "")
    assert err == f"The call runs no pass 'xyzzy'. The passes are {', '.join(shaders)}.\n"


def test_a_folder_gets_a_file_a_pass(wk: Wk, tmp_path: Path) -> None:
    """Numbered, so that they sort as they run; other files stay."""
    folder = tmp_path / "new" / "wgsl"
    folder.mkdir(parents=True)
    (folder / "mine.txt").write_text("mine")
    shaders = passes_of_norm()
    code, out, err = wk("render", *NORM, "--request", LARGE, "-o", folder)
    names = [f"{number}-{name}.wgsl" for number, name in enumerate(shaders, 1)]
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"wrote {folder / name}" for name in names]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, "mine.txt"])
    assert (folder / names[0]).read_text() == f"{next(iter(shaders.values())).rstrip()}\n"


def test_programs_get_passes_with_their_grids(wk: Wk, tmp_path: Path) -> None:
    """And the files, where they are written."""
    document = wk("render", *ADD, "--json").document
    (only,) = document["passes"]
    assert (only["id"], only["workgroups"]) == ("add", [1, 1, 1])
    assert only["wgsl"].startswith("enable f16;")
    assert "file" not in only
    document = wk("render", *ADD, "-o", tmp_path, "--json").document
    assert document["passes"][0]["file"] == str(tmp_path / "1-add.wgsl")


def test_a_folder_that_cannot_be_written_is_one_clear_error(wk: Wk, tmp_path: Path) -> None:
    """Nothing is left behind."""
    (tmp_path / "file").write_text("x")
    assert wk("render", *ADD, "-o", tmp_path / "file") == (
        3,
        "",
        f"error: {tmp_path / 'file' / '1-add.wgsl'}: cannot be written: File exists\n",
    )
    (tmp_path / "1-add.wgsl").mkdir()
    assert wk("render", *ADD, "-o", tmp_path).err == (
        f"error: {tmp_path / '1-add.wgsl'}: cannot be written: Is a directory\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1-add.wgsl", "file"]


def test_a_call_of_empty_tensors_runs_nothing(wk: Wk) -> None:
    """That is said, not printed."""
    empty = ("ai.onnx.Add", "--input", "a=float32[0]", "--input", "b=float32[0]", "--capabilities", "h200")
    assert wk("render", *empty) == (0, "", "Every output is empty: nothing runs.\n")


def test_a_call_that_no_variant_takes_is_an_error(wk: Wk) -> None:
    """There is nothing to print."""
    code, out, err = wk("render", *ADD[:-1], "webgpu-defaults")
    assert (code, out) == (3, "")
    assert err == "error: ai.onnx.Add: float16 needs the feature shader-f16, which the device lacks\n"


@pytest.mark.parametrize("name", ["chromium-swiftshader", "lavapipe"])
def test_any_known_device_may_be_named(name: str, wk: Wk) -> None:
    """None of them need be here."""
    assert (
        wk("render", "ai.onnx.Add", "--input", "a=int32[8]", "--input", "b=int32[8]", "--capabilities", name).code == 0
    )
