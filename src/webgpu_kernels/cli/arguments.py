"""What is typed: the command's name and a parser of its arguments, both with errors in one line and a way out."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from importlib.metadata import version
from typing import TYPE_CHECKING, Never

from webgpu_kernels.cli.commands import COMMANDS, GROUPS
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.contract import closest

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "webgpu-kernels"
_WIDTH = 80
SHARED_OPTIONS = "every command"


class Usage(Exception):
    """The arguments are answered with a text instead of work: help, the version, or what is wrong with them.

    Args:
        text: what to print.
        code: the exit code; with one that is not 0 the text goes to stderr.
    """

    def __init__(self, text: str, code: int = Exit.USAGE) -> None:
        super().__init__(text)
        self.code = code

    def show(self) -> int:
        """Print the text and return the exit code."""
        print(self, file=sys.stderr if self.code else sys.stdout)
        return self.code


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises ``Usage`` where the original prints and exits."""

    def error(self, message: str) -> Never:
        """Refuse arguments.

        Args:
            message: what is wrong with them.

        Raises:
            Usage: always.
        """
        raise Usage(f"{self.prog}: {message}\nSee {self.prog} --help.")

    def format_help(self) -> str:
        """Return the help: what must be given first, what all commands share last."""
        named = [_shown(action) for action in self._get_positional_actions()]
        self.usage = " ".join(["%(prog)s", *named, "[option …]"])
        self._action_groups.sort(key=lambda group: group.title == SHARED_OPTIONS)
        return super().format_help()

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - argparse's signature
        """Answer ``--help``.

        Args:
            file: argparse's; not used.

        Raises:
            Usage: always.
        """
        raise Usage(self.format_help().rstrip(), Exit.GOOD)


def _shown(action: argparse.Action) -> str:
    """Return a positional argument as a line of usage shows it."""
    name = str(action.metavar or action.dest)
    return {"*": f"[{name} …]", "+": f"{name} …", "?": f"[{name}]"}.get(str(action.nargs), name)


def split_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """Split the command's name from its arguments, so that only its own module is loaded.

    Args:
        words: all that was typed.

    Returns:
        The command and the rest.

    Raises:
        Usage: help or the version was asked for, or there is no such command.
    """
    first = words[0] if words else "--help"
    if first in COMMANDS:
        return first, list(words[1:])
    if first in {"-h", "--help", "help"}:
        if len(words) > 1 and words[1] in COMMANDS:
            return words[1], ["--help"]
        raise Usage(overview(), Exit.GOOD if words else Exit.USAGE)
    if first in {"-V", "--version"}:
        raise Usage(f"{PROGRAM} {version(PROGRAM)}", Exit.GOOD)
    if first.startswith("-"):
        raise Usage(f"{PROGRAM}: the command comes first: {PROGRAM} COMMAND {first}\nSee {PROGRAM} --help.")
    near = closest(first, COMMANDS)
    hint = f" Did you mean {near!r}?" if near else ""
    raise Usage(f"{PROGRAM}: there is no command {first!r}.{hint}\nSee {PROGRAM} --help.")


def overview() -> str:
    """Return the help of the whole program, at most 80 columns wide."""
    lines = [f"usage: {PROGRAM} COMMAND …    (short: wk COMMAND …)", ""]
    for title, names in GROUPS.items():
        lines.append(title)
        lines += [f"  {name:<10} {COMMANDS[name].summary}" for name in names]
        lines.append("")
    lines += [
        "PACKAGE is a folder, a bundled operator (com.microsoft.SkipGroupNorm) or a",
        "repository of the Hub with a version or commit (owner/name@v1).",
        f"{PROGRAM} COMMAND --help says more, {PROGRAM} --version which this is.",
    ]
    return "\n".join(lines)


def command_parser(name: str, description: str) -> Parser:
    """Return a command's parser with what all commands share.

    Args:
        name: the command.
        description: what it does: its module's docstring.

    Returns:
        A parser that knows ``--json``, ``--color`` and ``--traceback``.
    """
    parser = Parser(
        prog=f"{PROGRAM} {name}",
        description=_fitted(description),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=True,
    )
    shared = parser.add_argument_group(SHARED_OPTIONS)
    shared.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    shared.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    shared.add_argument("--traceback", action="store_true", help="show where in this program an error arose")
    return parser


def _fitted(text: str) -> str:
    """Wrap the paragraphs of a text to the terminal, at most 80 columns; what is indented stays as it is."""
    width = min(_WIDTH, shutil.get_terminal_size().columns)
    paragraphs = []
    for paragraph in text.strip().split("\n\n"):
        indented = any(line.startswith(" ") for line in paragraph.splitlines())
        paragraphs.append(paragraph if indented else textwrap.fill(" ".join(paragraph.split()), width))
    return "\n\n".join(paragraphs)
