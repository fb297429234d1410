"""Asks the probe, which works in a process of its own, and holds its answers against what the corpus expects."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from hostile_corpus import OBEYED

PROBE: Final = Path(__file__).with_name("hostile_probe.py")
MOST_SECONDS: Final = 1.0
MOST_MEGABYTES: Final = 200.0
MOST_CHARACTERS: Final = 45_000
# Processors are shared with other tests; this only tells who waits for something.
MOST_ELAPSED: Final = 3.0


class Prober:
    """The probe, running."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROBE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, action: str, path: Path, *, warm: bool = False) -> dict[str, Any]:
        """Have a job done, and return how it ended; one that warms up is done in the probe itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"action": action, "path": str(path), "warm": warm}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def ask_again(self, action: str, path: Path) -> dict[str, Any]:
        """Have a job done that changes nothing, and return how it ended; a busy machine has three tries to be quick."""
        found = self.ask(action, path)
        for _ in range(2):
            if found["seconds"] > MOST_SECONDS or found["elapsed"] > MOST_ELAPSED:
                found = self.ask(action, path)
        return found

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=30)


def check(found: dict[str, Any], expected: str, *hidden: str) -> None:
    """Hold an answer of the probe against what is expected.

    Args:
        found: the answer.
        expected: ``Class: part of the message``, or nothing for no error.
        hidden: parts of the message that differ from run to run, such as paths.
    """
    message = found["message"]
    for part in hidden:
        message = message.replace(part, "")
    kind, _, part = expected.partition(": ")
    assert (found["error"] or "", part in message) == (kind, True), message[:2000]
    assert found["seconds"] < MOST_SECONDS
    assert found["elapsed"] < MOST_ELAPSED
    assert found["megabytes"] < MOST_MEGABYTES
    assert len(message) < MOST_CHARACTERS
    assert OBEYED.search(message) is None
