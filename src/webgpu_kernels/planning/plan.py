"""What the chosen variant does for this request: scopes, grids, bindings and sizes, all evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.contract import Pass, RepeatGroup, stored_bytes
from webgpu_kernels.errors import LanguageError, PlanError
from webgpu_kernels.language import Bounded
from webgpu_kernels.planning.bindings import PlannedBinding, plan_binding, tensor_bytes
from webgpu_kernels.planning.grids import plan_grid
from webgpu_kernels.planning.quantities import MAX_RANK, as_counts
from webgpu_kernels.planning.ranges import value_ranges
from webgpu_kernels.planning.scope import Scope, derive_into, evaluate_in
from webgpu_kernels.planning.windows import check_variables, split_binding
from webgpu_kernels.planning.work import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Binding, Derived, Intermediate, Variant
    from webgpu_kernels.language import Expression, Value
    from webgpu_kernels.planning.program import ValueRange
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.planning.selection import Selection

MAX_REPEATS = 65_535


class PlannedIntermediate(NamedTuple):
    """One scratch buffer.

    Attributes:
        id: its name in the manifest.
        dtype: storage dtype.
        shape: dimensions.
        size_bytes: bytes on the device, a positive multiple of 4.
        zero_init: whether it starts cleared.
    """

    id: str
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int
    zero_init: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPass:
    """One dispatch.

    Attributes:
        id: expanded inside repeat groups.
        label: for debuggers.
        shader: the template's file name.
        dispatch: workgroups along x, y, z.
        bindings: in order.
        values: the derived values of the pass, its variant and the manifest, by name.
        scope: everything the template sees apart from ``env`` and the type variables.
        submit_after: whether the queue is submitted and waited for after it.
        view_aliases: pairs (input, output).
    """

    id: str
    label: str
    shader: str
    dispatch: tuple[int, int, int]
    bindings: tuple[PlannedBinding, ...]
    values: dict[str, Value]
    scope: Scope
    submit_after: bool
    view_aliases: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A selection with every number worked out.

    Attributes:
        request: what was asked.
        variant: what runs.
        intermediates: scratch buffers.
        passes: in order; empty where every output is empty.
        value_ranges: input name to what its values must lie in, for inputs that declare it.
    """

    request: Request
    variant: Variant
    intermediates: tuple[PlannedIntermediate, ...]
    passes: tuple[PlannedPass, ...]
    value_ranges: Mapping[str, ValueRange]

    @property
    def where(self) -> str:
        """Operator and variant, for messages."""
        return f"{self.request.manifest.op_id}: variant {self.variant.id}"


def build_plan(selection: Selection) -> Plan:
    """Evaluate everything that the chosen variant needs.

    Args:
        selection: one with a variant.

    Returns:
        The plan. Where all outputs are empty it has no passes and no expression of the variant is evaluated.

    Raises:
        PlanError: a derive, shape, binding, uniform or grid of the variant makes no sense.
        LimitError: a grid axis exceeds what the device allows; buffers are ``check_limits``' business.

    Source: FORMAT, sections 4 (step 3), 6 and 8.
    """
    try:
        with Bounded():
            return _build(selection)
    except PlanError as error:
        # Not the manifest's defaults, as it would seem: whoever set them looks for the fault elsewhere.
        if selection.request.tunables and error.hint is None:
            listed = ", ".join(f"{name}={value!r}" for name, value in selection.request.tunables.items())
            error.hint = f"The call sets tunables: {listed}."
        raise


def _build(selection: Selection) -> Plan:
    request, variant = selection.request, selection.variant
    assert variant is not None
    ranges = value_ranges(request, selection.scope)
    if nothing_to_compute(request):
        return Plan(request=request, variant=variant, intermediates=(), passes=(), value_ranges=ranges)
    where = f"{request.manifest.op_id}: variant {variant.id}"
    scope = _variant_scope(selection.scope, request, variant, where)
    intermediates = tuple(_intermediate(entry, scope, where) for entry in variant.intermediates)
    sizes = {name: tensor_bytes(request, name) for name in request.tensors}
    sizes |= {entry.id: entry.size_bytes for entry in intermediates}
    passes = _Expansion(request, where, sizes).expand(variant.passes, scope)
    if not passes:
        raise PlanError("every repeat group expands to no pass", where=where)
    return Plan(request=request, variant=variant, intermediates=intermediates, passes=passes, value_ranges=ranges)


def nothing_to_compute(request: Request) -> bool:
    """Tell whether all outputs and in/outs are empty: then nothing runs (FORMAT, section 8)."""
    return bool(request.outputs) and all(spec.size == 0 for spec in request.outputs.values())


