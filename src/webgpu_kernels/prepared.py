"""A call that is planned and compiled: repeating it costs binding and submission only."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from webgpu_kernels.arrays import np
from webgpu_kernels.device import Executable, Tensor
from webgpu_kernels.device.codec import numpy_dtype
from webgpu_kernels.device.matching import spec_of as planned_spec
from webgpu_kernels.device.ranges import check_values
from webgpu_kernels.errors import DtypeError, MissingValueError, RequestError, ShapeError
from webgpu_kernels.invocation import as_host_array, checked_out, merged_inputs, spec_of
from webgpu_kernels.planning.attributes import unknown_name
from webgpu_kernels.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from webgpu_kernels.device import Device
    from webgpu_kernels.device.codec import Array, Narrowing
    from webgpu_kernels.planning.plan import Plan
    from webgpu_kernels.planning.program import Program, TensorUse
    from webgpu_kernels.planning.spec import TensorSpec


class _Port(NamedTuple):
    """An input as it was planned: what an array must be, and what becomes of it."""

    use: TensorUse
    dtype: np.dtype[Any]
    spec: TensorSpec
    narrowing: Narrowing
    where: str

    @classmethod
    def of(cls, use: TensorUse, where: str) -> _Port:
        narrowing: Narrowing = "saturating" if use.narrowing == "saturating" else "checked"
        return cls(use, numpy_dtype(use.dtype), planned_spec(use), narrowing, f"{where}: {use.name!r}")


class PreparedCall:
    """One request, planned, compiled and ready to repeat with other tensors of the same shapes and dtypes.

    Made by ``Kernel.prepare``; safe to share between threads.

    Args:
        plan: the evaluated variant.
        executable: the compiled program.
        out: output name to the tensor that every repetition writes, unless it names another.
        output: where results go unless a repetition says otherwise: ``"cpu"``, ``"gpu"`` or None.

    Attributes:
        plan: the evaluated variant.
    """

    __slots__ = (
        "_executable",
        "_inputs",
        "_known_ports",
        "_names",
        "_out",
        "_output",
        "_outputs",
        "_pick_inputs",
        "_pick_outputs",
        "_ranged",
        "_where",
        "plan",
    )

    def __init__(
        self,
        plan: Plan,
        executable: Executable,
        out: Mapping[str, Tensor] | None = None,
        output: str | None = None,
    ) -> None:
        self.plan = plan
        self._executable = executable
        self._inputs = executable.program.inputs
        self._known_ports: tuple[_Port, ...] = ()
        self._names = tuple(use.name for use in executable.program.inputs)
        self._ranged = tuple([use for use in executable.program.inputs if use.value_range is not None])
        self._outputs = tuple(use.name for use in executable.program.outputs)
        self._pick_inputs = _picker(self._names)
        self._pick_outputs = _picker(self._outputs)
        self._where = plan.request.manifest.op_id
        self._out = checked_out(out, self._where)
        self._output = _checked_place(output, self._where)

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self._executable.device

    @property
    def program(self) -> Program:
        """What it runs."""
        return self._executable.program

    @property
    def variant(self) -> str:
        """The chosen variant's id."""
        return self.plan.variant.id

    def __repr__(self) -> str:
        """Return operator, variant and device."""
        return f"PreparedCall({self._where}, variant={self.variant!r}, device={self.device!r})"

    def __call__(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        out: Mapping[str, Tensor] | None = None,
        output: str | None = None,
        **named: Any,
    ) -> Results[Any]:
        """Run the call.

        Args:
            inputs: port name to numpy array or GPU tensor of the prepared shape and dtype.
            out: output name to a preallocated GPU tensor to write.
            output: ``"cpu"`` for numpy arrays, ``"gpu"`` for tensors; by default tensors where an input is one.
            named: inputs as keywords.

        Returns:
            The outputs in the contract's order.

        Raises:
            RequestError: an input is missing, unknown or not of the prepared shape, dtype or layout, or an array holds
                a value out of the input's range; nothing was uploaded then.
            DeviceError: a tensor of another device, a destroyed one, or a device that failed.
        """
        given = inputs if type(inputs) is dict and not named else merged_inputs(inputs, named, self._where)
        return self.run(given, out, output)

    def run(
        self, given: Mapping[str, Any], out: Mapping[str, Tensor] | None = None, output: str | None = None
    ) -> Results[Any]:
        """Run with inputs that are already one mapping; see ``__call__``."""
        output = output if output is not None else self._output
        out = out if out is not None else self._out
        # The commonest call has tensors alone and nothing to decide; whatever is not one takes the longer way.
        complete = not out or (type(out) is dict and len(out) == len(self._outputs))
        if output is None and complete and len(given) == len(self._names) > 0:
            try:
                tensors = self._pick_inputs(given)
                targets = self._pick_outputs(out) if out else ()
            except KeyError:
                tensors, targets = (None,), ()
            for value in (*tensors, *targets):
                if type(value) is not Tensor:
                    break
            else:
                return self._named(self._executable.run(tensors, targets or None))
        return self._run_mixed(given, checked_out(out, self._where), _checked_place(output, self._where))

    def _named(self, results: tuple[Any, ...]) -> Results[Any]:
        names = self._outputs
        if len(names) == 1:
            return Results({names[0]: results[0]}, self._where)
        return Results(dict(zip(names, results, strict=True)), self._where)

    def _run_mixed(self, given: Mapping[str, Any], out: Mapping[str, Tensor], output: str | None) -> Results[Any]:
        """Run with arrays among the inputs, or with a wish where the outputs shall be."""
        executable = self._executable
        if len(given) > len(self._inputs):
            raise self._unknown_input(given)
        if output == "cpu":
            executable.device.refuse_in_batch('output="cpu"')
        if self._ranged:
            self._check_ranges(given)
        targets = self._targets(out) if out else None
        tensors = [self._tensor(port, given.get(port.use.name)) for port in self._ports()]
        on_gpu = output == "gpu" or (output is None and self._stays(given, targets))
        return self._named(executable.run(tensors, targets) if on_gpu else executable.run_to_host(tensors, targets))

    def _stays(self, given: Mapping[str, Any], targets: tuple[Tensor | None, ...] | None) -> bool:
        """Tell whether outputs stay on the GPU where nobody says: with a tensor given, or in a batch."""
        if targets or self.device.current_batch() is not None:
            return True
        return any(type(value) is Tensor for value in given.values())

    def _targets(self, out: Mapping[str, Tensor]) -> tuple[Tensor | None, ...]:
        targets = tuple([out.get(name) for name in self._outputs])
        if len(out) > len(targets) - targets.count(None):
            unknown = next(name for name in out if name not in self._outputs)
            raise unknown_name("output", unknown, self._outputs, f"{self._where}: prepared call")
        return targets

    def time(self, inputs: Mapping[str, Any] | None = None, /, *, repeat: int = 5, **named: Any) -> dict[str, int]:
        """Measure the GPU time of each pass with timestamp queries.

        Args:
            inputs: as in a call; without any, buffers of the right size that hold zeros.
            repeat: how many runs are measured.
            named: inputs as keywords.

        Returns:
            Pass id to the median of its times, in nanoseconds.

        Raises:
            DeviceError: the device has no timestamp queries.
            RequestError: as in a call.

        Source: WebGPU, section 20.4.
        """
        given = merged_inputs(inputs, named, self._where)
        if given:
            self._check_ranges(given)
            tensors = [self._tensor(port, given.get(port.use.name)) for port in self._ports()]
        else:
            zeros = self.device.zeros
            tensors = [zeros(use.shape, use.dtype, use.layout, use.storage) for use in self._inputs]
        return dict(self._executable.time(tensors, repeat=repeat))

    def time_calls(
        self,
        inputs: Sequence[Mapping[str, Tensor]],
        out: Sequence[Mapping[str, Tensor]] | None = None,
        *,
        repeat: int = 5,
    ) -> tuple[int, ...]:
        """Measure the GPU time of whole calls, their passes together as in a call, with timestamp queries.

        Args:
            inputs: sets of GPU tensors that the calls take in turns; with one set, a small call finds its data in the
                GPU's cache.
            out: for each of them, the tensors to write; new ones by default.
            repeat: how many calls are measured.

        Returns:
            The time of each call, in nanoseconds.

        Raises:
            DeviceError: the device has no timestamp queries.
            RequestError: as in a call.

        Source: WebGPU, section 20.4.
        """
        sets = [merged_inputs(given, {}, self._where) for given in inputs]
        targets = [checked_out(each, self._where) for each in out] if out is not None else [{} for _ in sets]
        if not sets or len(targets) != len(sets):
            raise RequestError(
                "sets of tensors to time",
                where=self._where,
                expected="one or more inputs, and as many out where it is given",
                got=f"{len(sets)} and {len(targets)}" if out is not None else "0",
            )
        for given in sets:
            self._check_ranges(given)
        bound = [
            ([self._tensor(port, given.get(port.use.name)) for port in self._ports()], self._targets(each))
            for given, each in zip(sets, targets, strict=True)
        ]
        return self._executable.time_calls(bound, repeat=repeat)

    def fixed(self, *, out: Mapping[str, Tensor] | None, output: str | None) -> PreparedCall:
        """Return the same compiled call with other defaults for ``out`` and ``output``."""
        return PreparedCall(self.plan, self._executable, out, output)

    def _tensor(self, port: _Port, value: Any) -> Tensor:
        if type(value) is Tensor:
            return value
        # What is exactly right needs no look at its spec, which takes longer than to copy a small array.
        if type(value) is np.ndarray and value.dtype == port.dtype and value.shape == port.use.shape:
            array: Array = value
        elif isinstance(value, Tensor):
            return value
        else:
            array = self._array(port.use, value)
        return self.device.upload(array, port.spec, port.narrowing, port.where)

    def _ports(self) -> tuple[_Port, ...]:
        """Return what arrays are held against; numpy is loaded by the first one."""
        if not self._known_ports:
            self._known_ports = tuple([_Port.of(use, self._where) for use in self._inputs])
        return self._known_ports

    def _check_ranges(self, given: Mapping[str, Any]) -> None:
        """Look at the values of host arrays; those of GPU tensors are the kernel's business."""
        for use in self._ranged:
            value = given.get(use.name)
            if value is not None and type(value) is not Tensor and use.value_range is not None:
                check_values(self._array(use, value), use.value_range, where=f"{self._where}: {use.name!r}")

    def _array(self, use: TensorUse, value: Any) -> Array:
        """Return a host array after checking that it is what the call was prepared for."""
        where = f"{self._where}: {use.name!r}"
        if value is None:
            hint = "The call was prepared with it."
            raise MissingValueError(f"missing input {use.name!r}", where=self._where, hint=hint)
        array = as_host_array(value, where)
        spec = spec_of(array, where)
        if spec.dtype != use.dtype:
            raise DtypeError("wrong dtype for the prepared call", where=where, expected=use.dtype, got=spec.dtype)
        if spec.shape != use.shape:
            raise ShapeError(
                "wrong shape for the prepared call",
                where=where,
                expected=str(list(use.shape)),
                got=str(list(spec.shape)),
            )
        return array

    def _unknown_input(self, given: Mapping[str, Any]) -> RequestError:
        known = [use.name for use in self._inputs]
        unknown = next(name for name in given if name not in known)
        return unknown_name("input", unknown, known, f"{self._where}: prepared call")


def _picker(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what takes values out of a mapping in the order of names."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda given: tuple([given[name] for name in names])


def _checked_place(output: str | None, where: str) -> str | None:
    if output is None or output == "cpu" or output == "gpu":  # noqa: PLR1714 - a set would need it hashable
        return output
    raise RequestError("output", where=where, expected='"cpu", "gpu" or None', got=repr(output))
