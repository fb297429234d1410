"""Everything about a case of bench.json that needs no clock: which variants take it, what it moves, what is right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from webgpu_kernels.errors import KernelError, LimitError
from webgpu_kernels.planning.diagnosis import no_variant_error
from webgpu_kernels.planning.scope import describe_request
from webgpu_kernels.tools.bench.checking import tensor_bytes
from webgpu_kernels.tools.bench.data import CaseArrays
from webgpu_kernels.tools.bench.traffic import Moved, moved_by
from webgpu_kernels.tools.suites.model import Case
from webgpu_kernels.tools.suites.preparing import missing_of_device

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.planning.selection import Selection
    from webgpu_kernels.tools.bench.model import BenchCase


class Way(NamedTuple):
    """One way to compute a case.

    Attributes:
        variant: its id.
        tunables: overrides, beside the case's own.
    """

    variant: str
    tunables: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        """What results call it."""
        return f"{self.variant}, tuned" if self.tunables else self.variant


class CaseSkipped(Exception):
    """A case is not measured; its text says why.

    Args:
        reason: why.
        fault: whether that is the package's fault, not the device's.
    """

    def __init__(self, reason: str, *, fault: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCase:
    """A case that is ready to be measured.

    Attributes:
        case: the case.
        kernel: whose.
        request: as it was bound.
        text: tensors and attributes in one line.
        chosen: the way that a call takes.
        ways: one for each variant that takes it, best rank first; a tuned one before them.
        first: the chosen way's program.
        moved: bytes and operations.
        arrays: the inputs.
    """

    case: BenchCase
    kernel: Kernel
    request: Request
    text: str
    chosen: Way
    ways: tuple[Way, ...]
    first: Program
    moved: Moved
    arrays: CaseArrays

    def program(self, way: Way) -> Program:
        """Plan and render one way.

        Args:
            way: which.

        Returns:
            Its program.

        Raises:
            KernelError: it cannot be planned on the device.
        """
        return program_of(self.case, self.kernel, self.request.capabilities, way)


def program_of(case: BenchCase, kernel: Kernel, capabilities: Capabilities, way: Way) -> Program:
    """Plan and render one way to compute a case; see ``ReadyCase.program``."""
    call = replace(case.call, tunables={**case.call.tunables, **way.tunables})
    return call.program(kernel, capabilities, way.variant)


def ready_case(
    case: BenchCase,
    kernel: Kernel,
    capabilities: Capabilities,
    *,
    most_bytes: int | None = None,
    here: bool = False,
) -> ReadyCase:
    """Get a case ready.

    Args:
        case: the case.
        kernel: the package's.
        capabilities: the device.
        most_bytes: what its tensors may take together, or None for anything.
        here: whether it is a device of this process, whose profile of ``tune`` counts then.

    Returns:
        The case.

    Raises:
        CaseSkipped: the device cannot run it, it is too large, or it is no call of the package.
        SuiteError: what it says that it moves makes no sense.
    """
    try:
        selection = case.call.select(kernel, capabilities)
    except KernelError as error:
        raise CaseSkipped(str(error), fault=True) from error
    size = tensor_bytes(selection.request)
    if most_bytes is not None and size > most_bytes:
        raise CaseSkipped(f"too large: tensors of more than {most_bytes / 1e6:,.0f} MB")
    if selection.variant is None:
        raise _nobody(case, kernel, selection)
    tuned = case.call.tuned(kernel, capabilities) if here else None
    chosen = Way(tuned.entry.variant, tuned.entry.tunables) if tuned else Way(selection.variant.id)
    able = [found.id for found in selection.candidates if found.able]
    try:
        program = program_of(case, kernel, capabilities, chosen)
    except LimitError as error:
        raise CaseSkipped(f"too large for the device: {error.limit} is {error.available:,}") from error
    except KernelError as error:
        raise CaseSkipped(str(error), fault=True) from error
    if not program.passes:
        raise CaseSkipped("there is nothing to compute", fault=True)
    return ReadyCase(
        case=case,
        kernel=kernel,
        request=selection.request,
        text=describe_request(selection.request),
        chosen=chosen,
        ways=(*([chosen] if chosen.tunables else []), *(Way(name) for name in able)),
        first=program,
        moved=moved_by(case, program, selection.scope, where=kernel.package.where),
        arrays=CaseArrays(case),
    )


def _nobody(case: BenchCase, kernel: Kernel, selection: Selection) -> CaseSkipped:
    """Tell a device that lacks something from a call that no device would take."""
    asked = Case(name=case.name, call=case.call, inputs={}, outputs={})
    lacking = missing_of_device(asked, kernel, selection)
    return CaseSkipped(lacking) if lacking else CaseSkipped(str(no_variant_error(selection)), fault=True)
