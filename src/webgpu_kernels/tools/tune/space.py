"""What is searched: values that a tunable may sensibly have. Manifests give defaults only, so these are near them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.planning.request import declared_tunables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Manifest

_FACTORS: Final = (0.25, 0.5, 1, 2, 4)


class Knob(NamedTuple):
    """A tunable as it is searched.

    Attributes:
        default: what the contract has.
        values: what is tried, the default among them.
    """

    default: Any
    values: tuple[Any, ...]


def knobs_of(manifest: Manifest) -> Mapping[str, Knob]:
    """Return what there is to turn.

    Args:
        manifest: the contract.

    Returns:
        Tunable to knob; one that has but one sensible value is left out.
    """
    knobs = {
        name: Knob(tunable.default, _around(tunable.default)) for name, tunable in declared_tunables(manifest).items()
    }
    return MappingProxyType({name: knob for name, knob in knobs.items() if len(knob.values) > 1})


def _around(default: object) -> tuple[Any, ...]:
    if isinstance(default, bool):
        return (default, not default)
    if isinstance(default, int) and default > 0:
        return tuple(dict.fromkeys(max(1, int(default * factor)) for factor in _FACTORS))
    if isinstance(default, float) and default > 0:
        return tuple(default * factor for factor in _FACTORS)
    return (default,)
