"""Reads what a device must have: ``requires``, or the three keys that came before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract.requirements import Requires, read_features, read_limits
from webgpu_kernels.contract.requirements import read_requires as read_current

if TYPE_CHECKING:
    from webgpu_kernels.contract.fields import Fields


def read_requires(fields: Fields) -> Requires:
    """Read every key that asks something of the device.

    Args:
        fields: the manifest or a variant.

    Returns:
        All of it together.

    Source: FORMAT section 12.
    """
    former = Requires(
        features=read_features(fields.get("requiredFeatures")),
        limits=read_limits(fields.get("requiredLimits")),
        subgroup_min_size=fields.integer("requiredSubgroupMinSize"),
    )
    return read_current(fields.get("requires")).merge(former)
