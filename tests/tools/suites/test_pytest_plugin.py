"""The pytest plugin: inert without its option, a test for each case and variant with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from doubling_package import CASE, RIGHT, write_doubling

ROOT = Path(__file__).resolve().parents[3]
WRONG = "y[i] = x[i] * select(2.0, 2.5, i == 5u);"


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in an empty folder with this plugin alone."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-p", "webgpu_kernels_pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """One wrong variant, one right one, and a case that is skipped."""
    cases = [CASE, {**CASE, "name": "later", "skipGpu": {"category": "todo", "reason": "not yet"}}]
    return write_doubling(tmp_path / "package", {"fast": WRONG, "plain": RIGHT}, cases)


def test_the_plugin_is_declared() -> None:
    """As pytest looks for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"webgpu_kernels": "webgpu_kernels_pytest"}


def test_importing_the_plugin_imports_nothing_of_the_library() -> None:
    """Every run of pytest pays for it."""
    code = "import sys, pytest, webgpu_kernels_pytest; print('webgpu_kernels' in sys.modules, 'numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"


@pytest.mark.slow
@pytest.mark.device
def test_every_case_and_variant_is_a_test(tmp_path: Path, package: Path) -> None:
    """A failure shows what the command shows, and nothing of this library's own frames."""
    result = run_pytest(tmp_path, "--webgpu-package", str(package), "-v", "-rs")
    assert result.returncode == 1
    assert "test.Double::eight[fast] FAILED" in result.stdout
    assert "test.Double::eight[plain] PASSED" in result.stdout
    assert "test.Double::later SKIPPED (skipGpu, todo: not yet)" in result.stdout
    assert "worst is y[5]: got 15, expected 12, difference 3, allowed 0" in result.stdout
    assert f"webgpu-kernels test {package} --filter eight --variant fast" in result.stdout
    assert "collecting.py" not in result.stdout.split("short test summary")[0]
    assert "1 failed, 1 passed, 1 skipped" in result.stdout


@pytest.mark.slow
@pytest.mark.device
def test_cases_can_be_chosen_as_ever(tmp_path: Path, package: Path) -> None:
    """By -k, and they run beside other tests."""
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n")
    result = run_pytest(tmp_path, "--webgpu-package", str(package), "-k", "plain or other")
    assert "2 passed, 2 deselected" in result.stdout


@pytest.mark.slow
def test_a_package_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    """Not a traceback."""
    result = run_pytest(tmp_path, "--webgpu-package", "ai.onnx.Adds")
    assert result.returncode == 4
    assert "ERROR: ai.onnx.Adds: no such package" in result.stderr
    assert "Traceback" not in result.stderr + result.stdout
