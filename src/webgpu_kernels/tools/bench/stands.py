"""Where programs are timed: a stand holds what one case runs on, set by set, and times one program after another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from webgpu_kernels.device import Executable
from webgpu_kernels.errors import DeviceError
from webgpu_kernels.tools.bench.samples import Sample, sample_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from webgpu_kernels.device import Device, Tensor
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.program import Program, TensorUse
    from webgpu_kernels.tools.bench.data import ArraySets
    from webgpu_kernels.tools.bench.traffic import Moved
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.results.model import Clock

COLD_BYTES: Final = 2**28
"""What the sets of a case move together: more than a GPU's last cache holds."""
SOFTWARE_COLD_BYTES: Final = 2**26
"""The same where a processor imitates a GPU."""
MOST_SETS: Final = 32
WARM_UP: Final = 2
LEAST_RUNS: Final = 3
_BATCH_US: Final = 2000.0
_MOST_CALLS: Final = 64


class Effort(NamedTuple):
    """How much to spend on one measurement.

    Attributes:
        runs: how many runs, if there is time for them.
        seconds: after how long fewer will do.
    """

    runs: int = 25
    seconds: float = 2.0

    def affordable(self, estimate_us: float) -> int:
        """Return how many runs of a thing that takes so long are within the limits."""
        return max(LEAST_RUNS, min(self.runs, int(self.seconds * 1e6 / max(estimate_us, 1e-3))))


class Stand(Protocol):
    """Times programs of one request."""

    clock: Clock

    def time(self, program: Program, effort: Effort) -> Sample:
        """Time a program.

        Args:
            program: planned for the stand's request, by whatever variant.
            effort: how much to spend.

        Returns:
            The times of whole calls.

        Raises:
            DeviceError: the device failed, or refused a shader.
        """

    def close(self) -> None:
        """Give the memory back."""


