"""Shaders that are too deep or too large never reach the compiler: it would end the process."""

from __future__ import annotations

import pytest

from webgpu_kernels.device.shader_bounds import MAX_BRANCHES, MAX_OPERATORS, check_nesting
from webgpu_kernels.device.shader_check import check_memory
from webgpu_kernels.errors import ShaderError
from webgpu_kernels.planning.program import ProgramPass

WHERE = "com.x.Op, variant v"


def a_pass(wgsl: str) -> ProgramPass:
    lines = tuple(("a.wgsl.jinja", 10 * line) for line in range(1, wgsl.count("\n") + 2))
    return ProgramPass(id="p", label="p", wgsl=wgsl, lines=lines, slots=(), grid=(1, 1, 1))


def nested(expression: str) -> str:
    return f"fn f() {{\n  y[0] = {expression};\n}}"


def refusal(check: object, wgsl: str) -> str:
    assert callable(check)
    with pytest.raises(ShaderError) as caught:
        check(a_pass(wgsl), where=WHERE)
    place = f"{WHERE}, pass p: the shader is refused (line 2 of the WGSL, a.wgsl.jinja:20): "
    assert str(caught.value).startswith(place)
    assert (caught.value.template, caught.value.template_line, caught.value.wgsl_line) == ("a.wgsl.jinja", 20, 2)
    return str(caught.value).removeprefix(place)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(" * 300 + "a" + ")" * 300, "it nests more than 256 brackets"),
        ("a[u32(" * 3000 + "0" + ")]" * 3000, "it nests more than 256 brackets"),
        ("abs(" * 300 + "a" + ")" * 300, "it nests more than 256 brackets"),
        ("- " * 300 + "a", "it has more than 256 operators in front of one operand"),
        ("-!~&*" * 60 + "a", "it has more than 256 operators in front of one operand"),
        ("array<" * 300 + "f32" + ",1>" * 300 + "()", "it nests more than 256 types"),
        ("a" + " + 1" * 20000, "an expression has more than 4096 operators"),
        ("a" + " && b" * 20000, "an expression has more than 4096 operators"),
        ("a" + ".xy" * 20000, "an expression has more than 4096 operators"),
        ("a" + "[0]" * 20000, "an expression has more than 4096 operators"),
        ("(" * 20 + "a" + (" + 1" * 1000 + ")") * 20, "an expression has more than 4096 operators"),
        ("1; if a {}" + " else if b {}" * 2000, "an if has more than 1024 branches"),
    ],
)
def test_what_is_too_deep_is_refused_with_its_line(expression: str, reason: str) -> None:
    """Brackets, prefixes, types, operators, member accesses and branches, in the template's own lines."""
    assert refusal(check_nesting, nested(expression)) == reason


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 200 + "a" + ")" * 200,
        "a" + " + 1" * (MAX_OPERATORS - 10),
        "array(" + "-1.0, " * 20000 + ")",
        "1; " + "b = -b * 2.0;" * 20000,
        "1; if a {}" + " else if b {}" * (MAX_BRANCHES - 1),
        "1; " + "if a {} else if b {} else {}\n" * 3000,
        "1; // " + "(" * 3000,
        "1; /* " + "-" * 3000 + " */",
        ")" * 10,
    ],
)
def test_what_the_compiler_can_take_is_left_to_it(expression: str) -> None:
    """Long tables and long functions are not deep; comments count as nothing; unbalanced text is the compiler's."""
    check_nesting(a_pass(nested(expression)), where=WHERE)


@pytest.mark.parametrize(
    ("wgsl", "reason"),
    [
        ("\nvar<private> s: array<f32, 16000000>;\nfn f() { s[0] = 1.0; }", "private memory: 64000000 bytes"),
        (
            "const N = 4096u;\nvar<private> s = array<vec4f, N>();\nfn f() { s[0].x = 1.0; }",
            "private memory: 65536 bytes",
        ),
        ("fn f() {\n  var s: array<f32, 2049>;\n}", "memory in the function f: 8196 bytes"),
        (
            "fn f() {\n var s = array<f32, 1024>(); var t: mat4x4f;\n var u: array<f32, 1020>; }",
            "the function f: 8240 bytes",
        ),
        (
            "fn f() {}\nfn g() { var<function> s: array<array<f32, 100>, 100>; }",
            "memory in the function g: 40000 bytes",
        ),
    ],
)
def test_too_much_memory_is_refused_with_the_line_of_the_variable(wgsl: str, reason: str) -> None:
    """Private variables of the shader together, and those of each function together."""
    message = refusal(check_memory, wgsl)
    assert message.startswith("its variables take too much ")
    assert message.endswith(f"{reason}, WGSL allows 8192")


@pytest.mark.parametrize(
    "wgsl",
    [
        "var<private> s: array<f32, 2048>; fn f() { var s: array<f32, 2048>; } fn g() { var s: array<f32, 2048>; }",
        "var<private> unused: array<f32, 10000>;",
        "@group(0) @binding(0) var<storage, read> s: array<f32, 10000>; fn f() { var a = s[0]; }",
        "fn f() { var a = foo; var b = bar(1); var c: T; var d = 1.0; }",
        "var",
        "fn f() { var",
        "fn f() { var<",
    ],
)
def test_what_fits_or_is_not_understood_is_left_to_the_compiler(wgsl: str) -> None:
    """Exactly the bound is allowed; unused, bound and unreadable variables count as nothing."""
    check_memory(a_pass(wgsl), where=WHERE)


def test_structs_of_structs_are_measured_once() -> None:
    """Thirty levels that each hold the one before twice would take for ever."""
    structs = "".join(f"struct S{i + 1} {{ a: S{i}, b: S{i} }}\n" for i in range(14))
    with pytest.raises(ShaderError, match="private memory: 65536 bytes"):
        check_memory(a_pass(f"struct S0 {{ a: f32 }}\n{structs}var<private> s: S14;\nfn f() {{ s; }}"), where=WHERE)
