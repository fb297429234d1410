"""Whether what is timed is right: a wrong result has no speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.arrays import np
from webgpu_kernels.device.codec import numpy_dtype
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.tools.suites.comparison import compare
from webgpu_kernels.tools.suites.model import Case, CaseOutput, Tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.tools.bench.model import BenchCase
    from webgpu_kernels.tools.suites.references import Reference

CHECKED_BYTES: Final = 2**29
"""Tensors that take more together are not held against the reference, which would take minutes and all memory."""
_END_ELEMENTS: Final = 2**20
_TOLERANCES: Final = {"float32": Tolerance(1e-4, 1e-4), "float16": Tolerance(4e-3, 4e-3)}
"""What an output may differ whose case does not say; others must be equal."""


class Judgement(NamedTuple):
    """What became of some outputs.

    Attributes:
        reason: what is wrong, or None.
        error_of_allowed: the greatest error as a part of what is allowed, None where nothing was compared.
    """

    reason: str | None = None
    error_of_allowed: float | None = None


class Checker:
    """Holds outputs against what they should be.

    Args:
        expected: output to array; empty where there is nothing to hold them against.
        tolerances: how exact each has to be.
        ends_only: whether the first and last elements will do.
        note: what results were held against, where that is not the reference.
    """

    def __init__(
        self,
        expected: Mapping[str, Array],
        tolerances: Mapping[str, Tolerance],
        *,
        ends_only: bool = False,
        note: str | None = None,
    ) -> None:
        self._expected = expected
        self._tolerances = tolerances
        self._ends_only = ends_only
        self.note = note

    def judge(self, outputs: Mapping[str, Array], unwritten: Mapping[str, Array] | None = None) -> Judgement:
        """Compare outputs; those that are not there are not compared.

        Args:
            outputs: name to array.
            unwritten: flat indices of elements that nobody wrote.

        Returns:
            What is wrong, and the greatest error.
        """
        reasons, errors = [], []
        for name, expected in self._expected.items():
            if name not in outputs:
                continue
            got, missing = outputs[name], (unwritten or {}).get(name)
            if self._ends_only and got.shape == expected.shape:
                got, expected, missing = _ends(got), _ends(expected), None  # noqa: PLW2901 - of the same output
            verdict = compare(name, got, expected, self._tolerances[name], True, missing)
            reasons += [verdict.reason] if verdict.reason else []
            errors += [verdict.error_of_allowed] if verdict.error_of_allowed is not None else []
        return Judgement("; ".join(reasons) or None, max(errors, default=None))


def tolerances_of(case: BenchCase, request: Request) -> dict[str, Tolerance]:
    """Return how exact each output of a request has to be."""
    return {
        name: case.tolerances.get(name) or _TOLERANCES.get(spec.dtype, Tolerance())
        for name, spec in request.outputs.items()
    }


def reference_checker(
    case: BenchCase, request: Request, arrays: Mapping[str, Array], reference: Reference
) -> Checker | None:
    """Return a checker by the package's reference.

    Args:
        case: the case.
        request: as it was bound.
        arrays: the inputs.
        reference: the package's.

    Returns:
        The checker; None where the package has none that may be run, or the case is too large for it.

    Raises:
        SuiteError: the reference fails.

    Source: docs/suites.md, "Expected values".
    """
    if not reference.there or tensor_bytes(request) > CHECKED_BYTES:
        return None
    tolerances = tolerances_of(case, request)
    asked = Case(
        name=case.name,
        call=case.call,
        inputs={},
        outputs={name: CaseOutput(tolerance=tolerance) for name, tolerance in tolerances.items()},
    )
    expected = reference.expected(asked, arrays, request.attrs, request.outputs)
    for name, spec in request.outputs.items():
        if expected[name].shape != spec.shape:
            raise SuiteError(
                f"the reference's {name} has another shape than the contract's",
                where=f"{request.manifest.op_id}: {case.name}",
                expected=str(list(spec.shape)),
                got=str(list(expected[name].shape)),
            )
    return Checker(expected, tolerances)


def tensor_bytes(request: Request) -> int:
    """Return how many bytes the tensors of a request have as arrays."""
    return sum(spec.size * numpy_dtype(spec.dtype).itemsize for spec in request.tensors.values())


def _ends(array: Array) -> Array:
    flat = array.reshape(-1)
    return flat if flat.size <= 2 * _END_ELEMENTS else np.concatenate([flat[:_END_ELEMENTS], flat[-_END_ELEMENTS:]])
