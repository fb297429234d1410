"""PyTorch, on CUDA where it is there, else on the processor: ``with_torch`` of the package's peers.py."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.arrays import np
from webgpu_kernels.tools.bench.peers import wall_runs_us
from webgpu_kernels.tools.bench.peers.formulas import formula_of, options_of
from webgpu_kernels.tools.bench.stands import WARM_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.tools.bench.peers import Peer, PeerCase, PeerWork
    from webgpu_kernels.tools.bench.stands import Effort
    from webgpu_kernels.tools.results.model import Clock

_SLEEP_CYCLES: Final = 1_000_000
"""The GPU waits this long before each run, while the host launches it."""


class TorchPeer:
    """Computes with PyTorch.

    Args:
        torch: the module.
    """

    name = "torch"

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.version = str(torch.__version__)
        self.cuda = bool(torch.cuda.is_available())
        self.device = str(torch.cuda.get_device_name()) if self.cuda else "CPU"

    def prepare(self, case: PeerCase) -> PeerWork:
        """Put the inputs where they are computed; see ``Peer``."""
        function = formula_of(case.package, "with_torch")
        place = "cuda" if self.cuda else "cpu"
        sets = [
            {name: self._torch.from_numpy(np.ascontiguousarray(array)).to(place) for name, array in arrays.items()}
            for arrays in case.host_sets()
        ]
        call = functools.partial(function, attrs=options_of(case.request), outputs=tuple(case.request.outputs))
        return _Work(self._torch, self.cuda, call, sets)


class _Work:
    def __init__(self, torch: Any, cuda: bool, call: Callable[..., Any], sets: Sequence[Mapping[str, Any]]) -> None:
        self.clock: Clock = "gpu" if cuda else "wall"
        self.note: str | None = None
        self._torch = torch
        self._cuda = cuda
        self._call = call
        self._sets = sets

    def outputs(self) -> Mapping[str, Array]:
        with self._torch.no_grad():
            return {name: tensor.cpu().numpy() for name, tensor in self._call(self._sets[0]).items()}

    def runs_us(self, effort: Effort) -> Sequence[float]:
        """Time eager calls, and on CUDA compiled ones too, of which the better ones count."""
        with self._torch.no_grad():
            if not self._cuda:
                return wall_runs_us(lambda index: self._call(self._sets[index % len(self._sets)]), effort)
            eager = self._cuda_runs_us(self._call, effort)
            try:
                compiled = self._cuda_runs_us(self._torch.compile(self._call, dynamic=False), effort)
            except Exception as error:  # noqa: BLE001 - compilers fail in many ways, and eager calls are there
                self.note = f"eager: its compiler fails, {type(error).__name__}"
                return eager
        self.note = "compiled" if np.median(compiled) < np.median(eager) else "eager, which is faster than compiled"
        return min(compiled, eager, key=np.median)

    def _cuda_runs_us(self, call: Callable[..., Any], effort: Effort) -> list[float]:
        cuda, runs = self._torch.cuda, []
        for index in range(WARM_UP + effort.runs):
            begin, end = (cuda.Event(enable_timing=True) for _ in range(2))
            cuda._sleep(_SLEEP_CYCLES)  # noqa: SLF001 - nothing public keeps the GPU busy as cheaply
            begin.record()
            call(self._sets[index % len(self._sets)])
            end.record()
            cuda.synchronize()
            runs.append(float(begin.elapsed_time(end)) * 1e3)
        return runs[WARM_UP:]


def open_peer() -> Peer:
    """Open it.

    Raises:
        ImportError: it is not installed.
    """
    import torch  # noqa: PLC0415 - optional, and slow to load

    return TorchPeer(torch)
