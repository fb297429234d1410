"""``python -m webgpu_kernels`` is the command line ``webgpu-kernels``."""

from webgpu_kernels.cli import run

run()
