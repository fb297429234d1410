"""Tokens into a tree of statements.

block     := (text | "{{" expression "}}" | "{%" statement "%}")*
statement := if | for | set | macro | call | filter | break | continue
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.language.lexer import Source, template_tokens
from webgpu_kernels.language.limits import MAX_NESTING, too_deep
from webgpu_kernels.language.parser import Parser
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
    Statement,
    Text,
)
from webgpu_kernels.language.syntax import Choice, ListOf, Name, Node

if TYPE_CHECKING:
    from collections.abc import Callable


class StatementParser(Parser):
    """Reads the statements of a template."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, template_tokens(source))
        self._statements: dict[str, Callable[[int], Statement]] = {
            "if": self.if_,
            "for": self.for_,
            "set": self.set_,
            "macro": self.macro,
            "call": self.call_block,
            "filter": self.filter_block,
            "break": self.jump,
            "continue": self.jump,
        }

    def template(self) -> Block:
        """Read the whole template."""
        block = self.block(())
        if self.token.kind != "end":
            raise self.error("a statement ends that did not begin", self.tokens[self.position].at)
        return block

    def block(self, endings: tuple[str, ...]) -> Block:
        """Read statements up to one whose name is among ``endings``, which stays to be read."""
        self.enter()
        statements: list[Statement] = []
        while True:
            token = self.token
            if token.kind == "text":
                self.take()
                statements.append(Text(at=token.at, text=token.text))
            elif token.kind == "end":
                break
            elif token.text == "{{":
                statements.append(self.output())
            elif any(self.at_name(ending, 1) for ending in endings):
                break
            else:
                statements.append(self.statement())
        self.depth -= 1
        if endings and self.token.kind == "end":
            raise self.error(f"expected {{% {endings[-1]} %}}, found the end of the template")
        return tuple(statements)

    def enter(self) -> None:
        """Go one level of nesting deeper."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise too_deep("the template")

    def close(self, text: str = "%}") -> None:
        """Read the end of a tag."""
        if self.token.kind != "close" or not self.token.text.endswith(text):
            raise self.error(f"expected {text!r}, found {self.found()}")
        self.take()

    def end(self, name: str) -> None:
        """Read ``{% name %}``, which `block` has seen."""
        self.take()
        assert self.token.text == name
        self.take()
        self.close()

    def output(self) -> Output:
        """Read ``{{ value }}``."""
        at, before = self.take().at, self.nodes
        value = self.expression()
        self.close("}}")
        return Output(at=at, value=value, weight=self.nodes - before + 1)

    def statement(self) -> Statement:
        """Read one statement."""
        at = self.take().at
        if self.token.kind != "name":
            raise self.error(f"expected the name of a statement, found {self.found()}")
        read = self._statements.get(self.token.text)
        if read is None:
            raise self.error(f"unknown statement {self.token.text!r}")
        self.take()
        return read(at)

    def if_(self, at: int) -> If:
        """Read ``condition %} … {% elif … %} … {% else %} … {% endif %}``."""
        before = self.nodes
        branches: list[tuple[Node | None, Block]] = []
        weight = 0
        while True:
            condition = self.expression()
            weight += self.nodes - before + 1
            self.close()
            branches.append((condition, self.block(("elif", "else", "endif"))))
            before = self.nodes
            if not self.at_name("elif", 1):
                break
            self.position += 2
        if self.at_name("else", 1):
            self.end("else")
            branches.append((None, self.block(("endif",))))
        self.end("endif")
        return If(at=at, branches=tuple(branches), weight=weight)

    def for_(self, at: int) -> For:
        """Read ``target in items if condition %} … {% else %} … {% endfor %}``."""
        before = self.nodes
        target = self.target()
        if not self.accept_name("in"):
            raise self.error(f"expected 'in', found {self.found()}")
        items, condition = self.expression(), None
        if isinstance(items, Choice) and len(items.arms) == 1 and items.otherwise is None:
            condition, items = items.arms[0]
        weight = self.nodes - before + 1
        self.close()
        body = self.block(("else", "endfor"))
        otherwise: Block = ()
        if self.at_name("else", 1):
            self.end("else")
            otherwise = self.block(("endfor",))
        self.end("endfor")
        return For(
            at=at, target=target, items=items, condition=condition, body=body, otherwise=otherwise, weight=weight
        )

    def target(self) -> Node:
        """Read ``a`` or ``a, b`` or ``(a, b)`` in front of ``in``."""
        at = self.token.at
        items = [self.primary()]
        while self.accept(","):
            items.append(self.primary())
        node = items[0] if len(items) == 1 else ListOf(at=at, items=tuple(items), is_tuple=True)
        if not isinstance(node, Name) and not (isinstance(node, ListOf) and node.is_tuple):
            raise self.error("expected a name, or names with commas between", at)
        return node

    def set_(self, at: int) -> Set:
        """Read ``target = value``, or ``target %} … {% endset %}``."""
        before = self.nodes
        target, value = self.sequence(), None
        body: Block = ()
        if self.accept("="):
            value = self.sequence()
            self.close()
        else:
            self.close()
            body = self.block(("endset",))
            self.end("endset")
        return Set(at=at, target=target, value=value, body=body, weight=self.nodes - before + 1)

    def macro(self, at: int) -> Macro:
        """Read ``name(parameters) %} … {% endmacro %}``."""
        name = self.bare_name("a macro")
        parameters = self.parameters()
        self.close()
        body = self.block(("endmacro",))
        self.end("endmacro")
        return Macro(at=at, name=name, parameters=parameters, body=body)

    def parameters(self) -> Parameters:
        """Read the parameters of a macro or of a call block."""
        at = self.token.at
        found: dict[str, Node | None] = {}
        for form, name, value in self.arguments().entries:
            default = value if form == "=" else None
            if form == "" and isinstance(value, Name):
                name = value.name  # noqa: PLW2901 - a bare parameter is parsed as an argument
            if not name or name in found:
                raise self.error("expected names that differ as parameters", at)
            found[name] = default
        return Parameters(names=tuple(found), defaults=tuple(found.values()))

    def call_block(self, at: int) -> CallBlock:
        """Read ``(parameters) name(arguments) %} … {% endcall %}``."""
        before = self.nodes
        parameters = self.parameters() if self.at_operator("(") else Parameters(names=(), defaults=())
        callee_at = self.token.at
        callee = Name(at=callee_at, name=self.bare_name("a macro"))
        arguments = self.arguments()
        weight = self.nodes - before + 1
        self.close()
        body = self.block(("endcall",))
        self.end("endcall")
        return CallBlock(at=at, parameters=parameters, callee=callee, arguments=arguments, body=body, weight=weight)

    def filter_block(self, at: int) -> FilterBlock:
        """Read ``name(arguments) %} … {% endfilter %}``."""
        before = self.nodes
        name = self.bare_name("a filter")
        arguments = self.arguments() if self.at_operator("(") else None
        weight = self.nodes - before + 1
        self.close()
        body = self.block(("endfilter",))
        self.end("endfilter")
        return FilterBlock(at=at, name=name, arguments=arguments, body=body, weight=weight)

    def jump(self, at: int) -> Jump:
        """Read the end of ``{% break %}`` or ``{% continue %}``."""
        leave = self.tokens[self.position - 1].text == "break"
        self.close()
        return Jump(at=at, leave=leave)
