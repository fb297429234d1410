"""Data to try an exported program with: a case's, or numbers that look drawn; and what the outputs must be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.arrays import np
from webgpu_kernels.device.codec import numpy_dtype
from webgpu_kernels.tools.engines.words import encode_input
from webgpu_kernels.tools.suites.model import Case, CaseOutput, Random
from webgpu_kernels.tools.suites.preparing import arrays_of
from webgpu_kernels.tools.suites.references import REFERENCE_FILE, Reference, reference_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.program import Program, TensorUse
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.suites.model import Tolerance

SMALL_INTEGERS: Final = 100
"""Integers of 32 and 64 bits without a range of their own are drawn from what is no larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleData:
    """Bytes as buffers hold them.

    Attributes:
        description: where the inputs come from.
        inputs: name to words.
        expected: output to words; empty where nobody knows.
        tolerance: output to how near a result must come; empty where no case says so.
        source: what the expected values come from, or None.
    """

    description: str
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))
    tolerance: Mapping[str, Tolerance] = field(default_factory=lambda: MappingProxyType({}))
    source: str | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        return sum(words.nbytes for words in (*self.inputs.values(), *self.expected.values()))


def case_data(case: Case, kernel: Kernel, program: Program, request: Request) -> ExampleData:
    """Take the data of a case of test.json.

    Args:
        case: the case; it describes the call that was planned.
        kernel: its package.
        program: the planned call.
        request: likewise, as the contract sees it.

    Returns:
        Its inputs and what it expects.

    Raises:
        SuiteError: the package's reference fails.
        RequestError: a value out of range.

    Source: docs/suites.md.
    """
    data = _with_expected(case, kernel, program, request, f"the case {case.name}")
    tolerance = {name: output.tolerance for name, output in case.outputs.items() if name in data.expected}
    return replace(data, tolerance=tolerance)


def drawn_data(call: CallDescription, kernel: Kernel, program: Program, request: Request, seed: int) -> ExampleData:
    """Draw data for a call that has none: the same for the same seed.

    Args:
        call: the call.
        kernel: its package.
        program: the planned call, for the ranges of its inputs.
        request: likewise, as the contract sees it.
        seed: which data.

    Returns:
        The data; expected values where the package has a reference that may be run.

    Raises:
        SuiteError: the package's reference fails.

    Source: docs/export.md.
    """
    inputs = {use.name: _drawn(use, seed + index) for index, use in enumerate(program.inputs)}
    outputs = {use.name: CaseOutput() for use in program.outputs}
    case = Case(name="drawn", call=call, inputs=inputs, outputs=outputs)
    return _with_expected(case, kernel, program, request, f"drawn, seed {seed}")


def _with_expected(case: Case, kernel: Kernel, program: Program, request: Request, description: str) -> ExampleData:
    arrays = arrays_of(case)
    words = {use.name: encode_input(use, arrays[use.name], where=program.where) for use in program.inputs}
    listed = all(output.data is not None for output in case.outputs.values())
    if case.error is not None or not (listed or reference_path(kernel.package) is not None):
        return ExampleData(description=description, inputs=words)
    found = Reference(kernel.package).expected(case, arrays, request.attrs, request.outputs)
    uses = {use.name: use for use in program.outputs}
    expected = {name: _stored(uses[name], array, program.where) for name, array in found.items() if name in uses}
    source = ("the case" if listed else REFERENCE_FILE) if expected else None
    return ExampleData(description=description, inputs=words, expected=expected, source=source)


def _stored(use: TensorUse, array: Array, where: str) -> Array:
    with np.errstate(all="ignore"):
        return encode_input(use, np.asarray(array).astype(numpy_dtype(use.dtype)), where=where)


def _drawn(use: TensorUse, seed: int) -> Random:
    if use.value_range is not None:
        least, most = use.value_range.least, use.value_range.most
        return Random(seed=seed, distribution="integers", low=least, high=max(least, most))
    low = {"int32": -SMALL_INTEGERS, "int64": -SMALL_INTEGERS, "uint32": 0}.get(use.dtype)
    return Random(seed=seed, low=low, high=SMALL_INTEGERS if low is not None else None)
