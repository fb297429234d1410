"""Statements into closures that write to a rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webgpu_kernels.errors import EvaluationError, LanguageError
from webgpu_kernels.language import filters
from webgpu_kernels.language.compiler import Compiler, call
from webgpu_kernels.language.limits import (
    check_items,
)
from webgpu_kernels.language.rendering import JUMPS, Action, Break, Continue, MacroFunction, Rendering, Scope
from webgpu_kernels.language.special_names import special_names
from webgpu_kernels.language.statements import (
    Block,
    CallBlock,
    FilterBlock,
    For,
    If,
    Jump,
    Macro,
    Output,
    Parameters,
    Set,
    Text,
)
from webgpu_kernels.language.syntax import (
    ListOf,
    Literal,
    Member,
    Name,
    Node,
)
from webgpu_kernels.language.text import printed_text
from webgpu_kernels.language.values import UNDEFINED, Keywords, Namespace, Value, describe, truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from webgpu_kernels.language.binary import Closure
    from webgpu_kernels.language.source import TemplateSource


class BlockCompiler:
    """Compiles the statements of one template.

    Args:
        source: the template, for places in messages.
        compiler: compiles its expressions.

    Attributes:
        bound: names that the template itself sets somewhere.
    """

    def __init__(self, source: TemplateSource, compiler: Compiler) -> None:
        self.source = source
        self.compiler = compiler
        self.bound: set[str] = set()
        self._compilers: dict[type, Callable[[Any], Action]] = {
            Text: self._text,
            Output: self._output,
            If: self._if,
            For: self._for,
            Set: self._set,
            Macro: self._macro,
            CallBlock: self._call,
            FilterBlock: self._filter,
            Jump: self._jump,
        }

    def block(self, block: Block) -> Action:
        """Compile statements that follow each other."""
        steps = tuple((self._compilers[type(s)](s), getattr(s, "weight", 1), s.at) for s in block)
        where = self.source.where

        def run(scope: Scope, rendering: Rendering) -> None:
            meter = rendering.meter
            at = 0
            try:
                for action, weight, at in steps:  # noqa: B007 - the handler reads the place
                    meter.left -= weight
                    if meter.left < 0:
                        meter.spend(0)
                    action(scope, rendering)
            except LanguageError as error:
                if error.where is None:
                    error.where = where(at)
                raise

        return run

    def _text(self, node: Text) -> Action:
        text, at = node.text, node.at
        return lambda _, rendering: rendering.write(text, at, literal=True)

    def _output(self, node: Output) -> Action:
        value, at = self.compiler.compile(node.value), node.at

        def run(scope: Scope, rendering: Rendering) -> None:
            text = printed_text(value(scope))
            if text:
                rendering.write(text, at, literal=False)

        return run

    def _if(self, node: If) -> Action:
        branches = tuple(
            ((lambda _: True) if condition is None else self.compiler.compile(condition), self.block(body))
            for condition, body in node.branches
        )

        def run(scope: Scope, rendering: Rendering) -> None:
            for condition, body in branches:
                if truth(condition(scope)):
                    body(scope, rendering)
                    return

        return run

    def _for(self, node: For) -> Action:
        self.bound.add("loop")
        target = self._loop_target(node.target)
        items = self.compiler.compile(node.items)
        condition = None if node.condition is None else self.compiler.compile(node.condition)
        body, otherwise = self.block(node.body), self.block(node.otherwise)

        def run(outer: Scope, rendering: Rendering) -> None:
            scope = Scope(outer)
            entries = _entries(items(scope))
            if condition is not None:
                entries = list(_selected(entries, scope, target, condition, rendering))
            finished = False
            for index, entry in enumerate(entries):
                scope["loop"] = _loop_facts(entries, index)
                target(scope, entry)
                written, size = len(rendering.fragments), rendering.size
                rendering.meter.spend(3)
                try:
                    body(scope, rendering)
                    finished = True
                except JUMPS as jump:
                    del rendering.fragments[written:]
                    rendering.size = size
                    if jump.leave:
                        break
            if not finished:
                otherwise(scope, rendering)

        return run

    def _loop_target(self, node: Node) -> Callable[[Scope, Value], None]:
        if isinstance(node, Name):
            name = node.name
            self.bound.add(name)
            return lambda scope, value: scope.__setitem__(name, value)
        assert isinstance(node, ListOf)
        return self._unpacking(node)

    def _unpacking(self, node: ListOf) -> Callable[[Scope, Value], None]:
        names = [item.name if isinstance(item, Name) else None for item in node.items]
        self.bound.update(name for name in names if name is not None)

        def unpack(scope: Scope, value: Value) -> None:
            if type(value) not in (list, tuple) or len(value) != len(names):
                got = f"a list of {len(value)}" if type(value) in (list, tuple) else describe(value)
                raise EvaluationError("a value does not unpack", expected=f"a list of {len(names)}", got=got)
            for name, entry in zip(names, value, strict=True):
                if name is None:
                    raise EvaluationError("only names can be unpacked to")
                scope[name] = entry

        return unpack

    def _set(self, node: Set) -> Action:
        value = None if node.value is None else self.compiler.compile(node.value)
        body = self.block(node.body)
        assign = self._set_target(node.target)

        def run(scope: Scope, rendering: Rendering) -> None:
            assign(scope, rendering.captured(body, scope) if value is None else value(scope))

        return run

    def _set_target(self, node: Node) -> Callable[[Scope, Value], None]:
        if isinstance(node, Name):
            return self._loop_target(node)
        if isinstance(node, ListOf) and node.is_tuple:
            return self._unpacking(node)
        if isinstance(node, Member):
            return self._member_target(node)

        def refuse(_: Scope, __: Value) -> None:
            raise EvaluationError("this cannot be set", expected="a name, names, or a member of a namespace")

        return refuse

    def _member_target(self, node: Member) -> Callable[[Scope, Value], None]:
        owner = self.compiler.compile(node.owner)
        key = node.key.value if node.dotted and isinstance(node.key, Literal) else None

        def assign(scope: Scope, value: Value) -> None:
            target = owner(scope)
            if type(target) is not Namespace:
                raise EvaluationError("only the members of a namespace can be set", got=describe(target))
            if type(key) is not str:
                raise EvaluationError("only a member with a name can be set")
            target[key] = value

        return assign

    def _parameters(self, parameters: Parameters) -> tuple[tuple[str, Closure | None], ...]:
        self.bound.update(parameters.names)
        return tuple(
            (name, None if default is None else self.compiler.compile(default))
            for name, default in zip(parameters.names, parameters.defaults, strict=True)
        )

    def _macro(self, node: Macro) -> Action:
        self.bound.update((node.name, "caller", "varargs", "kwargs"))
        name, parameters = node.name, self._parameters(node.parameters)
        specials = special_names(node.body, node.parameters)
        body = self.block(node.body)

        def run(scope: Scope, rendering: Rendering) -> None:
            scope[name] = MacroFunction(name, parameters, specials, body, rendering=rendering, scope=None)

        return run

    def _call(self, node: CallBlock) -> Action:
        callee = self.compiler.compile(node.callee)
        self.bound.update(("varargs", "kwargs"))
        parameters, arguments = self._parameters(node.parameters), self.compiler.arguments(node.arguments)
        specials = special_names(node.body, node.parameters)
        body, at = self.block(node.body), node.at

        def run(scope: Scope, rendering: Rendering) -> None:
            caller = MacroFunction("caller", parameters, specials, body, rendering=rendering, scope=scope)
            inner = Scope(scope)
            inner["caller"] = caller
            values = arguments(scope)
            if not values or type(values[-1]) is not Keywords:
                values = [*values, Keywords()]
            text = printed_text(call(callee(scope), values, inner))
            rendering.write(text, at, literal=False)

        return run

    def _filter(self, node: FilterBlock) -> Action:
        name, body, at = node.name, self.block(node.body), node.at
        arguments = None if node.arguments is None else self.compiler.arguments(node.arguments)

        def run(scope: Scope, rendering: Rendering) -> None:
            text = rendering.captured(body, scope)
            value = filters.apply(text, name) if arguments is None else filters.apply_with(text, name, arguments(scope))
            rendering.write(printed_text(value), at, literal=False)

        return run

    def _jump(self, node: Jump) -> Action:
        signal = Break if node.leave else Continue

        def run(_: Scope, __: Rendering) -> None:
            raise signal

        return run


def _entries(items: Value) -> list[Value]:
    if type(items) in (list, tuple, dict, Keywords):
        check_items(len(items))
        return list(items)
    raise EvaluationError("a loop needs a list or a dict", got=describe(items))


def _selected(
    entries: list[Value],
    outer: Scope,
    target: Callable[[Scope, Value], None],
    condition: Closure,
    rendering: Rendering,
) -> Iterator[Value]:
    for entry in entries:
        scope = Scope(outer)
        target(scope, entry)
        rendering.meter.spend(4)
        if truth(condition(scope)):
            yield entry


def _loop_facts(entries: list[Value], index: int) -> dict[str, Value]:
    count = len(entries)
    return {
        "index": index + 1,
        "index0": index,
        "revindex": count - index,
        "revindex0": count - index - 1,
        "first": index == 0,
        "last": index == count - 1,
        "length": count,
        "previtem": entries[index - 1] if index else UNDEFINED,
        "nextitem": entries[index + 1] if index < count - 1 else UNDEFINED,
    }
