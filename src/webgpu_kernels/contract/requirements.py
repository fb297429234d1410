"""``requires``: what a device must have for a variant to be considered."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.vocabulary import COMPONENT_TYPES, MATRIX_CONFIG, REQUIRES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract.cursor import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgroupMatrixConfig:
    """One shape of subgroup matrices; the result's component type is None where the manifest leaves it open."""

    component_type: str
    result_component_type: str | None
    m: int
    n: int
    k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Requires:
    """What a device must have.

    Attributes:
        features: WebGPU features by name.
        limits: least values by WebGPU's names.
        subgroup_min_size: least ``subgroupMinSize`` in invocations; 0 where nothing is asked.
        subgroup_matrix_configs: subgroup matrix shapes; empty where nothing is asked.
    """

    features: frozenset[str] = frozenset()
    limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    subgroup_min_size: int = 0
    subgroup_matrix_configs: tuple[SubgroupMatrixConfig, ...] = ()

    def merge(self, other: Requires) -> Requires:
        """Return what satisfies both.

        Args:
            other: the second set of requirements; at most one of the two has matrix configs.

        Returns:
            The union of features, the maximum of each limit and of the subgroup size.

        Source: FORMAT section 2 (``requires``).
        """
        limits = dict(self.limits)
        for name, least in other.limits.items():
            limits[name] = max(least, limits.get(name, 0))
        return Requires(
            features=self.features | other.features,
            limits=MappingProxyType(limits),
            subgroup_min_size=max(self.subgroup_min_size, other.subgroup_min_size),
            subgroup_matrix_configs=self.subgroup_matrix_configs or other.subgroup_matrix_configs,
        )


def read_requires(node: Node | None) -> Requires:
    """Read one ``requires``.

    Args:
        node: its object, or None.

    Returns:
        What it asks for.

    Source: FORMAT section 2.
    """
    if node is None:
        return Requires()
    fields = Fields(node, REQUIRES)
    configs = fields.get("subgroupMatrixConfigs")
    return Requires(
        features=read_features(fields.get("features")),
        limits=read_limits(fields.get("limits")),
        subgroup_min_size=fields.integer("subgroupMinSize"),
        subgroup_matrix_configs=tuple(
            _read_config(Fields(entry, MATRIX_CONFIG))
            for entry in (configs.entries("subgroup matrix configs", least=1) if configs else ())
        ),
    )


def read_features(node: Node | None) -> frozenset[str]:
    """Read a list of WebGPU features; none of it is None.

    Source: FORMAT section 2 (``requires``).
    """
    texts = [entry.string() for entry in node.entries("features")] if node else []
    return frozenset(text for text in texts if text is not None)


def read_limits(node: Node | None) -> Mapping[str, int]:
    """Read an object of limit to least value; none of it is None.

    Source: FORMAT section 2 (``requires``).
    """
    limits: dict[str, int] = {}
    for name, entry in node.members("limits, name to number") if node else ():
        value = entry.value
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            limits[name] = value
        else:
            entry.fail_kind("a non-negative integer")
    return MappingProxyType(limits)


def _read_config(fields: Fields) -> SubgroupMatrixConfig:
    return SubgroupMatrixConfig(
        component_type=fields.choice("componentType", COMPONENT_TYPES) or "f32",
        result_component_type=fields.choice("resultComponentType", COMPONENT_TYPES),
        m=fields.integer("M"),
        n=fields.integer("N"),
        k=fields.integer("K"),
    )


def merge_requires(node: Node | None, general: Requires, own: Requires) -> Requires:
    """Merge a variant's requirements into the manifest's.

    Args:
        node: the variant's ``requires``, or None.
        general: the manifest's.
        own: the variant's.

    Returns:
        Both.

    Source: FORMAT section 2 (``requires``).
    """
    if node is not None and general.subgroup_matrix_configs and own.subgroup_matrix_configs:
        node.at("subgroupMatrixConfigs", None).fail("stands in the manifest's 'requires' too: keep one of them")
    return general.merge(own)
