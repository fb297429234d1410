"""Everything about a case that needs no GPU: its arrays, which variants take it, and what they should compute."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from webgpu_kernels.arrays import np
from webgpu_kernels.contract.words import alternatives
from webgpu_kernels.device.codec import numpy_dtype
from webgpu_kernels.errors import KernelError
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS, Capabilities
from webgpu_kernels.planning.diagnosis import no_variant_error
from webgpu_kernels.planning.scope import describe_request
from webgpu_kernels.tools.suites.generators import make_array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.selection import Candidate, Selection
    from webgpu_kernels.tools.suites.model import Case
    from webgpu_kernels.tools.suites.references import Reference

_FEATURES: Final = (
    "chromium-experimental-subgroup-matrix",
    "shader-f16",
    "subgroup-size-control",
    "subgroups",
    "timestamp-query",
)
_PLENTY: Final = 2**31 - 1
_SUBGROUP: Final = 32


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One variant that a case asks for.

    Attributes:
        variant: its id.
        refusal: why it cannot be run, or None.
        skipped: whether that is for want of the device, and nobody's fault.
    """

    variant: str
    refusal: str | None = None
    skipped: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A case that is ready to run.

    Attributes:
        case: the case.
        request: tensors and attributes in one line.
        inputs: its arrays.
        expected: output to array.
        chosen: the variant that a call takes, or None.
        misled: why that is wrong, None where it is right or the case does not say.
        ways: the variants to run it on, best rank first.
        problem: what kept it from getting ready, or None.
        lacking: what the device lacks where no variant takes the case; None where one does, or none ever would.
    """

    case: Case
    request: str
    inputs: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    expected: Mapping[str, Array] = dataclasses.field(default_factory=dict)
    chosen: str | None = None
    misled: str | None = None
    ways: tuple[Way, ...] = ()
    problem: KernelError | None = None
    lacking: str | None = None


def prepare_case(case: Case, kernel: Kernel, capabilities: Capabilities, reference: Reference) -> Prepared:
    """Get a case ready.

    Args:
        case: the case.
        kernel: the package's.
        capabilities: the device that will run it.
        reference: the package's.

    Returns:
        What to run; an error of this library is in it, not raised.

    Source: docs/suites.md.
    """
    request = ", ".join(f"{name} {spec}" for name, spec in case.call.inputs.items())
    if case.skip_gpu is not None:
        return Prepared(case=case, request=request)
    inputs: dict[str, Array] = {}
    try:
        inputs = arrays_of(case)
        selection = case.call.select(kernel, capabilities)
        request = describe_request(selection.request)
        ways = _ways(case, kernel, selection)
        lacking = None
        if not any(way.refusal is None for way in ways):
            lacking = missing_of_device(case, kernel, selection)
        if not ways:
            problem = no_variant_error(selection)
            return Prepared(case=case, request=request, inputs=inputs, problem=problem, lacking=lacking)
        expected: Mapping[str, Array] = {}
        if case.error is None and lacking is None:
            asked = selection.request
            expected = reference.expected(case, inputs, asked.attrs, asked.outputs)
    except KernelError as error:
        return Prepared(case=case, request=request, inputs=inputs, problem=error)
    return Prepared(
        case=case,
        request=request,
        inputs=inputs,
        expected=expected,
        chosen=selection.variant.id if selection.variant is not None else None,
        misled=_misled(case, selection),
        ways=ways,
        lacking=lacking,
    )


def variants_of(case: Case, kernel: Kernel, capabilities: Capabilities) -> tuple[str, ...]:
    """Say which variants a case will be run on, before its arrays are made.

    Args:
        case: the case.
        kernel: the package's.
        capabilities: the device that will run it.

    Returns:
        Their ids; a single empty one where the case does not come to that.

    Source: docs/suites.md.
    """
    if case.skip_gpu is not None or case.error is not None:
        return ("",)
    try:
        selection = case.call.select(kernel, capabilities)
        named = [way.variant for way in _ways(case, kernel, selection)]
    except KernelError:
        return ("",)
    if named and case.variant is not None and _misled(case, selection):
        named.append(case.variant)
    return tuple(dict.fromkeys(named)) or ("",)


def arrays_of(case: Case) -> dict[str, Array]:
    """Make the arrays of a case; an input without data holds zeros.

    Args:
        case: the case.

    Returns:
        Input name to array.
    """
    return {
        name: make_array(case.inputs[name], spec)
        if name in case.inputs
        else np.zeros(spec.shape, numpy_dtype(spec.dtype))
        for name, spec in case.call.inputs.items()
    }


def missing_of_device(case: Case, kernel: Kernel, selection: Selection) -> str | None:
    """Say what a device lacks for a case that no variant takes.

    Args:
        case: the case.
        kernel: the package's.
        selection: what became of every variant on the device.

    Returns:
        A reason; None where a device that has everything would not take the case either.

    Source: docs/suites.md, "What is skipped".
    """
    able = case.call.accepted_variants(kernel, _everything(selection.request.capabilities))
    wanted = [name for name in able if not case.force or name in case.force]
    if not wanted:
        return None
    tensors = selection.request.tensors.values()
    if "shader-f16" not in selection.request.capabilities.features and any(t.dtype == "float16" for t in tensors):
        return "float16 needs the feature shader-f16, which the device lacks"
    reasons = {candidate.id: candidate.reason for candidate in selection.candidates}
    return f"the device is not able to: {wanted[0]}: {reasons[wanted[0]]}"


def _everything(capabilities: Capabilities) -> Capabilities:
    """Imagine the device with every feature and room for anything."""
    plenty = {
        name: _PLENTY if name.startswith("max") else capabilities.limits[name]
        for name in DEFAULT_LIMITS
        if name != "maxComputeWorkgroupsPerDimension"
    }
    facts = {"subgroupMinSize": _SUBGROUP, "subgroupMaxSize": _SUBGROUP, **capabilities.adapter_info}
    return Capabilities(features=_FEATURES, limits=plenty, adapter_info=facts)


def _ways(case: Case, kernel: Kernel, selection: Selection) -> tuple[Way, ...]:
    able = [candidate.id for candidate in selection.candidates if candidate.able]
    if not case.force:
        return tuple(Way(variant=name) for name in able)
    known = {candidate.id: candidate for candidate in selection.candidates}
    imagined = case.call.accepted_variants(kernel, _everything(selection.request.capabilities))
    return tuple(
        Way(variant=name) if name in able else _refused(name, known, imagined) for name in dict.fromkeys(case.force)
    )


def _refused(name: str, known: Mapping[str, Candidate], imagined: tuple[str, ...]) -> Way:
    if name not in known:
        hint = alternatives(name, tuple(known), what="variants")
        return Way(variant=name, refusal=f"there is no variant {name!r}: {hint}")
    return Way(variant=name, refusal=f"it does not take the request: {known[name].reason}", skipped=name in imagined)


def _misled(case: Case, selection: Selection) -> str | None:
    """Say why a call does not take the variant that the case wants."""
    wanted = case.variant
    chosen = selection.variant.id if selection.variant is not None else "none"
    if wanted is None or wanted == chosen:
        return None
    known = {candidate.id: candidate for candidate in selection.candidates}
    if wanted not in known:
        return f"there is no variant {wanted!r}: {alternatives(wanted, tuple(known), what='variants')}"
    if known[wanted].kind in {"requires", "bufferBudget"}:
        return None  # the device cannot, which says nothing of the package
    why = f": {known[wanted].reason}" if known[wanted].reason else ", which ranks above it"
    return f"the case wants {wanted}, and a call takes {chosen}{why}"
