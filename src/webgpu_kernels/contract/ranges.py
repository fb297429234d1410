"""Reads ``range`` of an input: what its values must lie in, such as indices into another input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.formulas import ONE, formula_of
from webgpu_kernels.contract.model import PortRange
from webgpu_kernels.contract.vocabulary import RANGE

if TYPE_CHECKING:
    from collections.abc import Collection

    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.contract.formulas import Names

_INTEGERS: Final = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint32"})


def read_range(node: Node | None, names: Names) -> PortRange | None:
    """Read ``range`` of a port.

    Args:
        node: an object of ``min``, ``max`` and, in words, ``what`` the values are; or None.
        names: what the bounds may use: they are evaluated with the manifest's derived names.

    Returns:
        The range, or None where there is none or its extension is not declared, which is reported already.

    Source: docs/format.md, "Extensions".
    """
    if node is None or "valueRange" not in node.report.extensions:
        return None
    fields = Fields(node, RANGE)
    return PortRange(
        least=formula_of(fields, "min", names) or ONE,
        most=formula_of(fields, "max", names) or ONE,
        what=fields.text("what"),
    )


def check_ranged(fields: Fields, dtypes: Collection[str]) -> None:
    """Report a range of what is no integer.

    Args:
        fields: the port's.
        dtypes: what the port may be.

    Source: docs/format.md, "Extensions".
    """
    node = fields.get("range")
    if node is not None and "valueRange" in node.report.extensions and not _INTEGERS.issuperset(dtypes):
        node.fail(f"is for integers of whole bytes, this port is {' or '.join(dtypes)}")
