"""A call that need not be made: tensors of what shapes and dtypes, with which options. Read and written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract import DTYPES
from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.kinds import Anything, Either, Entries, Key, Members, Table, Text, Whole, Words
from webgpu_kernels.errors import RequestError
from webgpu_kernels.invocation import Invocation
from webgpu_kernels.planning.rendering import build_program
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tuning import explain_call, plan_call, tuned_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.explanation import Explanation
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.planning.selection import Selection
    from webgpu_kernels.tuning import Tuned

LAYOUTS: Final = ("packed",)
MAX_RANK: Final = 32
DTYPE_KEY: Final = Key("dtype", Words(tuple(DTYPES)), "Its logical dtype.", f"give one of {', '.join(DTYPES)}")
SHAPE_KEY: Final = Key("shape", Entries(Whole()), "Its dimensions.", "give a list of dimensions")
LAYOUT_KEY: Final = Key("layout", Words(LAYOUTS), "'packed': four uint8 to a 32-bit word.")
SPEC: Final = Table("an input", DTYPE_KEY, SHAPE_KEY, LAYOUT_KEY)
_WANTED: Final = Table("an output", *(key._replace(missing=None) for key in SPEC.keys.values()))
CALL: Final = Table(
    "a call",
    Key("inputs", Members(SPEC), "Input to shape and dtype.", "give {name: {dtype, shape}}"),
    Key("attrs", Members(Anything()), "Attributes by name."),
    Key("args", Members(Anything()), "Scalar arguments by name."),
    Key("outputs", Either((Entries(Text()), Members(_WANTED))), "Wanted outputs."),
    Key("variant", Text(), "The variant to force."),
    Key("tunables", Members(Anything()), "Overrides of tunables by name."),
)
CALL_KEYS: Final = tuple(CALL.keys)
SPEC_KEYS: Final = tuple(SPEC.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDescription:
    """One call of a kernel, without its values.

    Attributes:
        inputs: port name to shape and dtype.
        attrs: attributes by name.
        args: scalar arguments by name.
        outputs: wanted outputs, each with a spec where the contract does not infer its shape, else None.
        variant: the variant to force, or None.
        tunables: overrides by name.
    """

    inputs: Mapping[str, TensorSpec]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    args: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, TensorSpec | None] = field(default_factory=dict)
    variant: str | None = None
    tunables: Mapping[str, Any] = field(default_factory=dict)

    def options(self) -> dict[str, Any]:
        """Return the methods' keywords: ``kernel.explain(call.inputs, **call.options())``."""
        return {
            "attrs": dict(self.attrs),
            "args": dict(self.args),
            "outputs": dict(self.outputs),
            "variant": self.variant,
            "tunables": dict(self.tunables),
        }

    def accepted_variants(self, kernel: Kernel, capabilities: Capabilities) -> tuple[str, ...]:
        """Return every variant that can run the call, whatever ranks above it.

        Args:
            kernel: the kernel.
            capabilities: the device.

        Returns:
            Variant ids, best rank first, also of demoted and superseded ones; at most the forced one where one is.

        Raises:
            RequestError: the call does not fit the contract in a way that no variant decides.

        Source: FORMAT, section 5.
        """
        able = [candidate.id for candidate in self.select(kernel, capabilities).candidates if candidate.able]
        return tuple(name for name in able if self.variant in {None, name})

    def select(self, kernel: Kernel, capabilities: Capabilities) -> Selection:
        """Judge every variant.

        Args:
            kernel: the kernel.
            capabilities: the device.

        Returns:
            The selection; its variant is None where none fits, or the forced one does not.

        Raises:
            RequestError: the call does not fit the contract in a way that no variant decides.

        Source: FORMAT, section 5.
        """
        return self._asked(self.variant).select(kernel.manifest, capabilities, exhaustive=True)

    def explain(self, kernel: Kernel, capabilities: Capabilities, *, here: bool = False) -> Explanation:
        """Say which variant the call would take, and why not the others.

        Args:
            kernel: the kernel.
            capabilities: the device.
            here: whether it is a device of this machine, whose profiles count then.

        Returns:
            Every candidate's verdict; ``variant`` is None where none fits.

        Raises:
            RequestError: the call does not fit the contract in a way that no variant decides.
            PlanError: the chosen variant cannot be planned.

        Source: FORMAT, section 5.
        """
        return explain_call(self._asked(self.variant), kernel.package, capabilities, here=here)

    def program(
        self, kernel: Kernel, capabilities: Capabilities, variant: str | None = None, *, here: bool = False
    ) -> Program:
        """Plan and render the call.

        Args:
            kernel: the kernel.
            capabilities: the device.
            variant: the variant to force; by default the call's own, else the one that is chosen.
            here: whether it is a device of this machine, whose profiles count then.

        Returns:
            What an engine runs.

        Raises:
            RequestError: the call does not fit the contract, or no variant takes it.
            PlanError: the variant cannot be planned on this device.

        Source: FORMAT, sections 4 to 7.
        """
        asked = self._asked(variant if variant is not None else self.variant)
        return build_program(kernel.package, plan_call(asked, kernel.package, capabilities, here=here))

    def tuned(self, kernel: Kernel, capabilities: Capabilities) -> Tuned | None:
        """Return how the call goes by a device's profile.

        Args:
            kernel: the kernel.
            capabilities: of a device of this machine.

        Returns:
            The variant, the tunables and where they come from; None where no profile has a word on such a call.

        Raises:
            RequestError: the call does not fit the contract.

        Source: docs/command-line.md, "tune".
        """
        return tuned_call(self._asked(self.variant), kernel.package, capabilities)

    def _asked(self, variant: str | None) -> Invocation:
        return Invocation(self.inputs, self.attrs, self.args, self.outputs, {}, variant, self.tunables)