class NativeStand:
    """Times programs on a device of this process, on sets of buffers that calls take in turns.

    Args:
        device: where.
        program: any of the request's: it says what the inputs and outputs are.
        arrays: the inputs.
        moved: what a call reads and writes.
        busy: keeps the device busy up to the first timed run, so that its clocks are up.
    """

    def __init__(
        self,
        device: Device,
        program: Program,
        arrays: ArraySets,
        moved: Moved,
        busy: Callable[[], None] | None = None,
    ) -> None:
        self.clock: Clock = "gpu" if "timestamp-query" in device.capabilities.features else "wall"
        self._device = device
        self._busy = busy
        self._owned: list[Tensor] = []
        self._shared: dict[str, Tensor] = {}
        self._cold = SOFTWARE_COLD_BYTES if _imitates(device) else COLD_BYTES
        # Of an input that is larger than what is read, calls read other parts; one that fills caches needs no second.
        self._most_bytes = min(moved.read, self._cold)
        count = max(1, min(MOST_SETS, -(-self._cold // max(moved.bytes, 1))))
        try:
            self._sets = [self._new_set(program, arrays.of_set(index)) for index in range(count)]
        except Exception:
            self.close()
            raise

    @property
    def sets(self) -> int:
        """How many sets there are."""
        return len(self._sets)

    def time(self, program: Program, effort: Effort) -> Sample:
        """Time a program; see ``Stand``."""
        executable = Executable.compile(self._device, program)
        runs = self._gpu_runs if self.clock == "gpu" else self._wall_runs
        first = runs(executable, self._sets, WARM_UP)
        # The sets of the first runs come last now: what is timed has not been touched of late.
        turned = self._sets[WARM_UP % len(self._sets) :] + self._sets[: WARM_UP % len(self._sets)]
        count = effort.affordable(min(first))
        if self._busy is not None:
            self._busy()
        return sample_of(runs(executable, turned, count))

    def close(self) -> None:
        """Give the memory back."""
        for tensor in self._owned:
            tensor.destroy()
        self._owned.clear()

    def _gpu_runs(self, executable: Executable, sets: Sequence[_Set], count: int) -> list[float]:
        return [time_ns / 1e3 for time_ns in executable.time_calls(sets, repeat=count)]

    def _wall_runs(self, executable: Executable, sets: Sequence[_Set], count: int) -> list[float]:
        """Time groups of calls by the host's clock: so many that waiting for them counts little."""
        device, calls, runs = self._device, 1, []
        device.synchronize()
        for index in range(-1, count):
            begin = time.perf_counter()
            for call in range(calls):
                executable.run(*sets[(max(index, 0) * calls + call) % len(sets)])
            device.synchronize()
            run_us = (time.perf_counter() - begin) * 1e6 / calls
            if index < 0:
                calls = max(1, min(_MOST_CALLS, int(_BATCH_US / run_us)))
            else:
                runs.append(run_us)
        return runs

    def _new_set(self, program: Program, arrays: Mapping[str, Array]) -> _Set:
        tensors: dict[str, Tensor] = {}
        for use in program.inputs:
            array = arrays[use.name]
            if use.size_bytes > self._most_bytes:
                if use.name not in self._shared:
                    self._shared[use.name] = self._upload(use, array)
                tensors[use.name] = self._shared[use.name]
            else:
                tensors[use.name] = self._upload(use, array)
        outputs = []
        for use in program.outputs:
            if use.name not in tensors:
                tensors[use.name] = self._kept(self._device.empty(use.shape, use.dtype, use.layout, _storage(use)))
            outputs.append(tensors[use.name])
        return tuple(tensors[use.name] for use in program.inputs), tuple(outputs)

    def _upload(self, use: TensorUse, array: Array) -> Tensor:
        return self._kept(
            self._device.tensor(
                array, layout=use.layout, storage=_storage(use), narrowing=use.narrowing or "checked", where=use.name
            )
        )

    def _kept(self, tensor: Tensor) -> Tensor:
        self._owned.append(tensor)
        return tensor


_Set = tuple[tuple["Tensor", ...], tuple["Tensor", ...]]


class EngineStand:
    """Times programs through an engine that is not of this process, on the one set of buffers that it makes.

    Args:
        engine: where.
        arrays: the inputs.
    """

    clock: Clock = "gpu"

    def __init__(self, engine: Engine, arrays: ArraySets) -> None:
        self._engine = engine
        self._inputs = arrays.of_set(0)

    def time(self, program: Program, effort: Effort) -> Sample:
        """Time a program; see ``Stand``."""
        first = self._times(program, WARM_UP)
        return sample_of(self._times(program, effort.affordable(min(first))))

    def close(self) -> None:
        """Do nothing: the engine frees what it makes."""

    def _times(self, program: Program, count: int) -> list[float]:
        times = self._engine.run(program, self._inputs, repeat=count).times_ns
        if not times:
            raise DeviceError(
                f"{self._engine.census.name} has no timestamp queries, and the engine no other clock",
                hint="The engine native times calls by the host's clock then.",
            )
        return [time_ns / 1e3 for time_ns in times]


class Load:
    """Work that keeps a GPU's clocks up: between short kernels they fall, and times would be those of a slow GPU.

    Args:
        device: where.
        program: a copy.
        inputs: its inputs.
        seconds: for how long.
    """

    def __init__(self, device: Device, program: Program, inputs: Mapping[str, Array], seconds: float) -> None:
        self._device = device
        self._executable = Executable.compile(device, program)
        self._inputs = [
            device.tensor(inputs[use.name], layout=use.layout, storage=_storage(use)) for use in program.inputs
        ]
        self._outputs = tuple(device.empty(use.shape, use.dtype, use.layout, _storage(use)) for use in program.outputs)
        self._seconds = seconds
        self._rounds = 0

    def __call__(self) -> None:
        """Submit the work and do not wait for it."""
        if not self._rounds:
            begin = time.perf_counter()
            self._executable.run(self._inputs, self._outputs)
            self._device.synchronize()
            begin, first = time.perf_counter(), begin
            for _ in range(8):
                self._executable.run(self._inputs, self._outputs)
            self._device.synchronize()
            each = max((time.perf_counter() - begin) / 8, 1e-6)
            self._rounds = max(1, int(self._seconds / each))
            # The first timing of a process finds the clocks at their lowest.
            self._submit(max(0, int((5 * self._seconds - (begin - first)) / each)))
        self._submit(self._rounds)

    def _submit(self, rounds: int) -> None:
        with self._device.batch():
            for _ in range(rounds):
                self._executable.run(self._inputs, self._outputs)


def _storage(use: TensorUse) -> str | None:
    return None if use.storage == use.dtype else use.storage


def _imitates(device: Device) -> bool:
    return bool(device.capabilities.adapter_info.get("isFallbackAdapter"))
