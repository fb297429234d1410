"""Every code has a package that provokes it, one that does not, and a place in the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lint_cases import PROVOKING, SILENT, when
from lint_packages import found, linted, write_package

import webgpu_kernels as wk
from webgpu_kernels.tools.lint import CODES, FAMILIES

if TYPE_CHECKING:
    from lint_cases import Spoiled

    from webgpu_kernels.device import Device

DOCS = Path(__file__).resolve().parents[3] / "docs" / "lint.md"


def params(packages: dict[str, Spoiled]) -> list[object]:
    """Return code and package of each, those that need a device marked."""
    return [
        pytest.param(code, each, id=code, marks=[pytest.mark.device] if each.device else [])
        for code, each in packages.items()
    ]


def device_for(package: Spoiled) -> Device | None:
    """Return a device where the package asks for one."""
    return wk.default_device() if package.device else None


def test_every_code_is_provoked_and_stays_silent() -> None:
    """No code is without both kinds of package."""
    assert sorted(PROVOKING) == sorted(CODES)
    assert sorted(SILENT) == sorted(CODES)


def test_every_code_is_documented() -> None:
    """docs/lint.md lists each code with its severity and its sentence, and no other."""
    rows = re.findall(r"^\| (L\d{3}) \| (\w+) \| (.+?) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert {code: (severity, meaning) for code, severity, meaning in rows} == {
        code: (each.severity, each.meaning) for code, each in CODES.items()
    }


def test_every_code_is_of_a_family() -> None:
    """The first digit says what a code is about."""
    assert {code[:2] for code in CODES} == set(FAMILIES)


@pytest.mark.parametrize(("code", "package"), params(PROVOKING))
def test_a_package_provokes(code: str, package: Spoiled, tmp_path: Path) -> None:
    """The finding names its place, says what is wrong and has a remedy."""
    write_package(tmp_path, package.change, template=package.template, files=package.files)
    findings = found(tmp_path, code, device=device_for(package))
    assert findings, linted(tmp_path).findings
    told = [
        finding for finding in findings if str(finding.place) == package.place and package.message in finding.message
    ]
    assert told, findings
    assert told[0].severity == CODES[code].severity
    assert told[0].remedy


@pytest.mark.parametrize(("code", "package"), params(SILENT))
def test_a_package_stays_silent(code: str, package: Spoiled, tmp_path: Path) -> None:
    """What is nearly the same and right is not reported."""
    write_package(tmp_path, package.change, template=package.template, files=package.files)
    assert found(tmp_path, code, device=device_for(package)) == []


@pytest.mark.device
def test_the_package_itself_is_clean(tmp_path: Path) -> None:
    """Nothing at all is found in the package that the others are made of."""
    report = linted(write_package(tmp_path), device=wk.default_device())
    assert report.findings == ()
    assert report.compiled is not None
    assert report.compiled.shaders > 0
    assert not report.late


def test_a_variant_that_nothing_selects_is_told_its_clause(tmp_path: Path) -> None:
    """Not the device that lacks a feature: a clause counts once, whatever values it is false for."""
    write_package(tmp_path, when("numel(shapes.x) < 0", 0))
    (finding,) = found(tmp_path, "L401")
    assert re.fullmatch(
        r"nothing selects 'vectors': of \d+ judgements, \d+ are: `numel\(shapes\.x\) < 0` is false \(shapes\.x = .*\)",
        finding.message,
    )
