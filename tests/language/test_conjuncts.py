"""And-chains taken apart."""

from __future__ import annotations

import pytest

from webgpu_kernels.language import compile_expression
from webgpu_kernels.language.conjuncts import conjuncts


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("a", ("a",)),
        ("a and b", ("a", "b")),
        ("a == 1 and f(b and c) and [d and e]", ("a == 1", "f(b and c)", "[d and e]")),
        ("(a and b)", ("a", "b")),
        ("((a and b))", ("a", "b")),
        ("(a) and (b)", ("(a)", "(b)")),
        ("(a and b) and c", ("(a and b)", "c")),
        ("a or b and c", ("a or b and c",)),
        ("a and b if c else d", ("a and b if c else d",)),
        ("(a or b) and c", ("(a or b)", "c")),
        ("not a and b", ("not a", "b")),
        ("'x and y' == z", ("'x and y' == z",)),
        ("(a, b)", ("(a, b)",)),
        ("(a)(b)", ("(a)(b)",)),
        ("a and", ("a", "")),
        ("'open", ("'open",)),
    ],
)
def test_only_the_outermost_and_splits(source: str, parts: tuple[str, ...]) -> None:
    """Brackets, strings and looser operators keep their text whole."""
    assert conjuncts(source) == parts


@pytest.mark.parametrize("source", ["a and b and c", "(a and (b and c))", "a and not b and (c or a)"])
@pytest.mark.parametrize("bits", range(8))
def test_a_chain_holds_where_all_its_parts_do(source: str, bits: int) -> None:
    """The parts mean what the whole means."""
    scope = {name: bool(bits >> index & 1) for index, name in enumerate("abc")}
    parts = [compile_expression(part).evaluate(scope) for part in conjuncts(source)]
    assert all(parts) == compile_expression(source).evaluate(scope)
