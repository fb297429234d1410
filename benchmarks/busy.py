"""Work that keeps a GPU busy, so that its clocks are up when the timing begins: between kernels they fall."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import webgpu_kernels as wk

if TYPE_CHECKING:
    from webgpu_kernels.prepared import PreparedCall

COPY: Final = Path(__file__).resolve().parent / "gpu_copy"
"""A package of one kernel, which moves the bytes of SkipGroupNorm and computes nothing."""
START_BYTES: Final = 2**40
"""What to move before the first timing: about a third of a second at 4 TB/s."""
VALUES: Final = 2**26
SOFTWARE_VALUES: Final = 2**14


class Busy:
    """Large copies, as many as it takes.

    Args:
        device: where to run; a software device has no clocks to keep up, and gets one small copy.
    """

    def __init__(self, device: wk.Device) -> None:
        self._device = device
        self.software = bool(device.capabilities.adapter_info.get("isFallbackAdapter"))
        values = SOFTWARE_VALUES if self.software else VALUES
        spec = wk.TensorSpec((values,), "float32")
        copy = wk.load_kernel(COPY, device=device)
        self._call: PreparedCall = copy.prepare({"X": spec, "skip": spec}, outputs=["Y", "S"])
        self._from = {name: device.zeros((values,), "float32") for name in ("X", "skip")}
        self._to = {name: device.zeros((values,), "float32") for name in ("Y", "S")}
        self._bytes = 16 * values

    def spin(self, moved_bytes: int) -> None:
        """Keep the GPU busy, without waiting for it.

        Args:
            moved_bytes: how much to move.
        """
        times = 1 if self.software else -(-moved_bytes // self._bytes)
        with self._device.batch():
            for _ in range(times):
                self._call.run(self._from, self._to)
