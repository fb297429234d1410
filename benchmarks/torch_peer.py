"""The same normalisation in PyTorch on CUDA: eager and compiled, contiguous and channels last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable

SLEEP_CYCLES = 1_000_000
"""The GPU waits this long before each run, while the host launches it."""


def version() -> str:
    """Return the version and the device."""
    return f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}"


def times_us(shape: tuple[int, int, int, int], dtype: str, groups: int, repeat: int) -> dict[str, float]:
    """Return the median GPU time of each way, in microseconds.

    Args:
        shape: (N, C, H, W).
        dtype: float32 or float16.
        groups: how many groups the channels fall into.
        repeat: how many runs are measured.

    Returns:
        Way to time.
    """
    kind = getattr(torch, dtype)
    x, skip = (torch.randn(shape, device="cuda", dtype=kind) for _ in range(2))
    bias, gamma, beta = (torch.randn(shape[1], device="cuda", dtype=kind) for _ in range(3))

    def block(x: Any, skip: Any) -> tuple[Any, Any]:
        s = x + skip + bias[None, :, None, None]
        return torch.nn.functional.silu(torch.nn.functional.group_norm(s, groups, gamma, beta)), s

    times = {}
    for layout in ("contiguous", "channels last"):
        form = torch.channels_last if layout == "channels last" else torch.contiguous_format
        given = [tensor.contiguous(memory_format=form) for tensor in (x, skip)]
        torch._dynamo.reset()  # noqa: SLF001 - else a new shape would be compiled as one of any size
        for name, way in (("eager", block), ("compiled", torch.compile(block, dynamic=False))):
            times[f"{name}, {layout}"] = _median_us(lambda way=way, given=given: way(*given), repeat)  # type: ignore[misc]
    return times


def _median_us(call: Callable[[], object], repeat: int) -> float:
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    spans = []
    for _ in range(repeat):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(SLEEP_CYCLES)  # noqa: SLF001 - nothing public keeps the GPU busy as cheaply
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        spans.append(begin.elapsed_time(end) * 1e3)
    return float(np.median(spans))
