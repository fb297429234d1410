"""Compiled templates: text with statements into WGSL, of which each line knows where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webgpu_kernels.errors import EvaluationError, LanguageError, WorkLimitExceeded
from webgpu_kernels.language.blocks import BlockCompiler
from webgpu_kernels.language.compiler import CONSTANTS, Compiler
from webgpu_kernels.language.limits import Meter, swap_meter
from webgpu_kernels.language.namespaces import TEMPLATE_FUNCTIONS
from webgpu_kernels.language.rendering import JUMPS, Action, Fragment, Rendering, Scope
from webgpu_kernels.language.source import TemplateSource, read_source
from webgpu_kernels.language.statement_parser import StatementParser
from webgpu_kernels.language.text import whole_characters
from webgpu_kernels.language.values import Value, host_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A rendered template.

    Attributes:
        text: the text.
        lines: for each line of it the template and the line, counted from 1, that it comes from.
    """

    text: str
    lines: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Template:
    """A template, compiled.

    Attributes:
        name: its name, relative to the package's root.
        names: the identifiers that must be in scope: neither set by the template nor part of the dialect.
    """

    name: str
    names: frozenset[str]
    _run: Action
    _source: TemplateSource

    def render(
        self, scope: Mapping[str, Value], meter: Meter | None = None, known: dict[str, Rendered] | None = None
    ) -> Rendered:
        """Render the template.

        Args:
            scope: values by name, as `host_value` gives them; a name that is not in it is undefined.
            meter: what to spend from; by default one of its own.
            known: what was rendered before, by its text, and where this is added; the origins of a text's lines are
                looked up once.

        Returns:
            The text, and where its lines come from; what is known already, if it is.

        Raises:
            EvaluationError: an expression fails, or the template raises an exception.
            WorkLimitExceeded: it takes too many steps, or writes or nests too much.

        FORMAT section 7.
        """
        rendering = Rendering(meter or Meter())
        root = Scope(None)
        root.update(CONSTANTS)
        root.update(TEMPLATE_FUNCTIONS)
        root.update(scope)
        before = swap_meter(rendering.meter)
        try:
            self._run(root, rendering)
        except JUMPS as jump:
            raise EvaluationError("break or continue stands outside a loop", where=self.name) from jump
        except RecursionError as error:
            raise WorkLimitExceeded("the rendering is nested too deeply", where=self.name) from error
        finally:
            swap_meter(before)
        text = "".join(fragment[0] for fragment in rendering.fragments)
        text = text if text.isascii() else whole_characters(text)
        known = {} if known is None else known
        if text not in known:
            known[text] = Rendered(text=text, lines=_line_origins(rendering.fragments, self._source))
        return known[text]

    def __repr__(self) -> str:
        """Show the name."""
        return f"Template({self.name!r})"


def _line_origins(fragments: list[Fragment], source: TemplateSource) -> tuple[tuple[str, int], ...]:
    # A line comes from where its first character that is not blank does, or else its first character.
    places: list[int] = []
    place, solid = -1, False
    for text, at, literal in fragments:
        offset = at
        for index, part in enumerate(text.split("\n")):
            if index:
                places.append(place)
                place, solid = -1, False
            blank = not part or part.isspace()
            if place < 0 or (not solid and not blank):
                place, solid = offset, not blank
            offset += len(part) + 1 if literal else 0
    places.append(max(place, 0))
    known: dict[int, tuple[str, int]] = {}
    for offset in places:
        if offset not in known:
            known[offset] = source.origin(offset)
    return tuple(known[offset] for offset in places)


def compile_template(source: str, *, name: str, include: Callable[[str], str] | None = None) -> Template:
    """Compile a template.

    Args:
        source: its text.
        name: its name, relative to the package's root.
        include: gives the text of another template by its name relative to the root, or raises; None: the template
            cannot include.

    Returns:
        The template.

    Raises:
        LanguageSyntaxError: it does not parse, or an include leaves the root or includes itself.
        WorkLimitExceeded: it is too long or nested too deeply.

    FORMAT section 7.
    """
    try:
        text = read_source(source, name=name, include=include)
        block = StatementParser(text).template()
        compiler = Compiler({}, fold_constants=False)
        statements = BlockCompiler(text, compiler)
        run = statements.block(block)
    except LanguageError as error:
        error.where = error.where or name
        raise
    except RecursionError as error:
        raise WorkLimitExceeded("the template is nested too deeply", where=name) from error
    own = statements.bound | set(CONSTANTS) | set(TEMPLATE_FUNCTIONS)
    return Template(name=name, names=frozenset(compiler.names - own), _run=run, _source=text)


def render(source: str, scope: Mapping[str, Any]) -> str:
    """Render a template once.

    Args:
        source: its text.
        scope: values by name; a float of integral value is an Integer, tuples are lists, numpy's scalars are numbers.

    Returns:
        The text; a name that is not in scope is undefined.

    Raises:
        LanguageSyntaxError: it does not parse.
        EvaluationError: it fails.
        WorkLimitExceeded: it takes too many steps, or writes or nests too much.

    FORMAT section 7.
    """
    template = compile_template(source, name="template")
    return template.render({key: host_value(value) for key, value in scope.items()}).text
