"""Counting the rounds of a shader's loops."""

from __future__ import annotations

import pytest

from webgpu_kernels.planning.bindings import PlannedBinding
from webgpu_kernels.planning.program import ProgramPass
from webgpu_kernels.planning.uniforms import PlannedStruct
from webgpu_kernels.tools.lint.invocations import array_lengths
from webgpu_kernels.tools.lint.loops import LongLoop, longest_loops

SIGNATURE = "@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32"


def counted(body: str, *, functions: str = "", count: int = 0, grid: int = 1, length: int = 0) -> LongLoop | None:
    """Count the loops of a main with this body; ``params.count`` is a uniform, ``x`` an array."""
    wgsl = f"{functions}@compute @workgroup_size(64)\nfn main({SIGNATURE}) {{\n{body}\n}}\n"
    struct = PlannedStruct(
        name="Params", fields=(("count", "u32"), ("scale", "f32")), values=(count, 0.5), contents=bytes(16)
    )
    params = PlannedBinding(
        name="params",
        resource="uniform",
        target="params",
        access="uniform",
        element_type="Params",
        length=None,
        min_bytes=16,
        struct=struct,
    )
    step = ProgramPass(id="main", label="main", wgsl=wgsl, lines=(), slots=(), grid=(grid, 1, 1))
    return longest_loops(step, [params], {"x": length})


@pytest.mark.parametrize(
    "body",
    [
        "for (var i = 0u; i < 70000u; i++) { f(i); }",
        "for (var i: u32 = 70000u; i > 0u; i -= 1u) { f(i); }",
        "for (var i = 0; i <= 69999; i = i + 1) { f(i); }",
        "for (var i = 0u; i != 140000u; i += 2u) { f(i); }",
        "var i = 0u;\nwhile (i < 70000u) { i += 1u; }",
        "var i = 0u;\nloop { if (i >= 70000u) { break; } f(i); continuing { i += 1u; } }",
        "var i = 0u;\nloop { if i >= 70000u { break; } f(i); i++; }",
        "for (var i = 0u; i < params.count; i++) { f(i); }",
        "let n = params.count;\nfor (var i = 0u; i < n; i++) { f(i); }",
        "for (var i = 0u; i < arrayLength(&x); i++) { f(i); }",
        "for (var i = 0u; i < (1u << 16u) + 4464u; i++) { f(i); }",
        "for (var i = 0u; i < select(1u, 70000u, true); i++) { f(i); }",
        "for (var i = 0u; i < max(u32(5), 70000u); i++) { f(i); }",
        "if (params.count > 5u) { for (var i = 0u; i < 70000u; i++) { f(i); } }",
        "if (x[0] > 5.0) { for (var i = 0u; i < 70000u; i++) { f(i); } } else { f(1u); }",
        "switch lane { case 0u: { for (var i = 0u; i < 70000u; i++) { f(i); } } default: { } }",
    ],
)
def test_a_long_loop_is_counted(body: str) -> None:
    """However it is written: its rounds are known before it runs."""
    found = counted(body, count=70000, length=70000)
    assert found is not None
    assert found.rounds == 70000


def test_the_line_is_the_loops() -> None:
    """A finding points at the loop."""
    assert counted("let a = 1u;\n// more\nfor (var i = 0u; i < 70000u; i++) { }") == LongLoop(line=5, rounds=70000)


def test_nested_loops_multiply() -> None:
    """The rounds of an inner loop count as often as the outer one runs, and the outer ones count, too."""
    body = "for (var i = 0u; i < 300u; i++) { for (var j = i; j < 300u; j++) { f(j); } }"
    assert counted(body) == LongLoop(line=3, rounds=300 + 300 * 300)


def test_loops_one_after_another_add_up() -> None:
    """Software Vulkan ends all loops of a lane after so many rounds together."""
    one = "for (var i = 0u; i < 40000u; i++) { f(i); }"
    found = counted(f"{one}\n{one}")
    assert found is not None
    assert found.rounds == 80000


def test_a_called_function_is_walked_with_its_arguments() -> None:
    """A loop in a function is counted with what it is given."""
    functions = "fn work(n: u32) -> u32 { for (var i = 0u; i < n; i++) { f(i); } return n; }\n"
    assert counted("let y = work(7u);", functions=functions) is None
    found = counted("let y = work(70000u);", functions=functions)
    assert found is not None
    assert found.line == 1


def test_what_a_function_returns_is_known_unless_it_may_return_otherwise() -> None:
    """A return under a condition that is not known makes the value unknown."""
    loop = "for (var i = 0u; i < bound(); i++) { f(i); }"
    assert counted(loop, functions="fn bound() -> u32 { return 70000u; }\n") is not None
    assert counted(loop, functions="fn bound() -> u32 { if (x[0] > 1.0) { return 1u; } return 70000u; }\n") is None


@pytest.mark.parametrize(
    "body",
    [
        "for (var i = 0u; i < 65535u; i++) { f(i); }",
        "for (var i = 0u; i < u32(x[0]); i++) { f(i); }",
        "for (var i = 70000u; i > 0u; i >>= 1u) { f(i); }",
        "for (var i = 0u; i < 70000u; i += u32(x[i])) { f(i); }",
        "for (var i = 0u; i < 70000u; i++) { if (x[i] > 0.0) { i += 100u; } }",
        "if (false) { for (var i = 0u; i < 70000u; i++) { f(i); } }",
        "for (var i = id.x; i < params.count; i += 64u * 1024u) { f(i); }",
        "return;\nfor (var i = 0u; i < 70000u; i++) { f(i); }",
        "if (params.count > 9u) { return; }\nfor (var i = 0u; i < 70000u; i++) { f(i); }",
        "for (var i = 0u; i < 70000u; i++) { f(i) ",
        "fn fn fn",
    ],
)
def test_nothing_is_said_of_what_is_short_or_not_known(body: str) -> None:
    """A loop that is short, is not reached or whose bound comes from a buffer; text that is no WGSL."""
    assert counted(body, count=1_000_000) is None


def test_the_last_workgroup_is_walked_too() -> None:
    """What only the end of a tensor comes to is seen."""
    body = "if (id.x >= 6400u) { for (var i = 0u; i < 70000u; i++) { f(i); } }"
    assert counted(body, grid=1) is None
    assert counted(body, grid=101) is not None


def test_very_long_texts_are_left_alone() -> None:
    """A text of a million loops costs no time."""
    assert counted("for (var i = 0u; i < 70000u; i++) { }\n" * 20_000) is None


def test_lengths_of_arrays_follow_from_what_is_bound() -> None:
    """Bytes divided by the element's; of what is not known nothing."""
    known = PlannedBinding(
        name="a", resource="tensor", target="t", access="storage", element_type="vec4<f32>", length=None, min_bytes=0
    )
    lost = PlannedBinding(
        name="b", resource="tensor", target="gone", access="storage", element_type="f32", length=None, min_bytes=0
    )
    odd = PlannedBinding(
        name="c", resource="tensor", target="t", access="storage", element_type="Odd", length=None, min_bytes=0
    )
    assert array_lengths([known, lost, odd], {"t": 64}) == {"a": 4}
