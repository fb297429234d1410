"""Other implementations of an operator, timed beside a package's variants in the same run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from webgpu_kernels.tools.bench.stands import COLD_BYTES, WARM_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from webgpu_kernels.contract import Package
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.tools.bench.data import ArraySets
    from webgpu_kernels.tools.bench.model import BenchCase
    from webgpu_kernels.tools.bench.stands import Effort
    from webgpu_kernels.tools.results.model import Clock

PEERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "onnxruntime": "onnx_runtime",
        "onnxruntime-webgpu": "onnx_runtime_webgpu",
        "torch": "pytorch",
        "numpy": "plain_numpy",
    }
)
"""Names of peers, and the module of each; its ``open_peer()`` opens it."""
_MOST_SETS: Final = 4


class PeerUnable(Exception):
    """A peer is not there, or cannot compute a case; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerCase:
    """A case as peers see it.

    Attributes:
        package: whose.
        case: the case.
        request: as it was bound: outputs, attributes with their defaults.
        arrays: the inputs.
        moved_bytes: what a call reads and writes.
    """

    package: Package
    case: BenchCase
    request: Request
    arrays: ArraySets
    moved_bytes: int

    def host_sets(self) -> list[Mapping[str, Array]]:
        """Return sets of inputs that calls on a processor take in turns; large tables are there once."""
        count = max(1, min(_MOST_SETS, COLD_BYTES // 4 // max(self.moved_bytes, 1)))
        sets: list[Mapping[str, Array]] = [self.arrays.of_set(0)]
        for index in range(1, count):
            arrays = self.arrays.of_set(index)
            sets.append({name: array.copy() if array.nbytes < COLD_BYTES else array for name, array in arrays.items()})
        return sets


class PeerWork(Protocol):
    """A case that a peer is ready to compute."""

    clock: Clock
    note: str | None

    def outputs(self) -> Mapping[str, Array]:
        """Compute the first set of inputs and return the outputs by name."""

    def runs_us(self, effort: Effort) -> Sequence[float]:
        """Time whole calls.

        Args:
            effort: how much to spend.

        Returns:
            Every run, microseconds.
        """


class Peer(Protocol):
    """Another implementation.

    Attributes:
        name: one of ``PEERS``.
        version: of the implementation.
        device: where it runs.
    """

    name: str
    version: str
    device: str

    def prepare(self, case: PeerCase) -> PeerWork:
        """Get ready to compute a case.

        Args:
            case: the case.

        Returns:
            What to run.

        Raises:
            PeerUnable: it cannot; so does any other exception of the implementation say.
        """


class OpenedPeers(NamedTuple):
    """The peers that were asked for.

    Attributes:
        peers: those that are there.
        missing: name to why it is not.
    """

    peers: tuple[Peer, ...]
    missing: Mapping[str, str]


def open_peers(names: Iterable[str]) -> OpenedPeers:
    """Open peers.

    Args:
        names: of ``PEERS``.

    Returns:
        Those that are installed, and why the others are not there.
    """
    peers: list[Peer] = []
    missing: dict[str, str] = {}
    for name in names:
        try:
            peers.append(import_module(f"{__name__}.{PEERS[name]}").open_peer())
        except ImportError as error:
            missing[name] = f"is not installed ({error})"
        except PeerUnable as error:
            missing[name] = str(error)
    return OpenedPeers(tuple(peers), MappingProxyType(missing))


def wall_runs_us(call: Callable[[int], object], effort: Effort) -> list[float]:
    """Time calls by the host's clock.

    Args:
        call: takes the number of the run, and returns when it is done.
        effort: how much to spend.

    Returns:
        Every run, microseconds.
    """
    first = min(_timed_us(call, index) for index in range(WARM_UP))
    return [_timed_us(call, WARM_UP + index) for index in range(effort.affordable(first))]


def _timed_us(call: Callable[[int], object], index: int) -> float:
    begin = time.perf_counter()
    call(index)
    return (time.perf_counter() - begin) * 1e6
