"""Tokens into a syntax tree; one method a rule of the grammar, and precedence climbing for the binary operators.

expression := choice
choice     := binary ["if" binary ["else" choice]]
binary     := operands joined by: or < and < (not) < == != < > <= >= in "not in" < + - ~ < * / // % < **
operand    := unary ("|" filter)* ("is" ["not"] test)*
unary      := ("-" | "+")* postfix
postfix    := primary ("." member | "[" index or slice "]" | "(" arguments ")")*
primary    := number | string+ | name | "(" sequence ")" | "[" list "]" | "{" dict "}"
"""

from __future__ import annotations

from typing import Final

from webgpu_kernels.errors import WorkLimitExceeded
from webgpu_kernels.language.lexer import Source, Token, expression_tokens
from webgpu_kernels.language.limits import MAX_EXPRESSION_CHARS, MAX_NESTING, too_deep
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
from webgpu_kernels.language.token_cursor import TokenCursor
from webgpu_kernels.language.values import integer, rounded

_NOT_LEVEL: Final = 3
_LEVELS: Final = {
    "or": 1, "and": 2,
    "==": 4, "!=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4, "in": 4, "not in": 4,
    "+": 5, "-": 5, "~": 5,
    "*": 6, "/": 6, "//": 6, "%": 6,
    "**": 7,
}  # fmt: skip
_SIGNS: Final = frozenset({"-", "+", "u-", "u+"})


