"""What the exit codes mean."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command, as docs/command-line.md lists them."""

    GOOD = 0
    """Done, and nothing to complain about."""
    FOUND = 1
    """The command worked, and its answer is no: findings, failed cases, a difference that breaks callers."""
    USAGE = 2
    """The arguments make no sense."""
    ERROR = 3
    """What the arguments name cannot be used: no package, a bad manifest, no adapter, no answer from the Hub."""
    DEFECT = 70
    """A defect of this program."""
    INTERRUPTED = 130
    """Ctrl-C."""
    READER_GONE = 141
    """Whoever read the output closed it."""
