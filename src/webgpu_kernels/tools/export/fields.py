"""Dataclasses as JSON: a document's members under their names in camel case, and the JSON Schema of such documents."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

COUNT: Final = object()
"""Marks an integer that is not negative."""
Count: TypeAlias = Annotated[int, COUNT]
_PLAIN: Final[Mapping[object, str]] = types.MappingProxyType(
    {str: "string", int: "integer", float: "number", bool: "boolean"}
)
_ENTRIES: Final[Mapping[object, tuple[str, str, int]]] = types.MappingProxyType(
    {tuple: ("array", "items", 0), Mapping: ("object", "additionalProperties", 1)}
)
"""Kind of a container, the schema's keyword for what it holds, and which argument of the annotation that is."""


def as_json(value: object) -> Any:
    """Return a document as plain JSON values.

    Args:
        value: a dataclass of annotated members, or a value of one.

    Returns:
        Objects without the members that are None.

    Source: none.
    """
    if is_dataclass(value) and not isinstance(value, type):
        members = ((entry.name, getattr(value, entry.name)) for entry in fields(value))
        return {camel_case(name): as_json(member) for name, member in members if member is not None}
    if isinstance(value, Mapping):
        return {str(key): as_json(member) for key, member in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(entry) for entry in value]
    return value


def camel_case(name: str) -> str:
    """Return ``sizeBytes`` for ``size_bytes``."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def schema_of(root: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make the JSON Schema of a document.

    Args:
        root: its dataclass; every member is ``Annotated`` with what it says.

    Returns:
        The schema without its head, and the definitions that it refers to: each other dataclass by its name.

    Source: JSON Schema, draft 2020-12.
    """
    definitions: dict[str, Any] = {}
    return _object(root, definitions), definitions


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for entry in fields(kind):
        hint, *marks = get_args(hints[entry.name])
        text = next(mark for mark in marks if isinstance(mark, str))
        properties[camel_case(entry.name)] = {"description": text, **_type(hint, definitions, marks)}
        if type(None) not in get_args(hint):
            required.append(camel_case(entry.name))
    return {
        "description": " ".join((kind.__doc__ or "").split()),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _type(hint: Any, definitions: dict[str, Any], marks: Sequence[object] = ()) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(arguments[0], definitions, arguments[1:])
    if origin in {Union, types.UnionType}:
        return _union([argument for argument in arguments if argument is not type(None)], definitions, marks)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint], **({"minimum": 0} if COUNT in marks else {})}
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin in _ENTRIES:
        kind, key, index = _ENTRIES[origin]
        return {"type": kind, key: _type(arguments[index], definitions)}
    if hint.__name__ not in definitions:
        definitions[hint.__name__] = {}  # it is there for those that it holds
        definitions[hint.__name__] = _object(hint, definitions)
    return {"$ref": f"#/$defs/{hint.__name__}"}


def _union(kinds: Sequence[Any], definitions: dict[str, Any], marks: Sequence[object]) -> dict[str, Any]:
    if len(kinds) == 1:
        return _type(kinds[0], definitions, marks)
    return {"type": [_PLAIN[kind] for kind in kinds]}
