"""The same normalisation in PyTorch on CUDA: eager and compiled, contiguous and channels last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import gpu_cases
import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gpu_cases import Array, Case, Expected

SLEEP_CYCLES: Final = 1_000_000
"""The GPU waits this long before each run, while the host launches it."""
WARM_UP: Final = 3


class Timed(NamedTuple):
    """Median GPU times in microseconds, by way and layout, and by how many times its tolerance the worst Y is off."""

    times_us: dict[str, float]
    error_of_allowed: float


def version() -> str:
    """Return the version and the device."""
    return f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}"


def measure(case: Case, arrays: Mapping[str, Array], sought: Expected, repeat: int) -> Timed:
    """Time and check each way on a case's own data, which as many sets hold as hold it for this library's calls.

    Args:
        case: the call; it has a bias.
        arrays: its inputs.
        sought: what its results should be.
        repeat: how many runs are measured.

    Returns:
        The times, and how right the results are.
    """
    kind = getattr(torch, case.dtype)
    bias, gamma, beta = (torch.from_numpy(arrays[name]).to("cuda", kind) for name in ("bias", "gamma", "beta"))

    def block(x: Any, skip: Any) -> tuple[Any, Any]:
        s = x + skip + bias[None, :, None, None]
        return torch.nn.functional.silu(torch.nn.functional.group_norm(s, gpu_cases.GROUPS, gamma, beta)), s

    times = {}
    worst = 0.0
    for layout in ("contiguous", "channels last"):
        form = torch.channels_last if layout == "channels last" else torch.contiguous_format
        first = [_images(case, arrays[name]).contiguous(memory_format=form) for name in ("X", "skip")]
        given = [first, *([tensor.clone() for tensor in first] for _ in range(case.sets - 1))]
        torch._dynamo.reset()  # noqa: SLF001 - else a new shape would be compiled as one of any size
        for name, way in (("eager", block), ("compiled", torch.compile(block, dynamic=False))):
            y = way(*first)[0]
            results = {"Y": (y.permute(0, 2, 3, 1) if case.channels_last else y).cpu()}
            worst = max(worst, gpu_cases.error(case._replace(keeps_sum=False), sought, results))
            times[f"{name}, {layout}"] = _median_us(way, given, repeat)
    return Timed(times, worst)


def _images(case: Case, array: Array) -> Any:
    """Put images on the GPU, (N, C, H, W) in whatever layout they come."""
    images = torch.from_numpy(array).cuda()
    return images.permute(0, 3, 1, 2) if case.channels_last else images


def _median_us(call: Callable[..., Any], given: Sequence[Sequence[Any]], repeat: int) -> float:
    results: list[Any] = [None] * len(given)
    spans = []
    for index in range(-WARM_UP, repeat):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(SLEEP_CYCLES)  # noqa: SLF001 - nothing public keeps the GPU busy as cheaply
        begin.record()
        made = call(*given[index % len(given)])
        end.record()
        torch.cuda.synchronize()
        results[index % len(given)] = made  # which keeps its memory: the next run writes elsewhere
        spans.append(begin.elapsed_time(end) * 1e3)
    return float(np.median(spans[WARM_UP:]))
