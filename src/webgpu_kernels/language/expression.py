"""Compiled expressions: what the formulas of a manifest become."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.errors import LanguageError, LanguageSyntaxError, WorkLimitExceeded
from webgpu_kernels.language.compiler import Compiler
from webgpu_kernels.language.limits import MAX_NESTING, Bounded, running_meter, too_deep
from webgpu_kernels.language.namespaces import make_namespace
from webgpu_kernels.language.parser import parse_expression
from webgpu_kernels.language.values import Native, Value, host_value, result_value

if TYPE_CHECKING:
    from webgpu_kernels.language.binary import Closure

# The bare language knows this one function; a manifest's formulas do not, which `Expression.names` lets a caller check.
_GLOBALS: Final[Mapping[str, Value]] = {"namespace": Native("namespace", make_namespace)}
# Calls, filters and slices can each go through a long list; an expression with few of them needs no counting.
_LIGHT_OPERATIONS: Final = 4
_CACHED_EXPRESSIONS: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expression:
    """An expression, compiled.

    Attributes:
        source: its text; for a literal of a manifest, the JSON text.
        names: the identifiers that must be in scope; those asked for only under ``is defined`` or ``is undefined`` are
            left out.
        constant: whether it gives the same value in every scope.
    """

    source: str
    names: frozenset[str]
    constant: bool
    _run: Closure
    _has_tuples: bool
    _is_heavy: bool

    def evaluate(self, scope: Mapping[str, Value]) -> Value:
        """Compute the value.

        Args:
            scope: values by name, as `host_value` gives them; a name that is not in it is undefined.

        Returns:
            The value.

        Raises:
            EvaluationError: an operand, an argument or a member is of the wrong kind.
            WorkLimitExceeded: the value grows too large.

        FORMAT section 3.
        """
        try:
            value = self._metered(scope) if self._is_heavy else self._run(scope)
        except LanguageError as error:
            if error.where is None:
                error.where = self.source
            raise
        except RecursionError as error:
            raise WorkLimitExceeded("the evaluation is nested too deeply", where=self.source) from error
        return result_value(value) if self._has_tuples else value

    def _metered(self, scope: Mapping[str, Value]) -> Value:
        if running_meter() is not None:
            return self._run(scope)
        with Bounded():
            return self._run(scope)

    def __repr__(self) -> str:
        """Show the text."""
        return f"Expression({self.source!r})"


@functools.lru_cache(maxsize=_CACHED_EXPRESSIONS)
def compile_expression(source: str) -> Expression:
    """Compile the text of an expression.

    Args:
        source: the text.

    Returns:
        The expression; the same one for the same text, as long as it is remembered.

    Raises:
        LanguageSyntaxError: it does not parse; the message marks the place.
        WorkLimitExceeded: it is too long or nested too deeply.

    FORMAT section 3.
    """
    try:
        compiler = Compiler(_GLOBALS, fold_constants=True)
        run = compiler.compile(parse_expression(source))
    except LanguageError as error:
        error.where = error.where or _shortened(source)
        raise
    except RecursionError as error:
        raise WorkLimitExceeded("the expression is nested too deeply", where=_shortened(source)) from error
    names = frozenset(compiler.names)
    return Expression(
        source=source,
        names=names,
        constant=compiler.constant,
        _run=run,
        _has_tuples=compiler.tuples,
        _is_heavy=compiler.heavy > _LIGHT_OPERATIONS,
    )


def _shortened(source: str) -> str:
    return source if len(source) <= 120 else source[:117] + "..."


def compile_value(json_value: object) -> Expression:
    """Compile a formula as it stands in a manifest.

    Args:
        json_value: a string is an expression; numbers, booleans and None are literals; lists and objects are computed
            member by member.

    Returns:
        The expression.

    Raises:
        LanguageSyntaxError: a string in it does not parse, or it holds something that JSON does not have.
        WorkLimitExceeded: it is nested too deeply.

    FORMAT section 3.
    """
    if isinstance(json_value, str):
        return compile_expression(json_value)
    names: set[str] = set()
    constant: list[bool] = []
    run = _compile_json(json_value, names, constant, 0)
    return Expression(
        source=json.dumps(json_value, ensure_ascii=False),
        names=frozenset(names),
        constant=all(constant),
        _run=run,
        _has_tuples=False,
        _is_heavy=False,
    )


def _compile_json(json_value: object, names: set[str], constant: list[bool], depth: int) -> Closure:
    if depth > MAX_NESTING:
        raise too_deep("a formula")
    if isinstance(json_value, str):
        expression = compile_expression(json_value)
        names.update(expression.names)
        constant.append(expression.constant)
        return expression.evaluate
    if json_value is None or isinstance(json_value, (bool, int, float)):
        literal = host_value(json_value)
        return lambda _: literal
    if isinstance(json_value, list):
        items = [_compile_json(item, names, constant, depth + 1) for item in json_value]
        return lambda scope: [item(scope) for item in items]
    if isinstance(json_value, Mapping):
        entries = {str(key): _compile_json(item, names, constant, depth + 1) for key, item in json_value.items()}
        return lambda scope: {key: item(scope) for key, item in entries.items()}
    raise LanguageSyntaxError("a formula is not a JSON value", got=type(json_value).__name__)


def evaluate(source: str, scope: Mapping[str, Any]) -> Value:
    """Evaluate an expression once.

    Args:
        source: its text.
        scope: values by name; a float of integral value is an Integer, tuples are lists, numpy's scalars are numbers.

    Returns:
        The value; a name that is not in scope gives `UNDEFINED`.

    Raises:
        LanguageSyntaxError: it does not parse.
        EvaluationError: it fails.
        WorkLimitExceeded: it is too long, nested too deeply, or its value grows too large.

    FORMAT section 3.
    """
    expression = compile_expression(source)
    scope = {name: host_value(value) for name, value in scope.items()}
    return result_value(expression.evaluate(scope), final=True)
