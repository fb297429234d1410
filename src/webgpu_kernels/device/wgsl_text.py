"""WGSL as text: its tokens, the directives that wgpu's compiler takes, and the lines that its errors name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from webgpu_kernels.errors import ShaderError

if TYPE_CHECKING:
    from webgpu_kernels.planning.program import ProgramPass

Tokens: TypeAlias = tuple[str, ...]

_TOKEN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9A-Za-z_.]*|<<|[^\sA-Za-z0-9_]")
_COMMENT_EDGE: Final = re.compile(r"//|/\*|\*/|\n")
_UNSUPPORTED_ENABLE: Final = re.compile(r"(?m)^([ \t]*)enable\s+(?:subgroups|subgroup_size_control)\s*;")
_ERROR_PLACE: Final = re.compile(r"┌─ [^\s:]*:(\d+):\d+")
_ONLY_WHERE: Final = re.compile(r"^(?:Entry point|Function|Expression) .* is invalid$")
"""A line of the compiler's that says what is wrong, and not why."""
_ERROR_MARK: Final = re.compile(r"\n *│[ │╰─]*\^[\^ ]* ([^\s^][^\n]*)")
"""What stands beside the marks under a line of the shader."""
_ERROR_NOTE: Final = re.compile(r"\n *= ([^\n]+)")
_ERROR_TEXT: Final = re.compile(r"(?:parsing|validation) error: ([^\n]+)")


def tokenize(wgsl: str) -> Tokens:
    """Split a shader into tokens, without comments.

    Args:
        wgsl: the shader's text.

    Returns:
        Identifiers, numbers and punctuation; ``<<`` is one token, ``>`` never joins another.

    Source: WGSL, section 3 "Textual structure".
    """
    return tuple(_TOKEN.findall(strip_comments(wgsl)))


def strip_comments(wgsl: str) -> str:
    """Replace comments, block comments nest, by a space; line breaks stay.

    Args:
        wgsl: the shader's text.

    Returns:
        The text with as many lines.

    Source: WGSL, section 3.3 "Comments".
    """
    parts: list[str] = []
    position, depth, in_line = 0, 0, False
    for edge in _COMMENT_EDGE.finditer(wgsl):
        if depth == 0 and not in_line:
            parts.append(wgsl[position : edge.start()])
        mark = edge.group()
        if mark == "\n":
            in_line = False
            parts.append("\n")
        elif not in_line:
            in_line = mark == "//" and depth == 0
            depth += (mark == "/*") - (mark == "*/" and depth > 0)
            parts.append(" ")
        position = edge.end()
    if depth == 0 and not in_line:
        parts.append(wgsl[position:])
    return "".join(parts)


def for_naga(wgsl: str) -> str:
    """Return the shader as wgpu's compiler takes it, line for line.

    naga refuses ``enable subgroups;`` though it compiles the built-ins; browsers need it, so packages have it.

    Args:
        wgsl: the shader's text.

    Returns:
        The text with those directives blanked out.

    Source: GPU_NOTES, "Traps"; FORMAT, section 6.
    """
    return _UNSUPPORTED_ENABLE.sub(r"\1", wgsl)


def shader_error(error: BaseException, program_pass: ProgramPass, *, where: str) -> ShaderError:
    """Describe a compiler error in the package's own terms: the template and its line.

    Args:
        error: what wgpu raised.
        program_pass: the pass whose shader it is; its ``lines`` map WGSL lines to template lines.
        where: operator and variant.

    Returns:
        A ShaderError; its line fields are None where wgpu names no line, as for a missing entry point.

    Source: DESIGN, "wgpu-py facts": shader errors come as text.
    """
    text = str(error)
    place = _ERROR_PLACE.search(text)
    return _located("does not compile", _message(text), program_pass, int(place[1]) if place else None, where)


def not_compiled(message: str, program_pass: ProgramPass, wgsl_line: int | None, *, where: str) -> ShaderError:
    """Describe what another compiler than wgpu's says of a shader, in the package's own terms.

    Args:
        message: what it says is wrong.
        program_pass: the pass whose shader it is.
        wgsl_line: where, counted from 1; None where it names no line.
        where: operator and variant.

    Returns:
        A ShaderError.

    Source: WebGPU, section 9.1.1 "GPUCompilationMessage".
    """
    return _located("does not compile", message, program_pass, wgsl_line, where)


def refused(message: str, program_pass: ProgramPass, wgsl_line: int | None, *, where: str) -> ShaderError:
    """Describe why a shader is not given to the compiler.

    Args:
        message: what is wrong with it.
        program_pass: the pass whose shader it is.
        wgsl_line: where, counted from 1; None where no line is to blame.
        where: operator and variant.

    Returns:
        A ShaderError.

    Source: none.
    """
    return _located("is refused", message, program_pass, wgsl_line, where)


def _located(verdict: str, message: str, program_pass: ProgramPass, wgsl_line: int | None, where: str) -> ShaderError:
    template, template_line = _origin(program_pass, wgsl_line)
    spot = f" (line {wgsl_line} of the WGSL{f', {template}:{template_line}' if template else ''})" if wgsl_line else ""
    return ShaderError(
        f"the shader {verdict}{spot}: {message}",
        where=f"{where}, pass {program_pass.id}",
        template=template,
        template_line=template_line,
        wgsl_line=wgsl_line,
        wgsl=program_pass.wgsl,
    )


def _message(text: str) -> str:
    """Return what the compiler says is wrong: its innermost causes, where its first line names only the function."""
    first = _ERROR_TEXT.search(text)
    if first is None:
        return _details(text)
    reasons = [first[1].strip()]
    if _ONLY_WHERE.search(reasons[0]):
        marks = [mark for mark in _ERROR_MARK.findall(text) if not mark.startswith("naga::")]
        notes = [note for note in _ERROR_NOTE.findall(text) if not _ONLY_WHERE.search(note)]
        reasons = [*marks, *notes] or reasons
    return "; ".join(dict.fromkeys(reason.strip() for reason in reasons))


def _origin(program_pass: ProgramPass, wgsl_line: int | None) -> tuple[str | None, int | None]:
    if wgsl_line is None or not 0 < wgsl_line <= len(program_pass.lines):
        return None, None
    template, line = program_pass.lines[wgsl_line - 1]
    return (template, line) if template else (None, None)


def _details(text: str) -> str:
    lines = [line.strip() for line in text.partition("Caused by:")[2].splitlines() if line.strip()]
    return "; ".join(lines[1:] or lines) or text
