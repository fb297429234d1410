"""The devices that a package is tried on: those that come with this library, and variations."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.tools.capabilities import known_capabilities, load_capabilities

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webgpu_kernels.contract import Manifest, SubgroupMatrixConfig

DEFAULTS: Final = "webgpu-defaults"
EVERYTHING: Final = "everything"
_LARGE: Final = "h200"
_MAX_VENDORS: Final = 4
_VENDOR: Final = re.compile(r"adapterInfo\.(vendor|architecture)\s*==\s*[\"']([^\"']{1,40})[\"']")
_COMMON: Final = frozenset({"shader-f16", "subgroups"})


class SampledDevice(NamedTuple):
    """A device to try a package on.

    Attributes:
        name: for messages.
        capabilities: what it can do.
    """

    name: str
    capabilities: Capabilities


def sampled_devices(manifest: Manifest, sources: Iterable[str]) -> tuple[SampledDevice, ...]:
    """Return the devices to try.

    Args:
        manifest: the contract: what its variants require, one device has.
        sources: its formulas: the vendors that they ask for are tried.

    Returns:
        WebGPU's defaults first, the one that has everything last.
    """
    shipped = {name: load_capabilities(name) for name in known_capabilities()}
    defaults = shipped.pop(DEFAULTS)
    devices = {DEFAULTS: defaults, f"{DEFAULTS} with shader-f16": replace(defaults, features=frozenset({"shader-f16"}))}
    for name, capabilities in shipped.items():
        devices[name] = capabilities
        if name == _LARGE:
            bare = replace(capabilities, features=frozenset(capabilities.features) - _COMMON)
            devices[f"{name} without features"] = bare
    everything = _everything(manifest, shipped.get(_LARGE, defaults))
    for member, value in _asked(sources):
        info = {**everything.adapter_info, member: value}
        devices[f"{EVERYTHING}, {member} {value}"] = replace(everything, adapter_info=info)
    devices[EVERYTHING] = everything
    return tuple(SampledDevice(name, capabilities) for name, capabilities in devices.items())


def _asked(sources: Iterable[str]) -> list[tuple[str, str]]:
    """Return the vendors and architectures that formulas compare with, the first few."""
    found = dict.fromkeys(match for source in sources for match in _VENDOR.findall(source))
    return list(found)[:_MAX_VENDORS]


def _everything(manifest: Manifest, large: Capabilities) -> Capabilities:
    """Return a device that meets the requirements of every variant."""
    required = [manifest.requires, *(variant.requires for variant in manifest.variants)]
    limits = {**large.limits, "maxStorageBuffersPerShaderStage": 16}
    for requires in required:
        for name, value in requires.limits.items():
            if name in limits:
                least = name.startswith("min")
                limits[name] = min(limits[name], value) if least else max(limits[name], value)
    sizes = [requires.subgroup_min_size for requires in required]
    size = max([32, *sizes])
    configs = {config: None for requires in required for config in requires.subgroup_matrix_configs}
    info: dict[str, object] = {**large.adapter_info, "subgroupMinSize": size, "subgroupMaxSize": max(size, 64)}
    if configs:
        info["subgroupMatrixConfigs"] = [_config(config) for config in configs]
    features = _COMMON.union(large.features, *(requires.features for requires in required))
    return Capabilities(features=features, limits=limits, adapter_info=info)


def _config(config: SubgroupMatrixConfig) -> dict[str, object]:
    return {
        "componentType": config.component_type,
        "resultComponentType": config.result_component_type or config.component_type,
        "M": config.m,
        "N": config.n,
        "K": config.k,
    }
