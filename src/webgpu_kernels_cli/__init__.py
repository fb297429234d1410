"""The installed programs ``webgpu-kernels`` and ``wk``: the door to ``webgpu_kernels.cli``.

It is no part of that package, whose import is what takes time: Ctrl-C meanwhile would show a traceback.
"""

from __future__ import annotations

import signal


def run() -> None:
    """Import the command line, ended by Ctrl-C as any other program is, and run it."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from webgpu_kernels.cli import run as run_command  # noqa: PLC0415 - this is what takes time

    signal.signal(signal.SIGINT, usual)
    run_command()
