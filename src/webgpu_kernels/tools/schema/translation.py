"""Says in JSON Schema, draft 2020-12, what tables say of objects.

A schema refuses no document that the reader takes. What only the reader can know (whether a formula parses, whether a
name is known, which keys get along) it leaves to the reader.
"""

from __future__ import annotations

import itertools
import re
from functools import singledispatchmethod
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract.kinds import (
    Anything,
    Branch,
    Either,
    Entries,
    Filled,
    Flag,
    Form,
    Formula,
    Later,
    Members,
    Never,
    Nothing,
    Number,
    Table,
    Text,
    Whole,
    Words,
)
from webgpu_kernels.contract.words import NAME, PROTOTYPE_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Collection

    from webgpu_kernels.contract.kinds import Key, Kind

_COMMENT: Final = "$comment"
_JSON: Final = "json"
_PLACEHOLDER: Final = "placeholder"
_TEXT: Final = {"type": "string"}
_HOLE: Final = rf"\{{{NAME.pattern}\}}"


class Translation:
    """Translates the tables of one document.

    Attributes:
        definitions: the schemas of tables, by the name that references have for them.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Any]] = {}
        self._names: dict[tuple[int, bool], str] = {}
        self._keys: dict[Text, str] = {}
        self._filled = False

    def table(self, table: Table) -> dict[str, Any]:
        """Translate a table, not as a reference.

        Args:
            table: an object's keys.

        Returns:
            Its schema.
        """
        properties: dict[str, Any] = {_COMMENT: _TEXT}
        for key in table.keys.values():
            if not isinstance(key.kind, Never):
                properties[key.name] = {"description": _about(key), **self._value(key.kind)}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if table.required:
            schema["required"] = [key.name for key in table.required]
        if table.some and not self._filled:
            schema["allOf"] = [{"anyOf": [{"required": [key]} for key in some.keys]} for some in table.some]
        if table.open:
            schema |= {"propertyNames": _not_in(PROTOTYPE_MEMBERS), "additionalProperties": self._reference(_JSON)}
        else:
            # A template's key whose placeholder stands for null is dropped, whatever it is.
            schema["additionalProperties"] = _matching(_HOLE) if self._filled else False
        if table.forms and not self._filled:
            schema["oneOf"] = [_form(form, table.forms) for form in table.forms]
        return schema

    def _value(self, kind: Kind) -> dict[str, Any]:
        """Translate what stands as a value; in a template a placeholder may stand for it, or for a part of its text."""
        schema = self._kind(kind)
        if not self._filled or schema == _TEXT or isinstance(kind, Filled):
            return schema
        return {"anyOf": [schema, self._reference(_PLACEHOLDER)]}

    def _reference(self, name: str) -> dict[str, str]:
        if name not in self.definitions:
            self.definitions[name] = _HELD[name]
        return {"$ref": f"#/$defs/{name}"}

    @singledispatchmethod
    def _kind(self, kind: Any) -> dict[str, Any]:
        raise TypeError(kind)

    @_kind.register
    def _(self, kind: Text) -> dict[str, Any]:
        schema: dict[str, Any] = dict(_TEXT)
        if kind.pattern is not None:
            schema["pattern"] = _whole(kind.pattern)
        return schema | (_not_in(kind.reserved) if kind.reserved else {})

    @_kind.register
    def _(self, kind: Words) -> dict[str, Any]:
        return {"enum": list(kind.choices)}

    @_kind.register
    def _(self, kind: Flag) -> dict[str, Any]:
        return {"type": "boolean"} | ({} if kind.default is None else {"default": kind.default})

    @_kind.register
    def _(self, kind: Whole) -> dict[str, Any]:
        return {"type": "integer", "minimum": kind.least}

    @_kind.register
    def _(self, kind: Number) -> dict[str, Any]:
        return {"type": "number"} | ({} if kind.least is None else {"minimum": kind.least})

    @_kind.register
    def _(self, kind: Nothing) -> dict[str, Any]:  # noqa: ARG002 - there is but one
        return {"type": "null"}

    @_kind.register
    def _(self, kind: Formula) -> dict[str, Any]:
        bounds = {"minimum": kind.least, "maximum": kind.most}
        return {"type": ["string", "integer"]} | {name: bound for name, bound in bounds.items() if bound is not None}

    @_kind.register
    def _(self, kind: Anything) -> dict[str, Any]:
        return self._reference(_JSON) if kind.objects else {"not": {"type": "object"}, **self._reference(_JSON)}

    @_kind.register
    def _(self, kind: Entries) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self._value(kind.of)}
        return schema | ({"minItems": kind.least} if kind.least else {})

    @_kind.register
    def _(self, kind: Members) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {_COMMENT: _TEXT},
            "propertyNames": self._key(kind.names),
            "additionalProperties": self._value(kind.of),
        }
        if kind.needed:
            schema["required"] = list(kind.needed)
        return schema | ({"minProperties": kind.least} if kind.least else {})

    def _key(self, names: Text) -> dict[str, Any]:
        if self._filled or (names.pattern is None and not names.reserved):
            return _not_in(PROTOTYPE_MEMBERS)
        good = Text(names.pattern, frozenset({*names.reserved, *PROTOTYPE_MEMBERS}))
        if good not in self._keys:
            self._keys[good] = self._free("key")
            self.definitions[self._keys[good]] = {"anyOf": [{"const": _COMMENT}, self._kind(good)]}
        return {"$ref": f"#/$defs/{self._keys[good]}"}

    @_kind.register
    def _(self, kind: Either) -> dict[str, Any]:
        schemas = [self._kind(each) for each in kind.kinds]
        if all(schema.keys() == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}

    @_kind.register
    def _(self, kind: Branch) -> dict[str, Any]:
        then, other = self._kind(kind.then), self._kind(kind.other)
        if self._filled:
            return {"anyOf": [then, other]}
        conditions = [_has(key, kind.value) for key in kind.keys]
        condition = conditions[0] if len(conditions) == 1 else {"anyOf": conditions}
        return {"if": {"type": "object", **condition}, "then": then, "else": other}

    @_kind.register
    def _(self, kind: Later) -> dict[str, Any]:
        return self._kind(kind.get())

    @_kind.register
    def _(self, kind: Filled) -> dict[str, Any]:
        self._filled = True
        try:
            return self._value(kind.of)
        finally:
            self._filled = False

    @_kind.register
    def _(self, kind: Table) -> dict[str, Any]:
        place = id(kind), self._filled
        if place not in self._names:
            name = self._name(kind)
            self._names[place] = name
            # Its place is taken before it is translated: it may hold itself.
            self.definitions[name] = {}
            self.definitions[name] |= self.table(kind)
        return {"$ref": f"#/$defs/{self._names[place]}"}

    def _name(self, table: Table) -> str:
        words = re.findall(r"[A-Za-z0-9]+", table.what.removeprefix("an ").removeprefix("a "))
        return self._free("-".join([*words, "template"] if self._filled else words))

    def _free(self, name: str) -> str:
        numbered = (f"{name}-{number}" for number in itertools.count(2))
        return next(free for free in itertools.chain([name], numbered) if free not in self.definitions)


_HELD: Final[dict[str, dict[str, Any]]] = {
    _JSON: {
        "properties": {_COMMENT: _TEXT},
        "propertyNames": {"not": {"enum": sorted(PROTOTYPE_MEMBERS)}},
        "additionalProperties": {"$ref": f"#/$defs/{_JSON}"},
        "items": {"$ref": f"#/$defs/{_JSON}"},
    },
    _PLACEHOLDER: {"type": "string", "pattern": _HOLE},
}


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _matching(pattern: str) -> dict[str, Any]:
    return {**_TEXT, "pattern": _whole(pattern)}


def _not_in(words: Collection[str]) -> dict[str, Any]:
    return {"not": {"enum": sorted(words)}}


def _about(key: Key) -> str:
    return f"{key.about} Belongs to the extension '{key.extension}'." if key.extension else key.about


def _has(key: str, value: str | None) -> dict[str, Any]:
    condition: dict[str, Any] = {"required": [key]}
    return condition if value is None else {**condition, "properties": {key: {"const": value}}}


def _form(form: Form, forms: tuple[Form, ...]) -> dict[str, Any]:
    others = [key for other in forms if other is not form for key in other.keys]
    return {"required": list(form.needed), "not": {"anyOf": [{"required": [key]} for key in others]}}
