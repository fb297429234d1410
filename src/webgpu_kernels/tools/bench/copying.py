"""A copy that moves as many bytes as a call, on the same device in the same run: what speed is held against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from webgpu_kernels.arrays import np
from webgpu_kernels.loading import load_kernel
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.bench.samples import scaled
from webgpu_kernels.tools.bench.stands import EngineStand, Load, NativeStand
from webgpu_kernels.tools.bench.traffic import Moved
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.engines.native import NativeEngine

if TYPE_CHECKING:
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.tools.bench.samples import Sample
    from webgpu_kernels.tools.bench.stands import Effort, Stand
    from webgpu_kernels.tools.engines import Engine

FOLDER: Final = Path(__file__).parent / "copy"
_VECTOR_BYTES: Final = 16
_WORDS: Final = 4
_LOAD_BYTES: Final = 2**27
_LOAD_SECONDS: Final = 0.06


class Copier:
    """Times copies on one engine, each size once.

    Args:
        engine: where.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kernel = load_kernel(FOLDER)
        self._found: dict[tuple[int, int], Sample] = {}
        self.busy: Load | None = self._load()

    def time(self, moved: Moved, effort: Effort) -> Sample:
        """Time a copy of as many bytes as a call moves.

        Args:
            moved: by the call.
            effort: how much to spend.

        Returns:
            The copy's times. A copy that is larger than one binding may be is measured at the largest size that is
            not, and its times are those of that size, in proportion.

        Raises:
            DeviceError: the device failed.
        """
        limits = self._engine.capabilities.limits
        most = min(limits["maxStorageBufferBindingSize"], limits["maxBufferSize"]) // _VECTOR_BYTES * _VECTOR_BYTES
        part = max(moved.read, moved.written) / most
        shrink = max(part, 1.0)
        key = (_vectors(moved.read / shrink), _vectors(moved.written / shrink))
        if key not in self._found:
            self._found[key] = self._measured(*key, effort)
        return scaled(self._found[key], shrink) if shrink > 1 else self._found[key]

    def _measured(self, reads: int, writes: int, effort: Effort) -> Sample:
        program = self._program(reads, writes)
        arrays = _Words(reads * _WORDS)
        stand: Stand
        if isinstance(self._engine, NativeEngine):
            moved = Moved(reads * _VECTOR_BYTES, writes * _VECTOR_BYTES)
            stand = NativeStand(self._engine.device, program, arrays, moved, self.busy)
        else:
            stand = EngineStand(self._engine, arrays)
        try:
            return stand.time(program, effort)
        finally:
            stand.close()

    def _program(self, reads: int, writes: int) -> Program:
        call = CallDescription(
            inputs={"taken": _words_spec(reads * _WORDS)}, outputs={"given": _words_spec(writes * _WORDS)}
        )
        return call.program(self._kernel, self._engine.capabilities)

    def _load(self) -> Load | None:
        """Prepare the work that keeps clocks up; what imitates a GPU has none that matter."""
        if not isinstance(self._engine, NativeEngine) or self._engine.census.software:
            return None
        vectors = _LOAD_BYTES // _VECTOR_BYTES
        program = self._program(vectors, vectors)
        return Load(self._engine.device, program, _Words(vectors * _WORDS).of_set(0), _LOAD_SECONDS)


class _Words:
    """The copy's input, the same in every set."""

    def __init__(self, count: int) -> None:
        # No copy mistakes them for its end mark: all are below 2**31.
        few = np.random.default_rng(0).integers(0, 2**31, min(count, 2**20 + 7), np.uint32)
        self._words = np.resize(few, count)

    def of_set(self, index: int) -> dict[str, Array]:  # noqa: ARG002 - all sets are alike
        return {"taken": self._words}


def _words_spec(count: int) -> TensorSpec:
    return TensorSpec((count,), "uint32")


def _vectors(size_bytes: float) -> int:
    return max(1, -(-int(size_bytes) // _VECTOR_BYTES))
