"""An object of known keys: typed access to each, and a hint for each key that is not known."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from webgpu_kernels.contract.cursor import show
from webgpu_kernels.contract.extensions import undeclared
from webgpu_kernels.contract.kinds import Flag, Whole
from webgpu_kernels.contract.words import alternatives

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.kinds import Form, Key, Table

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
    """The members of one object; what its table alone can tell to be wrong is reported at once.

    Args:
        node: the object.
        table: the keys that it may have.

    Attributes:
        form: which of the table's forms the object has, or None.
        good: whether it is an object at all.
    """

    __slots__ = ("_members", "form", "good", "node", "table")

    def __init__(self, node: Node, table: Table) -> None:
        self.node = node
        self.table = table
        self.form: Form | None = None
        self.good = isinstance(node.value, dict)
        self._members: dict[str, object] = node.value if isinstance(node.value, dict) else {}
        if not self.good:
            known = ", ".join(self._known())
            node.fail_kind(f"an object with the keys {known}" if known else "an object")
            return
        self._check_keys()
        if table.never:
            self._check_places()
        if table.forms:
            self._find_form(table.forms)

    def _known(self) -> Sequence[str]:
        return tuple(key.name for key in self.table.keys.values() if self._is_known(key))

    def _is_known(self, key: Key) -> bool:
        return key.extension is None or key.extension in self.node.report.extensions

    def _check_keys(self) -> None:
        table, members = self.table, self._members
        for name in () if table.open else members:
            key = table.keys.get(name)
            if key is None or (key.extension is not None and not self._is_known(key)):
                self._refuse(name, key)
        for key in table.required:
            if key.name not in members:
                self._miss(key.name, key.missing)
        for some in table.some:
            if members.keys().isdisjoint(some.keys):
                self._miss(some.keys[0], some.missing)

    def _check_places(self) -> None:
        for name, why in self.table.never.items():
            if name in self._members and self._is_known(self.table.keys[name]):
                self.node.at(name, self._members[name]).fail(why)

    def _refuse(self, name: str, key: Key | None) -> None:
        hint = undeclared(key.extension) if key and key.extension else RENAMED.get(name)
        hint = hint or alternatives(name, self._known(), what=f"keys of {self.table.what}")
        self.node.at(name, None).fail(f"is not a key of {self.table.what}: {hint}")

    def _miss(self, key: str, why: str | None) -> None:
        self.node.at(key, None).fail(f"is missing: {why}")

    def _find_form(self, forms: Sequence[Form]) -> None:
        used = [form for form in forms if any(key in self._members for key in form.keys)]
        if len(used) == 1:
            self.form = used[0]
            for key in self.form.needed:
                self.need(key, "give an expression or an integer")
            return
        listed = [f"{{{', '.join(form.keys)}}}" for form in forms]
        self.node.fail(f"must be one of {', '.join(listed[:-1])} and {listed[-1]}")

    def __contains__(self, key: str) -> bool:
        """Return whether the object has the key."""
        return key in self._members

    def get(self, key: str) -> Node | None:
        """Return the member's node, or None where the object lacks it."""
        return self.node.at(key, self._members[key]) if key in self._members else None

    def need(self, key: str, why: str) -> Node | None:
        """Return the node of a member that this object must have, though not every one of its table.

        Args:
            key: the member.
            why: what to give, for the message.

        Returns:
            The node, or None where the object lacks it, which is then reported.
        """
        if self.good and key not in self._members:
            self._miss(key, why)
        return self.get(key)

    def text(self, key: str) -> str | None:
        """Return a string member, or None where it is absent or no string."""
        node = self.get(key)
        return node.string() if node else None

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """Return a member that is true or false; where it is absent ``default``, or what the table has for it."""
        node = self.get(key)
        if node is not None and isinstance(node.value, bool):
            return node.value
        if node is not None:
            node.fail_kind("true or false")
        if default is None:
            kind = self.table.keys[key].kind
            default = isinstance(kind, Flag) and bool(kind.default)
        return default

    def integer(self, key: str) -> int:
        """Return an integer member; the table says how much it is at least, and what it is where it is absent."""
        kind, node = self.table.keys[key].kind, self.get(key)
        least, default = (kind.least, kind.default) if isinstance(kind, Whole) else (0, 0)
        if node is None:
            return default
        if isinstance(node.value, int) and not isinstance(node.value, bool) and node.value >= least:
            return node.value
        node.fail_kind(f"an integer of at least {least}")
        return default

    def version(self, newest: int) -> None:
        """Read ``version``, that of the document's format; what is newer than ``newest`` is refused."""
        found = self.integer("version")
        if found > newest:
            self.node.at("version", found).fail(
                f"is {found}: this version of the library reads up to {newest}; update it"
            )

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
