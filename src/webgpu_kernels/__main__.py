"""``python -m webgpu_kernels`` is the command line ``webgpu-kernels``."""

import sys

from webgpu_kernels.cli import main

sys.exit(main())
