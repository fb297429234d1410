"""From a draft, which fixes what a call may choose, to the call: the other inputs' shapes follow from the contract."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.contract import UNSET
from webgpu_kernels.errors import KernelError, LanguageError
from webgpu_kernels.language import host_value
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.quantities import as_count
from webgpu_kernels.planning.request import Request
from webgpu_kernels.planning.scope import request_scope
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.lint.sampling.choices import ABSENT
from webgpu_kernels.tools.lint.sampling.relations import as_shape, evaluated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Manifest, Port
    from webgpu_kernels.planning.scope import Scope
    from webgpu_kernels.tools.lint.sampling.choices import Choices
    from webgpu_kernels.tools.lint.sampling.relations import Relation

Shape = tuple[int, ...]
_ROUNDS: Final = 4
_OWN: Final[tuple[Shape, ...]] = ((3,), (2, 2), (), (5,))
_MAX_ELEMENTS: Final = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a made-up call chooses.

    Attributes:
        lead: the shape of the first input.
        picks: of each other input, which of the shapes that fit; by position.
        dtypes: of each type variable, which of its dtypes; by position.
        attrs: of each attribute, which of its values; by position.
        args: of each argument, which of its values; by position.
        inputs: the optional inputs that are there.
        outputs: the optional outputs that are asked for.
    """

    lead: Shape
    picks: tuple[int, ...]
    dtypes: tuple[int, ...]
    attrs: tuple[int, ...]
    args: tuple[int, ...]
    inputs: frozenset[str]
    outputs: frozenset[str]


class _Picked(NamedTuple):
    """The values that a draft's positions stand for."""

    attrs: dict[str, Any]
    args: dict[str, Any]
    dtypes: dict[str, str]


class Completed(NamedTuple):
    """A call that was made up.

    Attributes:
        call: the call; whether the contract takes it is another question.
        guessed: whether an input has a shape of which the contract's formulas say nothing, though they say something
            of its shape.
    """

    call: CallDescription
    guessed: bool


