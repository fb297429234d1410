"""The card's tables: tensors, scalar arguments, attributes, type constraints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract import UNSET
from webgpu_kernels.contract.words import CONSTANTS, NAMESPACES
from webgpu_kernels.language import FUNCTIONS
from webgpu_kernels.language.text import number_text
from webgpu_kernels.tools.card.markdown import code, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Manifest, Port
    from webgpu_kernels.language import Expression

_NONE: Final = "—"
_KNOWN: Final = frozenset({*NAMESPACES, *CONSTANTS, *FUNCTIONS})
_SAME: Final = re.compile(r"\s*(?:ranks|shapes)\.(\w+)\s*", re.ASCII)


def port_table(manifest: Manifest, ports: Mapping[str, Port]) -> str:
    """Return the table of the inputs or of the outputs.

    Args:
        manifest: the contract.
        ports: its inputs or its outputs.

    Returns:
        Markdown.

    Source: FORMAT, section 15.
    """
    outputs = ports is manifest.outputs
    names = {port.semantic: port.name for port in (*manifest.inputs.values(), *manifest.outputs.values())}
    rows = (
        (
            code(name),
            code(port.dtype) if port.dtype else code("float32") if outputs else _NONE,
            _formula(port.rank, names),
            _formula(port.shape, names) if port.shape or not outputs else "given by the call",
            _prose(port.description, "Read and written in place." if name in manifest.in_out else ""),
            "optional" if port.optional else "required",
        )
        for name, port in ports.items()
    )
    return table(("Name", "Logical dtype", "Rank", "Shape", "Description", "Presence"), rows)


def scalar_table(manifest: Manifest) -> str:
    """Return the table of the scalar arguments."""
    rows = (
        (
            code(name),
            code(argument.kind),
            _prose(argument.description, _one_of(argument.one_of)),
            "required" if argument.required else "optional",
        )
        for name, argument in manifest.args.items()
    )
    return table(("Argument", "Kind", "Description", "Presence"), rows)


def attribute_table(manifest: Manifest) -> str:
    """Return the table of the attributes, by name.

    Source: FORMAT, section 15.
    """
    rows = (
        (
            code(name),
            _NONE if attribute.default is UNSET else code(_value(attribute.default)),
            _prose(attribute.description, _one_of(attribute.values), "Every call gives it." * attribute.required),
        )
        for name, attribute in sorted(manifest.attributes.items())
    )
    return table(("Attribute", "Default", "Description"), rows)


def constraint_table(manifest: Manifest) -> str:
    """Return the table of the type variables.

    Source: FORMAT, section 15.
    """
    rows = ((code(name), ", ".join(map(code, dtypes))) for name, dtypes in manifest.type_constraints.items())
    return table(("Variable", "Allowed dtypes"), rows)


def _formula(expression: Expression | None, names: Mapping[str, str]) -> str:
    """Return a formula as callers can read it: one of names that only the manifest knows says nothing to them."""
    if expression is None:
        return _NONE
    if same := _SAME.fullmatch(expression.source):
        return f"same as {code(names.get(same[1], same[1]))}"
    return code(expression.source) if expression.names <= _KNOWN else "computed"


def _prose(*sentences: str | None) -> str:
    return " ".join(sentence for sentence in sentences if sentence) or _NONE


def _one_of(values: tuple[object, ...] | None) -> str:
    return f"One of {', '.join(code(_value(value)) for value in values)}." if values else ""


def _value(value: object) -> str:
    """Return a value as JSON has it, numbers as JavaScript writes them."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_value(member)}' for name, member in value.items())}}}"
    return f'"{value}"'
