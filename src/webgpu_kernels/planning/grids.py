"""Workgroup counts: the three dispatch forms, folding, and the device's ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import LanguageError, LimitError, PlanError
from webgpu_kernels.planning.capabilities import MAX_GRID
from webgpu_kernels.planning.quantities import as_count
from webgpu_kernels.planning.scope import Scope, evaluate_in

if TYPE_CHECKING:
    from webgpu_kernels.contract import Dispatch
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.capabilities import Capabilities


def plan_grid(dispatch: Dispatch, scope: Scope, capabilities: Capabilities, where: str) -> tuple[int, int, int]:
    """Evaluate a dispatch.

    Args:
        dispatch: one of the three forms.
        scope: what its expressions see.
        capabilities: the device.
        where: operator, variant and pass, for messages.

    Returns:
        Workgroups along x, y, z; a zero axis means that the pass is skipped.

    Raises:
        PlanError: an axis is not a non-negative integer.
        LimitError: an axis is larger than the device's maxComputeWorkgroupsPerDimension.

    Source: FORMAT, section 8.
    """
    if dispatch.form == "grid":
        grid = (
            _count(dispatch.x, scope, f"{where}: dispatch.x"),
            _count(dispatch.y, scope, f"{where}: dispatch.y"),
            _count(dispatch.z, scope, f"{where}: dispatch.z"),
        )
    elif dispatch.form == "threads":
        threads = _count(dispatch.threads, scope, f"{where}: dispatch.threads")
        size = _count(dispatch.workgroup_size, scope, f"{where}: dispatch.workgroupSize")
        if size == 0:
            raise PlanError("workgroupSize is 0", where=f"{where}: dispatch.workgroupSize")
        grid = fold(-(-threads // size))
    else:
        grid = fold(_count(dispatch.workgroups, scope, f"{where}: dispatch.workgroups"))
    _check_axes(grid, capabilities, where)
    return grid


def fold(workgroups: int) -> tuple[int, int, int]:
    """Lay a flat count of workgroups out as rows of 65,535: templates rebuild the flat id with DISPATCH_FOLD_WIDTH.

    Source: FORMAT, section 8.
    """
    if workgroups == 0:
        return (0, 0, 1)
    return (min(workgroups, MAX_GRID), -(-workgroups // MAX_GRID), 1)


def _count(expression: Expression, scope: Scope, where: str) -> int:
    try:
        value = evaluate_in(expression, scope, where=where)
    except LanguageError as error:
        raise PlanError(f"the expression fails: {error}", where=where) from error
    count = as_count(value)
    if count is None:
        raise PlanError(f"`{expression.source}`", where=where, expected="a non-negative integer", got=repr(value))
    return count


def _check_axes(grid: tuple[int, int, int], capabilities: Capabilities, where: str) -> None:
    available = capabilities.limits["maxComputeWorkgroupsPerDimension"]
    for axis, count in zip("xyz", grid, strict=True):
        if count > available:
            raise LimitError(
                f"too many workgroups along {axis}",
                limit="maxComputeWorkgroupsPerDimension",
                asked=count,
                available=available,
                where=where,
            )
