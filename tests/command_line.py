"""Runs the command line as a test sees it: in this process, or as the program itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

from webgpu_kernels.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Ran(NamedTuple):
    """What a command did.

    Attributes:
        code: its exit code.
        out: its standard output.
        err: its standard error.
    """

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its standard output as JSON."""
        return json.loads(self.out)


class Wk(Protocol):
    """Runs a command in this process, 80 columns wide."""

    def __call__(self, *words: str | Path) -> Ran:
        """Run it."""


@pytest.fixture
def wk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Wk:
    """Return what runs a command."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str | Path) -> Ran:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Ran(code, *capsys.readouterr())

    return run


def run_program(*words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Ran:
    """Run a command as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "webgpu_kernels", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "COLUMNS": "80", **(env or {})},
        cwd=cwd,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
