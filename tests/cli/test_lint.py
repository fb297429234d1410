"""The command lint: what it prints and returns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from command_line import run_program
from lint_packages import write_package

from webgpu_kernels.tools.lint import CODES

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk


@pytest.fixture
def undescribed(tmp_path: Path) -> Path:
    """A package with one warning."""
    return write_package(tmp_path / "scale", lambda manifest: manifest.pop("description"))


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A package with one error."""
    return write_package(
        tmp_path / "scale", lambda m: m["variants"][1]["when"].append("device.limits.maxBuffers == 0 or true")
    )


def test_a_clean_package_is_good(wk: Wk, tmp_path: Path) -> None:
    """It says so, and how much was tried."""
    ran = wk("lint", write_package(tmp_path), "--no-device")
    assert ran.code == 0
    first, second, *others = ran.out.splitlines()
    assert first == f"{tmp_path}: nothing found"
    tried = re.fullmatch(r"    (\d+) requests made up, (\d+) of them valid; 2 cases; 7 devices", second)
    assert tried is not None
    assert int(tried[1]) >= int(tried[2]) >= 100
    assert others == [
        "    2 of 2 variants selected; 28 programs rendered",
        "    nothing compiled: --no-device",
    ]


def test_findings_show_place_message_and_remedy(wk: Wk, wrong: Path) -> None:
    """Three lines a finding; errors give 1."""
    ran = wk("lint", wrong, "--no-device")
    assert ran.code == 1
    assert ran.out.splitlines()[:3] == [
        "error L102 manifest.json: variants[1].when[1]",
        "    device.limits.maxBuffers is not there",
        "    Did you mean 'maxBufferSize'?",
    ]
    assert ran.out.splitlines()[3] == f"{wrong}: 1 error"


def test_warnings_count_only_when_strict(wk: Wk, undescribed: Path) -> None:
    """They are shown in any case."""
    ran = wk("lint", undescribed, "--no-device")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "warning L601 manifest.json: description")
    assert wk("lint", undescribed, "--no-device", "--strict").code == 1
    assert wk("lint", undescribed, "--no-device", "--strict", "--ignore", "L601").code == 0


@pytest.mark.parametrize("option", ["--json", "--format=json"])
def test_json_has_every_finding_and_what_was_tried(wk: Wk, wrong: Path, option: str) -> None:
    """One document for all packages."""
    document = wk("lint", wrong, "--no-device", option).document
    assert (document["good"], document["errors"], document["warnings"]) == (False, 1, 0)
    (package,) = document["packages"]
    assert package["findings"] == [
        {
            "code": "L102",
            "severity": "error",
            "file": "manifest.json",
            "path": "variants[1].when[1]",
            "message": "device.limits.maxBuffers is not there",
            "remedy": "Did you mean 'maxBufferSize'?",
        }
    ]
    assert package["complete"] is True
    assert package["compiled"] is None
    assert package["sampled"]["variants"] == 2


def test_github_annotations_name_files_of_the_clone(wk: Wk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to where the command runs; colons and line breaks do not end the annotation."""
    write_package(tmp_path / "kernels", files={"other.wgsl": "fn f() {}"})
    monkeypatch.chdir(tmp_path)
    ran = wk("lint", "kernels", "--no-device", "--format", "github")
    place = "::warning file=kernels/build/webgpu/other.wgsl,line=1,title=L003"
    assert ran.out == f"{place}::no pass renders it Delete it, or name it in a pass.\n"


def test_github_annotations_of_a_manifest_that_does_not_read(
    wk: Wk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is named although no package could be opened."""
    write_package(tmp_path / "kernels", lambda manifest: manifest.update(inputz={}))
    monkeypatch.chdir(tmp_path)
    ran = wk("lint", "kernels", "--no-device", "--format", "github")
    assert ran.code == 1
    assert ran.out.startswith(
        "::error file=kernels/build/webgpu/manifest.json,line=1,title=L001::inputz: is not a key of a manifest"
    )


@pytest.mark.device
def test_shaders_are_compiled_where_an_adapter_is(wk: Wk, tmp_path: Path) -> None:
    """The report says how many, and on what."""
    compiled = wk("lint", write_package(tmp_path), "--json").document["packages"][0]["compiled"]
    assert compiled["shaders"] > 0
    assert compiled["adapter"]


def test_all_codes_can_be_listed(wk: Wk) -> None:
    """Without a package."""
    assert wk("lint", "--codes", "--json").document.keys() == CODES.keys()
    ran = wk("lint", "--codes")
    assert ran.code == 0
    assert all(code in ran.out for code in CODES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--ignore", "L999", "x"), "There is no code 'L999': the codes are L001, "),
        (("--no-device", "--adapter", "x", "y"), "Give --adapter or --no-device, not both."),
        ((), "Name a package"),
    ],
)
def test_arguments_that_make_no_sense(wk: Wk, words: tuple[str, ...], message: str) -> None:
    """They are said in one line, with 2."""
    ran = wk("lint", *words)
    assert ran.code == 2
    assert message in ran.err


def test_a_package_that_is_not_there(wk: Wk) -> None:
    """That is an error, not a finding."""
    ran = wk("lint", "nowhere", "--no-device")
    assert ran.code == 3
    assert "no such package" in ran.err


@pytest.mark.device
def test_an_adapter_that_the_environment_names_must_be_there() -> None:
    """It is not taken for a machine without any."""
    ran = run_program("lint", "ai.onnx.Identity", env={"WEBGPU_KERNELS_ADAPTER": "nonsense"})
    said = "error: the environment variable WEBGPU_KERNELS_ADAPTER: no such adapter: expected one of 0: "
    assert ran.code == 3
    assert ran.err.startswith(said)
