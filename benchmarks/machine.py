"""What a figure depends on: printed above every benchmark's results."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path


def describe(device: str | None = None) -> str:
    """Return the machine, the versions and the command in a few lines.

    Args:
        device: name of the GPU device that was used, if one was.

    Returns:
        text with a trailing empty line.
    """
    versions = ", ".join(f"{name} {version(name)}" for name in ("webgpu-kernels", "wgpu", "numpy"))
    lines = [
        f"command   python {shlex.join(sys.argv)}",
        f"machine   {processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        f"versions  Python {platform.python_version()}, {versions}",
    ]
    if device is not None:
        lines.append(f"device    {device}")
    return "\n".join([*lines, ""])


def counts(about: str | None, **defaults: int) -> list[int]:
    """Read a benchmark's arguments: whole numbers in this order, each with a default; --help says so.

    Args:
        about: the benchmark's docstring.
        defaults: names and defaults.

    Returns:
        The numbers.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        parser.add_argument(name, type=int, nargs="?", default=default, help=f"default {default}")
    return list(vars(parser.parse_args()).values())


def processor() -> str:
    """Return the processor's name as Linux reports it, else what Python knows."""
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
