"""Reads passes and repeat groups: what runs, in which order, on how many workgroups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from webgpu_kernels.contract.bindings import read_bindings
from webgpu_kernels.contract.derive import derived_at, read_derive
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.files import path_fault, suffix_fault
from webgpu_kernels.contract.formulas import ONE, formula_of
from webgpu_kernels.contract.model import Dispatch, Pass, RepeatGroup, ViewAlias
from webgpu_kernels.contract.vocabulary import (
    ALIAS,
    DISPATCH,
    GROUP,
    PASS,
    PORTABLE,
    REPEAT,
    REPEAT_RESERVED,
    STEP,
    WIDTHS,
)
from webgpu_kernels.contract.words import PASS_ID, alternatives, name_fault
from webgpu_kernels.errors import LanguageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from webgpu_kernels.contract.bindings import Place
    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names
    from webgpu_kernels.contract.kinds import Table
    from webgpu_kernels.contract.model import Binding, Derived, DispatchForm, Port
    from webgpu_kernels.language import Expression

MAX_PASSES: Final = 131_072


class PassForm(NamedTuple):
    """How a dialect writes a pass and a repeat group: their tables, and what reads a pass, given its id and place."""

    table: Table
    group: Table
    read: Callable[[str, Fields, Place], Pass]


def read_steps(node: Node, place: Place, form: PassForm | None = None) -> tuple[Pass | RepeatGroup, ...]:
    """Read ``passes`` of a variant or of a repeat group.

    Args:
        node: a non-empty list of passes and repeat groups.
        place: what they may use; its node is the variant or the group.
        form: the dialect's, by default that of spec 2.1.

    Returns:
        The steps in order.

    Source: FORMAT section 2 (``passes``).
    """
    return _read_steps(node, place, form or PassForm(table=PASS, group=GROUP, read=_read_pass), ())


def _read_steps(node: Node, place: Place, form: PassForm, indices: tuple[str, ...]) -> tuple[Pass | RepeatGroup, ...]:
    steps: dict[str, Pass | RepeatGroup] = {}
    for number, entry in enumerate(node.entries("passes", least=1)):
        is_group = STEP.takes(entry.value)
        fields = Fields(entry, form.group if is_group else form.table)
        id_ = _read_id(fields, f"pass_{number}")
        if id_ in steps:
            entry.at("id", None).fail(f"is taken: another pass here is called {id_!r}")
        steps[id_] = _read_group(id_, fields, place, form, indices) if is_group else form.read(id_, fields, place)
    return tuple(steps.values())


def _read_id(fields: Fields, default: str) -> str:
    node, text = fields.get("id"), fields.text("id")
    if node is None or text is None:
        return default
    if not PASS_ID.fullmatch(text):
        node.fail("is not a pass id: use letters, digits, underscores, dots and dashes")
    return text


def _read_group(id_: str, fields: Fields, place: Place, form: PassForm, indices: tuple[str, ...]) -> RepeatGroup:
    repeat, passes = fields.get("repeat"), fields.get("passes")
    assert repeat is not None
    inner = Fields(repeat, REPEAT)
    index = _read_index(inner, indices)
    return RepeatGroup(
        id=id_,
        count=formula_of(inner, "count", place.names) or ONE,
        index=index,
        passes=_read_steps(passes, place, form, (*indices, index)) if passes else (),
    )


def _read_index(fields: Fields, outer: tuple[str, ...]) -> str:
    node, name = fields.get("index"), fields.text("index")
    if node is None or name is None:
        return "index"
    if fault := name_fault(name):
        node.fail(fault)
    elif name in REPEAT_RESERVED:
        node.fail("would hide repeat.count: choose another name")
    elif name in outer:
        node.fail(f"is the index of an outer group: repeat.{name} could mean either")
    return name


def _read_pass(id_: str, fields: Fields, place: Place) -> Pass:
    node = fields.node
    formulas = fields.get("derive")
    names = place.names.inner(derived_at(formulas))
    derive = read_derive(formulas, names)
    inner = replace(place, node=node, names=names)
    bindings = fields.get("bindings")
    read = read_bindings(bindings, inner) if bindings else ()
    dispatch = fields.get("dispatch")
    return compose_pass(
        id_,
        fields,
        inner,
        shader=read_shader(fields),
        derive=derive,
        bindings=read,
        dispatch=read_dispatch(dispatch, names) if dispatch else compose_dispatch("grid", {}),
    )


def compose_pass(  # noqa: D417 - the keywords are the pass's own
    id_: str,
    fields: Fields,
    place: Place,
    *,
    shader: str,
    derive: tuple[Derived, ...],
    bindings: tuple[Binding, ...],
    dispatch: Dispatch,
) -> Pass:
    """Add what every dialect writes alike to what was read of a pass.

    Args:
        id_: the pass's id.
        fields: its members.
        place: what its view aliases may name.

    Returns:
        The pass.

    Source: FORMAT section 2 (``passes``).
    """
    aliases, profile = fields.get("viewAlias"), fields.get("profile")
    return Pass(
        id=id_,
        label=fields.text("name") or id_,
        shader=shader,
        derive=derive,
        bindings=bindings,
        dispatch=dispatch,
        profile=profile.value if profile else None,
        subgroup_collectives_width=_read_width(fields.get("subgroupCollectivesWidth")),
        submit_after=fields.flag("submitAfter"),
        view_aliases=tuple(_read_aliases(aliases, bindings, place)) if aliases else (),
    )


def read_shader(fields: Fields) -> str:
    """Read ``shader``, the template's file name; it is reported and empty where it is missing."""
    node = fields.get("shader")
    name = node.string() if node else None
    if node is None or name is None:
        return ""
    if fault := path_fault(name) or suffix_fault(name):
        node.fail(fault)
    return name


