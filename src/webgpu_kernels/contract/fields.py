"""An object of known keys: typed access to each, and a hint for each key that is not known."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from webgpu_kernels.contract.cursor import show
from webgpu_kernels.contract.extensions import undeclared
from webgpu_kernels.contract.words import alternatives

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.contract.cursor import Node

_Choice = TypeVar("_Choice", bound=str)

# Keys of older manifests, and what stands in their place today.
RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attributeDescriptions": "write each description in its attribute: {default, description}",
        "tunableDescriptions": "write each description in its tunable: {default, description}",
        "attributeNames": "declare the attributes in 'attributes'",
        "constants": "use 'derive'",
        "variantFamilies": "put each family, {cases or axes, variants}, into 'variants'",
        "bindingSets": "use 'bindings', an object of handle to entry",
        "bindingEntries": "use 'bindings', an object of handle to entry",
        "selectAbove": "use 'demoteWhen'",
        "requiredFeatures": "use 'requires', {features}",
        "requiredLimits": "use 'requires', {limits}",
        "requiredSubgroupMinSize": "use 'requires', {subgroupMinSize}",
        "gridStride": "use {threads, workgroupSize}, and loop no more in the shader",
        "semantic": "use 'arg' for a tensor, 'scratch' for an intermediate",
        "source": "use 'shader' and 'derive'",
        "role": "the name of a tensor is its key in 'inputs' or 'outputs'",
    }
)


class Fields:
    """The members of one object.

    Args:
        node: the object.
        known: the keys that it may have.
        what: what the object is, for messages, such as ``a pass``.
        extended: further keys, each with the extension that has it.
    """

    __slots__ = ("_extended", "_members", "good", "node", "what")

    def __init__(
        self, node: Node, known: Sequence[str], what: str, extended: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        declared = [key for key, extension in extended.items() if extension in node.report.extensions]
        known = (*known, *declared) if declared else known
        self._extended = extended
        self.node = node
        self.what = what
        self.good = isinstance(node.value, dict)
        self._members: dict[str, object] = node.value if isinstance(node.value, dict) else {}
        if not self.good:
            node.fail_kind(f"an object with the keys {', '.join(known)}")
        for key in self._members:
            if key not in known:
                self._refuse(key, known)

    def _refuse(self, key: str, known: Sequence[str]) -> None:
        hint = undeclared(self._extended[key]) if key in self._extended else RENAMED.get(key)
        hint = hint or alternatives(key, known, what=f"keys of {self.what}")
        self.node.at(key, None).fail(f"is not a key of {self.what}: {hint}")

    def __contains__(self, key: str) -> bool:
        """Return whether the object has the key."""
        return key in self._members

    def get(self, key: str) -> Node | None:
        """Return the member's node, or None where the object lacks it."""
        return self.node.at(key, self._members[key]) if key in self._members else None

    def need(self, key: str, why: str) -> Node | None:
        """Return the member's node; report it where the object lacks it.

        Args:
            key: the member.
            why: what to give, for the message.

        Returns:
            The node, or None.
        """
        if self.good and key not in self._members:
            self.node.at(key, None).fail(f"is missing: {why}")
        return self.get(key)

    def text(self, key: str) -> str | None:
        """Return a string member, or None where it is absent or no string."""
        node = self.get(key)
        return node.string() if node else None

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a member that is true or false."""
        node = self.get(key)
        if node is None or isinstance(node.value, bool):
            return default if node is None else bool(node.value)
        node.fail_kind("true or false")
        return default

    def integer(self, key: str, *, least: int, default: int) -> int:
        """Return an integer member that is at least ``least``."""
        node = self.get(key)
        if node is None:
            return default
        if isinstance(node.value, int) and not isinstance(node.value, bool) and node.value >= least:
            return node.value
        node.fail_kind(f"an integer of at least {least}")
        return default

    def choice(self, key: str, choices: Sequence[_Choice]) -> _Choice | None:
        """Return a string member that is one of ``choices``, or None."""
        node = self.get(key)
        if node is None:
            return None
        for choice in choices:
            if node.value == choice:
                return choice
        node.fail_kind(" or ".join(show(choice) for choice in choices))
        return None
