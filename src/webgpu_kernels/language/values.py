"""The kinds of value of the expression language, and how host values become them.

kind      Python                                     kind        Python
Integer   int, or `EdgeInteger`                      List        list
Float     float                                      Tuple       tuple (inside an evaluation only)
String    str                                        Dict        dict
Boolean   bool                                       Function    any callable
None      None                                       Namespace   `Namespace`
Undefined `UNDEFINED`                                Keywords    `Keywords`
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Final, TypeAlias

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.limits import MAX_NESTING, check_items, too_deep

Value: TypeAlias = Any
"""Any value of the language: int, float, str, bool, None, UNDEFINED, list, dict or a callable."""

EXACT: Final = 2**53
"""Integers up to here are exact as doubles; beyond it a result is rounded as a double is."""


class Undefined:
    """What a missing name or member gives. There is one instance, `UNDEFINED`; it is falsy."""

    __slots__ = ()
    _instance: ClassVar[Undefined | None] = None

    def __new__(cls) -> Undefined:  # noqa: PYI034 - there is one instance, also for a subclass
        """Return the one instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __bool__(self) -> bool:
        """Undefined is false."""
        return False

    def __repr__(self) -> str:
        """Return ``UNDEFINED``."""
        return "UNDEFINED"

    def __reduce__(self) -> str:
        """Copies and pickles are the one instance."""
        return "UNDEFINED"


UNDEFINED: Final = Undefined()


class EdgeInteger(float):
    """An Integer that a Python int cannot hold: an infinity, not-a-number or minus zero."""

    __slots__ = ()


NEGATIVE_ZERO: Final = EdgeInteger(-0.0)


class Namespace(dict[str, Value]):
    """What ``namespace(…)`` gives: the one object whose members a template may set."""

    __slots__ = ()


class Keywords(dict[str, Value]):
    """The keyword arguments of a call; they reach a function as one last argument."""

    __slots__ = ()


class Native:
    """A function of the language itself, which takes its arguments as a list of values.

    Attributes:
        name: what messages call it.
        call: the implementation; keyword arguments come as a last `Keywords`.
    """

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Any) -> None:
        self.name = name
        self.call = call

    def __call__(self, *args: Value) -> Value:
        """Call the implementation."""
        return self.call(list(args))


_KINDS: Final[dict[type, str]] = {
    int: "Integer",
    EdgeInteger: "Integer",
    float: "Float",
    str: "String",
    bool: "Boolean",
    type(None): "None",
    Undefined: "Undefined",
    list: "List",
    tuple: "Tuple",
    dict: "Dict",
    Namespace: "Namespace",
    Keywords: "Keywords",
}

NUMBERS: Final = frozenset({int, float, EdgeInteger})


def kind(value: Value) -> str:
    """Return the kind of a value, as messages name it."""
    return _KINDS.get(type(value), "Function" if callable(value) else type(value).__name__)


def describe(value: Value) -> str:
    """Return a value's kind and, where it is short, the value."""
    if value is None or value is UNDEFINED:
        return kind(value)
    if type(value) is str:
        return f"String {value!r}" if len(value) <= 40 else f"String {value[:40]!r}…"
    if type(value) is bool or type(value) in NUMBERS:
        return f"{kind(value)} {value!r}" if abs(value) < EXACT else kind(value)
    if type(value) is list and len(value) <= 8 and all(type(v) in NUMBERS for v in value):
        return f"List {value!r}"
    return kind(value)


def truth(value: Value) -> bool:
    """Return whether a condition holds: false, 0, NaN, "", none, undefined and empty lists and dicts do not."""
    kind_of = type(value)
    if kind_of is bool or kind_of is int or kind_of is str:
        return bool(value)
    if kind_of is float or kind_of is EdgeInteger:
        return bool(value) and not math.isnan(value)
    if kind_of is list or kind_of is tuple or kind_of is dict or kind_of is Keywords:
        return len(value) > 0
    return value is not None and value is not UNDEFINED


def integer(value: float) -> int | EdgeInteger:
    """Return a double of integral or no finite value as an Integer."""
    if value == 0.0 and math.copysign(1.0, value) < 0.0:
        return NEGATIVE_ZERO
    return int(value) if math.isfinite(value) else EdgeInteger(value)


