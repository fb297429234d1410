"""What the values of an input must lie in, worked out for a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import LanguageError, PlanError
from webgpu_kernels.planning.program import ValueRange
from webgpu_kernels.planning.scope import Scope, evaluate_in

if TYPE_CHECKING:
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.request import Request


def value_ranges(request: Request, scope: Scope) -> dict[str, ValueRange]:
    """Evaluate the ranges of the supplied inputs.

    Args:
        request: the bound call.
        scope: the manifest-level scope, every manifest-level derive in it.

    Returns:
        Input name to its range, for inputs that declare one. A range that holds no value is one: of an empty table's
        rows, no index is right.

    Raises:
        PlanError: a bound fails, or is no integer.

    Source: docs/format.md, "Extensions".
    """
    ranges: dict[str, ValueRange] = {}
    for name in request.inputs:
        declared = request.manifest.inputs[name].value_range
        if declared is not None:
            where = f"{request.manifest.op_id}: range of {name!r}"
            ranges[name] = ValueRange(
                least=_bound(declared.least, scope, f"{where}: min"),
                most=_bound(declared.most, scope, f"{where}: max"),
                what=declared.what,
            )
    return ranges


def _bound(expression: Expression, scope: Scope, where: str) -> int:
    try:
        value = evaluate_in(expression, scope, where=where)
    except LanguageError as error:
        raise PlanError(f"the expression fails: {error}", where=where) from error
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise PlanError("wrong bound", where=where, expected="an integer", got=repr(value))
    return int(value)
