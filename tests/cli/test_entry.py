"""The installed programs, before the command line itself is there."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]
SLOW_IMPORT = """
import signal, sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "webgpu_kernels":
            print("importing", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
{before}
import webgpu_kernels_cli
webgpu_kernels_cli.run()
"""


def test_both_programs_come_in_by_the_door_of_their_own() -> None:
    """What pip installs as ``webgpu-kernels`` and ``wk`` begins outside of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"webgpu-kernels": "webgpu_kernels_cli:run", "wk": "webgpu_kernels_cli:run"}


def test_ctrl_c_during_imports_ends_it_without_a_word() -> None:
    """No traceback of imports is shown, and who called sees that it was Ctrl-C."""
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_IMPORT.format(before="")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (-signal.SIGINT, "")


def test_ctrl_c_stays_ignored_where_a_shell_ignores_it() -> None:
    """A program in the background of a script is not ended by the Ctrl-C that is meant for the one in front."""
    code = SLOW_IMPORT.replace("time.sleep(60)", "time.sleep(0.5); sys.exit(7)")
    code = code.format(before="signal.signal(signal.SIGINT, signal.SIG_IGN)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 7


def test_the_command_line_runs_as_before(capfd: pytest.CaptureFixture[str]) -> None:
    """The door leads to the same program."""
    code = "import sys, webgpu_kernels_cli; sys.argv = ['wk', 'lint', '--codes', '--json']; webgpu_kernels_cli.run()"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert '"L001"' in capfd.readouterr().out
