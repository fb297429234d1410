"""What a caller asks of a kernel, before anything is checked; its key finds the plan of a request seen before."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from webgpu_kernels.arrays import np
from webgpu_kernels.contract import LOGICAL_DTYPES, possible_dtypes
from webgpu_kernels.device import Tensor
from webgpu_kernels.errors import DtypeError, NoVariantError, RequestError, UnknownNameError
from webgpu_kernels.language import Bounded
from webgpu_kernels.planning.attributes import MAX_LIST_DEPTH, unknown_name
from webgpu_kernels.planning.diagnosis import no_variant_error
from webgpu_kernels.planning.limits import check_limits, check_tensors
from webgpu_kernels.planning.outputs import infer_outputs
from webgpu_kernels.planning.plan import Plan, build_plan
from webgpu_kernels.planning.request import bind_request
from webgpu_kernels.planning.selection import Selection, force_variant, select_variant
from webgpu_kernels.planning.spec import TensorSpec, logical_dtype

if TYPE_CHECKING:
    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.request import Request

Wanted: TypeAlias = Iterable[str] | Mapping[str, TensorSpec | None]
"""Outputs of a call: names, or name to a spec for a shape that the contract does not infer."""


class Invocation(NamedTuple):
    """One call as it was written.

    Attributes:
        inputs: port name to array, tensor or ``TensorSpec``.
        attrs: attributes by name.
        args: scalar arguments by name.
        outputs: wanted outputs, a fixed spec or None for each.
        out: output name to preallocated tensor.
        variant: the forced variant's id.
        tunables: overrides by name.
    """

    inputs: Mapping[str, Any]
    attrs: Mapping[str, Any]
    args: Mapping[str, Any]
    outputs: Mapping[str, TensorSpec | None]
    out: Mapping[str, Tensor]
    variant: str | None
    tunables: Mapping[str, Any]

    @property
    def key(self) -> Hashable:
        """Everything that a plan depends on, apart from the device; ``plain_key`` makes the same one of less."""
        return (
            tuple(self.inputs),
            tuple([signature(name, value) for name, value in self.inputs.items()]),
            frozen(self.attrs),
            tuple(self.outputs.items()),
            frozen(self.args),
            tuple([(name, value.spec) for name, value in self.out.items()]) if self.out else (),
            self.variant,
            frozen(self.tunables),
        )

    def select(self, manifest: Manifest, capabilities: Capabilities, *, exhaustive: bool = False) -> Selection:
        """Check the call against the contract and choose a variant.

        Args:
            manifest: the contract.
            capabilities: the device.
            exhaustive: judge every candidate.

        Returns:
            The selection; its variant is None where none fits, or the forced one does not.

        Raises:
            RequestError: the call does not fit the contract.
        """
        with Bounded():
            request = self.bind(manifest, capabilities)
            if self.variant is not None:
                return force_variant(request, self.variant, exhaustive=exhaustive)
            return select_variant(request, exhaustive=exhaustive)

    def bind(self, manifest: Manifest, capabilities: Capabilities) -> Request:
        """Check the call against the contract, and judge no variant.

        Args:
            manifest: the contract.
            capabilities: the device.

        Returns:
            The bound call, outputs known.

        Raises:
            RequestError: the call does not fit the contract.
        """
        self._check_names(manifest)
        where = manifest.op_id
        specs = {
            name: spec_of(
                value, f"{where}: {name!r}", possible_dtypes(manifest.inputs[name], manifest.type_constraints)
            )
            for name, value in self.inputs.items()
        }
        with Bounded():
            request = bind_request(
                manifest, specs, attrs=self.attrs, args=self.args, tunables=self.tunables, capabilities=capabilities
            )
            fixed = {name: spec_of(tensor, f"{where}: out {name!r}") for name, tensor in self.out.items()}
            return infer_outputs(request, {**self.outputs, **fixed})

    def _check_names(self, manifest: Manifest) -> None:
        """Refuse unknown inputs before anybody looks at their values: a misplaced option is no array."""
        for name in self.inputs:
            if name in manifest.inputs:
                continue
            for what, known in (
                ("attrs", manifest.attributes),
                ("args", manifest.args),
                ("tunables", manifest.tunables),
            ):
                if name in known:
                    hint = f"It goes into {what}={{{name!r}: …}}."
                    raise UnknownNameError(f"unknown input {name!r}", where=manifest.op_id, hint=hint)
            raise unknown_name("input", name, manifest.inputs, manifest.op_id)

    def plan(self, manifest: Manifest, capabilities: Capabilities) -> Plan:
        """Check, choose and evaluate.

        Raises:
            RequestError: the call does not fit the contract, or no variant takes it.
            PlanError: the chosen variant cannot be planned on this device.
        """
        with Bounded():
            selection = self.select(manifest, capabilities)
            plan = build_plan(selection) if selection.variant is not None else None
        if plan is not None:
            check_limits(plan)
            return plan
        check_tensors(selection.request)  # too large for the device is a plainer reason than any clause
        if self.variant is None:
            raise no_variant_error(selection)
        reason = selection.candidates[0].reason
        raise NoVariantError(
            f"variant {self.variant!r} does not take this request: {reason}",
            where=manifest.op_id,
            reasons={self.variant: reason},
        )


def plain_key(inputs: Mapping[str, Any], attrs: Any, outputs: Any) -> Hashable:
    """Return an invocation's key without making one, for a call that has nothing else.

    Args:
        inputs: port name to GPU tensor.
        attrs: attributes by name, or None.
        outputs: a list of names, or None.

    Returns:
        What ``Invocation.key`` would be; None where that takes more than this.
    """
    if (attrs is not None and type(attrs) is not dict) or (outputs is not None and type(outputs) is not list):
        return None
    try:
        specs = tuple(map(_SPEC_OF, inputs.values()))
    except AttributeError:
        return None
    wanted = tuple([(name, None) for name in outputs]) if outputs else ()
    return tuple(inputs), specs, frozen(attrs) if attrs else (), wanted, (), (), None, ()


def merged_inputs(inputs: Mapping[str, Any] | None, named: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Join inputs given as a mapping with those given as keywords; None means absent.

    Raises:
        RequestError: one is given both ways, or the inputs are not a mapping.
    """
    # Asking whether something is a Mapping costs more than the rest of a warm call's checks.
    if inputs is not None and type(inputs) is not dict and not isinstance(inputs, Mapping):
        raise RequestError(
            "inputs are given by name", where=where, expected="a mapping or keywords", got=type(inputs).__name__
        )
    twice = inputs.keys() & named.keys() if inputs and named else ()
    if twice:
        raise RequestError(f"input {min(twice)!r} is given twice", where=where)
    merged = {**inputs, **named} if inputs and named else (inputs or named)
    for value in merged.values():
        if value is None:
            return {name: value for name, value in merged.items() if value is not None}
    return merged


