"""The manifest as everything after the reader sees it: frozen, complete, one form for every dialect.

Defaults are applied, families expanded, binding handles resolved, and every formula is a compiled ``Expression``.
Keys of caches (``Manifest``, ``Variant``, ``Pass``, ``RepeatGroup``) compare by identity, the others by value. Most of
those are named tuples: defining one takes a fifth of what a dataclass takes, and all are defined on every import.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.requirements import Requires
    from webgpu_kernels.language import Expression

BufferAccess: TypeAlias = Literal["uniform", "read-only-storage", "storage"]
ResourceKind: TypeAlias = Literal["tensor", "scratch", "uniform"]
DispatchForm: TypeAlias = Literal["grid", "threads", "workgroups"]
FieldType: TypeAlias = Literal["u32", "i32", "f32"]
Narrowing: TypeAlias = Literal["checked", "saturating"]
ArgKind: TypeAlias = Literal["u32", "i32", "f32", "bool", "string"]


class Unset(Enum):
    """The type of ``UNSET``: told apart from every value that a manifest can hold, null included."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


class PortRange(NamedTuple):
    """The least and the greatest value of an input's elements, and what they are, in words, for messages."""

    least: Expression
    most: Expression
    what: str | None


class Port(NamedTuple):
    """One input or output tensor of the contract.

    Attributes:
        name: what callers call it, and ``present``; a WGSL identifier.
        semantic: what ``shapes``, ``ranks`` and ``tensorDtypes`` call it, mostly ``name`` too.
        dtype: a logical dtype, a type variable, or None (an output is then float32).
        rank: how many dimensions, as documentation; None where the manifest does not say.
        optional: whether a call may leave it out.
        layout: ``"packed"`` for uint8 inputs stored four to a word, int4 and uint4 eight to a word, else None.
        shape: for outputs, a list of non-negative integers; None where the caller must give the shape.
        storage: the declared storage dtype, None for the logical dtype itself.
        narrowing: ``"checked"`` or ``"saturating"`` for int64 inputs projected to 32 bits, else None.
        description: prose, or None.
        onnx: the formal parameter's name in the ONNX schema, or None.
        value_range: what the elements of a host array must be, or None (extension ``valueRange``).
    """

    name: str
    semantic: str
    dtype: str | None
    rank: Expression | None
    optional: bool
    layout: str | None
    shape: Expression | None
    storage: str | None
    narrowing: Narrowing | None
    description: str | None
    onnx: str | None
    value_range: PortRange | None = None


class ScalarArg(NamedTuple):
    """One scalar argument that is not an attribute; ``one_of`` lists a string argument's allowed values."""

    name: str
    kind: ArgKind
    required: bool
    one_of: tuple[str, ...] | None
    description: str | None
    onnx: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute, with what ``attributes`` and ``attributeConstraints`` say of it.

    Attributes:
        name: its name in calls and in ``attrs``.
        default: a value of the expression language (not to be changed in place), or ``UNSET``.
        required: whether a call must give it; never true beside a default.
        values: what it may be, numbers compared after rounding to float32; None for anything.
        description: prose, or None.
    """

    name: str
    default: object
    required: bool
    values: tuple[object, ...] | None
    description: str | None


class Tunable(NamedTuple):
    """One knob of the implementation: results do not depend on it, speed does."""

    name: str
    default: float | str | bool
    description: str | None


class Derived(NamedTuple):
    """One derived name and the formula of its value."""

    name: str
    expression: Expression


class Intermediate(NamedTuple):
    """One scratch buffer of a variant: numel(shape) elements of a storage dtype."""

    id: str
    dtype: str
    shape: Expression
    zero_init: bool


class StructField(NamedTuple):
    """One 32-bit word of a uniform: ``value``, else the scalar argument of its name, else ``default``."""

    name: str
    type: FieldType
    value: Expression | None
    required: bool
    internal: bool
    default: float | None


class Struct(NamedTuple):
    """The uniform's WGSL struct, without the padding that the runtime appends."""

    name: str
    fields: tuple[StructField, ...]


