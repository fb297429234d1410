"""Whole packages: bundled ones, published ones, hand-made and hostile ones."""

from __future__ import annotations

import copy
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lint_packages import TEMPLATE, Manifest, linted, write_package
from published_packages import SHARED

import webgpu_kernels as wk
from webgpu_kernels.contract import bundled_names
from webgpu_kernels.errors import PackageNotFound
from webgpu_kernels.tools.lint import lint_package
from webgpu_kernels.tools.locate import locate

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).resolve().parents[2] / "data" / "packages"
PUBLISHED = ("seeds/com.microsoft.SkipGroupNorm", "published/ai.onnx.Add", "seeds/com.microsoft.GatherBlockQuantized")


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize("name", bundled_names())
def test_bundled_packages_are_clean(name: str) -> None:
    """Not even a warning."""
    report = lint_package(name, lambda: locate(name), device=wk.default_device())
    assert report.findings == ()


def test_every_defect_of_a_broken_manifest_is_a_finding() -> None:
    """Each with its JSON path."""
    report = linted(DATA / "broken")
    assert {finding.code for finding in report.findings} == {"L001"}
    expected = (DATA / "broken" / "defects.txt").read_text(encoding="utf-8").splitlines()[1:]
    paths = [line.strip().partition(": ")[0] for line in expected if line[2:3] != " "]
    assert [finding.place.path for finding in report.findings] == paths
    assert report.sampled is None


def test_a_package_that_is_not_there_is_an_error() -> None:
    """That is no finding: there is nothing to find anything in."""
    with pytest.raises(PackageNotFound):
        lint_package("nowhere", lambda: locate("nowhere/at/all"))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_manifests_have_only_their_known_faults(name: str) -> None:
    """They come without templates, descriptions and cards here; beside that, little is found, and rightly."""
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip("the published manifests are not beside the clone")
    report = lint_package(name, lambda: locate(str(folder)))
    absent = {"L005", "L006", "L008", "L201", "L405", "L601", "L602", "L603"}
    known = {
        # It takes no image of more than 16,384 channels a group, and says so in every variant rather than once.
        "seeds/com.microsoft.SkipGroupNorm": {"L403"},
        "published/ai.onnx.Add": set(),
        # An empty table is bound as vectors, for which it is too small.
        "seeds/com.microsoft.GatherBlockQuantized": {"L204"},
    }
    assert {finding.code for finding in report.findings} - absent == known[name]


def deeply_repeated(manifest: Manifest) -> None:
    """Let one variant run 65,535 rounds of two passes."""
    step = manifest["variants"][1]["passes"][0]
    steps = [{**step, "id": f"p{index}"} for index in range(2)]
    manifest["variants"][1]["passes"] = [{"id": "g", "repeat": {"count": "65535", "index": "i"}, "passes": steps}]


def many_variants(manifest: Manifest) -> None:
    """Have 1,000 variants."""
    last = manifest["variants"][1]
    manifest["variants"] = [{**copy.deepcopy(last), "id": f"v{index}"} for index in range(1000)]


def wide_shapes(manifest: Manifest) -> None:
    """Compare with shapes of 90,000 axes, for 30 inputs."""
    names = [f"i{index}" for index in range(30)]
    manifest["inputs"].update({name: {"dtype": "T"} for name in names})
    manifest["when"] = [f"sameShape(shapes.{name}, fill(3, 90000))" for name in names]


def test_more_passes_than_a_call_may_have_are_told(tmp_path: Path) -> None:
    """65,535 rounds of two passes are refused before they are laid out, and lint says where that happens."""
    write_package(tmp_path, deeply_repeated)
    report = linted(tmp_path, seconds=60.0)
    assert {finding.code for finding in report.findings} == {"L204"}
    assert report.findings[0].message.startswith("too many passes: expected at most 8,192 in one call for x float32[")


@pytest.mark.slow
@pytest.mark.parametrize("change", [many_variants, wide_shapes])
def test_hostile_manifests_end_in_time(change: Callable[[Manifest], object], tmp_path: Path) -> None:
    """What takes too long is stopped, and the report says so."""
    write_package(tmp_path, change)
    begin = time.monotonic()
    report = linted(tmp_path, seconds=3.0)
    assert time.monotonic() - begin < 20
    assert report.late


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "{% for i in range(30000) %}{% for j in range(10) %}{% set a = i * j %}{% endfor %}{% endfor %}",
        "{% for i in range(9000) %}var<private> a{{ i }}: array<f32, {{ i + 1 }}>;\n{% endfor %}",
        "fn g() { " + "{ " * 3000 + "} " * 3000 + "}",
        "\n" * 110_000,
        "{% for i in range(70000) %}var<{% endfor %}",
    ],
)
def test_hostile_templates_end_in_time(text: str, tmp_path: Path) -> None:
    """Loops, text without end, deep nesting and what is searched in vain cost seconds at most."""
    write_package(tmp_path, template=TEMPLATE + text)
    begin = time.monotonic()
    linted(tmp_path, seconds=5.0)
    assert time.monotonic() - begin < 20


def test_findings_of_a_code_are_bounded(tmp_path: Path) -> None:
    """A package with thousands of defects gives a hundred of each kind."""
    write_package(tmp_path, lambda manifest: manifest["derive"].update({f"d{index}": "1" for index in range(500)}))
    report = linted(tmp_path, ignored=["L406"])
    assert sum(finding.code == "L304" for finding in report.findings) == 100


def test_ignored_codes_are_left_out(tmp_path: Path) -> None:
    """As if they were not looked for."""
    write_package(tmp_path, lambda manifest: manifest.pop("description"))
    assert [finding.code for finding in linted(tmp_path).findings] == ["L601"]
    assert linted(tmp_path, ignored=["L601"]).findings == ()


def test_places_of_included_templates_are_their_own(tmp_path: Path) -> None:
    """A finding in an included file names that file and its line."""
    template = TEMPLATE + '{% include "parts/more.wgsl" %}\n'
    write_package(tmp_path, template=template, files={"parts/more.wgsl": "// one\n// {{ unknownName }}\n"})
    report = linted(tmp_path)
    assert [str(finding.place) for finding in report.findings] == ["parts/more.wgsl:2"]
