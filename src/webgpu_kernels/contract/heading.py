"""Reads what names the operator; every dialect writes it alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract.words import DOMAIN, name_fault

if TYPE_CHECKING:
    from webgpu_kernels.contract.fields import Fields


def read_domain(fields: Fields) -> str:
    """Read ``domain``.

    Args:
        fields: the manifest.

    Returns:
        The domain, by default ``ai.onnx``.

    Source: FORMAT section 2.
    """
    node, text = fields.get("domain"), fields.text("domain")
    if node is None or text is None:
        return "ai.onnx"
    if not DOMAIN.fullmatch(text):
        node.fail("is not a domain: write words joined by dots, such as com.microsoft, the first in lower case")
    return text


def read_name(fields: Fields) -> str:
    """Read ``name``.

    Args:
        fields: the manifest.

    Returns:
        The operator's name; empty where it is missing, which is then reported.

    Source: FORMAT section 2.
    """
    node = fields.get("name")
    text = node.string() if node else None
    if node is not None and text is not None and (fault := name_fault(text)):
        node.fail(fault)
    return text or ""


def read_since(fields: Fields) -> int | None:
    """Read ``sinceVersion``.

    Args:
        fields: the manifest.

    Returns:
        The operator set's version that the contract follows, or None.

    Source: FORMAT section 2.
    """
    return fields.integer("sinceVersion") if "sinceVersion" in fields else None
