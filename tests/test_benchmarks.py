"""The benchmarks run and print their tables; what they measure is nobody's test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["host.py", "3"], "unprepared call"),
        (["startup.py", "1"], "second run, read back"),
        (["planning.py"], "look-up of a request seen before"),
        (["leaks.py", "40"], "growth after the first tenth"),
        (["gpu.py", "--tiny"], "geometric mean of copy/picked"),
        (["gather.py", "1"], "of webgpu-kernels', on the GPU"),
        (["gather_gpu.py", "2"], "copy µs"),
        (["batch.py", "2"], "in device.batch()"),
        (["upload.py", "20", "1"], "device.tensor"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_benchmarks_run(arguments: list[str], line: str) -> None:
    """Each benchmark says machine, versions and command, and ends with its table and nothing on stderr."""
    script, *rest = arguments
    command = [sys.executable, str(BENCHMARKS / script), *rest]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.returncode == 0
    for fact in ("command   python ", "machine   ", "versions  Python ", line):
        assert fact in result.stdout