class Solver:
    """Completes drafts.

    Args:
        manifest: the contract.
        relations: what its formulas say of shapes.
        choices: what a call may choose.
    """

    def __init__(self, manifest: Manifest, relations: Mapping[str, tuple[Relation, ...]], choices: Choices) -> None:
        self._manifest = manifest
        self._relations = relations
        self._choices = choices

    def lead_sizes(self) -> list[tuple[int, int]]:
        """Return axis and size of the first input, where formulas compare it with a number."""
        lead = next(iter(self._manifest.inputs.values()), None)
        found = []
        for relation in self._relations.get(lead.semantic, ()) if lead is not None else ():
            size = as_count(evaluated(relation, {})) if not relation.names else None
            if isinstance(relation.part, int) and size is not None:
                found.append((relation.part, size))
        return found

    def completed(self, draft: Draft) -> Completed:
        """Return the call of a draft.

        Args:
            draft: what is chosen.

        Returns:
            The call.
        """
        manifest, choices = self._manifest, self._choices
        picked = _Picked(
            attrs=_picked(choices.attrs, draft.attrs),
            args=_picked(choices.args, draft.args),
            dtypes=_picked(choices.dtypes, draft.dtypes),
        )
        dtypes = picked.dtypes
        ports = [port for port in manifest.inputs.values() if not port.optional or port.name in draft.inputs]
        shapes, guessed = self._shapes(draft, ports, picked)
        inputs = {port.name: TensorSpec(shapes[port.name], _dtype(port, dtypes)) for port in ports}
        outputs: dict[str, TensorSpec | None] = dict.fromkeys(sorted(draft.outputs))
        for port in manifest.outputs.values():
            if port.shape is None and (not port.optional or port.name in draft.outputs):
                outputs[port.name] = TensorSpec(draft.lead, _dtype(port, dtypes))
        return Completed(CallDescription(inputs=inputs, attrs=picked.attrs, args=picked.args, outputs=outputs), guessed)

    def _shapes(self, draft: Draft, ports: list[Port], picked: _Picked) -> tuple[dict[str, Shape], bool]:
        """Start with shapes of the right rank, and let the relations correct them until nothing changes."""
        shapes = {
            port.name: _provisional(port, draft.lead) if index else draft.lead for index, port in enumerate(ports)
        }
        computed: dict[str, Shape] = {}
        guessed = False
        positions = {name: index for index, name in enumerate(self._manifest.inputs)}
        for _ in range(_ROUNDS if ports[1:] else 0):
            scope = self._scope(ports, shapes, computed, picked)
            computed = self._computed(scope, draft)
            before, guessed = dict(shapes), False
            for port in ports[1:]:
                fitting, known = self._fitting(port, draft.lead, scope)
                pick = draft.picks[positions[port.name] - 1] % len(fitting)
                shapes[port.name] = fitting[pick]
                guessed = guessed or 0 < known <= pick
            if shapes == before:
                break
        return shapes, guessed

    def _scope(
        self, ports: list[Port], shapes: Mapping[str, Shape], computed: Mapping[str, Shape], picked: _Picked
    ) -> Scope:
        """Return what formulas see of an unfinished call; a derived name that fails is left out."""
        manifest, dtypes = self._manifest, picked.dtypes
        defaults = {name: host_value(a.default) for name, a in manifest.attributes.items() if a.default is not UNSET}
        request = Request(
            manifest=manifest,
            inputs={port.name: TensorSpec(shapes[port.name], _dtype(port, dtypes)) for port in ports},
            outputs={
                name: TensorSpec(shape, _dtype(manifest.outputs[name], dtypes)) for name, shape in computed.items()
            },
            attrs={**defaults, **{name: host_value(value) for name, value in picked.attrs.items()}},
            args={name: host_value(value) for name, value in picked.args.items()},
            tunables={},
            dtypes=dtypes,
            capabilities=_PLAIN,
        )
        scope = request_scope(request)
        namespace: dict[str, Any] = {}
        scope["derive"] = namespace
        for entry in manifest.derive:
            try:
                value = host_value(entry.expression.evaluate(scope))
            except (LanguageError, RecursionError):
                continue
            scope[entry.name] = namespace[entry.name] = value
        return scope

    def _computed(self, scope: Scope, draft: Draft) -> dict[str, Shape]:
        found: dict[str, Shape] = {}
        for port in self._manifest.outputs.values():
            if port.shape is None or (port.optional and port.name not in draft.outputs):
                continue
            try:
                shape = as_shape(port.shape.evaluate(scope))
            except (LanguageError, RecursionError):
                continue
            if shape is not None and math.prod(shape) <= _MAX_ELEMENTS:
                found[port.name] = shape
        return found

    def _fitting(self, port: Port, lead: Shape, scope: Scope) -> tuple[list[Shape], int]:
        """Return the shapes that an input may have, what relations say before what is usual, and how many they say."""
        found: dict[Shape, None] = {}
        axes: dict[int, int] = {}
        rank = _rank(port, scope)
        for relation in self._relations.get(port.semantic, ()):
            value = evaluated(relation, scope)
            count = as_count(value)
            if relation.part == "shape" and (shape := as_shape(value)) is not None:
                found.setdefault(shape)
            elif relation.part == "rank" and rank is None:
                rank = count
            elif relation.part == "count" and count is not None:
                found.update(dict.fromkeys([(count,), *([()] if count == 1 else [])]))
            elif isinstance(relation.part, int) and count is not None:
                axes.setdefault(relation.part, count)
        if axes:
            found.setdefault(_from_axes(axes, rank, lead))
        known = list(found)
        turned = (*lead[:-2], *lead[:-3:-1])
        for shape in (lead, turned, lead[-1:], (), (1,) * len(lead), *((*lead[-1:], size) for size in (8, 5)), *_OWN):
            found.setdefault(shape)
        fitting = [shape for shape in found if rank in {None, len(shape)} and math.prod(shape) <= _MAX_ELEMENTS]
        return fitting or [(1,) * min(rank or 0, 16)], sum(shape in fitting for shape in known)


_PLAIN: Final = Capabilities()


def _picked(choices: Mapping[str, tuple[Any, ...]], picks: tuple[int, ...]) -> dict[str, Any]:
    chosen = {name: values[pick % len(values)] for (name, values), pick in zip(choices.items(), picks, strict=True)}
    return {name: value for name, value in chosen.items() if value is not ABSENT}


def _dtype(port: Port, dtypes: Mapping[str, str]) -> str:
    return dtypes.get(port.dtype or "", port.dtype or "float32")


def _provisional(port: Port, lead: Shape) -> Shape:
    rank = _rank(port, {})
    return lead if rank is None else (1,) * min(rank, 16)


def _rank(port: Port, scope: Scope) -> int | None:
    """Return the rank that the contract gives a port, as far as it can be computed."""
    if port.rank is None or (not scope and not port.rank.constant):
        return None
    try:
        return as_count(port.rank.evaluate(scope))
    except (KernelError, RecursionError):
        return None


def _from_axes(axes: Mapping[int, int], rank: int | None, lead: Shape) -> Shape:
    length = rank if rank is not None else max(axis + 1 if axis >= 0 else -axis for axis in axes)
    shape = [lead[axis] if axis < len(lead) else 1 for axis in range(min(length, 16))]
    for axis, size in axes.items():
        if -len(shape) <= axis < len(shape):
            shape[axis] = size
    return tuple(shape)
