"""What a figure depends on: printed above every benchmark's results."""

from __future__ import annotations

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


def processor() -> str:
    """Return the processor's name as Linux reports it, else what Python knows."""
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
