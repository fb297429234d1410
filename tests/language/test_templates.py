"""Compiling and rendering templates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webgpu_kernels.errors import EvaluationError, LanguageSyntaxError
from webgpu_kernels.language import compile_template, render

FILES = {
    "lib/a.wgsl": "// a\n{% include './b.wgsl' %}\n",
    "lib/b.wgsl": "fn b() {\n  {{ body }}\n}\n",
    "lib/loop.wgsl": "{% include 'lib/loop.wgsl' %}",
    "up.wgsl": "{% include './../outside.wgsl' %}",
    "bad.wgsl": "x\n{{ 1 + }}\n",
}


def test_lines_come_from_template_lines() -> None:
    """Each rendered line knows its template line, through loops and trimmed tags."""
    source = "let n = {{ n }}u;\n{% for k in range(2) %}\n  a[{{ k }}] = 0;\n{% endfor %}\nend\n"
    rendered = compile_template(source, name="t.wgsl").render({"n": 4})
    assert rendered.text == "let n = 4u;\n  a[0] = 0;\n  a[1] = 0;\nend"
    assert rendered.lines == (("t.wgsl", 1), ("t.wgsl", 3), ("t.wgsl", 3), ("t.wgsl", 5))


def test_lines_come_through_includes() -> None:
    """An included line is traced to its own file, and the lines after the include stay right."""
    template = compile_template(
        "start\n  {% include 'lib/a.wgsl' %}\nend\n", name="main.wgsl", include=FILES.__getitem__
    )
    rendered = template.render({"body": "x"})
    assert rendered.text == "start\n// a\nfn b() {\n  x\n}\nend"
    assert rendered.lines == (
        ("main.wgsl", 1), ("lib/a.wgsl", 1), ("lib/b.wgsl", 1), ("lib/b.wgsl", 2), ("lib/b.wgsl", 3), ("main.wgsl", 3),
    )  # fmt: skip


def test_every_line_of_a_value_comes_from_its_tag() -> None:
    """A value of several lines is traced to the tag that printed it."""
    rendered = compile_template("a\n{{ v }}\nb", name="t").render({"v": "1\n\n2"})
    assert rendered.lines == (("t", 1), ("t", 2), ("t", 2), ("t", 2), ("t", 3))


def test_names_are_what_the_scope_must_have() -> None:
    """Names that the template sets, its macros and the dialect's own functions are left out."""
    source = (
        "{% set a = b %}{% for k, v in items %}{{ k ~ v ~ loop.index }}{% endfor %}{% macro m(p) %}{{ p ~ caller() }}"
        "{% endmacro %}{{ range(n) ~ namespace ~ true }}{% if opt is defined %}x{% endif %}"
    )
    assert compile_template(source, name="t").names == {"b", "items", "n"}


def test_an_include_within_a_line_stays_in_it() -> None:
    """Only an include alone on its line takes the line's newline."""
    files = {"v": "1"}
    assert compile_template("a {% include 'v' %} b\n", name="t", include=files.__getitem__).render({}).text == "a 1 b"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "{% include 'lib/loop.wgsl' %}",
            "lib/loop.wgsl:1: a template includes itself: got t → lib/loop.wgsl → lib/loop.wgsl",
        ),
        (
            "\n{% include 'up.wgsl' %}",
            (
                "up.wgsl:1: an include leaves the package: "
                "expected a file below the package's root, got './../outside.wgsl'"
            ),
        ),
        (
            "{% include '/etc/passwd' %}",
            "t:1: an include leaves the package: expected a file below the package's root, got '/etc/passwd'",
        ),
        ("{% include 'bad.wgsl' %}", "bad.wgsl:2: expected a value, found the end\n  {{ 1 + }}\n         ^"),
        ("a\n{% if x %}\nb", "t:3: expected {% endif %}, found the end of the template\n  b\n   ^"),
        ("a\n  {% frob %}", "t:2: unknown statement 'frob'\n    {% frob %}\n       ^"),
        ("{{ a", "t:1: expected '}}', found the end\n  {{ a\n      ^"),
        ("{# a", "t:1: a comment is not closed\n  {# a\n  ^"),
        ("{{ a %}", "t:1: expected '}}', found the end\n  {{ a %}\n       ^"),
    ],
)
def test_syntax_errors_name_template_and_line(source: str, message: str) -> None:
    """A syntax error is found in the file and line that it stands in."""
    with pytest.raises(LanguageSyntaxError) as caught:
        compile_template(source, name="t", include=FILES.__getitem__)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a\n{% if true %}\n{{ 1 + none }}{% endif %}", "t:3: an operand of '+' is none"),
        ("{% macro m() %}\n{{ q.x + 1 }}{% endmacro %}\n\n{{ m() }}", "t:2: an operand of '+' is undefined"),
        ("a\n{{ raise_exception('no f16') }}", "t:2: no f16"),
        ("{% for a in 5 %}{% endfor %}", "t:1: a loop needs a list or a dict: got Integer 5"),
        ("{% set a, b = [1] %}", "t:1: a value does not unpack: expected a list of 2, got a list of 1"),
        ("{% set x.y = 1 %}", "t:1: only the members of a namespace can be set: got Undefined"),
        ("{% break %}", "t: break or continue stands outside a loop"),
    ],
)
def test_evaluation_errors_name_template_and_line(source: str, message: str) -> None:
    """An error in a template says in which line."""
    with pytest.raises(EvaluationError) as caught:
        compile_template(source, name="t").render({})
    assert str(caught.value) == message


def test_rendering_leaves_the_scope_alone() -> None:
    """What a template sets is gone after it."""
    scope = {"a": 1}
    compile_template("{% set a = 2 %}{% set b = 3 %}", name="t").render(scope)
    assert scope == {"a": 1}


def test_a_break_drops_what_its_round_wrote() -> None:
    """The round that breaks or continues leaves nothing, as this dialect has it."""
    assert render("{% for k in range(4) %}{{ k }}{% if k == 2 %}{% break %}{% endif %};{% endfor %}", {}) == "0;1;"


@given(st.text(alphabet="ab {}%#-\n\t", max_size=40))
def test_text_without_tags_is_copied(text: str) -> None:
    """Text with no tag and nothing that looks like one comes out as it is, its last newline aside."""
    plain = text.replace("{", "(").replace("}", ")")
    assert render(plain, {}) == plain.removesuffix("\n")


@given(st.lists(st.sampled_from(["x\n", "{{ n }}\n", "{% if n %}\n", "{# c #}\n", "\n", "a {{ n }} b\n"]), max_size=12))
def test_there_is_an_origin_for_every_line(parts: list[str]) -> None:
    """The map has as many entries as the text has lines, each a line of the template."""
    source = "".join(parts) + "{% endif %}" * parts.count("{% if n %}\n")
    rendered = compile_template(source, name="t").render({"n": 1})
    assert len(rendered.lines) == rendered.text.count("\n") + 1
    assert all(name == "t" and 1 <= line <= source.count("\n") + 1 for name, line in rendered.lines)