def options(what: str, values: Mapping[str, Any] | None, where: str) -> Mapping[str, Any]:
    """Return attributes, arguments or tunables as a mapping.

    Raises:
        RequestError: they are not given by name.
    """
    if values is None:
        return {}
    if type(values) is not dict and not isinstance(values, Mapping):
        raise RequestError(what, where=where, expected="a mapping of names to values", got=repr(values))
    return values


def wanted_outputs(outputs: Wanted | None, where: str) -> Mapping[str, TensorSpec | None]:
    """Return the wanted outputs as a mapping from name to a fixed spec or None.

    Raises:
        RequestError: neither names nor specs.
    """
    if outputs is None:
        return {}
    if isinstance(outputs, str):
        raise RequestError("outputs is a list of names", where=where, got=repr(outputs), hint=f"Write [{outputs!r}].")
    if type(outputs) is list or type(outputs) is tuple:
        named: dict[str, TensorSpec | None] = {}
        for name in outputs:
            if type(name) is not str:
                break
            named[name] = None
        else:
            return named
    # Once: a generator has no names left for whoever looks a second time.
    names = list(outputs) if isinstance(outputs, Iterable) else [outputs]
    if not all(isinstance(name, str) for name in names):
        raise RequestError("outputs", where=where, expected="names, or names to specs", got=repr(outputs))
    if not isinstance(outputs, Mapping):
        return dict.fromkeys(names)
    for name, spec in outputs.items():
        if spec is not None and not isinstance(spec, TensorSpec):
            raise RequestError(
                f"outputs[{name!r}]",
                where=where,
                expected="a TensorSpec or None",
                got=type(spec).__name__,
                hint="Preallocated tensors go into out={…}.",
            )
    return outputs


