"""Compiling and evaluating expressions."""

from __future__ import annotations

import numpy as np
import pytest

from webgpu_kernels.errors import EvaluationError, LanguageSyntaxError
from webgpu_kernels.language import FUNCTIONS, UNDEFINED, compile_expression, compile_value, evaluate, host_value
from webgpu_kernels.language.values import EdgeInteger


def test_same_text_is_compiled_once() -> None:
    """Two compilations of the same text share one expression."""
    assert compile_expression("a + 1") is compile_expression("a + 1")


def test_names_are_the_free_identifiers() -> None:
    """Members, strings and constants are no names; what is called is one."""
    assert compile_expression("min(a.b, d['x'], true) ~ none").names == {"min", "a", "d"}


def test_names_leave_out_what_is_only_tested() -> None:
    """A name under `is defined` need not be in scope, unless it is used elsewhere too."""
    assert compile_expression("a is defined and b is not undefined and c").names == {"c"}
    assert compile_expression("a is defined and a > 1").names == {"a"}


def test_the_language_function_counts_as_a_name() -> None:
    """`namespace` works in bare expressions, and a caller can still refuse it."""
    assert compile_expression("namespace(a=1).a").names == {"namespace"}
    assert evaluate("namespace(a=1).a", {}) == 1


@pytest.mark.parametrize(
    ("source", "constant"), [("1 + 2", True), ("'f32'", True), ("a", False), ("a is defined", False), ("none", True)]
)
def test_constant_means_that_no_name_is_looked_up(source: str, constant: bool) -> None:
    """An expression that looks at no name is constant."""
    assert compile_expression(source).constant is constant


def test_literals_of_a_manifest_are_formulas() -> None:
    """Numbers, booleans, lists and objects compute member by member; strings in them are expressions."""
    formula = compile_value(["n * 2", 3, 4.0, True, None, {"a": "n"}])
    assert formula.evaluate({"n": 5}) == [10, 3, 4, True, None, {"a": 5}]
    assert formula.source == '["n * 2", 3, 4.0, true, null, {"a": "n"}]'
    assert formula.names == {"n"}
    assert not formula.constant
    assert compile_value([1, "2"]).constant


def test_a_formula_that_is_no_json_value_is_refused() -> None:
    """A Python object that JSON does not have is a syntax error."""
    with pytest.raises(LanguageSyntaxError) as caught:
        compile_value({1, 2})
    assert str(caught.value) == "a formula is not a JSON value: got set"


def test_syntax_error_marks_the_place() -> None:
    """The message shows the text with a caret below the wrong token."""
    with pytest.raises(LanguageSyntaxError) as caught:
        compile_expression("rows * (cols +")
    assert str(caught.value) == ("rows * (cols +: expected a value, found the end\n  rows * (cols +\n                ^")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1e5", "expected an operator or the end, found 'e5'"),
        ("a @ b", "unexpected character '@'"),
        ("'abc", "a string is not closed"),
        (r"'a\q'", "unknown escape \\q in a string"),
        ("a }} b", "an expression ends here, but its text goes on"),
        ("a[1:2:3:4]", "a slice has at most a start, a stop and a step"),
        ("f(a=1, 2)", "positional arguments come before keyword arguments"),
        ("a is 1", "expected the name of a test"),
        ("d.'k'", "expected a name or an index after '.'"),
    ],
)
def test_syntax_errors_say_what_is_wrong(source: str, message: str) -> None:
    """Each kind of mistake has its own message."""
    with pytest.raises(LanguageSyntaxError) as caught:
        compile_expression(source)
    assert caught.value.message.split("\n")[0] == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing + 1", "missing + 1: an operand of '+' is undefined"),
        ("none < 1", "none < 1: an operand of '<' is none"),
        ("true * 2", "true * 2: '*' does not take these operands: got Boolean True and Integer 2"),
        ("n()", "n(): what is called is not a function: got Integer 7"),
        ("n | nope", "n | nope: there is no filter 'nope' for this operand: got Integer 7"),
        ("n is nope", "n is nope: there is no test 'nope'"),
        ("2 ** 5000", "2 ** 5000: the result of '**' is not a finite real number"),
        ("dim(n, 0)", "dim(n, 0): dim() was called with a wrong argument: expected a list, got Integer 7"),
    ],
)
def test_evaluation_errors_name_the_expression_and_the_operands(source: str, message: str) -> None:
    """An error says in which expression, at which operator, with what."""
    with pytest.raises(EvaluationError) as caught:
        compile_expression(source).evaluate({"n": 7, **FUNCTIONS})
    assert str(caught.value) == message


