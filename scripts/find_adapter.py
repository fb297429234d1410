"""Tell whether a native GPU adapter answers: exit code 0 and its name, or exit code 1.

Set-up runs this in a process of its own, with the environment's Python: a broken driver may print, hang or crash.
"""

from __future__ import annotations

import sys

import wgpu

# wgpu falls back to OpenGL where there is no Vulkan driver. That adapter has no float16 and does not count.
NATIVE = {"Vulkan", "Metal", "D3D12"}


def main() -> int:
    """Print the first native adapter's name; return 0 if there is one."""
    for adapter in wgpu.gpu.enumerate_adapters_sync():
        if adapter.info["backend_type"] in NATIVE:
            print(adapter.info["device"])
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
