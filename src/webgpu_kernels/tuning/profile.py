"""A profile: what was fastest for the calls that were measured, as a plain value and as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract.documents import read_root
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.json_text import load_json
from webgpu_kernels.contract.kinds import Anything, Entries, Key, Members, Number, Table, Text, Whole
from webgpu_kernels.errors import ManifestError, RequestError, ResultsError
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.planning.request import Request

FORMAT: Final = "webgpu-kernels-tuning"
VERSION: Final = 1
NEAR: Final = 2.0
"""A call is near a measured one where each dimension is less than so many times the other's, or equal."""

_TEXT: Final = Text()
_OPTIONS: Final = Members(Anything())
_SPEC: Final = Table(
    "an input",
    Key("dtype", _TEXT, "Its logical dtype.", "give its dtype"),
    Key("shape", Entries(Whole()), "Its dimensions.", "give a list of dimensions"),
    Key("layout", _TEXT, "How it is stored."),
)
_ENTRY: Final = Table(
    "an entry",
    Key("case", _TEXT, "The case of bench.json.", "name the case"),
    Key("inputs", Members(_SPEC), "Input to shape and dtype.", "give {name: {dtype, shape}}"),
    Key("attrs", _OPTIONS, "Every attribute, defaults too."),
    Key("args", _OPTIONS, "Scalar arguments by name."),
    Key("outputs", Entries(_TEXT), "The outputs that are computed.", "list their names"),
    Key("variant", _TEXT, "The fastest variant.", "name the variant"),
    Key("tunables", _OPTIONS, "Its fastest tunables."),
    Key("untunedVariant", _TEXT, "What a call took before."),
    Key("untunedUs", Number(), "How long that took, microseconds."),
    Key("tunedUs", Number(), "How long this takes, microseconds."),
)
PROFILE: Final = Table(
    "a profile",
    Key("format", _TEXT, "Always webgpu-kernels-tuning.", f'give "{FORMAT}"'),
    Key("version", Whole(1), "Of this format.", f"give {VERSION}"),
    Key("opId", _TEXT, "The operator.", "name the operator"),
    Key("digest", _TEXT, "Of the package's manifest and templates.", "give the package's digest"),
    Key("device", Members(Anything()), "WebGPU's facts about the adapter.", "say which device"),
    Key("created", _TEXT, "When, in UTC.", "say when"),
    Key("entries", Entries(_ENTRY), "What was found.", "list what was found"),
)
"""The whole of a profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What was fastest for one call.

    Attributes:
        case: the case of bench.json.
        inputs: port name to shape, dtype and layout.
        attrs: every attribute, defaults too.
        args: scalar arguments.
        outputs: names of the computed outputs.
        variant: the fastest variant.
        tunables: its fastest tunables; those that are as the contract has them are left out.
        untuned_variant: what a call took before.
        untuned_us: how long that took, microseconds.
        tuned_us: how long this takes, microseconds.
    """

    case: str
    inputs: Mapping[str, TensorSpec]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    args: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    variant: str
    tunables: Mapping[str, Any] = field(default_factory=dict)
    untuned_variant: str = ""
    untuned_us: float = 0.0
    tuned_us: float = 0.0

    @property
    def gain(self) -> float:
        """How many times as fast it is."""
        return self.untuned_us / self.tuned_us if self.tuned_us > 0 else 1.0

    def distance(self, request: Request) -> float | None:
        """Say how far a call is from the measured one.

        Args:
            request: the call, bound.

        Returns:
            The sum of what its dimensions differ by, in powers of two; None where it is of another kind or too far.
        """
        kind = (set(request.outputs), dict(request.args), plain(request.attrs))
        if (
            kind != (set(self.outputs), dict(self.args), dict(self.attrs))
            or request.inputs.keys() != self.inputs.keys()
        ):
            return None
        total = 0.0
        for name, spec in request.inputs.items():
            apart = _apart(spec, self.inputs[name])
            if apart is None:
                return None
            total += apart
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What tuning found for one package on one device.

    Attributes:
        op_id: the operator.
        digest: of the package's manifest and templates.
        device: WebGPU's facts about the adapter, its driver's among them.
        created: when, in UTC.
        entries: one for each case that became faster.
    """

    op_id: str
    digest: str
    device: Mapping[str, Any]
    created: str
    entries: tuple[Entry, ...] = ()

    def entry_for(self, request: Request) -> Entry | None:
        """Return the entry that is nearest to a call.

        Args:
            request: the call, bound.

        Returns:
            The entry; None where none is near.
        """
        found = [(apart, entry) for entry in self.entries if (apart := entry.distance(request)) is not None]
        return min(found, key=lambda pair: pair[0], default=(0.0, None))[1]


def plain(values: Mapping[str, object]) -> dict[str, Any]:
    """Return attributes as JSON has them, without those that have no value."""
    return {name: value for name, value in values.items() if isinstance(value, int | float | str | bool | list)}


def _apart(one: TensorSpec, other: TensorSpec) -> float | None:
    if (one.dtype, one.layout, len(one.shape)) != (other.dtype, other.layout, len(other.shape)):
        return None
    total = 0.0
    for axis, measured in zip(one.shape, other.shape, strict=True):
        if axis == measured:
            continue
        if not axis or not measured or max(axis, measured) >= NEAR * min(axis, measured):
            return None
        total += abs(math.log2(axis / measured))
    return total


def profile_text(profile: Profile) -> str:
    """Return a profile as JSON text.

    Args:
        profile: any.

    Returns:
        What ``read_profile`` reads.
    """
    document = {
        "format": FORMAT,
        "version": VERSION,
        "opId": profile.op_id,
        "digest": profile.digest,
        "device": dict(profile.device),
        "created": profile.created,
        "entries": [_entry_json(entry) for entry in profile.entries],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "case": entry.case,
        "inputs": {
            name: {"dtype": spec.dtype, "shape": list(spec.shape), **({"layout": spec.layout} if spec.layout else {})}
            for name, spec in entry.inputs.items()
        },
        "attrs": dict(entry.attrs),
        "args": dict(entry.args),
        "outputs": list(entry.outputs),
        "variant": entry.variant,
        "tunables": dict(entry.tunables),
        "untunedVariant": entry.untuned_variant,
        "untunedUs": entry.untuned_us,
        "tunedUs": entry.tuned_us,
    }


def read_profile(content: str | bytes, *, where: str) -> Profile:
    """Read a profile.

    Args:
        content: its text; bytes are UTF-8.
        where: the file, for messages.

    Returns:
        The profile.

    Raises:
        ResultsError: it is no profile; all its defects are listed.
    """
    try:
        return read_root(load_json(content), _profile)
    except ManifestError as found:
        listed = "".join(f"\n  {defect}" for defect in found.defects)
        raise ResultsError(
            f"the profile is broken{listed}", where=where, hint="Tune again, or remove it: tune PACKAGE --reset."
        ) from found


def _profile(root: Node) -> Profile:
    fields = Fields(root, PROFILE)
    fields.choice("format", (FORMAT,))
    fields.version(VERSION)
    node = fields.get("entries")
    return Profile(
        op_id=fields.text("opId") or "",
        digest=fields.text("digest") or "",
        device=_named(fields, "device"),
        created=fields.text("created") or "",
        entries=tuple(_entry(entry) for entry in (node.entries("entries") if node else ())),
    )


def _entry(node: Node) -> Entry:
    fields = Fields(node, _ENTRY)
    inputs, outputs = fields.get("inputs"), fields.get("outputs")
    read = {name: _spec(member) for name, member in (inputs.members("inputs") if inputs else ())}
    return Entry(
        case=fields.text("case") or "",
        inputs=MappingProxyType({name: spec for name, spec in read.items() if spec is not None}),
        attrs=_named(fields, "attrs"),
        args=_named(fields, "args"),
        outputs=tuple(entry.string() or "" for entry in (outputs.entries("outputs") if outputs else ())),
        variant=fields.text("variant") or "",
        tunables=_named(fields, "tunables"),
        untuned_variant=fields.text("untunedVariant") or "",
        untuned_us=_number(fields, "untunedUs"),
        tuned_us=_number(fields, "tunedUs"),
    )


def _spec(node: Node) -> TensorSpec | None:
    fields = Fields(node, _SPEC)
    shape = fields.get("shape")
    dimensions: list[Any] = [entry.value for entry in (shape.entries("dimensions") if shape else ())]
    try:
        return TensorSpec(tuple(dimensions), fields.text("dtype") or "", fields.text("layout"))
    except RequestError as error:
        node.fail(f"is no tensor: {error}")
        return None


def _named(fields: Fields, key: str) -> Mapping[str, Any]:
    node = fields.get(key)
    return MappingProxyType({name: member.value for name, member in (node.members("values") if node else ())})


def _number(fields: Fields, key: str) -> float:
    node = fields.get(key)
    if node is None:
        return 0.0
    if isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value >= 0:
        return float(node.value)
    node.fail_kind("a number of at least 0")
    return 0.0
