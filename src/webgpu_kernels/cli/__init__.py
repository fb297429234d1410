"""The command line ``webgpu-kernels``, short ``wk``: arguments, printing, exit codes. Nothing else prints or exits."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import traceback
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Final

from webgpu_kernels.cli.arguments import Usage, command_parser, split_command
from webgpu_kernels.cli.commands import COMMANDS
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.screen import Screen
from webgpu_kernels.errors import KernelError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import ModuleType


_OUTPUT_FAULTS: Final = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EPIPE})


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after the program's name; by default those of this process.

    Returns:
        The exit code, one of ``Exit``.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _answered(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _print_nowhere()
        return Exit.READER_GONE
    except OSError as error:
        _print_nowhere()
        sys.stderr.write(f"error: the output cannot be written: {error.strerror}\n")
        return Exit.ERROR
    return code


def _answered(words: Sequence[str]) -> int:
    try:
        command, arguments = _parsed(words)
        return _done(command, arguments, Screen(json=arguments.json, color=arguments.color))
    except Usage as usage:
        if usage.code and "--json" in words:
            Screen(json=True).result({"error": {"kind": "Usage", "message": str(usage)}})
        return usage.show()


def _done(command: ModuleType, arguments: argparse.Namespace, screen: Screen) -> int:
    try:
        # A package's reference.py may print, and so may a library: the answer is this program's alone.
        with redirect_stdout(sys.stderr), screen.progress(command.__name__.rpartition(".")[2]):
            return int(command.run(arguments, screen))
    except KernelError as error:
        _show_traceback(arguments)
        screen.error(error)
        return Exit.ERROR
    except Usage:
        raise
    except Exception as error:  # noqa: BLE001 - the last line of defence: a defect of ours, said in one line
        if isinstance(error, OSError) and (error.filename is not None or error.errno in _OUTPUT_FAULTS):
            return _unusable(error, screen)
        _show_traceback(arguments)
        screen.defect(error)
        return Exit.DEFECT


def _unusable(error: OSError, screen: Screen) -> int:
    """Say that a file, or the output itself, cannot be used: that is nobody's defect."""
    if error.filename is None:
        raise error
    screen.error(KernelError(error.strerror or str(error), where=str(error.filename)))
    return Exit.ERROR


def run() -> None:
    """Run as the installed program: ``main`` with this process's exit code."""
    _make_printable()
    code = main()
    if code == Exit.INTERRUPTED:
        # Who called us sees that it was Ctrl-C, as with any other program.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(code)


def _make_printable() -> None:
    """Let no text fail for where it is printed: a closed stream swallows it, a narrow encoding escapes it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - for good
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _parsed(words: Sequence[str]) -> tuple[ModuleType, argparse.Namespace]:
    name, rest = split_command(words)
    module = importlib.import_module(f"webgpu_kernels.cli.commands.{COMMANDS[name].module}")
    parser = command_parser(name, module.__doc__ or "")
    module.configure(parser)
    return module, parser.parse_args(rest)


def _show_traceback(arguments: argparse.Namespace) -> None:
    if arguments.traceback:
        traceback.print_exc()


def _print_nowhere() -> None:
    """Let what is left to print vanish, also at exit, when Python flushes."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
