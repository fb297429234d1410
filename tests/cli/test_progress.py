"""Progress: on terminals only, after a second, also of a single long step, and out of the way of what is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")

BEGIN = """
import time
from webgpu_kernels.cli import progress, screen
progress.PROGRESS_AFTER_SECONDS = 0.2
shown = screen.Screen()
"""


def shown_by(code: str, **env: str) -> str:
    """Run a program on a terminal and return all that it shows there."""
    import pty  # noqa: PLC0415 - not everywhere

    parent, child = pty.openpty()
    whole = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **env}
    subprocess.run(
        [sys.executable, "-c", f"{BEGIN}{code}\nprint('end')"], stdout=child, stderr=child, env=whole, check=True
    )
    os.close(child)
    text = os.read(parent, 65536).decode()
    os.close(parent)
    return text.removesuffix("end\r\n")


def test_a_single_step_that_lasts_is_shown() -> None:
    """Nobody waits for its end to see that something happens."""
    text = shown_by("with shown.progress('long work', 2):\n    time.sleep(0.8)\n")
    assert "long work" in text
    assert "0/2" in text


def test_what_is_quick_shows_nothing() -> None:
    """Not even for a moment."""
    assert shown_by("with shown.progress('work', 2) as bar:\n    bar.advance(2)\n") == ""


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "unknown"}])
def test_a_terminal_that_cannot_draw_shows_nothing(env: dict[str, str]) -> None:
    """Of the bar."""
    assert shown_by("with shown.progress('work', 2):\n    time.sleep(0.5)\n", **env) == ""


def test_lines_are_printed_aside() -> None:
    """Each stands whole on a line of its own, and the bar comes back."""
    text = shown_by(
        "with shown.progress('work', 2):\n    time.sleep(0.5)\n    shown.text('an answer')\n    time.sleep(0.5)\n"
    )
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "an answer" in [line.rpartition("\r")[2] for line in plain.replace("\r\n", "\n").split("\n")]
    assert plain.rindex("work") > plain.index("an answer")


def test_work_inside_of_work_is_shown_in_its_place() -> None:
    """And the outer one again afterwards."""
    text = shown_by(
        "with shown.progress('whole'):\n"
        "    with shown.progress('part', 2):\n        time.sleep(0.5)\n"
        "    time.sleep(0.8)\n"
    )
    assert text.index("part") < text.index("whole")
    assert "whole" not in text[: text.index("part")]


def test_a_command_that_takes_its_time_shows_that() -> None:
    """Whatever it does; here reading."""
    code = (
        "from webgpu_kernels.cli import main\n"
        "from webgpu_kernels.cli.commands import info\n"
        "def slow(arguments, screen):\n    time.sleep(0.8)\n    return 0\n"
        "info.run = slow\n"
        "main(['info'])\n"
    )
    assert "info" in shown_by(code)
