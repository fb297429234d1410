"""A program compiled for a device: bind, encode, submit.

A repeated call is found again by the keys of its tensors; it costs little more than encoding and submitting it by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from webgpu_kernels.device.arguments import check_count
from webgpu_kernels.device.binder import Binder
from webgpu_kernels.device.binding import BindingCache, BoundSet
from webgpu_kernels.device.matching import check_tensors, spec_of
from webgpu_kernels.device.reading import begin_read, end_read
from webgpu_kernels.device.tensor import Tensor
from webgpu_kernels.device.timing import medians, time_calls, time_passes
from webgpu_kernels.errors import MissingValueError, PlanError

if TYPE_CHECKING:
    from webgpu_kernels.device.binding import Key
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.device.device import Device
    from webgpu_kernels.planning.program import Program

Tensors: TypeAlias = Sequence[Tensor] | Mapping[str, Tensor]
Outputs: TypeAlias = Sequence[Tensor | None] | Mapping[str, Tensor]


_KEY_OF: Final = attrgetter("key")


class Executable:
    """A compiled program; make it with ``Executable.compile``. Any thread may run it.

    Attributes:
        device: where it runs.
        program: what it runs.
    """

    def __init__(self, device: Device, program: Program, binder: Binder) -> None:
        self.device = device
        self.program = program
        self._binder = binder
        self._cache = BindingCache()
        self._input_names = tuple(use.name for use in program.inputs)
        self._output_names = tuple(use.name for use in program.outputs)
        self._arity = len(program.inputs)
        in_place = {name: index for index, name in enumerate(self._input_names)}
        self._plain = in_place.keys().isdisjoint(self._output_names)
        self._makers = tuple(
            (in_place.get(use.name, -1), device.pool.class_of(use.size_bytes), spec_of(use), use)
            for use in program.outputs
        )

    @classmethod
    def compile(cls, device: Device, program: Program) -> Executable:
        """Compile a program's shaders for a device.

        Args:
            device: where it will run.
            program: WGSL, layouts, uniform bytes and sizes.

        Returns:
            The executable; its pipelines are shared with others of the same text.

        Raises:
            LimitError: a shader or a size is more than the device has.
            ShaderError: a shader does not compile.
            DeviceError: the device cannot be used.

        Source: FORMAT, section 8.
        """
        device.check()
        with device.lock:
            device.check()
            executable = cls(device, program, Binder(device, program))
        device.watch_executable(executable)
        return executable

    def run(self, inputs: Tensors, outputs: Outputs | None = None) -> tuple[Tensor, ...]:
        """Run the program on tensors of its device; in an open batch of this thread, with the batch.

        Args:
            inputs: the program's inputs in order, or by name.
            outputs: where to write, in order with None for a new tensor, or by name; None makes them all.

        Returns:
            The program's outputs in order. An output that is also an input is that same tensor.

        Raises:
            ForeignTensor: a tensor of another device.
            TensorDestroyed: a tensor whose memory is gone.
            ShapeError, LayoutError: a tensor that is not what the program was planned for.
            PlanError: one pass would read and write the same memory.
            DeviceError: the device cannot be used.

        Source: FORMAT, section 8.
        """
        device = self.device
        if device.failure is not None:
            device.check()
        # Types are compared: asking whether something is a Mapping costs more than all other checks of a warm call.
        with device.lock:
            if device.failure is not None:
                device.check()
            if (type(inputs) is tuple or type(inputs) is list) and len(inputs) == self._arity:
                given: Sequence[Tensor] = inputs
            else:
                given = self._inputs(inputs)
            if outputs is None:
                results = self._new_results(given)
            elif self._plain and type(outputs) is tuple and len(outputs) == len(self._makers) and None not in outputs:
                results = outputs
            else:
                results = self._results(given, outputs)
            key = (*map(_KEY_OF, given), *map(_KEY_OF, results))
            bound = self._cache.find(key) or self._bind(key, given, results)
            if device.batches and (calls := device.current_batch()) is not None:
                calls.record(bound, () if results is outputs else _created(results, given, outputs))
            else:
                device.submit(bound)
        return results

    def run_to_host(self, inputs: Tensors, outputs: Outputs | None = None) -> tuple[Array, ...]:
        """Run the program and read its outputs in the same submission.

        Args:
            inputs: as for ``run``.
            outputs: as for ``run``.

        Returns:
            The outputs in order, as new numpy arrays.

        Raises:
            DeviceError: also where a batch of this thread is open.

        Source: FORMAT, section 8.
        """
        self.device.check()
        self.device.refuse_in_batch("run to numpy")
        with self.device.lock:
            self.device.check()
            given = self._inputs(inputs)
            results = self._results(given, outputs)
            bound = self._bound(given, results)
            reading = begin_read(self.device, results, bound)
        return end_read(self.device, reading)

    def time(self, inputs: Tensors, outputs: Outputs | None = None, *, repeat: int = 5) -> Mapping[str, int]:
        """Time each pass on the GPU, alone in a compute pass of its own.

        Args:
            inputs: as for ``run``.
            outputs: as for ``run``.
            repeat: how many runs; the first one of a device is slower than the rest.

        Returns:
            The median GPU time of each pass that runs, in nanoseconds, by pass id.

        Raises:
            DeviceError: the device has no timestamp queries, or a batch of this thread is open.

        Source: WebGPU, section 20.4 "Timestamp query".
        """
        return medians(self.time_runs(inputs, outputs, repeat=repeat))

    def time_runs(
        self, inputs: Tensors, outputs: Outputs | None = None, *, repeat: int = 5
    ) -> Mapping[str, tuple[int, ...]]:
        """Time each pass on the GPU and return every run, for statistics of the caller's own.

        Args:
            inputs: as for ``run``.
            outputs: as for ``run``.
            repeat: how many runs.

        Returns:
            The GPU times of each pass that runs, in nanoseconds, by pass id.

        Raises:
            DeviceError: as for ``time``.

        Source: WebGPU, section 20.4 "Timestamp query".
        """
        self.device.check()
        check_count(repeat, "repeat", least=1, where="Executable.time")
        self.device.refuse_in_batch("time passes")
        with self.device.lock:
            self.device.check()
            bound, results = self.bind(inputs, outputs)
        times = time_passes(self.device, bound, repeat)
        del results  # their memory must outlive the runs
        return times

    def time_calls(self, sets: Sequence[tuple[Tensors, Outputs | None]], *, repeat: int = 5) -> tuple[int, ...]:
        """Time whole calls on the GPU, all passes of a call together, as ``run`` runs them.

        Args:
            sets: inputs and outputs as for ``run``; the runs take them in turns.
            repeat: how many runs.

        Returns:
            The GPU time of every run, in nanoseconds.

        Raises:
            DeviceError: as for ``time``.

        Source: WebGPU, section 20.4 "Timestamp query".
        """
        self.device.check()
        check_count(repeat, "repeat", least=1, where="Executable.time_calls")
        self.device.refuse_in_batch("time calls")
        with self.device.lock:
            bound = [self.bind(inputs, outputs) for inputs, outputs in sets]
        times = time_calls(self.device, [one for one, _ in bound], repeat)
        del bound  # the results' memory must outlive the runs
        return times

    def bind(self, inputs: Tensors, outputs: Outputs | None = None) -> tuple[BoundSet, tuple[Tensor, ...]]:
        """Bind tensors without running anything; the caller holds the device's lock.

        Args:
            inputs: as for ``run``.
            outputs: as for ``run``.

        Returns:
            The bound set and the outputs.

        Source: none; timing uses it.
        """
        given = self._inputs(inputs)
        results = self._results(given, outputs)
        return self._bound(given, results), results

    def release(self) -> None:
        """Drop every bind group: the device is closing."""
        for bound in tuple(self._cache.sets.values()):
            bound.drop()

    def __repr__(self) -> str:
        """Return ``<Executable of ai.onnx.Add with 1 pass on llvmpipe>``."""
        count = len(self.program.passes)
        return f"<Executable of {self.program.where} with {count} pass{'es'[: 2 * (count != 1)]} on {self.device.name}>"

    def _bound(self, given: Sequence[Tensor], results: Sequence[Tensor]) -> BoundSet:
        key = (*map(_KEY_OF, given), *map(_KEY_OF, results))
        return self._cache.find(key) or self._bind(key, given, results)

    def _bind(self, key: Key, given: Sequence[Tensor], results: Sequence[Tensor]) -> BoundSet:
        check_tensors(self.device, self.program.where, given, self.program.inputs)
        check_tensors(self.device, self.program.where, results, self.program.outputs)
        bound = self._binder.bind(self._cache, key, given, results)
        self._cache.keep(bound)
        return bound

    def _inputs(self, inputs: Tensors) -> Sequence[Tensor]:
        if isinstance(inputs, Mapping):
            return _by_name(inputs, self._input_names, self.program.where)
        if len(inputs) != len(self._input_names):
            raise MissingValueError(
                "wrong number of input tensors",
                where=self.program.where,
                expected=str(len(self._input_names)),
                got=str(len(inputs)),
            )
        return inputs

    def _new_results(self, given: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Make every output; the way of most calls, so what can be decided before is."""
        device, pool = self.device, self.device.pool
        if pool.returned:
            pool.collect()
        results = []
        for source, size_class, spec, use in self._makers:
            if source >= 0:
                results.append(given[source])
                continue
            allocation = pool.reuse(size_class)
            if allocation is None:
                allocation = pool.acquire(use.size_bytes, use.name)
            results.append(Tensor(device, spec, allocation, allocation.key(spec)))
        return tuple(results)

    def _results(self, given: Sequence[Tensor], outputs: Outputs | None) -> tuple[Tensor, ...]:
        if isinstance(outputs, Mapping):
            outputs = [outputs.get(name) for name in self._output_names]
        if outputs is None or all(tensor is None for tensor in outputs):
            return self._new_results(given)
        return tuple([self._result(index, given, tensor) for index, tensor in enumerate(outputs)])

    def _result(self, index: int, given: Sequence[Tensor], wanted: Tensor | None) -> Tensor:
        source, _, spec, use = self._makers[index]
        if source >= 0:
            if wanted is not None and wanted is not given[source]:
                raise PlanError(f"{use.name} is updated in place: give the same tensor", where=self.program.where)
            return given[source]
        if wanted is not None:
            return wanted
        allocation = self.device.pool.acquire(use.size_bytes, use.name)
        return Tensor(self.device, spec, allocation, allocation.key(spec))


def _created(results: Sequence[Tensor], given: Sequence[Tensor], outputs: Outputs | None) -> list[Tensor]:
    """Return the outputs that a call made, not those it was given."""
    kept = list(outputs.values() if isinstance(outputs, Mapping) else outputs or ())
    known = {id(tensor) for tensor in (*given, *kept)}
    return [tensor for tensor in results if id(tensor) not in known]


def _by_name(tensors: Mapping[str, Tensor], names: Sequence[str], where: str) -> list[Tensor]:
    missing = [name for name in names if name not in tensors]
    if missing:
        raise MissingValueError(f"no tensor for {', '.join(missing)}", where=where)
    return [tensors[name] for name in names]
