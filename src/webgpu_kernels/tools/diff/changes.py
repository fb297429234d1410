"""A change between two packages, and all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from webgpu_kernels.contract.cursor import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Change(NamedTuple):
    """One difference.

    Attributes:
        path: what it concerns, such as ``inputs.skip.optional``.
        what: what changed, in words.
        breaking: whether a call that was taken may be refused now, or mean something else.
    """

    path: str
    what: str
    breaking: bool


class Comparison(NamedTuple):
    """All differences between two packages.

    Attributes:
        changes: those that break callers first, else in the order of a manifest.
    """

    changes: tuple[Change, ...]

    @classmethod
    def of(cls, found: Iterable[Change]) -> Comparison:
        """Order changes and drop what is said twice.

        Args:
            found: in the order of a manifest.

        Returns:
            The comparison.
        """
        once = dict.fromkeys(found)
        return cls(tuple(sorted(once, key=lambda change: not change.breaking)))

    @property
    def breaking(self) -> bool:
        """Whether any of them breaks callers of the same version."""
        return any(change.breaking for change in self.changes)


def breaks(path: str, what: str) -> Change:
    """Return a change that breaks callers."""
    return Change(path, what, breaking=True)


def keeps(path: str, what: str) -> Change:
    """Return a change that breaks nobody."""
    return Change(path, what, breaking=False)


def appeared(path: str, *, needed: bool) -> Change:
    """Return the change of something that callers may or must give, and could not before."""
    return breaks(path, "is new, and needed") if needed else keeps(path, "is new, and may be left out")


def demanded(path: str, *, needed: bool) -> Change:
    """Return the change of something that callers must give now, or need not any more."""
    return breaks(path, "must be given now") if needed else keeps(path, "may be left out now")


def turned(old: object, new: object, *, nothing: str = "absent") -> str:
    """Return what something was and is, in words."""
    return f"was {old or nothing}, is {new or nothing}"


def listed(names: Iterable[object]) -> str:
    """Return names in a row."""
    return ", ".join(str(name) for name in names)


def shown(value: Any) -> str:
    """Return a value as JSON, lists in full."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return show(value)


def reordered(path: str, old: Sequence[str], new: Sequence[str]) -> Change | None:
    """Return the change of an order, or None: calls are by name, so that nobody is broken by it."""
    kept_old, kept_new = [name for name in old if name in new], [name for name in new if name in old]
    return keeps(path, f"in another order: {listed(new)}") if kept_old != kept_new else None