class Binding(NamedTuple):
    """One ``@group(0) @binding(i)`` of a pass; i is its position.

    Attributes:
        name: the WGSL variable.
        resource: what is bound.
        target: port name, intermediate id, or the uniform's own name.
        access: how the shader may use it.
        element_type: a WGSL type, or ``"$name"`` for a value of the pass (a derived name or a type variable); None for
            uniforms.
        length: elements of a fixed-size array, ``"$name"`` for a value of the pass, or None for a runtime-sized array.
        struct: the uniform's struct, else None.
        split: how many windows a tensor is bound as, or None for the whole of it (extension ``split``).
    """

    name: str
    resource: ResourceKind
    target: str
    access: BufferAccess
    element_type: str | None
    length: int | str | None
    struct: Struct | None
    split: Expression | None = None


class Dispatch(NamedTuple):
    """How many workgroups run.

    Attributes:
        form: which of the following count; the others are the constant 1.
        x, y, z: of ``"grid"``: workgroups along each axis.
        threads, workgroup_size: of ``"threads"``: invocations in all, and of one workgroup.
        workgroups: of ``"workgroups"``: workgroups in all.
    """

    form: DispatchForm
    x: Expression
    y: Expression
    z: Expression
    threads: Expression
    workgroup_size: Expression
    workgroups: Expression


class ViewAlias(NamedTuple):
    """An input port and an output port: where both are the same buffer range, the pass need not run."""

    input: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pass:
    """One dispatch of one shader.

    Attributes:
        id: unique among its siblings.
        label: what profilers show.
        shader: the template's file name, relative to ``build/webgpu``.
        derive: formulas on top of the variant's; they may redefine a name from its earlier value.
        bindings: in binding order.
        dispatch: how many workgroups run.
        profile: the manifest's ``profile`` as it stands, or None.
        subgroup_collectives_width: ``"portable"``, a subgroup size in invocations, or None.
        submit_after: whether the queue is submitted and waited for after this pass.
        view_aliases: pairs of ports that make the pass superfluous.
    """

    id: str
    label: str
    shader: str
    derive: tuple[Derived, ...]
    bindings: tuple[Binding, ...]
    dispatch: Dispatch
    profile: object
    subgroup_collectives_width: int | Literal["portable"] | None
    submit_after: bool
    view_aliases: tuple[ViewAlias, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatGroup:
    """Steps that run ``count`` times (0 to 65,535); groups may hold groups.

    Inside, ``repeat.index`` and ``repeat.count`` are the innermost group's, ``repeat.<index>`` and
    ``repeat.<index>_count`` those of the group that has this index name. The passes of round i are called
    ``<id>[i].<pass id>``.
    """

    id: str
    count: Expression
    index: str
    passes: tuple[Pass | RepeatGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variant:
    """One way to compute the operator.

    Attributes:
        id: unique in the manifest.
        description: prose, or None.
        priority: higher is tried first; ties keep the manifest's order.
        when: clauses that must all be true, the manifest's own first.
        demote_when: clauses of which none should be true.
        superseded_by: ids of variants that rank higher and take its place where they are eligible.
        requires: merged with the manifest's.
        tunables: those that the variant redefines or adds.
        derive: formulas on top of the manifest's.
        intermediates: scratch buffers.
        passes: what runs, in order.
    """

    id: str
    description: str | None
    priority: float
    when: tuple[Expression, ...]
    demote_when: tuple[Expression, ...]
    superseded_by: tuple[str, ...]
    requires: Requires
    tunables: Mapping[str, Tunable]
    derive: tuple[Derived, ...]
    intermediates: tuple[Intermediate, ...]
    passes: tuple[Pass | RepeatGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Manifest:
    """A kernel package's contract and its implementations; mappings keep the order of declaration.

    Source: FORMAT section 2.
    """

    domain: str
    name: str
    description: str | None
    conformance: str | None
    since_version: int | None
    inputs: Mapping[str, Port]
    outputs: Mapping[str, Port]
    args: Mapping[str, ScalarArg]
    attributes: Mapping[str, Attribute]
    type_constraints: Mapping[str, tuple[str, ...]]
    tunables: Mapping[str, Tunable]
    derive: tuple[Derived, ...]
    requires: Requires
    variants: tuple[Variant, ...]
    onnx: object
    extensions: frozenset[str] = frozenset()

    @property
    def op_id(self) -> str:
        """The operator's full name, ``<domain>.<name>``."""
        return f"{self.domain}.{self.name}"

    @property
    def in_out(self) -> frozenset[str]:
        """Names of tensors that are both read and written: they stand in inputs and in outputs."""
        return frozenset(self.inputs) & frozenset(self.outputs)
