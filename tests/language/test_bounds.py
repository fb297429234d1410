"""Untrusted text is stopped: nothing runs for ever, grows without end or nests without end."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from webgpu_kernels.errors import WorkLimitExceeded
from webgpu_kernels.language import FUNCTIONS, compile_expression, compile_template, host_value

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 5.0
"""Generous: each takes well under a second on an idle machine."""

EXPRESSIONS = {
    "parentheses": "(" * 9000 + "1" + ")" * 9000,
    "brackets": "[" * 9000 + "]" * 9000,
    "dicts": "{'a':" * 3000 + "1" + "}" * 3000,
    "signs": "-" * 15000 + "1",
    "nots": "not " * 4000 + "1",
    "members": "a" + ".b" * 9000,
    "indices": "a" + "[0]" * 6000,
    "nested indices": "a[" * 6000 + "0" + "]" * 6000,
    "calls": "a" + "()" * 6000,
    "nested calls": "f(" * 6000 + ")" * 6000,
    "filters": "a" + "|abs" * 4000,
    "tests": "a" + " is odd" * 2500,
    "powers to the right": "(2**" * 2500 + "2" + ")" * 2500,
    "sums to the right": "1" + "+(1" * 2500 + ")" * 2500,
    "a long text": "1+" * 50000 + "1",
    "a long list": "fill(0, 1000000000)",
    "replacing": "'aaaaaaaaaa'" + "|replace('a', 'aaaaaaaaaa')" * 12,
    "joining": "fill('aaaaaaaaaa', 99999) | join('bbbbbbbbbb')",
    "indenting": "'a\\nb' | indent(999999999)",
    "shared lists as JSON": "fill(fill(fill(0, 1000), 1000), 1000) | tojson",
    "shared lists as text": "fill(fill(fill(0, 1000), 1000), 1000) ~ ''",
    "sorting": "[" + ",".join(["fill(1, 99999) | sort"] * 300) + "]",
    "adding lists": "[" + ",".join(["fill(1, 99999) + []"] * 700) + "]",
    "searching": "[" + ",".join(["5 in fill(1, 99999)"] * 600) + "]",
}
GROWING = "{% set ns = namespace(s=START) %}{% for k in range(99999) %}{% set ns.s = STEP %}{% endfor %}{{ ns.s }}"
TEMPLATES = {
    "a long range": "{% for k in range(1000000000) %}x{% endfor %}",
    "nested loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% set z = 1 %}{% endfor %}{% endfor %}",
    "loops within loops": "{% for a in [1, 2] %}" * 60 + "x" + "{% endfor %}" * 60,
    "doubling a string": GROWING.replace("START", "'ab'").replace("STEP", "ns.s ~ ns.s"),
    "doubling a list": GROWING.replace("START", "[1]").replace("STEP", "ns.s + ns.s"),
    "nesting a list": GROWING.replace("START", "[]").replace("STEP", "[ns.s]"),
    "sharing a list": GROWING.replace("START", "[]").replace("STEP", "[ns.s, ns.s]").replace("99999", "50"),
    "a value in itself": "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
    "a macro in itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a macro twice in itself": "{% macro m(x) %}{% if x %}{{ m(x-1) ~ m(x-1) }}{% endif %}{% endmacro %}{{ m(45) }}",
    "a call in itself": "{% macro m() %}{% call m() %}{% endcall %}{% endmacro %}{{ m() }}",
    "much output": "{% for k in range(99999) %}0123456789abcdef{% endfor %}",
    "copies of a list": "{% set l = range(99999) %}{% for k in l %}{% set r = l[1:] %}{% endfor %}",
    "sorting over and over": "{% set l = range(99999) %}{% for k in l %}{% set r = l | sort %}{% endfor %}",
    "functions over and over": "{% set l = range(99999) %}{% for k in l %}{% set r = numel(l) %}{% endfor %}",
    "nested blocks": "{% if 1 %}" * 5000 + "{% endif %}" * 5000,
    "unclosed tags": "{{" * 50000,
    "a long template": "x" * 2_000_000,
}


def stopped(action: Callable[[], object]) -> None:
    started = time.perf_counter()
    with pytest.raises(WorkLimitExceeded):
        action()
    assert time.perf_counter() - started < SECONDS


@pytest.mark.parametrize("source", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_expression_is_stopped(source: str) -> None:
    """Text that nests or grows without end is an error, soon."""
    stopped(lambda: compile_expression(source).evaluate({**FUNCTIONS, "a": {}, "f": FUNCTIONS["numel"]}))


@pytest.mark.parametrize("source", TEMPLATES.values(), ids=TEMPLATES.keys())
def test_template_is_stopped(source: str) -> None:
    """A template that loops, grows or nests without end is an error, soon."""
    stopped(lambda: compile_template(source, name="t").render(FUNCTIONS))


@pytest.mark.parametrize("source", [" " * 90000 + "x" + " " * 90000, ("\n" + " " * 1000) * 150, "{%- " + " " * 150000])
def test_blanks_are_no_work(source: str) -> None:
    """Long runs of blanks are gone through once."""
    started = time.perf_counter()
    compile_template(source + "{% set x = 1 %}" if not source.startswith("{%") else source + "set x = 1 %}", name="t")
    assert time.perf_counter() - started < SECONDS


def test_includes_that_multiply_are_stopped() -> None:
    """Each template including the next one twice ends in an error."""
    stopped(
        lambda: compile_template("{% include '1' %}", name="0", include=lambda n: f"{{% include '{int(n) + 1}' %}}" * 2)
    )


def test_a_host_value_that_shares_lists_is_stopped() -> None:
    """A value whose copy would be far larger than itself is refused."""
    value: list[object] = [1]
    for _ in range(60):
        value = [value, value]
    stopped(lambda: host_value(value))


def test_long_flat_chains_are_no_nesting() -> None:
    """A long sum, a long and-chain and a long if-chain evaluate."""
    assert compile_expression("1" + " + 1" * 3000).evaluate({}) == 3001
    assert compile_expression("1" + " and 1" * 2000).evaluate({}) == 1
    assert compile_expression("0 if false else " * 1000 + "5").evaluate({}) == 5


def test_a_deep_stack_gives_a_work_limit_and_not_a_recursion_error() -> None:
    """Where the interpreter's stack is nearly used up, the error is still the language's."""

    def deep(levels: int) -> object:
        if levels:
            return deep(levels - 1)
        return compile_expression("(" * 90 + "7.25" + ")" * 90).evaluate({})

    with pytest.raises((WorkLimitExceeded, RecursionError)) as caught:
        deep(sys.getrecursionlimit() - 150)
    assert caught.type is WorkLimitExceeded