def checked_out(out: Mapping[str, Any] | None, where: str) -> Mapping[str, Tensor]:
    """Return the preallocated outputs.

    Raises:
        RequestError: one is not a GPU tensor, or they are not given by name.
    """
    if out is None or (type(out) is dict and not out):
        return {}
    if type(out) is not dict and not isinstance(out, Mapping):
        raise RequestError("out", where=where, expected="a mapping of names to GPU tensors", got=type(out).__name__)
    for name, tensor in out.items():
        if not isinstance(tensor, Tensor):
            raise RequestError(
                f"out[{name!r}]",
                where=where,
                expected="a GPU tensor",
                got=type(tensor).__name__,
                hint="Make one with device.empty(shape, dtype).",
            )
    return out


def spec_of(value: Any, where: str, allowed: Sequence[str] = LOGICAL_DTYPES) -> TensorSpec:
    """Describe what a caller gave as an input or output.

    Args:
        value: numpy array, GPU tensor or ``TensorSpec``; anything else that numpy makes an array of.
        where: the port, for messages.
        allowed: the dtypes that the message lists.

    Returns:
        Its spec; that of a GPU tensor names its storage.

    Raises:
        DtypeError: not an array, or of a dtype that no port has.
    """
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype, value.layout, value.storage or value.dtype)
    array = as_host_array(value, where)
    return TensorSpec(array.shape, logical_dtype(array.dtype, where=where, allowed=allowed))


def as_host_array(value: Any, where: str) -> np.ndarray[Any, np.dtype[Any]]:
    """Return an array-like value as a numpy array; lists and scalars have no dtype of their own and are refused."""
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        return np.asarray(value)
    raise DtypeError(
        "not an array",
        where=where,
        expected="a numpy array or a GPU tensor",
        got=type(value).__name__,
        hint="Wrap it: np.asarray(value, dtype=…).",
    )


def signature(name: str, value: Any) -> Hashable:
    """Return what a plan depends on of a tensor, cheaply."""
    if type(value) is Tensor:
        return value.spec
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype
    if isinstance(value, TensorSpec):
        return value
    # What is no array is refused before anything is kept under this key.
    return spec_of(value, repr(name)) if hasattr(value, "__array__") else (type(value),)


def frozen(values: Mapping[str, Any]) -> Hashable:
    """Return a mapping as a key in which 1, 1.0 and True differ, as they do in expressions."""
    if not values:
        return ()
    return tuple(
        [(name, type(value), value if type(value) in _ATOMS else _hashable(value)) for name, value in values.items()]
    )


_SPEC_OF = attrgetter("spec")
_ATOMS = frozenset({int, float, bool, str})


def _hashable(value: Any, depth: int = 0) -> Hashable:
    if isinstance(value, np.ndarray):
        value = value.tolist()
        if not isinstance(value, list):
            return type(value), value  # of rank 0: True is not 1
    if isinstance(value, list | tuple) and depth < MAX_LIST_DEPTH:
        return tuple([(type(entry), _hashable(entry, depth + 1)) for entry in value])
    return value if isinstance(value, Hashable) else (type(value),)  # refused before anything is kept under this key
