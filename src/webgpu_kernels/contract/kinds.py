"""What the keys of a JSON object are: the tables that its reader goes by, and from which its JSON Schema is made.

A table says which keys an object has, which of them it must have, of what kind each one is and what it is for. Readers
take all of that from here, so that a key cannot be read in one way and described in another; what no table can say,
such as which names a formula may use, they check themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from webgpu_kernels.contract.model import DispatchForm


class Text(NamedTuple):
    """A string.

    Attributes:
        pattern: a regular expression that the whole of it matches, or None.
        reserved: texts that it must not be.
    """

    pattern: str | None = None
    reserved: Collection[str] = ()


class Words(NamedTuple):
    """One of a few strings or integers."""

    choices: tuple[str | int, ...]


class Flag(NamedTuple):
    """True or false; ``default`` where it is absent, None where that depends."""

    default: bool | None = None


class Whole(NamedTuple):
    """An integer of at least ``least``; ``default`` where it is absent."""

    least: int = 0
    default: int = 0


class Number(NamedTuple):
    """A number, integral or not, of at least ``least``."""

    least: int | None = None


class Formula(NamedTuple):
    """An expression, or an integer of at least ``least`` and at most ``most``."""

    least: int | None = None
    most: int | None = None


class Anything(NamedTuple):
    """Any JSON; ``objects`` says whether it may be an object."""

    objects: bool = True


class Nothing(NamedTuple):
    """null: nobody knows."""


class Never(NamedTuple):
    """Nothing: the key is known, but not here, and ``why`` says so."""

    why: str


class Entries(NamedTuple):
    """A list of at least ``least`` entries of one kind."""

    of: Kind
    least: int = 0


class Members(NamedTuple):
    """An object whose keys are names.

    Attributes:
        of: what each member is.
        names: what its key is.
        least: how many there must be.
        needed: keys that must be there.
    """

    of: Kind
    names: Text = Text()
    least: int = 0
    needed: tuple[str, ...] = ()


class Either(NamedTuple):
    """One of several kinds, told apart by what JSON type the value has."""

    kinds: tuple[Kind, ...]


class Branch(NamedTuple):
    """One of two kinds of objects.

    Attributes:
        keys: an object that has one of these is of the first kind.
        value: and it must have this value, where one is given.
        then: the first kind.
        other: the second kind.
    """

    keys: tuple[str, ...]
    then: Kind
    other: Kind
    value: str | None = None

    def takes(self, document: object) -> bool:
        """Tell whether a value is of the first kind.

        Args:
            document: plain JSON.

        Returns:
            Whether it is an object that has one of the keys.
        """
        if not isinstance(document, dict):
            return False
        present = [document[key] for key in self.keys if key in document]
        return bool(present) and (self.value is None or self.value in present)


class Filled(NamedTuple):
    """A template of a kind: ``{name}`` in its texts stands for another text, and alone for a value of any kind."""

    of: Kind


class Later(NamedTuple):
    """A kind that is defined further down, as what holds itself must be."""

    get: Callable[[], Kind]


class Key(NamedTuple):
    """One key of an object.

    Attributes:
        name: the key.
        kind: what its value is.
        about: what it is for, as editors show it.
        missing: what to say where it is missing; None where it may be.
        extension: what a manifest must declare for the key to be known, or None.
    """

    name: str
    kind: Kind
    about: str
    missing: str | None = None
    extension: str | None = None


class Some(NamedTuple):
    """Keys of which an object must have one, and what to say where it has none."""

    keys: tuple[str, ...]
    missing: str


class Table:
    """The keys of one kind of objects.

    Args:
        what: what such an object is, for messages, such as ``a pass``.
        keys: its keys, in the order of lists in messages.
        forms: ways to write the object, of which exactly one must be used.
        some: keys of which one must be there.
        open: whether further keys are let be.

    Attributes:
        keys: name to key.
        required: those that must be there.
        never: names of those that must not, each with the reason.
    """

    __slots__ = ("forms", "keys", "never", "open", "required", "some", "what")

    def __init__(
        self,
        what: str,
        *keys: Key,
        forms: tuple[Form, ...] = (),
        some: tuple[Some, ...] = (),
        open: bool = False,  # noqa: A002 - as the docstring says
    ) -> None:
        self.what = what
        self.keys = {key.name: key for key in keys}
        self.required = tuple(key for key in keys if key.missing is not None)
        self.never = {key.name: key.kind.why for key in keys if isinstance(key.kind, Never)}
        self.forms = forms
        self.some = some
        self.open = open

    def without(self, *names: str) -> Table:
        """Return a table that lacks some keys.

        Args:
            names: the keys.

        Returns:
            The other table.
        """
        kept = (key for name, key in self.keys.items() if name not in names)
        return Table(self.what, *kept, forms=self.forms, open=self.open)

    def changed(self, *keys: Key, some: tuple[Some, ...] = ()) -> Table:
        """Return a table with some keys written anew, or added.

        Args:
            keys: those with the name of one that is there take its place, others follow.
            some: keys of which one must be there.

        Returns:
            The other table.
        """
        new = {key.name: key for key in keys}
        return Table(self.what, *(self.keys | new).values(), forms=self.forms, some=some, open=self.open)


class Form(NamedTuple):
    """One way to write an object that may be written in several.

    Attributes:
        name: what it is called.
        keys: its own keys; other forms do not have them.
        needed: those of them that must be there.
    """

    name: DispatchForm
    keys: tuple[str, ...]
    needed: tuple[str, ...]


Kind: TypeAlias = (
    Text
    | Words
    | Flag
    | Whole
    | Number
    | Formula
    | Anything
    | Never
    | Nothing
    | Entries
    | Members
    | Either
    | Branch
    | Filled
    | Later
    | Table
)
