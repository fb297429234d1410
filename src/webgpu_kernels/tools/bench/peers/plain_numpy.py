"""numpy: ``with_numpy`` of the package's peers.py, else its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webgpu_kernels.arrays import np
from webgpu_kernels.tools.bench.peers import PeerUnable, wall_runs_us
from webgpu_kernels.tools.bench.peers.formulas import formula_of, options_of
from webgpu_kernels.tools.suites.references import REFERENCE_FILE, beside_package, function_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.tools.bench.peers import Peer, PeerCase, PeerWork
    from webgpu_kernels.tools.bench.stands import Effort
    from webgpu_kernels.tools.results.model import Clock


class NumpyPeer:
    """Computes on this computer's processor."""

    name = "numpy"
    device = "CPU"

    def __init__(self) -> None:
        self.version: str = np.__version__

    def prepare(self, case: PeerCase) -> PeerWork:
        """Find what to compute; see ``Peer``."""
        try:
            return _Work(case, formula_of(case.package, "with_numpy"), None)
        except PeerUnable:
            path = beside_package(case.package, REFERENCE_FILE)
            function = function_of(path, "reference", where=case.package.where) if path else None
            if function is None:
                raise
            return _Work(case, function, "the package's reference, which is written to be exact, not fast")


class _Work:
    clock: Clock = "wall"

    def __init__(self, case: PeerCase, function: Callable[..., Any], note: str | None) -> None:
        self._function = function
        self._attrs = options_of(case.request)
        self._names = tuple(case.request.outputs)
        self._sets = case.host_sets()
        self.note = note

    def outputs(self) -> Mapping[str, Array]:
        with np.errstate(all="ignore"):
            found: Mapping[str, Any] = self._function(dict(self._sets[0]), self._attrs, self._names)
            return {name: np.asarray(value) for name, value in found.items()}

    def runs_us(self, effort: Effort) -> Sequence[float]:
        with np.errstate(all="ignore"):
            return wall_runs_us(self._call, effort)

    def _call(self, index: int) -> object:
        return self._function(dict(self._sets[index % len(self._sets)]), self._attrs, self._names)


def open_peer() -> Peer:
    """Open it."""
    return NumpyPeer()
