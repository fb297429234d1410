"""How many rounds a lane's loops make, where integers that are known before a shader runs decide.

A few invocations are walked: first and last workgroup, first and last lane. Constants, uniforms, built-in ids and what
is computed from them are known, what is loaded from buffers is not. A branch whose condition is known is taken or left;
else both are walked. A loop is counted by arithmetic, and its body walked once. What is not known is not reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.tools.lint.invocations import invocations
from webgpu_kernels.tools.lint.loop_arithmetic import (
    FLIPPED,
    applied,
    assigned,
    assignments,
    comparison,
    plain,
    rounds_of,
)
from webgpu_kernels.tools.lint.wgsl_statements import (
    Assign,
    Block,
    Evaluate,
    If,
    Leave,
    Loop,
    Nested,
    NotReadError,
    Shader,
    read_shader,
)
from webgpu_kernels.tools.lint.wgsl_values import Evaluator, Known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.planning.bindings import PlannedBinding
    from webgpu_kernels.planning.program import ProgramPass
    from webgpu_kernels.tools.lint.wgsl_statements import Tokens

MAX_ROUNDS: Final = 65_535
"""After so many rounds of all its loops together, software Vulkan ends a lane's loops."""
_MAX_STEPS: Final = 20_000
_MAX_CALLS: Final = 24


class LongLoop(NamedTuple):
    """The loop that makes most rounds of an invocation that makes too many.

    Attributes:
        line: its line in the WGSL, counted from 1.
        rounds: rounds of all loops of the invocation together.
    """

    line: int
    rounds: int


def longest_loops(step: ProgramPass, bindings: Sequence[PlannedBinding], lengths: Mapping[str, int]) -> LongLoop | None:
    """Count the rounds of a shader's loops.

    Args:
        step: the pass.
        bindings: its bindings, for the values of uniforms.
        lengths: what ``arrayLength`` gives of them.

    Returns:
        What is too long; None where nothing is, or nothing is known.

    Source: GPU_NOTES, "Traps".
    """
    if not any(word in step.wgsl for word in ("for", "while", "loop")):
        return None
    try:
        shader = read_shader(step.wgsl)
        worst = max(
            (_rounds(shader, known) for known in invocations(step, bindings, lengths)), key=lambda each: each.rounds
        )
    except (NotReadError, ValueError, RecursionError):
        return None
    return worst if worst.rounds > MAX_ROUNDS else None


def _rounds(shader: Shader, known: Mapping[str, Known]) -> LongLoop:
    walk = _Walk(shader, known)
    main = shader.functions.get("main")
    if main is not None:
        walk.call("main", [known.get(f"@{builtin}") for _, builtin in main.parameters])
    line = max(walk.counted, key=lambda each: walk.counted[each], default=0)
    return LongLoop(line, sum(walk.counted.values()))


class _Left(Exception):
    """An invocation is known to return, or to leave a loop's round."""

    def __init__(self, value: Known = None) -> None:
        self.value = value


