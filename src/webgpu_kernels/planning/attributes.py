"""Attributes, scalar arguments and tunables of a call, checked against the contract."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from webgpu_kernels.contract import UNSET, closest, same_value
from webgpu_kernels.errors import AttributeValueError, MissingValueError, UnknownNameError
from webgpu_kernels.language import host_value
from webgpu_kernels.planning.quantities import F32_MAX, INTEGER_RANGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from webgpu_kernels.contract import Attribute, Manifest, ScalarArg, Tunable

MAX_LIST_DEPTH = 16
"""Deepest nesting of a list attribute."""


def unknown_name(kind: str, name: object, known: Iterable[str], where: str) -> UnknownNameError:
    """Return the error for a name the contract does not have, with the closest one it has."""
    names = tuple(known)
    close = closest(str(name), names)
    listed = ", ".join(names) if names else "none"
    hint = f"Did you mean {close}?" if close else f"The contract has {kind}s: {listed}."
    return UnknownNameError(f"unknown {kind} {name!r}", where=where, hint=hint)


def bind_attributes(manifest: Manifest, given: Mapping[str, object]) -> dict[str, object]:
    """Overlay the manifest's defaults with a call's attributes.

    Args:
        manifest: the contract.
        given: attribute name to number, bool, string or (nested) list of them.

    Returns:
        Attribute name to value, in the contract's order; those without default and value are left out.

    Raises:
        UnknownNameError: an attribute the contract does not have.
        MissingValueError: a required one is absent.
        AttributeValueError: a value of the wrong kind, or outside the allowed ones.

    Source: FORMAT, sections 2 and 4.
    """
    where = manifest.op_id
    for name in given:
        if name not in manifest.attributes:
            raise unknown_name("attribute", name, manifest.attributes, where)
    missing = [entry for name, entry in manifest.attributes.items() if entry.required and name not in given]
    if missing:
        raise _missing_attributes(missing, where)
    values: dict[str, object] = {}
    for name, attribute in manifest.attributes.items():
        if name in given:
            values[name] = _attribute_value(attribute, given[name], where)
        elif attribute.default is not UNSET:
            values[name] = host_value(attribute.default)
    return values


def _missing_attributes(missing: Sequence[Attribute], where: str) -> MissingValueError:
    names = ", ".join(repr(attribute.name) for attribute in missing)
    given = ", ".join(f"{attribute.name!r}: {_choices(attribute)}" for attribute in missing)
    return MissingValueError(
        f"missing attribute{'s' if len(missing) > 1 else ''} {names}",
        where=where,
        hint=f"Without a default the call gives them: attrs={{{given}}}.",
    )


def _choices(attribute: Attribute) -> str:
    return " or ".join(repr(value) for value in attribute.values) if attribute.values else "…"


def _attribute_value(attribute: Attribute, given: object, where: str) -> object:
    path = f"{where}: attribute {attribute.name!r}"
    value = _plain(given, path)
    default = attribute.default
    if default is not UNSET and default is not None and _kind(value) != _kind(default):
        raise AttributeValueError("wrong kind of value", where=path, expected=_kind(default), got=repr(given))
    if attribute.values is not None and not any(same_value(value, allowed) for allowed in attribute.values):
        raise AttributeValueError(
            "value not allowed", where=path, expected=f"one of {list(attribute.values)}", got=repr(given)
        )
    return value


def _plain(given: object, path: str, depth: int = 0) -> object:
    """Turn what numpy gives into plain host values, and refuse what no attribute can be."""
    if depth > MAX_LIST_DEPTH:
        raise AttributeValueError(
            "lists are nested too deeply", where=path, expected=f"at most {MAX_LIST_DEPTH} levels"
        )
    tolist = getattr(given, "tolist", None)
    value = tolist() if tolist is not None else given
    if isinstance(value, list | tuple):
        return [_plain(entry, path, depth + 1) for entry in value]
    if isinstance(value, int | float) and not abs(value) <= F32_MAX:
        raise AttributeValueError("attributes are finite float32 numbers", where=path, got=repr(given))
    if isinstance(value, bool | int | float | str):
        return host_value(value)
    raise AttributeValueError(
        "wrong kind of value", where=path, expected="a number, bool, string or list", got=type(given).__name__
    )


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list | tuple):
        return "a list"
    return "a number"


def bind_arguments(manifest: Manifest, given: Mapping[str, object]) -> dict[str, object]:
    """Check a call's scalar arguments.

    Args:
        manifest: the contract.
        given: argument name to scalar.

    Returns:
        The passed arguments only, in the contract's order: an absent one stays undefined in expressions.

    Raises:
        UnknownNameError: an argument the contract does not have.
        MissingValueError: a required one is absent.
        AttributeValueError: a value of the wrong kind or out of range.

    Source: FORMAT, sections 2 and 3.
    """
    where = manifest.op_id
    for name in given:
        if name not in manifest.args:
            raise unknown_name("argument", name, manifest.args, where)
    for name, argument in manifest.args.items():
        if argument.required and name not in given:
            raise MissingValueError(
                f"missing argument {name!r}", where=where, hint=f"Give args={{'{name}': …}} of kind {argument.kind}."
            )
    return {name: _argument_value(arg, given[name], where) for name, arg in manifest.args.items() if name in given}


def _argument_value(argument: ScalarArg, given: object, where: str) -> object:
    path = f"{where}: argument {argument.name!r}"
    value = _plain(given, path) if not _is_infinite(argument, given) else given
    if not _argument_fits(argument.kind, value):
        raise AttributeValueError("wrong value", where=path, expected=_argument_wants(argument.kind), got=repr(given))
    if argument.one_of and value not in argument.one_of:
        raise AttributeValueError(
            "value not allowed", where=path, expected=f"one of {list(argument.one_of)}", got=repr(given)
        )
    return value


def _is_infinite(argument: ScalarArg, given: object) -> bool:
    """Uniform fields of type f32 may be infinite, so arguments that feed them may."""
    return argument.kind == "f32" and isinstance(given, float) and math.isinf(given)


def _argument_fits(kind: str, value: object) -> bool:
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind == "f32":
        return math.isinf(value) or abs(value) <= F32_MAX
    low, high = INTEGER_RANGES[kind]
    return isinstance(value, int) and low <= value <= high


def _argument_wants(kind: str) -> str:
    if kind in INTEGER_RANGES:
        low, high = INTEGER_RANGES[kind]
        return f"an integer from {low} to {high}"
    return {"bool": "True or False", "string": "a string", "f32": "a float32 number"}[kind]


def bind_tunables(tunables: Mapping[str, Tunable], given: Mapping[str, object], where: str) -> dict[str, object]:
    """Check a call's overrides of tunables.

    Args:
        tunables: every tunable of the manifest and its variants.
        given: tunable name to number, string or bool.
        where: the operator, for messages.

    Returns:
        The overrides as host values.

    Raises:
        UnknownNameError: a tunable nobody declares.
        AttributeValueError: a value of another kind than the default, or, where that is a whole number, a value that is
            none, or negative where the default is not.

    Source: FORMAT, sections 2 and 4.
    """
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in tunables:
            raise unknown_name("tunable", name, tunables, where)
        path = f"{where}: tunable {name!r}"
        plain, default = _plain(value, path), host_value(tunables[name].default)
        if _kind(plain) != _kind(default):
            raise AttributeValueError("wrong kind of value", where=path, expected=_kind(default), got=repr(value))
        if _is_whole(default) and not (_is_whole(plain) and (_is_least(plain, 0) or not _is_least(default, 0))):
            wanted = "a whole number" + (" that is not negative" if _is_least(default, 0) else "")
            raise AttributeValueError("wrong kind of value", where=path, expected=wanted, got=repr(value))
        values[name] = plain
    return values


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_least(value: object, least: int) -> bool:
    return isinstance(value, int) and value >= least