def rounded(value: int) -> int | EdgeInteger:
    """Return an exact integer as the Integer that a double can hold.

    Args:
        value: result of an operation on Integers.

    Returns:
        The nearest double, ties to even, as an int; an infinity beyond the range of doubles.
    """
    if -EXACT <= value <= EXACT:
        return value
    try:
        return int(float(value))
    except OverflowError:
        return EdgeInteger(math.inf if value > 0 else -math.inf)


def number_from_host(value: float) -> int | float | EdgeInteger:
    """Return a host number: an Integer where it is integral, else a Float."""
    if type(value) is EdgeInteger:
        return value
    return integer(value) if value.is_integer() else float(value)


def host_value(value: Value) -> Value:
    """Turn a host value into a value of the language.

    Args:
        value: numbers (also numpy's), str, bool, None, UNDEFINED, callables, and sequences and mappings of these.

    Returns:
        The value; a number of integral value is an Integer, whatever it was, recursively.

    Raises:
        EvaluationError: a value of another type.
        WorkLimitExceeded: nested too deeply.

    FORMAT section 4, step 5.
    """
    return _from_host(value, 0, [0])


def _from_host(value: Value, depth: int, count: list[int]) -> Value:
    kind_of = type(value)
    if kind_of is int:
        return value if -EXACT <= value <= EXACT else rounded(value)
    if kind_of is float:
        return number_from_host(value)
    if kind_of is str or kind_of is bool or value is None:
        return value
    if depth >= MAX_NESTING:
        raise too_deep("a value")
    if kind_of is list or kind_of is tuple or kind_of is dict:
        # Lists in it may be shared: what counts is how many entries the copy has.
        count[0] += len(value)
        check_items(count[0])
        if kind_of is dict:
            return {k: _from_host(v, depth + 1, count) for k, v in value.items()}
        return [_from_host(v, depth + 1, count) for v in value]
    return _from_other_host(value, depth, count)


def _from_other_host(value: Value, depth: int, count: list[int]) -> Value:
    if value is UNDEFINED or isinstance(value, (EdgeInteger, Namespace, Keywords)):
        return value
    if isinstance(value, Mapping):
        return _from_host(dict(value), depth, count)
    if isinstance(value, (int, float, str)):
        return _from_host(_plain_base(value), depth, count)
    if isinstance(value, (list, tuple)):
        return _from_host(list(value), depth, count)
    # Numpy's scalars and arrays, without importing numpy.
    to_list = getattr(value, "tolist", None)
    if to_list is not None:
        return _from_host(to_list(), depth, count)
    if callable(value):
        return value
    raise EvaluationError(
        "a value in scope is of a type that expressions do not know",
        expected="numbers, text, booleans, None, lists, dicts or functions",
        got=type(value).__name__,
    )


def result_value(value: Value, *, final: bool = False) -> Value:
    """Turn the value of an evaluation into what its caller sees: tuples are lists.

    Args:
        value: the value.
        final: whether it leaves the language for good: minus zero, which only an evaluation tells from 0, is 0, and
            namespaces are dicts.

    Returns:
        The value.

    Raises:
        WorkLimitExceeded: it has too many entries, or is nested too deeply.
    """
    return _result(value, final, 0, [0])


def _result(value: Value, final: bool, depth: int, count: list[int]) -> Value:
    kind_of = type(value)
    if kind_of in _CONTAINERS:
        count[0] += len(value)
        check_items(count[0])
        if depth >= MAX_NESTING:
            raise too_deep("a value")
        if kind_of is list or kind_of is tuple:
            return [_result(entry, final, depth + 1, count) for entry in value]
        if kind_of is dict or final:
            return {key: _result(entry, final, depth + 1, count) for key, entry in value.items()}
        return value
    return 0 if final and kind_of is EdgeInteger and not value else value


_CONTAINERS: Final = frozenset({list, tuple, dict, Namespace, Keywords})


def _plain_base(value: float | str) -> int | float | str:
    for base in (int, float, str):
        if isinstance(value, base):
            return base(value)
    raise AssertionError
