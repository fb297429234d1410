"""Counts what there is to plan before any of it is planned: rounds of repeat groups multiply whatever they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract import Pass, RepeatGroup
from webgpu_kernels.errors import PlanError, WorkLimitExceeded
from webgpu_kernels.language import MAX_WORK, spend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from webgpu_kernels.contract import Binding
    from webgpu_kernels.planning.scope import Scope

    Rounds = Callable[[RepeatGroup, Scope, str], Iterator[tuple[Scope, str]]]

MAX_PASSES: Final = 8192
"""Most dispatches of one call, and most rounds of its repeat groups."""

# Units of work, about a microsecond each; an evaluation of something large is charged for on top.
_PASS: Final = 20
_ROUND: Final = 4
_BINDING: Final = 3
_FIELD: Final = 2
_NAMES_A_UNIT: Final = 6
_CHARS_A_UNIT: Final = 12


class Tally:
    """Counts passes and rounds, and charges the running evaluation for the work that they will be.

    Args:
        where: operator and variant, for messages.
        rounds: gives the scope and the path of every round of a group.
    """

    def __init__(self, where: str, rounds: Rounds) -> None:
        self._where = where
        self._rounds_of = rounds
        self._passes = 0
        self._rounds = 0

    def count(self, steps: tuple[Pass | RepeatGroup, ...], scope: Scope, prefix: str = "") -> None:
        """Count the passes of some steps, those of repeat groups once a round.

        Args:
            steps: of a variant or of a group.
            scope: what they see.
            prefix: what their ids begin with.

        Raises:
            PlanError: they are too many, or too much work, or a group's count makes no sense.
        """
        for step in steps:
            if isinstance(step, Pass):
                self._passes += 1
                self._check(self._passes, "passes")
                self._charge(_PASS + _work_of(step), scope, prefix)
            else:
                self._count_rounds(step, scope, prefix)

    def _count_rounds(self, group: RepeatGroup, scope: Scope, prefix: str) -> None:
        self._charge(_ROUND + len(group.count.source) // _CHARS_A_UNIT, {}, prefix)
        for inner, path in self._rounds_of(group, scope, prefix):
            self._rounds += 1
            self._check(self._rounds, "rounds of repeat groups")
            self._charge(_ROUND, scope, path)
            self.count(group.passes, inner, path)

    def _check(self, count: int, what: str) -> None:
        if count > MAX_PASSES:
            raise PlanError(f"too many {what}", where=self._where, expected=f"at most {MAX_PASSES:,} in one call")

    def _charge(self, units: int, scope: Scope, prefix: str) -> None:
        """Charge for a copy of the scope, too: each pass and each round has its own."""
        try:
            spend(units + len(scope) // _NAMES_A_UNIT + len(prefix) // _CHARS_A_UNIT)
        except WorkLimitExceeded as error:
            raise PlanError(
                "the passes are too much work to plan",
                where=self._where,
                expected=f"at most {MAX_WORK:,} units of work",
                hint="Dispatch more workgroups in fewer passes, or derive less in each.",
            ) from error


def _work_of(step: Pass) -> int:
    """Return the units of work that a pass's own parts are, each time that it is planned."""
    dispatch = step.dispatch
    formulas = [entry.expression for entry in step.derive]
    formulas += [dispatch.x, dispatch.y, dispatch.z, dispatch.threads, dispatch.workgroup_size, dispatch.workgroups]
    chars = sum(len(formula.source) for formula in formulas)
    return chars // _CHARS_A_UNIT + len(step.derive) + sum(map(_work_of_binding, step.bindings))


def _work_of_binding(binding: Binding) -> int:
    fields = binding.struct.fields if binding.struct is not None else ()
    formulas = [entry.value for entry in fields] + [binding.split]
    chars = sum(len(formula.source) for formula in formulas if formula is not None)
    return _BINDING + _FIELD * len(fields) + chars // _CHARS_A_UNIT