class _Walk:
    """One invocation's way through a shader; ``counted`` has the rounds of each loop by its line."""

    def __init__(self, shader: Shader, known: Mapping[str, Known]) -> None:
        self._shader = shader
        self._known = known
        self._constants: dict[str, Known] = {}
        self._env: dict[str, Known] = {}
        self._evaluator = Evaluator(self._lookup, self.call)
        self._steps = 0
        self._depth = 0
        self._times = 1
        self._sure = True
        self._forked = False
        self.counted: dict[int, int] = {}

    def call(self, name: str, values: Sequence[Known]) -> Known:
        """Walk a function of the shader."""
        function = self._shader.functions.get(name)
        if function is None or self._depth >= _MAX_CALLS:
            return None
        outer, sure, forked = self._env, self._sure, self._forked
        self._env = {parameter: value for (parameter, _), value in zip(function.parameters, values, strict=False)}
        self._depth += 1
        self._sure, self._forked = True, False
        try:
            self._block(function.body)
        except _Left as left:
            return None if self._forked else left.value
        finally:
            self._env, self._sure, self._forked = outer, sure, forked
            self._depth -= 1
        return None

    def _lookup(self, name: str) -> Known:
        if name in self._env:
            return self._env[name]
        if name in self._constants:
            return self._constants[name]
        if name in self._shader.constants:
            self._constants[name] = None
            self._constants[name] = self._evaluator.value(self._shader.constants[name])
            return self._constants[name]
        return self._known.get(name)

    def _block(self, block: Block) -> None:
        for statement in block:
            self._steps += 1
            if self._steps > _MAX_STEPS:
                raise NotReadError
            if isinstance(statement, Assign):
                self._assign(statement)
            elif isinstance(statement, Evaluate):
                self._evaluator.value(statement.value)
            elif isinstance(statement, If):
                self._if(statement)
            elif isinstance(statement, Loop):
                self._loop(statement)
            elif isinstance(statement, Nested):
                self._nested(statement)
            else:
                self._leave(statement)

    def _assign(self, statement: Assign) -> None:
        value = self._evaluator.value(statement.value)
        if statement.operator:
            name = statement.name
            value = self._evaluator.value(applied(statement)) if name in self._env else None
        self._env[statement.name] = value

    def _if(self, statement: If) -> None:
        for condition, block in statement.branches:
            value = self._evaluator.value(condition) if condition else True
            if value is False:
                continue
            if value is True:
                self._block(block)
                return
            self._perhaps(block)

    def _nested(self, statement: Nested) -> None:
        if statement.certain:
            self._block(statement.block)
        else:
            self._perhaps(statement.block)

    def _perhaps(self, block: Block) -> None:
        """Walk what may be walked; afterwards, what it assigns is not known."""
        sure, self._sure = self._sure, False
        before = dict(self._env)
        try:
            self._block(block)
        except _Left:
            self._forked = True
        finally:
            self._sure = sure
            self._env = {**before, **dict.fromkeys(assigned(block) & before.keys())}

    def _leave(self, statement: Leave) -> None:
        value = self._evaluator.value(statement.value) if statement.word == "return" else None
        raise _Left(value if self._sure else None)

    def _loop(self, loop: Loop) -> None:
        self._block(loop.begin)
        rounds = self._count(loop)
        if rounds:
            self.counted[loop.line] = self.counted.get(loop.line, 0) + rounds * self._times
        if rounds == 0:
            return
        times, self._times = self._times, self._times * (rounds or 1)
        before = dict(self._env)
        changed = assigned((*loop.body, *loop.step))
        control = {token.text for token in loop.condition}
        self._env.update(dict.fromkeys((changed - control) & before.keys()))
        self._perhaps(loop.body)
        self._times = times
        self._env = {**before, **dict.fromkeys(changed & before.keys())}

    def _count(self, loop: Loop) -> int | None:
        """Return the rounds of ``variable < bound`` with a variable that changes by a constant; None: not known."""
        found = comparison(loop.condition)
        if found is None:
            return None
        for name, operator, bound in (found, (found[2], FLIPPED.get(found[1], ""), found[0])):
            if len(name) == 1 and (change := self._change(name[0].text, loop)):
                start, end = self._env.get(name[0].text), self._evaluator.value(bound)
                if type(start) is int and type(end) is int and not self._changes(bound, loop):
                    return rounds_of(start, end, operator, change)
        return None

    def _changes(self, tokens: Tokens, loop: Loop) -> bool:
        return bool({token.text for token in tokens} & assigned((*loop.body, *loop.step)))

    def _change(self, name: str, loop: Loop) -> int | None:
        """Return by how much a round changes the variable, where it does so once, by a known number."""
        steps = [entry for entry in assignments((*loop.step, *loop.body)) if entry.name == name]
        if len(steps) != 1 or steps[0] not in {*loop.step, *plain(loop.body)}:
            return None
        step = steps[0]
        tokens = step.value
        operator = step.operator
        if not operator and len(tokens) > 2 and tokens[0].text == name and tokens[1].text in "+-":
            operator, tokens = tokens[1].text, tokens[2:]
        value = self._evaluator.value(tokens)
        if operator not in {"+", "-"} or type(value) is not int or self._changes(tokens, loop):
            return None
        return value if operator == "+" else -value
