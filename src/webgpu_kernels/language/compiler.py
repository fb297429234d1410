"""A syntax tree into closures: each takes the scope and returns its value.

Compiled once and called often, so the common cases (two ints, a member of a dict) are tried first, in line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.errors import EvaluationError
from webgpu_kernels.language import filters, operators
from webgpu_kernels.language.binary import Closure, Scope, binary
from webgpu_kernels.language.checks import TESTS, check
from webgpu_kernels.language.functions import FUNCTIONS
from webgpu_kernels.language.limits import spend_on
from webgpu_kernels.language.members import member, slice_of
from webgpu_kernels.language.syntax import (
    Arguments,
    Call,
    Chain,
    Choice,
    DictOf,
    Filter,
    ListOf,
    Literal,
    Member,
    Name,
    Node,
    Slice,
    Test,
    Unary,
)
from webgpu_kernels.language.values import (
    UNDEFINED,
    Keywords,
    Native,
    Value,
    describe,
    host_value,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CONSTANTS: Final[dict[str, Value]] = {
    "true": True, "True": True, "false": False, "False": False, "none": None, "None": None,
}  # fmt: skip


_OWN_FUNCTIONS: Final = frozenset(map(id, FUNCTIONS.values()))


class Compiler:
    """Compiles expressions and notes which names they use.

    Args:
        globals_: what a name that the scope lacks may mean.
        fold_constants: whether ``true`` and its like are constants; in templates they can be set.

    Attributes:
        names: identifiers that must be in scope.
        constant: whether no identifier is looked up at all.
        tuples: whether a tuple is written somewhere.
        heavy: how many calls, filters, slices and operators that go through lists there are.
    """

    def __init__(self, globals_: Mapping[str, Value], *, fold_constants: bool) -> None:
        self.globals = globals_
        self.fold_constants = fold_constants
        self.names: set[str] = set()
        self.tuples = False
        self.constant = True
        self.heavy = 0

        self._compilers: dict[type, Callable[[Any], Closure]] = {
            Literal: self._literal,
            Name: self._name,
            ListOf: self._list,
            DictOf: self._dict,
            Unary: self._unary,
            Chain: self._chain,
            Choice: self._choice,
            Member: self._member,
            Slice: self._slice,
            Call: self._call,
            Filter: self._filter,
            Test: self._test,
        }

    def compile(self, node: Node) -> Closure:
        """Compile one node."""
        return self._compilers[type(node)](node)

    def optional(self, node: Node | None) -> Closure:
        """Compile a node that may be left out; it is undefined then."""
        return (lambda _: UNDEFINED) if node is None else self.compile(node)

    def _literal(self, node: Literal) -> Closure:
        value = node.value
        return lambda _: value

    def _name(self, node: Name) -> Closure:
        if self.fold_constants and node.name in CONSTANTS:
            constant = CONSTANTS[node.name]
            return lambda _: constant
        self.names.add(node.name)
        return self._lookup(node.name)

    def _lookup(self, name: str) -> Closure:
        self.constant = False
        fallback = self.globals.get(name, UNDEFINED)

        def lookup(scope: Scope) -> Value:
            try:
                return scope[name]
            except KeyError:
                return fallback

        return lookup

    def _list(self, node: ListOf) -> Closure:
        items = tuple(self.compile(item) for item in node.items)
        if node.is_tuple:
            self.tuples = True
            return lambda scope: tuple([item(scope) for item in items])
        return lambda scope: [item(scope) for item in items]

    def _dict(self, node: DictOf) -> Closure:
        entries = tuple((self.compile(key), self.compile(value)) for key, value in node.entries)

        def build(scope: Scope) -> Value:
            result = {}
            for key, value in entries:
                name = key(scope)
                if type(name) is not str:
                    raise EvaluationError("the key of a dict is not a string", got=describe(name))
                result[name] = value(scope)
            return result

        return build

    def _unary(self, node: Unary) -> Closure:
        operand = self.compile(node.operand)
        apply = operators.UNARY[node.operator]
        return lambda scope: apply(operand(scope))

    def _chain(self, node: Chain) -> Closure:
        first = self.compile(node.first)
        rest = [(operator, self.compile(operand)) for operator, operand in node.rest]
        self.heavy += sum(operator in ("+", "~", "in", "not in") for operator, _ in rest)
        if rest[0][0] in ("and", "or"):
            return _logical(rest[0][0], (first, *(operand for _, operand in rest)))
        if len(rest) <= 3:
            for operator, operand in rest:
                first = binary(operator, first, operand)
            return first
        steps = tuple((operators.BINARY[operator], operand) for operator, operand in rest)

        def run(scope: Scope) -> Value:
            value = first(scope)
            for apply, operand in steps:
                value = apply(value, operand(scope))
            return value

        return run

    def _choice(self, node: Choice) -> Closure:
        arms = tuple((self.compile(condition), self.compile(value)) for condition, value in node.arms)
        otherwise = self.optional(node.otherwise)
        if len(arms) == 1:
            condition, value = arms[0]
            return lambda scope: value(scope) if _holds(condition(scope)) else otherwise(scope)

        def run(scope: Scope) -> Value:
            for condition, value in arms:
                if _holds(condition(scope)):
                    return value(scope)
            return otherwise(scope)

        return run

    def _member(self, node: Member) -> Closure:
        owner = self.compile(node.owner)
        if isinstance(node.key, Literal):
            return _member_of(owner, node.key.value)
        key = self.compile(node.key)

        def run(scope: Scope) -> Value:
            value, index = owner(scope), key(scope)
            if type(value) is dict and type(index) is str and index in value:
                return value[index]
            return member(value, index)

        return run

    def _slice(self, node: Slice) -> Closure:
        self.heavy += 1
        owner = self.compile(node.owner)
        start, stop, step = (self.optional(part) for part in (node.start, node.stop, node.step))
        return lambda scope: slice_of(owner(scope), start(scope), stop(scope), step(scope))

    def _call(self, node: Call) -> Closure:
        self.heavy += 1

        callee = self.compile(node.callee)
        plain = tuple(self.compile(value) for form, _, value in node.arguments.entries if form == "")
        if len(plain) != len(node.arguments.entries):
            arguments = self.arguments(node.arguments)
            return lambda scope: call(callee(scope), arguments(scope), scope)

        def run(scope: Scope) -> Value:
            return call(callee(scope), [argument(scope) for argument in plain], scope)

        return run

    def arguments(self, arguments: Arguments) -> Callable[[Any], list[Value]]:
        """Compile the arguments of a call; keywords become a last `Keywords`."""
        entries = tuple((form, name, self.compile(value)) for form, name, value in arguments.entries)
        has_keywords = any(form in ("=", "**") for form, _, _ in entries)

        def run(scope: Scope) -> list[Value]:
            positional: list[Value] = []
            keywords = Keywords()
            for form, name, value in entries:
                _take_argument(positional, keywords, form, name, value(scope))
            return [*positional, keywords] if has_keywords else positional

        return run

    def _filter(self, node: Filter) -> Closure:
        self.heavy += 1
        operand, name = self.compile(node.operand), node.name
        if node.arguments is None:
            return lambda scope: filters.apply(operand(scope), name)
        arguments = self.arguments(node.arguments)
        return lambda scope: filters.apply_with(operand(scope), name, arguments(scope))

    def _test(self, node: Test) -> Closure:
        name = node.name
        if isinstance(node.operand, Name) and name in ("defined", "undefined") and node.operand.name not in CONSTANTS:
            operand = self._lookup(node.operand.name)
        else:
            operand = self.compile(node.operand)
        test = TESTS.get(name)
        if test is None:
            return lambda scope: check(operand(scope), name)
        if node.negated:
            return lambda scope: not test(operand(scope))
        return lambda scope: test(operand(scope))


def _take_argument(positional: list[Value], keywords: Keywords, form: str, name: str, value: Value) -> None:
    if form == "":
        positional.append(value)
    elif form == "*":
        if type(value) not in (list, tuple):
            raise EvaluationError("what follows '*' is not a list", got=describe(value))
        positional.extend(value)
    elif form == "=":
        if name in keywords:
            raise EvaluationError(f"keyword argument {name!r} is given twice")
        keywords[name] = value
    else:
        if type(value) not in (dict, Keywords):
            raise EvaluationError("what follows '**' is not a dict", got=describe(value))
        for key, entry in value.items():
            if key in keywords:
                raise EvaluationError(f"keyword argument {key!r} is given twice")
            keywords[key] = entry


def call(callee: Value, arguments: list[Value], scope: Scope) -> Value:
    """Call a value.

    Args:
        callee: a function of the host, of the language, or a macro.
        arguments: positional arguments; keywords as a last `Keywords`.
        scope: where the call stands; macros see its names.

    Returns:
        The result as a value of the language.

    Raises:
        EvaluationError: not a function, or the function refuses its arguments.
    """
    spend_on(len(arguments) * 8)
    if type(callee) is Native:
        return callee.call(arguments)
    invoke = getattr(callee, "invoke", None)
    if invoke is not None:
        return invoke(arguments, scope)
    if not callable(callee):
        raise EvaluationError("what is called is not a function", got=describe(callee))
    if arguments and type(arguments[-1]) is Keywords:
        raise EvaluationError("functions take no keyword arguments", got=", ".join(arguments[-1]))
    try:
        result = callee(*arguments)
    except TypeError as error:
        name = getattr(callee, "__name__", "a function")
        raise EvaluationError(f"{name}() does not take these arguments: {error}") from error
    # The language's own functions give its values, and the same list that they were given where they pick one.
    return result if id(callee) in _OWN_FUNCTIONS else host_value(result)


def _holds(value: Value) -> bool:
    return value if type(value) is bool else truth(value)


def _logical(operator: str, operands: tuple[Closure, ...]) -> Closure:
    *firsts, last = operands
    if operator == "and":

        def run_and(scope: Scope) -> Value:
            for operand in firsts:
                value = operand(scope)
                if value is not True and not truth(value):
                    return value
            return last(scope)

        return run_and

    def run_or(scope: Scope) -> Value:
        for operand in firsts:
            value = operand(scope)
            if value is not False and truth(value):
                return value
        return last(scope)

    return run_or


def _member_of(owner: Closure, key: Value) -> Closure:
    if type(key) is str:

        def run_named(scope: Scope) -> Value:
            value = owner(scope)
            if type(value) is dict and key in value:
                return value[key]
            return member(value, key)

        return run_named

    def run_indexed(scope: Scope) -> Value:
        value = owner(scope)
        if type(value) is list and type(key) is int and -len(value) <= key < len(value):
            return value[key]
        return member(value, key)

    return run_indexed