def parse_call(content: str | bytes, *, where: str) -> CallDescription:
    """Read a call from JSON text.

    Args:
        content: the text; bytes are UTF-8.
        where: what it is, for messages, such as a file's name.

    Returns:
        The call.

    Raises:
        RequestError: it is not JSON or not a call; all defects, in document order.

    Source: docs/suites.md.
    """
    return read_document(content, read_call, what="the call", where=where, error=RequestError)


def read_call(node: Node) -> CallDescription:
    """Read a call.

    Args:
        node: an object ``{inputs, attrs, args, outputs, variant, tunables}`` of plain JSON.

    Returns:
        The call; what is wrong is reported at its place, and left out.

    Source: docs/suites.md.
    """
    fields = Fields(node, CALL)
    return CallDescription(
        inputs=_read_inputs(fields.get("inputs")),
        attrs=read_options(fields.get("attrs"), "attributes"),
        args=read_options(fields.get("args"), "scalar arguments"),
        outputs=_read_outputs(fields.get("outputs")),
        variant=fields.text("variant"),
        tunables=read_options(fields.get("tunables"), "tunables"),
    )


def call_json(call: CallDescription) -> dict[str, Any]:
    """Return a call as ``read_call`` reads it; what it lacks is left out.

    Args:
        call: the call.

    Returns:
        Plain JSON.

    Source: docs/suites.md.
    """
    document: dict[str, Any] = {"inputs": {name: spec_json(spec) for name, spec in call.inputs.items()}}
    for key, values in (("attrs", call.attrs), ("args", call.args)):
        if values:
            document[key] = dict(values)
    if call.outputs:
        document["outputs"] = {name: spec_json(spec) if spec else {} for name, spec in call.outputs.items()}
    if call.variant is not None:
        document["variant"] = call.variant
    if call.tunables:
        document["tunables"] = dict(call.tunables)
    return document


def spec_json(spec: TensorSpec) -> dict[str, Any]:
    """Return a tensor's spec as JSON: ``{dtype, shape}``, and ``layout`` where it has one."""
    document: dict[str, Any] = {"dtype": spec.dtype, "shape": list(spec.shape)}
    return {**document, "layout": spec.layout} if spec.layout else document


def read_options(node: Node | None, what: str) -> Mapping[str, Any]:
    """Read attributes, scalar arguments or tunables: an object of names to any values.

    Args:
        node: the object, or None where there is none.
        what: what they are, in the plural, for messages.

    Returns:
        Name to plain JSON value.

    Source: docs/suites.md.
    """
    return MappingProxyType({name: member.value for name, member in node.members(what)} if node else {})


def read_dtype(fields: Fields) -> str | None:
    """Read ``dtype``: a logical dtype, or None where it is absent or wrong."""
    return fields.choice("dtype", tuple(DTYPES))


def read_shape(fields: Fields) -> tuple[int, ...] | None:
    """Read ``shape``: a list of non-negative integers, or None where it is absent or wrong."""
    node = fields.get("shape")
    if node is None:
        return None
    if not isinstance(node.value, list):
        node.fail_kind("a list of dimensions")
        return None
    if len(node.value) > MAX_RANK:
        node.fail(f"has {len(node.value)} dimensions: {MAX_RANK} are the most")
        return None
    wrong = [entry for entry in node.entries("dimensions") if not _is_dimension(entry.value)]
    for entry in wrong:
        entry.fail_kind("an integer of at least 0")
    return None if wrong else tuple(node.value)


def read_spec(fields: Fields) -> TensorSpec | None:
    """Read ``dtype``, ``shape`` and ``layout`` of a tensor, all but the last of which it must have.

    Args:
        fields: the tensor's members.

    Returns:
        The spec, or None where something is wrong, which is then reported.

    Source: docs/suites.md.
    """
    for key in (DTYPE_KEY, SHAPE_KEY):
        fields.need(key.name, key.missing or "")
    dtype, shape, layout = read_dtype(fields), read_shape(fields), fields.choice("layout", LAYOUTS)
    if layout and dtype and dtype != "uint8":
        fields.node.at("layout", layout).fail(f"is for uint8 only: {dtype} has one layout")
        return None
    return TensorSpec(shape, dtype, layout) if dtype is not None and shape is not None else None


def _read_inputs(node: Node | None) -> Mapping[str, TensorSpec]:
    members = node.members("inputs") if node else []
    specs = {name: read_spec(Fields(member, SPEC)) for name, member in members}
    return MappingProxyType({name: spec for name, spec in specs.items() if spec is not None})


def _read_outputs(node: Node | None) -> Mapping[str, TensorSpec | None]:
    """Read wanted outputs: a list of names, or an object of names to specs, empty for what the contract infers."""
    if node is None:
        return MappingProxyType({})
    if isinstance(node.value, list):
        names = [entry.string() for entry in node.entries("output names")]
        return MappingProxyType({name: None for name in names if name is not None})
    members = node.members("outputs, or a list of their names")
    return MappingProxyType({name: _read_wanted(Fields(member, _WANTED)) for name, member in members})


def _read_wanted(fields: Fields) -> TensorSpec | None:
    stated = [key for key in SPEC_KEYS if key in fields]
    return read_spec(fields) if stated or not fields.good else None


def _is_dimension(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
