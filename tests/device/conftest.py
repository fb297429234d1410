"""A device, and fresh interpreters for what a process does only once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hand_made_programs import Programs

from webgpu_kernels.device import Device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def programs() -> Programs:
    return Programs()


@pytest.fixture(scope="session")
def device() -> Iterator[Device]:
    """One device for every test that does not break it."""
    with Device() as opened:
        yield opened


@pytest.fixture
def own_device() -> Iterator[Device]:
    """A device of this test's own, to break."""
    with Device() as opened:
        yield opened


@pytest.fixture(scope="session")
def fresh_python() -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Run code in a new interpreter that finds the library and these helpers."""

    def run(code: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        environment.pop("XDG_RUNTIME_DIR", None)
        prelude = (
            "import sys; sys.path.insert(0, {!r}); from hand_made_programs import Programs; programs = Programs()\n"
        )
        text = prelude.format(str(ROOT / "tests")) + code
        return subprocess.run(
            # Python 3.12 and later warn of every fork beside threads: the forks here are the point.
            [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", text],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment,
            cwd=ROOT,
            check=False,
        )

    return run
