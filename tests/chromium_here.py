"""Chromium for tests: opened, or the test skipped with what to run; and the processes that it consists of."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.tools.engines.browser import BrowserSettings
    from webgpu_kernels.tools.engines.chromium import ChromiumEngine

INSTALL = "sudo apt-get update && sudo apt-get install -y chromium libatomic1"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Playwright's browser, with WebGPU on SwiftShader: one for all tests, as a thread can drive one only."""
    found = settings_or_skip()
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as playwright:
        launch = playwright.chromium.launch
        browser = launch(executable_path=found.executable, args=found.arguments, chromium_sandbox=False)
        yield browser
        browser.close()


def settings_or_skip() -> BrowserSettings:
    """Return Chromium and its arguments for SwiftShader; skip the test where there is none."""
    from webgpu_kernels.errors import NoAdapterError  # noqa: PLC0415 - collecting tests must not need the package
    from webgpu_kernels.tools.engines.browser import find_settings  # noqa: PLC0415

    pytest.importorskip("playwright", reason="playwright is not installed: pip install 'webgpu-kernels[browser]'")
    if not _driver_runs():
        pytest.skip(f"playwright's driver does not run. Run: {INSTALL}")
    try:
        return find_settings(software=True)
    except NoAdapterError as error:
        pytest.skip(f"{error.message}. Run: {INSTALL}")


@cache
def _driver_runs() -> bool:
    command = [sys.executable, "-m", "playwright", "--version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def open_or_skip(*, timeout_s: float = 300.0) -> ChromiumEngine:
    """Open the engine on SwiftShader; skip the test where there is no Chromium."""
    found = settings_or_skip()
    from webgpu_kernels.tools.engines.chromium import ChromiumEngine  # noqa: PLC0415 - as above

    return ChromiumEngine(found, timeout_s=timeout_s)


def descendants(pid: int) -> dict[int, str]:
    """Return the living processes that a process started, and theirs: number to command line."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found: dict[int, str] = {}
    front = {pid}
    while front:
        front = {child for child, parent in parents.items() if parent in front and child not in found}
        found.update({child: _command(child) for child in front})
    return found


def _command(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
