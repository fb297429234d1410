"""Which dialect a manifest is written in."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Dialect: TypeAlias = Literal["1.0", "2.1"]

# Spec 2.0 was a draft of 2.1: what it has that 2.1 does not is reported key by key.
SPECS: Final[Mapping[str, Dialect]] = MappingProxyType({"1.0": "1.0", "2.0": "2.1", "2.1": "2.1"})


def dialect_of_spec(spec: str) -> Dialect | None:
    """Return the dialect of a manifest spec, as metadata.json states it.

    Args:
        spec: such as ``2.1``.

    Returns:
        The dialect, or None for a spec that this library does not read.

    Source: FORMAT section 1 (``webgpu.manifestSpec``).
    """
    return SPECS.get(spec)


def is_older(document: object) -> bool:
    """Tell the older dialect by the shape of a manifest.

    Args:
        document: the parsed JSON.

    Returns:
        Whether its inputs and outputs are lists of ports that have a role; spec 2.1 has objects there. Other words of
        the older dialect decide nothing: in a manifest of spec 2.1 they are mistakes, each reported with what
        replaced it.

    Source: FORMAT section 12.
    """
    if not isinstance(document, dict):
        return False
    sides = [document[side] for side in ("inputs", "outputs") if side in document]
    if not all(isinstance(side, list) for side in sides):
        return False
    return any(isinstance(port, dict) and "role" in port for side in sides for port in side)
