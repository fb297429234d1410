"""What a rendering holds while it runs: scopes, what is written, jumps out of loops, and macros."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from webgpu_kernels.errors import EvaluationError, WorkLimitExceeded
from webgpu_kernels.language.limits import MAX_MACRO_DEPTH, MAX_OUTPUT_CHARS, Meter
from webgpu_kernels.language.text import whole_characters
from webgpu_kernels.language.values import UNDEFINED, Keywords, Value

if TYPE_CHECKING:
    from webgpu_kernels.language.binary import Closure

Fragment: TypeAlias = tuple[str, int, bool]
"""Written text, the offset that it comes from, and whether its characters lie there one by one."""

_ABSENT: Final = object()


class Scope(dict[str, Any]):
    """Names and values of one scope of a template, with those of the scopes around it behind them."""

    __slots__ = ("parent",)

    def __init__(self, parent: Scope | None) -> None:
        super().__init__()
        self.parent = parent

    def __missing__(self, name: str) -> Value:
        """Look in the scopes around."""
        scope = self.parent
        while scope is not None:
            value = dict.get(scope, name, _ABSENT)
            if value is not _ABSENT:
                return value
            scope = scope.parent
        raise KeyError(name)


class Rendering:
    """What one rendering writes, and the work that it may still do."""

    __slots__ = ("depth", "fragments", "meter", "size")

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.fragments: list[Fragment] = []
        self.size = 0
        self.depth = 0

    def write(self, text: str, at: int, *, literal: bool) -> None:
        """Write text that comes from an offset of the source."""
        self.size += len(text)
        if self.size > MAX_OUTPUT_CHARS:
            raise WorkLimitExceeded(
                "the rendered text grows too long", expected=f"at most {MAX_OUTPUT_CHARS} characters"
            )
        self.fragments.append((text, at, literal))

    def captured(self, body: Action, scope: Scope) -> str:
        """Run a body and return what it writes, as a string."""
        outer, self.fragments = self.fragments, []
        size, self.size = self.size, 0
        try:
            body(scope, self)
            text = "".join(fragment[0] for fragment in self.fragments)
        finally:
            self.fragments, self.size = outer, size
        return text if text.isascii() else whole_characters(text)


class JumpOut(Exception):
    """Leaves or restarts the loop around; what the round has written is dropped."""

    leave = True


class Break(JumpOut):
    """Leaves the loop."""

    leave = True


class Continue(JumpOut):
    """Goes on with the next round."""

    leave = False


JUMPS: Final = (Break, Continue)


class MacroFunction:
    """A macro, or the body of a call block: called with a scope, it renders its body below it.

    Args:
        name: what messages call it.
        parameters: its parameters and their compiled defaults.
        specials: which of ``varargs`` and ``kwargs`` its body reads.
        body: what it renders.
        rendering: what is being rendered.
        scope: the scope that it always sees; None where it sees its caller's.
    """

    __slots__ = ("body", "name", "parameters", "rendering", "scope", "specials")

    def __init__(
        self,
        name: str,
        parameters: tuple[tuple[str, Closure | None], ...],
        specials: frozenset[str],
        body: Action,
        *,
        rendering: Rendering,
        scope: Scope | None,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.specials = specials
        self.body = body
        self.rendering = rendering
        self.scope = scope

    def __call__(self) -> None:
        """Macros are called through `invoke`; this makes them callable to the ``callable`` test."""
        raise AssertionError

    def invoke(self, arguments: list[Value], scope: Scope) -> str:
        """Render the body with arguments."""
        rendering = self.rendering
        rendering.depth += 1
        rendering.meter.spend(10)
        try:
            if rendering.depth > MAX_MACRO_DEPTH:
                raise WorkLimitExceeded(
                    "macros call each other too deeply", expected=f"at most {MAX_MACRO_DEPTH} levels"
                )
            inner = Scope(scope if self.scope is None else self.scope)
            self._bind(arguments, inner)
            return rendering.captured(self.body, inner)
        finally:
            rendering.depth -= 1

    def _bind(self, arguments: list[Value], scope: Scope) -> None:
        has_keywords = bool(arguments) and type(arguments[-1]) is Keywords
        positional = arguments[:-1] if has_keywords else arguments
        keywords = Keywords(arguments[-1]) if has_keywords else Keywords()
        extra = positional[len(self.parameters) :]
        if "varargs" in self.specials:
            scope["varargs"] = list(extra)
        elif extra:
            raise EvaluationError(
                f"{self.name}() takes at most {len(self.parameters)} arguments", got=f"{len(positional)}"
            )
        # A default sees the parameters; those that come after it are undefined.
        scope.update(dict.fromkeys((name for name, _ in self.parameters), UNDEFINED))
        for index, (name, default) in enumerate(self.parameters):
            if index < len(positional):
                scope[name] = positional[index]
            elif name in keywords:
                scope[name] = keywords.pop(name)
            elif default is not None:
                scope[name] = default(scope)
        if "kwargs" in self.specials:
            scope["kwargs"] = dict(keywords)
        elif keywords:
            raise EvaluationError(f"{self.name}() has no parameter for a keyword argument", got=", ".join(keywords))


Action: TypeAlias = Callable[[Scope, Rendering], None]
