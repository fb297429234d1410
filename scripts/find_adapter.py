"""Tell whether a native GPU adapter answers: exit code 0 and its name, or exit code 1.

Set-up runs this in a process of its own, with the environment's Python: a broken driver may print, hang or crash.
"""

from __future__ import annotations

import os
import sys

import wgpu

# wgpu falls back to OpenGL where there is no Vulkan driver. That adapter has no float16 and does not count.
NATIVE = {"Vulkan", "Metal", "D3D12"}
# What the Vulkan loader goes by instead of the drivers of the system.
DRIVER_VARIABLES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE")


def main() -> int:
    """Print the first native adapter's name and return 0; where there is none, what there is, and return 1."""
    found = [adapter.info for adapter in wgpu.gpu.enumerate_adapters_sync()]
    for info in found:
        if info["backend_type"] in NATIVE:
            print(info["device"])
            return 0
    others = ", ".join(f"{info['device']} ({info['backend_type']})" for info in found)
    print(f"no native adapter; {f'found, and not enough: {others}' if others else 'none at all'}")
    for name in DRIVER_VARIABLES:
        if name in os.environ:
            print(f"{name}={os.environ[name]} decides which Vulkan drivers are looked at")
    return 1


if __name__ == "__main__":
    sys.exit(main())
