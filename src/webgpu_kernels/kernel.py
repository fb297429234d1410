"""A kernel as callers use it: a package's contract and variants, ready to be called, explained and rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webgpu_kernels.device import Device, Executable, Tensor, default_device
from webgpu_kernels.errors import RequestError
from webgpu_kernels.invocation import (
    Invocation,
    Wanted,
    checked_out,
    merged_inputs,
    options,
    spec_of,
    wanted_outputs,
)
from webgpu_kernels.planned import PlannedCalls
from webgpu_kernels.planning.attributes import unknown_name
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.rendering import build_program
from webgpu_kernels.planning.request import check_dtype
from webgpu_kernels.prepared import PreparedCall
from webgpu_kernels.results import Rendering, Results
from webgpu_kernels.tuning import explain_call, plan_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Manifest, Package
    from webgpu_kernels.planning.explanation import Explanation


class Kernel:
    """A kernel package, ready to run.

    Made by ``get_kernel`` and ``load_kernel``; safe to share between threads.

    Args:
        package: the contract and its templates.
        device: where calls run, unless one says otherwise; by default the tensors' device, else the default device.
    """

    def __init__(self, package: Package, device: Device | None = None) -> None:
        self.package = package
        self._device = device
        self._planned = PlannedCalls()

    @property
    def manifest(self) -> Manifest:
        """The contract."""
        return self.package.manifest

    @property
    def op_id(self) -> str:
        """The operator's full name, such as ``com.microsoft.SkipGroupNorm``."""
        return self.package.manifest.op_id

    @property
    def revision(self) -> str | None:
        """The commit of the Hub that its files are of, 40 hexadecimal digits; None for others."""
        return self.package.revision

    def __repr__(self) -> str:
        """Return the operator with its inputs and outputs."""
        manifest = self.manifest
        inputs = ", ".join(f"{name}?" if port.optional else name for name, port in manifest.inputs.items())
        outputs = ", ".join(f"{name}?" if port.optional else name for name, port in manifest.outputs.items())
        return f"Kernel({self.op_id}: ({inputs}) -> ({outputs}))"

    def __call__(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        attrs: Mapping[str, Any] | None = None,
        args: Mapping[str, Any] | None = None,
        outputs: Wanted | None = None,
        variant: str | None = None,
        tunables: Mapping[str, Any] | None = None,
        out: Mapping[str, Tensor] | None = None,
        output: str | None = None,
        device: Device | None = None,
        **named: Any,
    ) -> Results[Any]:
        """Run the operator.

        Args:
            inputs: port name to numpy array or GPU tensor; or as keywords.
            attrs: ONNX attributes by name.
            args: scalar arguments by name.
            outputs: optional outputs to compute besides the required ones; name to ``TensorSpec`` for a shape that the
                contract does not infer.
            variant: force this variant.
            tunables: overrides of the contract's tunables.
            out: output name to a preallocated GPU tensor to write.
            output: ``"cpu"`` for numpy arrays, ``"gpu"`` for tensors; by default tensors where an input is one.
            device: where to run.
            named: inputs as keywords.

        Returns:
            The outputs in the contract's order: numpy arrays or GPU tensors.

        Raises:
            RequestError: the call does not fit the contract; nothing has run.
            PlanError: the device cannot hold it, or the contract's own numbers make no sense.
            DeviceError: the device failed.

        Source: FORMAT, sections 4 to 9.
        """
        if device is None and variant is None and not (args or tunables or out):
            given = named if inputs is None else inputs
            if type(given) is dict and not (inputs and named):
                known = self._planned.known(self._device, given, attrs, outputs)
                if known is not None:
                    return known.run(given, None, output)
        asked = self._asked(inputs, named, attrs, args, outputs, out, variant, tunables)
        return self._prepared(asked, device).run(asked.inputs, out, output)

    def prepare(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        attrs: Mapping[str, Any] | None = None,
        args: Mapping[str, Any] | None = None,
        outputs: Wanted | None = None,
        variant: str | None = None,
        tunables: Mapping[str, Any] | None = None,
        out: Mapping[str, Tensor] | None = None,
        output: str | None = None,
        device: Device | None = None,
        **named: Any,
    ) -> PreparedCall:
        """Plan and compile a call now; calling the result repeats it with least overhead.

        Args:
            inputs: port name to array, tensor or ``TensorSpec``: only shapes, dtypes and layouts count.
            attrs: as in a call.
            args: as in a call.
            outputs: as in a call.
            variant: as in a call.
            tunables: as in a call.
            out: preallocated GPU tensors that every repetition writes, unless it names others.
            output: where every repetition leaves its outputs, unless it says otherwise.
            device: as in a call.
            named: inputs as keywords.

        Returns:
            The prepared call.

        Raises:
            RequestError: the call does not fit the contract.
            PlanError: the device cannot hold it.
            ShaderError: a rendered shader does not compile.
        """
        asked = self._asked(inputs, named, attrs, args, outputs, out, variant, tunables)
        return self._prepared(asked, device).fixed(out=out, output=output)

    def explain(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        attrs: Mapping[str, Any] | None = None,
        args: Mapping[str, Any] | None = None,
        outputs: Wanted | None = None,
        variant: str | None = None,
        tunables: Mapping[str, Any] | None = None,
        capabilities: Capabilities | None = None,
        device: Device | None = None,
        **named: Any,
    ) -> Explanation:
        """Say which variant a call would take, and why not the others.

        Args:
            inputs: port name to array, tensor or ``TensorSpec``.
            attrs: as in a call.
            args: as in a call.
            outputs: as in a call.
            variant: as in a call.
            tunables: as in a call.
            capabilities: the device to ask for; then none needs to be here.
            device: the device to ask for, else as in a call.
            named: inputs as keywords.

        Returns:
            Every candidate's verdict and what the chosen one would run; ``variant`` is None where none fits.

        Raises:
            RequestError: the call does not fit the contract in a way that no variant decides.
            PlanError: the chosen variant cannot be planned.

        Source: FORMAT, section 5.
        """
        asked = self._asked(inputs, named, attrs, args, outputs, None, variant, tunables)
        described = self._described(asked, capabilities, device)
        return explain_call(asked, self.package, described, here=capabilities is None)

    def render(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        attrs: Mapping[str, Any] | None = None,
        args: Mapping[str, Any] | None = None,
        outputs: Wanted | None = None,
        variant: str | None = None,
        tunables: Mapping[str, Any] | None = None,
        capabilities: Capabilities | None = None,
        device: Device | None = None,
        **named: Any,
    ) -> Rendering:
        """Return the WGSL that a call would run.

        Args:
            inputs: port name to array, tensor or ``TensorSpec``.
            attrs: as in a call.
            args: as in a call.
            outputs: as in a call.
            variant: as in a call.
            tunables: as in a call.
            capabilities: the device to ask for; then none needs to be here.
            device: the device to ask for, else as in a call.
            named: inputs as keywords.

        Returns:
            Pass id to WGSL, in order.

        Raises:
            RequestError: the call does not fit the contract, or no variant takes it.
            PlanError: the chosen variant cannot be planned.

        Source: FORMAT, sections 6 and 7.
        """
        asked = self._asked(inputs, named, attrs, args, outputs, None, variant, tunables)
        described = self._described(asked, capabilities, device)
        plan = plan_call(asked, self.package, described, here=capabilities is None)
        program = build_program(self.package, plan)
        return Rendering({step.id: step.wgsl for step in program.passes}, plan.where)

    def tensor(self, port: str, array: Any, *, device: Device | None = None) -> Tensor:
        """Upload an array as one of the contract's inputs needs it.

        Args:
            port: name of an input.
            array: numpy array of the port's logical dtype, any shape and memory layout.
            device: where to; by default the kernel's, else the default device.

        Returns:
            A tensor whose layout and storage are the port's.

        Raises:
            UnknownNameError: the contract has no such input.
            DtypeError: a dtype that the port does not take.

        Source: FORMAT, section 9.
        """
        declared = self.manifest.inputs.get(port)
        if declared is None:
            raise unknown_name("input", port, self.manifest.inputs, self.op_id)
        where = f"{self.op_id}: {port!r}"
        check_dtype(self.manifest, declared, spec_of(array, where), {}, {})
        target = device or self._device or default_device()
        return target.tensor(
            array,
            layout=declared.layout,
            storage=declared.storage,
            narrowing=declared.narrowing or "checked",
            where=where,
        )

    def _asked(  # noqa: PLR0917 - the options of a call, in their usual order
        self,
        inputs: Mapping[str, Any] | None,
        named: Mapping[str, Any],
        attrs: Mapping[str, Any] | None,
        args: Mapping[str, Any] | None,
        outputs: Wanted | None,
        out: Mapping[str, Tensor] | None,
        variant: str | None,
        tunables: Mapping[str, Any] | None,
    ) -> Invocation:
        where = self.op_id
        wanted = wanted_outputs(outputs, where)
        given = merged_inputs(inputs, named, where)
        targets = checked_out(out, where)
        if variant is not None and not isinstance(variant, str):
            raise RequestError("variant", where=where, expected="a variant's id", got=repr(variant))
        return Invocation(
            given,
            options("attrs", attrs, where),
            options("args", args, where),
            wanted,
            targets,
            variant,
            options("tunables", tunables, where),
        )

    def _target(self, asked: Invocation, device: Device | None) -> Device:
        chosen = device if device is not None else self._device
        if chosen is not None:
            if not isinstance(chosen, Device):
                raise RequestError(
                    "device",
                    where=self.op_id,
                    expected="a Device",
                    got=repr(chosen),
                    hint="Open one: wk.Device(name), wk.default_device().",
                )
            return chosen
        for value in asked.inputs.values():
            if type(value) is Tensor:
                return value.device
        return default_device()

    def _described(self, asked: Invocation, capabilities: Capabilities | None, device: Device | None) -> Capabilities:
        if capabilities is None:
            return self._target(asked, device).capabilities
        if not isinstance(capabilities, Capabilities):
            raise RequestError("capabilities", where=self.op_id, expected="Capabilities", got=repr(capabilities))
        return capabilities

    def _prepared(self, asked: Invocation, device: Device | None) -> PreparedCall:
        """Return the planned call of a request, from the device's cache where it was seen before."""
        target = self._target(asked, device)
        key = asked.key
        call = self._planned.find(target, key)
        if call is None:
            plan = plan_call(asked, self.package, target.capabilities, here=True)
            call = PreparedCall(plan, Executable.compile(target, build_program(self.package, plan)))
            self._planned.keep(target, key, call)
        return call
