"""How many bytes a call moves, and how many operations it makes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.errors import LanguageError, SuiteError
from webgpu_kernels.planning.scope import evaluate_in

if TYPE_CHECKING:
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.planning.scope import Scope
    from webgpu_kernels.tools.bench.model import BenchCase


class Moved(NamedTuple):
    """What a call moves.

    Attributes:
        read: bytes that it has to read.
        written: bytes that it has to write.
        operations: arithmetic operations, or None where nobody says.
    """

    read: int
    written: int
    operations: int | None = None

    @property
    def bytes(self) -> int:
        """Both together."""
        return self.read + self.written


def moved_by(case: BenchCase, program: Program, scope: Scope, *, where: str) -> Moved:
    """Work out what a case moves.

    Args:
        case: the case.
        program: planned for it.
        scope: the names of its formulas, with every derived value of the manifest.
        where: the package, for messages.

    Returns:
        Bytes and operations; what the case does not say is the size of all inputs and outputs on the device.

    Raises:
        SuiteError: a formula fails, or gives no whole number of at least 0.

    Source: docs/suites.md, "bench.json".
    """
    place = f"{where}: bench.json: {case.name}"
    read = _amount(case.traffic.read, scope, f"{place}: bytesRead")
    written = _amount(case.traffic.written, scope, f"{place}: bytesWritten")
    return Moved(
        sum(use.size_bytes for use in program.inputs) if read is None else read,
        sum(use.size_bytes for use in program.outputs) if written is None else written,
        _amount(case.traffic.operations, scope, f"{place}: operations"),
    )


def _amount(expression: Expression | None, scope: Scope, where: str) -> int | None:
    if expression is None:
        return None
    try:
        value = evaluate_in(expression, scope, where="formula")
    except LanguageError as error:
        raise SuiteError(f"the formula fails: {error}", where=where) from error
    whole = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    if not whole or value != math.floor(value):
        raise SuiteError(
            "the formula gives no amount", where=where, expected="a whole number of at least 0", got=repr(value)
        )
    return int(value)
