"""Directives that wgpu takes, and compiler errors in the template's own lines."""

from __future__ import annotations

import pytest

from webgpu_kernels.device.wgsl_text import for_naga, shader_error, strip_comments, tokenize
from webgpu_kernels.planning.program import ProgramPass

PARSING = """Validation Error

Caused by:
  In wgpuDeviceCreateShaderModule

Shader '' parsing error: no definition in scope for identifier: `foo`
  ┌─ wgsl:3:14
  │
3 │  let x = 1 + foo; }
"""


def a_pass(lines: tuple[tuple[str, int], ...]) -> ProgramPass:
    return ProgramPass(id="stats", label="stats", wgsl="a\nb\nc", lines=lines, slots=(), grid=(1, 1, 1))


def test_subgroup_directives_are_blanked_line_for_line() -> None:
    """The compiler refuses them; the other directives and every line number stay."""
    text = "enable f16;\n  enable subgroups ;\nenable subgroup_size_control;\nfn main() {}"
    assert for_naga(text) == "enable f16;\n  \n\nfn main() {}"


def test_comments_leave_their_line_breaks() -> None:
    """Stripping keeps line numbers."""
    assert strip_comments("a // b\nc /* d\n/* e */ f\n*/ g").count("\n") == 3


def test_tokens_are_identifiers_numbers_and_signs() -> None:
    """Angle brackets never join, shifts do."""
    assert tokenize("array<vec2<f32>>(1u << 2)") == (
        "array", "<", "vec2", "<", "f32", ">", ">", "(", "1u", "<<", "2", ")",
    )  # fmt: skip


def test_an_error_names_the_template_and_both_lines() -> None:
    """The WGSL line of the compiler is looked up in the pass's lines."""
    error = shader_error(
        Exception(PARSING), a_pass((("a.jinja", 1), ("a.jinja", 2), ("b.jinja", 7))), where="com.x.Op, variant v"
    )
    assert str(error) == (
        "com.x.Op, variant v, pass stats: the shader does not compile (line 3 of the WGSL, b.jinja:7): "
        "no definition in scope for identifier: `foo`"
    )
    assert (error.template, error.template_line, error.wgsl_line, error.wgsl) == ("b.jinja", 7, 3, "a\nb\nc")


@pytest.mark.parametrize("lines", [(), (("", 0),) * 3])
def test_a_generated_line_has_no_template(lines: tuple[tuple[str, int], ...]) -> None:
    """Lines that came from no template name none."""
    error = shader_error(Exception(PARSING), a_pass(lines), where="op")
    assert (error.template, error.template_line, error.wgsl_line) == (None, None, 3)


def test_an_error_without_a_place_keeps_its_words() -> None:
    """A missing entry point has no line."""
    text = "Validation Error\n\nCaused by:\n  In wgpuDeviceCreateComputePipeline\n    Unable to find entry point 'main'"
    error = shader_error(Exception(text), a_pass(()), where="op")
    assert str(error) == "op, pass stats: the shader does not compile: Unable to find entry point 'main'"
    assert error.wgsl_line is None