def _variant_scope(base: Scope, request: Request, variant: Variant, where: str) -> Scope:
    """Overlay the variant's tunables (manifest < variant < request), then its derives."""
    scope = dict(base)
    defaults = {name: tunable.default for name, tunable in variant.tunables.items()}
    scope["tunables"] = {**base["tunables"], **defaults, **request.tunables}
    _derive(scope, variant.derive, where)
    return scope


def _derive(scope: Scope, derived: tuple[Derived, ...], where: str) -> None:
    try:
        derive_into(scope, derived)
    except LanguageError as error:
        raise PlanError(f"a derive fails: {error}", where=where) from error


def _value(expression: Expression, scope: Scope, where: str) -> Value:
    try:
        return evaluate_in(expression, scope, where=where)
    except LanguageError as error:
        raise PlanError(f"the expression fails: {error}", where=where) from error


def _intermediate(entry: Intermediate, scope: Scope, where: str) -> PlannedIntermediate:
    path = f"{where}: intermediate {entry.id}"
    value = _value(entry.shape, scope, path)
    if isinstance(value, list) and len(value) > MAX_RANK:
        raise PlanError(f"the shape has {len(value):,} dimensions", where=path, expected=f"at most {MAX_RANK}")
    dimensions = as_counts(value if isinstance(value, list) else [value])
    if dimensions is None:
        raise PlanError("the shape is not a list of non-negative integers", where=path, got=repr(value))
    elements = 1
    for dimension in dimensions:
        elements *= dimension
    size = stored_bytes(elements, entry.dtype)
    return PlannedIntermediate(
        id=entry.id, dtype=entry.dtype, shape=dimensions, size_bytes=size, zero_init=entry.zero_init
    )


class _Expansion:
    """Walks passes and repeat groups, planning each pass in its scope."""

    def __init__(self, request: Request, where: str, sizes: dict[str, int]) -> None:
        self.request = request
        self.where = where
        self.sizes = sizes

    def expand(self, entries: tuple[Pass | RepeatGroup, ...], scope: Scope) -> tuple[PlannedPass, ...]:
        Tally(self.where, self._each_round).count(entries, scope)
        return tuple(self._walk(entries, scope, ""))

    def _walk(self, entries: tuple[Pass | RepeatGroup, ...], scope: Scope, prefix: str) -> Iterator[PlannedPass]:
        for entry in entries:
            if isinstance(entry, Pass):
                yield self._pass(entry, scope, prefix)
            else:
                yield from self._group(entry, scope, prefix)

    def _group(self, group: RepeatGroup, scope: Scope, prefix: str) -> Iterator[PlannedPass]:
        for inner, path in self._each_round(group, scope, prefix):
            yield from self._walk(group.passes, inner, path)

    def _each_round(self, group: RepeatGroup, scope: Scope, prefix: str) -> Iterator[tuple[Scope, str]]:
        path = f"{self.where}: repeat group {prefix}{group.id}"
        count = _value(group.count, scope, path)
        if isinstance(count, bool) or not isinstance(count, int | float) or count != count // 1:
            raise PlanError(
                "wrong repeat count", where=path, expected=f"an integer from 0 to {MAX_REPEATS}", got=repr(count)
            )
        if not 0 <= count <= MAX_REPEATS:
            raise PlanError(
                "wrong repeat count", where=path, expected=f"an integer from 0 to {MAX_REPEATS}", got=repr(count)
            )
        outer = scope.get("repeat")
        for index in range(int(count)):
            inner = dict(scope)
            inner["repeat"] = {
                **(outer if isinstance(outer, dict) else {}),
                "index": index,
                "count": int(count),
                group.index: index,
                f"{group.index}_count": int(count),
            }
            yield inner, f"{prefix}{group.id}[{index}]."

    def _pass(self, step: Pass, scope: Scope, prefix: str) -> PlannedPass:
        path = f"{self.where}: pass {prefix}{step.id}"
        inner = dict(scope)
        _derive(inner, step.derive, path)
        values = inner["derive"]
        assert isinstance(values, dict)
        return PlannedPass(
            id=f"{prefix}{step.id}",
            label=step.label,
            shader=step.shader,
            dispatch=plan_grid(step.dispatch, inner, self.request.capabilities, path),
            bindings=self._bindings(step.bindings, inner, path),
            values=values,
            scope=inner,
            submit_after=step.submit_after,
            view_aliases=tuple((alias.input, alias.output) for alias in step.view_aliases),
        )

    def _bindings(self, declared: tuple[Binding, ...], scope: Scope, path: str) -> tuple[PlannedBinding, ...]:
        planned: list[PlannedBinding] = []
        for binding in declared:
            whole = plan_binding(binding, scope, self.request, self.sizes, path)
            size_bytes = self.sizes.get(binding.target, 0)
            planned += split_binding(binding, whole, scope, self.request, size_bytes=size_bytes, where=path)
        bindings = tuple(planned)
        if any(binding.split is not None for binding in declared):
            check_variables(bindings, path)
        return bindings
