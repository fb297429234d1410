"""The command line ``webgpu-kernels``, short ``wk``: arguments, printing, exit codes. Nothing else prints or exits."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
from typing import TYPE_CHECKING

from webgpu_kernels.cli.arguments import Usage, command_parser, top_parser
from webgpu_kernels.cli.commands import COMMANDS
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.screen import Screen
from webgpu_kernels.errors import KernelError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import ModuleType


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after the program's name; by default those of this process.

    Returns:
        The exit code, one of ``Exit``.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        command, arguments = _parsed(words)
        return _done(command, arguments, Screen(json=arguments.json, color=arguments.color))
    except Usage as usage:
        return usage.show()


def _done(command: ModuleType, arguments: argparse.Namespace, screen: Screen) -> int:
    try:
        return int(command.run(arguments, screen))
    except KernelError as error:
        _show_traceback(arguments)
        screen.error(error)
        return Exit.ERROR
    except KeyboardInterrupt:
        screen.interrupted()
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except Usage:
        raise
    except Exception as error:  # noqa: BLE001 - the last line of defence: a defect of ours, said in one line
        _show_traceback(arguments)
        screen.defect(error)
        return Exit.DEFECT


def run() -> None:
    """Run as the installed program: ``main`` with this process's exit code."""
    code = main()
    if code == Exit.INTERRUPTED:
        # Who called us sees that it was Ctrl-C, as with any other program.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(code)


def _parsed(words: Sequence[str]) -> tuple[ModuleType, argparse.Namespace]:
    name, rest = top_parser().command(words)
    module = importlib.import_module(f"webgpu_kernels.cli.commands.{COMMANDS[name].module}")
    parser = command_parser(name, module.__doc__ or "")
    module.configure(parser)
    return module, parser.parse_args(rest)


def _show_traceback(arguments: argparse.Namespace) -> None:
    if arguments.traceback:
        traceback.print_exc()


def _reader_gone() -> int:
    """Whoever read our output has gone: stop without a word, also at exit, when Python flushes."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return Exit.READER_GONE