def test_integers_beyond_2_to_the_53_round_as_doubles() -> None:
    """Integer results keep their kind and the value of a double."""
    assert evaluate("9007199254740993 + 0", {}) == 9007199254740992
    assert evaluate("4294967296 * 4294967296 ~ ''", {}) == "18446744073709552000"
    assert evaluate("99999999999 * 99999999999 ~ ''", {}) == "9.9999999998e+21"


def test_integer_infinities_and_minus_zero_keep_their_kind() -> None:
    """`5 // 0` is an Integer; minus zero is one inside and 0 outside."""
    assert isinstance(evaluate("5 // 0", {}), EdgeInteger)
    assert evaluate("1 / (0 * -1)", {}) == float("-inf")
    assert evaluate("0 * -1", {}) == 0
    assert type(evaluate("0 * -1", {})) is int


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1 / 3", "0.3333333333333333"),
        ("0.0000005", "5e-7"),
        ("-0.0", "0"),
        ("10.0 ** 21", "1e+21"),
        ("1 / 0", "Infinity"),
    ],
)
def test_numbers_print_as_javascript_prints_them(value: str, text: str) -> None:
    """`~` writes a number as JavaScript's String does."""
    assert evaluate(f"({value}) ~ ''", {}) == text


def test_a_string_counts_in_utf16_units() -> None:
    """A character beyond the basic plane has length 2, and slices keep it whole."""
    assert evaluate("s.length", {"s": "\U0001f600"}) == 2
    assert evaluate("s[::-1]", {"s": "a\U0001f600"}) == "\U0001f600a"


def test_equal_lists_are_not_equal() -> None:
    """Lists are equal to themselves only."""
    assert evaluate("a == a and a != [1]", {"a": [1]}) is True


def test_host_values_become_values_of_the_language() -> None:
    """Integral floats are Integers, recursively; numpy's numbers and tuples are understood."""
    value = host_value({"a": (4.0, np.int64(3)), "b": [np.float32(0.5), True], "c": np.array([1, 2])})
    assert value == {"a": [4, 3], "b": [0.5, True], "c": [1, 2]}
    assert [type(entry) for entry in value["a"]] == [int, int]


def test_a_host_value_of_an_unknown_type_is_refused() -> None:
    """An object that the language does not know is an error that names its type."""
    with pytest.raises(EvaluationError) as caught:
        host_value({"a": [object()]})
    assert str(caught.value) == (
        "a value in scope is of a type that expressions do not know: "
        "expected numbers, text, booleans, None, lists, dicts or functions, got object"
    )


def test_functions_of_the_host_are_called_with_values() -> None:
    """A callable in scope is a function; its result is normalised, and what it does not take is an error."""
    scope = {"features": {"has": lambda name: name == "f16"}, "half": lambda n: n / 2}
    assert evaluate("features.has('f16') and not features.has('x')", scope) is True
    assert type(evaluate("half(8)", scope)) is int
    with pytest.raises(EvaluationError, match="does not take these arguments"):
        evaluate("half()", scope)


def test_undefined_is_one_falsy_object() -> None:
    """A missing name and a missing member are the same undefined."""
    assert evaluate("a", {}) is UNDEFINED
    assert evaluate("d.a.b", {"d": {}}) is UNDEFINED
    assert not UNDEFINED
    assert repr(UNDEFINED) == "UNDEFINED"
