"""The tests of ``is``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language.limits import spend_on
from webgpu_kernels.language.operators import strictly_equal
from webgpu_kernels.language.values import NUMBERS, UNDEFINED, EdgeInteger, Keywords, Value, describe

if TYPE_CHECKING:
    from collections.abc import Callable


def _parity(name: str, rest: int) -> Callable[[Value], bool]:
    def test(value: Value) -> bool:
        if type(value) is int:
            return value % 2 == rest
        if type(value) is EdgeInteger:
            # Minus zero is even; an infinity is neither.
            return not value and rest == 0
        raise EvaluationError(f"only an Integer is {name} or not", got=describe(value))

    return test


def _unchanged(text: str, change: Callable[[str], str]) -> bool:
    spend_on(len(text))
    return text == change(text)


def _is_function(value: Value) -> bool:
    return callable(value) and type(value) not in (dict, list, Keywords)


TESTS: Final[dict[str, Callable[[Value], bool]]] = {
    "boolean": lambda value: type(value) is bool,
    "callable": _is_function,
    "odd": _parity("odd", 1),
    "even": _parity("even", 0),
    "true": lambda value: value is True,
    "false": lambda value: value is False,
    "none": lambda value: value is None,
    "string": lambda value: type(value) is str,
    "number": lambda value: type(value) in NUMBERS,
    "integer": lambda value: type(value) is int or type(value) is EdgeInteger,
    "iterable": lambda value: type(value) is list or type(value) is str,
    "mapping": lambda value: type(value) is dict or type(value) is Keywords,
    "sequence": lambda value: type(value) in (list, tuple, dict, Keywords, str),
    "lower": lambda value: type(value) is str and _unchanged(value, str.lower),
    "upper": lambda value: type(value) is str and _unchanged(value, str.upper),
    "defined": lambda value: value is not UNDEFINED,
    "undefined": lambda value: value is UNDEFINED,
}


def check(value: Value, name: str, *others: Value) -> bool:
    """Test a value.

    Args:
        value: what is tested.
        name: the test.
        others: for ``eq`` and ``equalto``, what to compare with.

    Returns:
        Whether it holds.

    Raises:
        EvaluationError: there is no such test, or it does not take this kind of value.

    FORMAT section 3, Tests.
    """
    if name in ("eq", "equalto") and others:
        return strictly_equal(value, others[0])
    test = TESTS.get(name)
    if test is None:
        raise EvaluationError(f"there is no test {name!r}")
    return test(value)
