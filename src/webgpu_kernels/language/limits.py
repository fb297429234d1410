"""Bounds on the work that untrusted text may cause.

Expressions have no loops, so the length of their text bounds them; what they build is bounded by size. Templates loop,
so they also spend a budget: one unit a syntax node that is evaluated, and more for building something large.
"""

from __future__ import annotations

import threading
from typing import Final, Self

from webgpu_kernels.errors import WorkLimitExceeded

MAX_EXPRESSION_CHARS: Final = 20_000
"""Longest text of one expression."""
MAX_TEMPLATE_CHARS: Final = 200_000
"""Longest template, its includes expanded."""
MAX_NESTING: Final = 100
"""Deepest nesting of brackets, operators and blocks in a text, and of lists and dicts in a value."""
MAX_STRING_CHARS: Final = 200_000
"""Longest string that an expression may build."""
MAX_ITEMS: Final = 100_000
"""Longest list that an expression may build."""
MAX_OUTPUT_CHARS: Final = 300_000
"""Longest text that a template may render."""
MAX_WORK: Final = 500_000
"""Units of work that one rendering may spend."""
MAX_MACRO_DEPTH: Final = 50
"""Deepest recursion of macros."""

_SMALL: Final = 16
_CHARS_A_UNIT: Final = 128
_ITEMS_A_UNIT: Final = 4


class Meter:
    """Counts the work of one rendering.

    Attributes:
        left: units that may still be spent.
    """

    __slots__ = ("left",)

    def __init__(self, budget: int = MAX_WORK) -> None:
        self.left = budget

    def spend(self, units: int) -> None:
        """Take units off the budget.

        Args:
            units: how much work is about to be done.

        Raises:
            WorkLimitExceeded: the budget is used up.
        """
        self.left -= units
        if self.left < 0:
            raise WorkLimitExceeded(
                "the work was stopped: it takes too many steps",
                expected=f"at most {MAX_WORK} units of work",
                hint="Look for a loop that does not end or that is far too long",
            )


class _Running(threading.local):
    meter: Meter | None = None


_running = _Running()


def swap_meter(meter: Meter | None) -> Meter | None:
    """Make a meter the one that this thread's evaluation spends from.

    Args:
        meter: the meter, or None for none.

    Returns:
        The one before, to be put back.
    """
    before = _running.meter
    _running.meter = meter
    return before


class Bounded:
    """Bounds the work of all expressions that a block evaluates together; one in another counts for that one.

    Attributes:
        meter: what the block spends from.
    """

    __slots__ = ("_outermost", "meter")

    meter: Meter

    def __enter__(self) -> Self:
        """Begin to count, unless that has begun."""
        self._outermost = _running.meter is None
        self.meter = _running.meter or Meter()
        _running.meter = self.meter
        return self

    def __exit__(self, *_: object) -> None:
        """Stop counting."""
        if self._outermost:
            _running.meter = None

    @property
    def exhausted(self) -> bool:
        """Whether the block was stopped, or would be."""
        return self.meter.left < 0


def running_meter() -> Meter | None:
    """Return the meter of the evaluation that is running in this thread, if it has one."""
    return _running.meter


def spend(units: int) -> None:
    """Spend units of the meter that is running in this thread, if one is."""
    meter = _running.meter
    if meter is not None:
        meter.spend(units)


def spend_on(size: int) -> None:
    """Charge for going through a string or list of some size, where it is not small."""
    if size > _SMALL:
        spend(size // _SMALL)


def check_chars(count: int) -> None:
    """Refuse a string before it is built, or charge for building it.

    Args:
        count: its length in characters.

    Raises:
        WorkLimitExceeded: it is longer than `MAX_STRING_CHARS`, or the work is used up.
    """
    if count > MAX_STRING_CHARS:
        raise WorkLimitExceeded(
            "a string grows too long", expected=f"at most {MAX_STRING_CHARS} characters", got=f"{count}"
        )
    if count > _CHARS_A_UNIT:
        spend(count // _CHARS_A_UNIT)


def check_items(count: int) -> None:
    """Refuse a list before it is built, or charge for building it.

    Args:
        count: its length.

    Raises:
        WorkLimitExceeded: it is longer than `MAX_ITEMS`, or the work is used up.
    """
    if count > MAX_ITEMS:
        raise WorkLimitExceeded("a list grows too long", expected=f"at most {MAX_ITEMS} entries", got=f"{count}")
    if count > _ITEMS_A_UNIT:
        spend(count // _ITEMS_A_UNIT)


def too_deep(what: str) -> WorkLimitExceeded:
    """Return the error for nesting beyond `MAX_NESTING`.

    Args:
        what: what is nested, such as "the expression".

    Returns:
        The error, to be raised.
    """
    return WorkLimitExceeded(f"{what} is nested too deeply", expected=f"at most {MAX_NESTING} levels")
