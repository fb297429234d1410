"""What the compiler says of a wrong shader, in the template's own lines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from webgpu_kernels.device import Executable
from webgpu_kernels.errors import ShaderError

if TYPE_CHECKING:
    from hand_made_programs import Programs

    from webgpu_kernels.device import Device

pytestmark = pytest.mark.device

HEAD = """@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
"""
MAIN = "@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) l: u32) {\n  %s\n}\n"


@pytest.mark.parametrize(
    ("wgsl", "line", "reason"),
    [
        (
            HEAD + MAIN % "x[l] = 1.0;",
            5,
            (
                "writing to this location is not permitted; "
                "The pointer [2] doesn't relate to a valid destination for a store"
            ),
        ),
        (
            HEAD + MAIN % "y[l] = x[l] + 1u;",
            5,
            (
                "Operation Add can't work with [5] (of type Scalar(Scalar { kind: Float, width: 4 })) "
                "and [6] (of type Scalar(Scalar { kind: Uint, width: 4 }))"
            ),
        ),
        (HEAD + MAIN % "y[l] = vec2<f32>(1.0, 2.0);", 5, "The type of [5] doesn't match the type stored in [2]"),
        (HEAD + MAIN % "y[l] = foo;", 5, "no definition in scope for identifier: `foo`"),
        (
            HEAD + "fn f(a: f32) -> f32 {\n  let b = a;\n}\n" + MAIN % "y[l] = f(x[l]);",
            3,
            "The `return` expression None does not match the declared return type Some([0])",
        ),
        (
            HEAD + "fn f(a: f32) -> f32 { return a; }\n" + MAIN % "y[l] = f(x[l], 1.0);",
            6,
            "invalid function call; Call to [0] is invalid; Requires 1 arguments, but 2 are provided",
        ),
        (
            HEAD + MAIN % "workgroupBarrier(); var n = 0; if (l > 3u) { n = 1u; } y[l] = 1.0;",
            5,
            "automatic conversions cannot convert elements of `u32` to `i32`",
        ),
    ],
    ids=["read-only", "operands", "store", "identifier", "return", "arguments", "conversion"],
)
def test_a_compiler_error_says_why_and_where(
    device: Device, programs: Programs, wgsl: str, line: int, reason: str
) -> None:
    """The innermost cause, the WGSL's line and the template's."""
    program = programs.scale()
    lines = tuple(("k.wgsl.jinja", 100 + number) for number in range(wgsl.count("\n") + 1))
    step = replace(program.passes[0], wgsl=wgsl, lines=lines)
    with pytest.raises(ShaderError) as caught:
        Executable.compile(device, replace(program, passes=(step,)))
    assert str(caught.value) == (
        f"{program.where}, pass {step.id}: the shader does not compile "
        f"(line {line} of the WGSL, k.wgsl.jinja:{99 + line}): {reason}"
    )
    assert (caught.value.template, caught.value.template_line, caught.value.wgsl_line) == (
        "k.wgsl.jinja",
        99 + line,
        line,
    )


def test_a_shader_that_would_end_the_process_is_refused(device: Device, programs: Programs) -> None:
    """Depth and memory are checked before the compiler sees the text; the device still works."""
    program = programs.scale()
    for body, reason in (
        ("y[l] = " + "(" * 3000 + "x[l]" + ")" * 3000 + ";", "it nests more than 256 brackets"),
        ("y[l] = x[l]" + " + 1.0" * 20000 + ";", "an expression has more than 4096 operators"),
        (
            "var s: array<f32, 16000000>; y[l] = s[l];",
            "its variables take too much memory in the function main: 64000000 bytes, WGSL allows 8192",
        ),
    ):
        step = replace(program.passes[0], wgsl=HEAD + MAIN % body, lines=())
        with pytest.raises(ShaderError) as caught:
            Executable.compile(device, replace(program, passes=(step,)))
        assert str(caught.value).endswith(f"the shader is refused (line 5 of the WGSL): {reason}")
    Executable.compile(device, program)
