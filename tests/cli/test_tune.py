"""The command tune: searching, and what becomes of the profile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from bench_packages import write_benched
from doubling_package import RIGHT

import webgpu_kernels as wk
from webgpu_kernels.cli import main
from webgpu_kernels.tools.bench.running import Runner
from webgpu_kernels.tools.bench.samples import Sample, sample_of
from webgpu_kernels.tuning.places import forget_profiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from webgpu_kernels.planning.program import Program

pytestmark = pytest.mark.device

BUDGET = ["--budget", "2s"]


class MadeUp:
    """A stand on which the second variant takes a third of the first one's time."""

    clock = "gpu"

    def time(self, program: Program, effort: object) -> Sample:
        """Look at the text."""
        return sample_of([10.0 if "second" in program.passes[0].wgsl else 30.0] * 9)

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with two variants, and a folder of profiles of its own."""
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", str(tmp_path / "profiles"))
    monkeypatch.setattr(Runner, "stand", lambda self, ready: MadeUp())
    forget_profiles()
    yield write_benched(tmp_path / "p", {"first": f"{RIGHT} // first", "second": f"{RIGHT} // second"})
    forget_profiles()


def test_what_is_found_is_kept_and_calls_go_by_it(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table shows the gain, and explain where the choice comes from."""
    assert main(["tune", str(package), *BUDGET]) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed[0].split() == ["case,", "variant", "→", "faster", "µs", "tuned", "gain", "tried", "out"]
    assert printed[2].split() == ["many", "30.0", "10.0", "3.00", "2"]
    assert printed[3:5] == ["  first", "  → second"]
    assert printed[-1].startswith("1 of 1 case became faster, 3.00 times in the mean; calls go by it from now on: ")
    assert wk.load_kernel(package).prepare(x=wk.TensorSpec((4096,), "float32")).variant == "second"
    assert main(["explain", str(package), "--input", "x=float32[4096]"]) == 0
    assert "second comes from the profile of " in capsys.readouterr().out
    assert main(["render", str(package), "--input", "x=float32[4096]"]) == 0
    assert "// second" in capsys.readouterr().out


def test_the_answer_is_one_document(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With every case."""
    assert main(["tune", str(package), *BUDGET, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (case,) = document["cases"]
    assert (case["case"], case["untunedVariant"], case["variant"], case["gain"]) == ("many", "first", "second", 3.0)
    assert (document["opId"], document["leftOut"], document["skipped"]) == ("test.Double", 0, [])
    assert document["file"].endswith(".json")


def test_a_profile_is_shown_exported_and_removed(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exported one works elsewhere by its name."""
    main(["tune", str(package), *BUDGET])
    capsys.readouterr()
    assert main(["tune", str(package), "--show"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("test.Double on ")
    assert "second" in printed
    file = tmp_path / "mine.json"
    assert main(["tune", str(package), "--export", str(file)]) == 0
    assert capsys.readouterr().out == f"Written: {file}\n"
    assert main(["tune", str(package), "--reset"]) == 0
    assert capsys.readouterr().out.startswith("Removed: ")
    assert wk.load_kernel(package).prepare(x=wk.TensorSpec((4096,), "float32")).variant == "first"
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", str(file))
    assert wk.load_kernel(package).prepare(x=wk.TensorSpec((4096,), "float32")).variant == "second"


@pytest.mark.parametrize(("words", "code"), [(["--show"], 0), (["--reset"], 1), (["--export", "x.json"], 1)])
def test_without_a_profile_that_is_said(
    package: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int
) -> None:
    """To be shown that there is none is an answer; to remove or export it is not possible."""
    assert main(["tune", str(package), *words]) == code
    assert capsys.readouterr().out.startswith("There is no profile of test.Double on ")


def test_that_there_is_no_profile_is_a_document_too(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a file."""
    assert main(["tune", str(package), "--show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"opId": "test.Double", "file": None}


def test_a_place_where_nothing_can_be_kept_is_found_out_first(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the budget is spent; with an hour this test would not end."""
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "test.Double").write_text("no folder")
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", str(tmp_path / "file"))
    assert main(["tune", str(package), "--budget", "1h"]) == 3
    said = capsys.readouterr().err
    assert ".json: cannot be written: it would lie in a file: got " in " ".join(said.split())
    assert not said.count("Traceback")


def test_nothing_faster_writes_nothing(tmp_path: Path, package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says so."""
    root = write_benched(tmp_path / "q")
    assert main(["tune", str(root), *BUDGET]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Nothing was faster beyond the noise; no profile was written."
    assert not (tmp_path / "profiles").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "soon"], "'soon': write a time such as 90s or 5m"),
        (["--budget", "0s"], "'0s': write a time such as 90s or 5m"),
        (["--most-mb", "nan"], "'nan': write a number above 0"),
        (["--filter", "mnay"], "No case matches mnay: did you mean 'many'?"),
        (["--show", "--reset"], "not allowed with argument"),
    ],
)
def test_what_makes_no_sense_ends_with_2(
    package: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """With a hint."""
    assert main(["tune", str(package), *words]) == 2
    assert said in capsys.readouterr().err


def test_where_profiles_are_off_nothing_is_searched(
    package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits a minute to hear that."""
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", "off")
    assert main(["tune", str(package), *BUDGET]) == 3
    assert capsys.readouterr().err.startswith("error: there is no place for profiles. Let WEBGPU_KERNELS_TUNING name ")