def read_dispatch(node: Node, names: Names) -> Dispatch:
    """Read ``dispatch`` in one of its three forms.

    Args:
        node: its object.
        names: what its formulas may use.

    Returns:
        The dispatch; one workgroup where it is wrong, which is then reported.

    Source: FORMAT section 8.
    """
    fields = Fields(node, DISPATCH)
    if fields.form is None:
        return compose_dispatch("grid", {})
    parts = {key: formula_of(fields, key, names) for key in fields.form.keys}
    return compose_dispatch(fields.form.name, {key: part for key, part in parts.items() if part})


def compose_dispatch(form: DispatchForm, parts: Mapping[str, Expression]) -> Dispatch:
    """Return a dispatch, its missing parts 1.

    Args:
        form: which parts count.
        parts: formulas by key.

    Returns:
        The dispatch.

    Source: FORMAT section 8.
    """
    return Dispatch(
        form=form,
        x=parts.get("x", ONE),
        y=parts.get("y", ONE),
        z=parts.get("z", ONE),
        threads=parts.get("threads", ONE),
        workgroup_size=parts.get("workgroupSize", ONE),
        workgroups=parts.get("workgroups", ONE),
    )


def _read_width(node: Node | None) -> int | Literal["portable"] | None:
    if node is None:
        return None
    if node.value == PORTABLE:
        return "portable"
    if node.value in WIDTHS and isinstance(node.value, int):
        return node.value
    node.fail_kind("'portable' or a power of two from 4 to 128")
    return None


def _read_aliases(node: Node, bindings: tuple[Binding, ...], place: Place) -> Iterable[ViewAlias]:
    for entry in node.entries("pairs {input, output}", least=1):
        fields = Fields(entry, ALIAS)
        source = _aliased(fields, "input", place.contract.inputs, bindings)
        target = _aliased(fields, "output", place.contract.outputs, bindings)
        if source and target:
            yield ViewAlias(input=source, output=target)


def _aliased(fields: Fields, key: str, ports: Mapping[str, Port], bindings: tuple[Binding, ...]) -> str | None:
    """Return the port that one side of a view alias means: by the name the shader has for it, or by its own."""
    node = fields.get(key)
    name = node.string() if node else None
    if node is None or name is None:
        return None
    bound = {binding.name: binding.target for binding in bindings if binding.resource == "tensor"}
    target = ({port.semantic: port.name for port in ports.values()} | bound).get(name, name)
    if target in ports:
        return target
    known = (*(name for name, target in bound.items() if target in ports), *ports)
    node.fail(f"is no {key}: {alternatives(name, known, what=f'{key}s')}")
    return None


def least_passes(steps: tuple[Pass | RepeatGroup, ...]) -> int:
    """Count the passes that run for certain.

    Args:
        steps: of a variant.

    Returns:
        Their number with every group of constant count expanded, the others taken as empty.

    Source: FORMAT section 2 (``passes``).
    """
    return sum(_rounds(step) * least_passes(step.passes) if isinstance(step, RepeatGroup) else 1 for step in steps)


def _rounds(group: RepeatGroup) -> int:
    try:
        count = group.count.evaluate({}) if group.count.constant else 0
    except LanguageError:
        return 0
    return count if isinstance(count, int) and count > 0 else 0
