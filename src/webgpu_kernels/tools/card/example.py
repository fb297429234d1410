"""The call that a card shows: the first small case of test.json, else one made up from the contract."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.errors import KernelError, PackageError
from webgpu_kernels.kernel import Kernel
from webgpu_kernels.language import Bounded
from webgpu_kernels.tools.cases import has_file
from webgpu_kernels.tools.lint.formulas import Paths, formulas, tree
from webgpu_kernels.tools.lint.sampling.choices import SHAPES, choices
from webgpu_kernels.tools.lint.sampling.devices import sampled_devices
from webgpu_kernels.tools.lint.sampling.drafts import Draft, Solver
from webgpu_kernels.tools.lint.sampling.relations import relations
from webgpu_kernels.tools.suites.model import Values
from webgpu_kernels.tools.suites.reading import TEST_FILE, suite_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Manifest, Package
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.spec import TensorSpec
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.suites.model import Case, Data

MAX_ELEMENTS: Final = 65_536
MAX_LISTED: Final = 16
_MAX_TRIES: Final = 96


class Example(NamedTuple):
    """A call with what it needs and gives.

    Attributes:
        call: tensors and options.
        data: what inputs hold, as the case says; empty for a call that was made up.
        results: the outputs that it computes.
    """

    call: CallDescription
    data: Mapping[str, Data]
    results: Mapping[str, TensorSpec]


def example_of(package: Package) -> Example | None:
    """Choose the call that a card shows.

    Args:
        package: from anywhere; of the Hub test.json is fetched now.

    Returns:
        The same call every time; None where no call of the contract is found.
    """
    with Bounded():
        return _chosen(package)


def _chosen(package: Package) -> Example | None:
    kernel, capabilities = Kernel(package), sampled_devices(package.manifest, ())[-1].capabilities
    for case in _cases(package):
        if example := _planned(kernel, case.call, case.inputs, capabilities):
            return _without_the_inferred(kernel, example, capabilities)
    for call in _made_up(package):
        if example := _planned(kernel, call, {}, capabilities):
            return example
    return None


def _cases(package: Package) -> list[Case]:
    """Return the cases that fit a card; those that have a dimension come first."""
    if not has_file(package, TEST_FILE):
        return []
    try:
        cases = [case for case in suite_of(package).cases if _fits(case)]
    except KernelError:
        return []  # what is wrong with the suite is for those to say who run it
    return sorted(cases, key=lambda case: not all(spec.shape for spec in case.call.inputs.values()))


def _fits(case: Case) -> bool:
    plain = case.error is None and case.skip_gpu is None and not case.force and not case.call.tunables
    return plain and all(
        0 < math.prod(spec.shape) <= MAX_ELEMENTS and _is_told(case.inputs[name], spec)
        for name, spec in case.call.inputs.items()
    )


def _is_told(data: Data, spec: TensorSpec) -> bool:
    """Tell whether values that are listed can stand in a card: few and finite, or such that others do as well."""
    if not isinstance(data, Values):
        return True
    few = len(data.values) <= MAX_LISTED and all(math.isfinite(value) for value in data.values)
    return few or spec.dtype.startswith("float")


def _planned(
    kernel: Kernel, call: CallDescription, data: Mapping[str, Data], capabilities: Capabilities
) -> Example | None:
    selection = None
    with Bounded() as work, suppress(KernelError):
        selection = call.select(kernel, capabilities)
    if work.exhausted:
        # The next call would take as long.
        raise PackageError("an example cannot be made up: judging one request takes too many steps", where=kernel.op_id)
    if selection is None or selection.variant is None:
        return None
    outputs = selection.request.outputs
    return Example(call, data, {name: outputs[name] for name in kernel.manifest.outputs if name in outputs})


def _without_the_inferred(kernel: Kernel, example: Example, capabilities: Capabilities) -> Example:
    """Leave out what a case says of outputs though the contract gives the same."""
    ports, call = kernel.manifest.outputs, example.call
    outputs = {name: None if ports[name].shape is not None else spec for name, spec in call.outputs.items()}
    shorter = _planned(kernel, replace(call, outputs=outputs), example.data, capabilities)
    return shorter if shorter is not None and shorter.results == example.results else example


def _made_up(package: Package) -> Iterator[CallDescription]:
    """Yield calls of small tensors: without optional ones first, and with other values of the attributes later."""
    manifest = package.manifest
    try:
        sources = [formula.source for formula in formulas(manifest, Paths(manifest, {}))]
        trees = [found for found in map(tree, sources) if found is not None]
        able = choices(manifest, trees)
        solver = Solver(manifest, relations(manifest, trees), able)
    except KernelError:
        return
    tries = 0
    for pick in range(4):
        for lead in sorted(_shapes(manifest), key=lambda shape: (not shape, len(shape) != 2)):
            draft = Draft(
                lead=lead,
                picks=(pick,) * max(0, len(manifest.inputs) - 1),
                dtypes=(0,) * len(able.dtypes),
                attrs=(pick,) * len(able.attrs),
                args=(pick,) * len(able.args),
                inputs=frozenset(),
                outputs=frozenset(),
            )
            tries += 1
            if tries > _MAX_TRIES:
                return
            call = solver.completed(draft).call
            if all(0 < math.prod(spec.shape) <= MAX_ELEMENTS for spec in call.inputs.values()):
                yield call


def _shapes(manifest: Manifest) -> list[tuple[int, ...]]:
    port = next(iter(manifest.inputs.values()), None)
    if port is None:
        return [()]
    rank = port.rank.evaluate({}) if port.rank is not None and port.rank.constant else None
    small = [shape for shape in SHAPES if 0 < math.prod(shape) <= MAX_ELEMENTS]
    fitting = [shape for shape in small if rank is None or len(shape) == rank]
    return fitting or [(2,) * rank if isinstance(rank, int) and 0 <= rank <= 16 else ()]