class Parser(TokenCursor):
    """Reads expressions off tokens."""

    def expression(self) -> Node:
        """Read ``value if condition else other``, or less."""
        self.enter()
        at = self.token.at
        arms = []
        value: Node | None = self.binary(1)
        while self.accept_name("if"):
            assert value is not None
            arms.append((self.binary(1), value))
            value = self.binary(1) if self.accept_name("else") else None
            if value is None:
                break
        self.depth -= 1
        if not arms:
            assert value is not None
            return value
        self.nodes += len(arms)
        return Choice(at=at, arms=tuple(arms), otherwise=value)

    def binary(self, level: int) -> Node:
        """Read operators of a level and the tighter ones."""
        at = self.token.at
        if level <= _NOT_LEVEL and self.at_name("not"):
            left: Node = self.negation()
        else:
            left = self.operand()
        while (found := self.binary_operator()) and _LEVELS[found] >= level:
            left = self.chain(left, at, found)
        return left

    def chain(self, first: Node, at: int, operator: str) -> Node:
        """Read all operators of one level, and what is right of them."""
        level = _LEVELS[operator]
        # `and` and `or` short-circuit, so a chain holds one of them; other levels mix their operators.
        rest = []
        found: str | None = operator
        while found is not None and _LEVELS[found] == level:
            self.position += 2 if found == "not in" else 1
            self.enter()
            rest.append((found, self.binary(level + 1)))
            self.depth -= 1
            found = self.binary_operator()
        self.nodes += len(rest)
        return Chain(at=at, first=first, rest=tuple(rest))

    def binary_operator(self) -> str | None:
        """Return the binary operator that is next, or None."""
        token = self.token
        if token.kind == "operator":
            return token.text if token.text in _LEVELS else None
        if token.kind == "name":
            if token.text == "not":
                return "not in" if self.at_name("in", 1) else None
            return token.text if token.text in ("and", "or", "in") else None
        return None

    def negation(self) -> Node:
        """Read ``not a``; several in a row without nesting."""
        places = []
        while self.at_name("not"):
            places.append(self.take().at)
        node = self.binary(_NOT_LEVEL)
        return self.prefixed(node, [("not", at) for at in places])

    def prefixed(self, node: Node, prefixes: list[tuple[str, int]]) -> Node:
        """Put prefix operators around a node, the last one innermost."""
        self.nodes += len(prefixes)
        if len(prefixes) > MAX_NESTING:
            raise too_deep("the expression")
        for operator, at in reversed(prefixes):
            node = Unary(at=at, operator=operator, operand=node)
        return node

    def operand(self) -> Node:
        """Read a unary expression with its filters, then its tests."""
        node = self.unary()
        steps = 0
        while self.accept("|"):
            steps = self.step(steps)
            node = self.filter_on(node)
        while self.at_name("is"):
            steps = self.step(steps)
            at = self.take().at
            negated = self.accept_name("not")
            node = Test(at=at, operand=node, name=self.bare_name("a test"), negated=negated)
        return node

    def filter_on(self, operand: Node) -> Filter:
        """Read a filter's name and arguments."""
        at = self.token.at
        name = self.bare_name("a filter")
        if not self.at_operator("("):
            return Filter(at=at, operand=operand, name=name, arguments=None)
        arguments = self.arguments()
        applied = Literal(at=at, value=name)
        if self.postfix(applied) is not applied:
            # This dialect parses `x | f(1).y` and has no meaning for it: it fails where it is evaluated.
            name += "(…)."
        return Filter(at=at, operand=operand, name=name, arguments=arguments)

    def bare_name(self, what: str) -> str:
        """Read a name that may stand in parentheses, as this dialect allows."""
        at = self.token.at
        node = self.primary()
        if not isinstance(node, Name):
            raise self.error(f"expected the name of {what}", at)
        return node.name

    def unary(self) -> Node:
        """Read signs and what they apply to."""
        signs = []
        while self.token.kind == "operator" and self.token.text in _SIGNS:
            token = self.take()
            signs.append((token.text[-1], token.at))
        return self.prefixed(self.postfix(self.primary()), signs)

    def postfix(self, node: Node) -> Node:
        """Read members, indices, slices and calls."""
        steps = 0
        while self.token.kind == "operator":
            at = self.token.at
            if self.at_operator("("):
                node = Call(at=at, callee=node, arguments=self.arguments())
            elif self.accept("."):
                node = Member(at=at, owner=node, key=self.dotted_key(), dotted=True)
            elif self.accept("["):
                node = self.subscript(node, at)
            else:
                break
            steps = self.step(steps)
        return node

    def dotted_key(self) -> Literal:
        """Read what follows a dot: a name or an index."""
        at = self.token.at
        key = self.primary()
        if isinstance(key, Name):
            return Literal(at=at, value=key.name)
        if isinstance(key, Literal) and type(key.value) is not str and type(key.value) is not float:
            return key
        raise self.error("expected a name or an index after '.'", at)

    def subscript(self, owner: Node, at: int) -> Node:
        """Read ``index]`` or ``start:stop:step]``."""
        self.enter()
        parts: list[Node | None] = []
        is_slice = False
        while not self.accept("]"):
            if self.accept(":"):
                parts.append(None)
                is_slice = True
                continue
            parts.append(self.expression())
            if self.accept(":"):
                is_slice = True
        self.depth -= 1
        if not parts:
            raise self.error("expected an index or a slice in '[ ]'", at)
        if is_slice:
            if len(parts) > 3:
                raise self.error("a slice has at most a start, a stop and a step", at)
            start, stop, step = (*parts, None, None)[:3]
            return Slice(at=at, owner=owner, start=start, stop=stop, step=step)
        key = parts[0]
        assert key is not None
        return Member(at=at, owner=owner, key=key, dotted=False)

    def arguments(self) -> Arguments:
        """Read ``(a, *b, name=c, **d)``; commas may be left out, as this dialect allows."""
        self.expect("(")
        self.enter()
        entries: list[tuple[str, str, Node]] = []
        named = False
        while not self.accept(")"):
            at = self.token.at
            entries.append(self.argument())
            named = named or entries[-1][0] == "="
            if named and entries[-1][0] == "":
                raise self.error("positional arguments come before keyword arguments", at)
            if entries[-1][0] == "**":
                self.expect(")")
                break
            self.accept(",")
        self.depth -= 1
        self.nodes += len(entries)
        return Arguments(entries=tuple(entries))

    def argument(self) -> tuple[str, str, Node]:
        """Read one argument of a call."""
        for form in ("*", "**"):
            if self.accept(form):
                return form, "", self.expression()
        at = self.token.at
        value = self.expression()
        if not self.accept("="):
            return "", "", value
        if not isinstance(value, Name):
            raise self.error("expected a name before '='", at)
        return "=", value.name, self.expression()

    def primary(self) -> Node:
        """Read a literal, a name or something in brackets."""
        token = self.token
        self.nodes += 1
        if token.kind == "number":
            self.take()
            value = float(token.text) if "." in token.text else self.integer(token)
            return Literal(at=token.at, value=value)
        if token.kind == "string":
            return self.strings()
        if token.kind == "name":
            self.take()
            return Name(at=token.at, name=token.text)
        if self.accept("("):
            node = self.sequence()
            self.expect(")")
            return node
        if self.accept("["):
            return self.list_of(token.at)
        if self.accept("{"):
            return self.dict_of(token.at)
        raise self.error(f"expected a value, found {self.found()}")

    def integer(self, token: Token) -> int | float:
        """Return the value of an integer literal; one beyond the range of doubles is an infinity."""
        if len(token.text) > 15:
            return integer(float(token.text))
        return integer(-0.0) if token.text[0] == "-" and not token.text.strip("-0") else rounded(int(token.text))

    def strings(self) -> Literal:
        """Read strings that stand side by side as one."""
        at = self.token.at
        parts = []
        while self.token.kind == "string":
            parts.append(self.take().text)
        return Literal(at=at, value="".join(parts))

    def sequence(self) -> Node:
        """Read ``a``, or ``a, b`` as a tuple."""
        at = self.token.at
        items = [self.expression()]
        while self.accept(","):
            items.append(self.expression())
        return items[0] if len(items) == 1 else ListOf(at=at, items=tuple(items), is_tuple=True)

    def list_of(self, at: int) -> Node:
        """Read the rest of a list; commas may be left out, as this dialect allows."""
        items = []
        while not self.accept("]"):
            items.append(self.expression())
            self.accept(",")
        return ListOf(at=at, items=tuple(items), is_tuple=False)

    def dict_of(self, at: int) -> Node:
        """Read the rest of a dict; commas may be left out, as this dialect allows."""
        entries = []
        while not self.accept("}"):
            key = self.expression()
            self.expect(":")
            entries.append((key, self.expression()))
            self.accept(",")
        return DictOf(at=at, entries=tuple(entries))


def parse_expression(source: str) -> Node:
    """Parse the text of one expression.

    Args:
        source: the text.

    Returns:
        Its syntax tree.

    Raises:
        LanguageSyntaxError: it does not parse; the message marks the place.
        WorkLimitExceeded: it is too long or nested too deeply.

    FORMAT section 3, Precedence.
    """
    if len(source) > MAX_EXPRESSION_CHARS:
        raise WorkLimitExceeded(
            "the expression is too long", expected=f"at most {MAX_EXPRESSION_CHARS} characters", got=f"{len(source)}"
        )
    text = Source(source)
    parser = Parser(text, expression_tokens(text))
    node = parser.expression()
    if parser.token.kind != "end":
        raise parser.error(f"expected an operator or the end, found {parser.found()}")
    return node
