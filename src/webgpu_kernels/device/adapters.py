"""The adapters of this machine, described in WebGPU's words, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.device.seam import INSTALL_HINT, Wgpu, enumerate_adapters
from webgpu_kernels.errors import NoAdapterError
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS, Capabilities

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

USABLE_BACKENDS: Final = ("Vulkan", "Metal", "D3D12")
WANTED_FEATURES: Final = ("shader-f16", "subgroup", "subgroups", "subgroup-barrier", "timestamp-query")
"""All that kernels may use. Never mappable-primary-buffers: on a discrete GPU it slows every kernel."""

_TYPES: Final = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "CPU")
"""Best first; what wgpu calls otherwise comes last."""
_LOW_POWER_TYPES: Final = ("IntegratedGPU", "DiscreteGPU", "VirtualGPU", "CPU")
_FEATURE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "subgroup": "subgroups",
        **{
            name: name
            for name in (
                "chromium-experimental-subgroup-matrix",
                "shader-f16",
                "subgroup-size-control",
                "subgroups",
                "texture-formats-tier1",
                "texture-formats-tier2",
                "timestamp-query",
            )
        },
    }
)
"""The features that the format knows (FORMAT, section 5), by wgpu's names for them."""
_LIMIT_NAMES: Final[Mapping[str, str]] = MappingProxyType({name.lower(): name for name in DEFAULT_LIMITS})
_VENDORS: Final[Mapping[int, str]] = MappingProxyType(
    {
        0x1002: "amd",
        0x106B: "apple",
        0x13B5: "arm",
        0x14E4: "broadcom",
        0x1AE0: "google",
        0x1010: "img-tec",
        0x8086: "intel",
        0x10005: "mesa",
        0x1414: "microsoft",
        0x10DE: "nvidia",
        0x5143: "qualcomm",
        0x144D: "samsung",
    }
)
"""WebGPU's normalised vendor names by PCI or Khronos number; wgpu gives the driver's own spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterInfo:
    """One way to reach a GPU on this machine.

    Attributes:
        index: its place in ``adapters()``.
        name: the device's name, such as ``"NVIDIA H200"``.
        vendor: WebGPU's vendor name, lower case.
        backend: ``"Vulkan"``, ``"Metal"``, ``"D3D12"`` or ``"OpenGL"``.
        type: ``"DiscreteGPU"``, ``"IntegratedGPU"``, ``"VirtualGPU"``, ``"CPU"`` or ``"Unknown"``.
        driver: what the driver says of itself.
        capabilities: features, limits and facts in WebGPU's words.
        usable: whether a device can be opened on it; OpenGL lacks float16 and more.
    """

    index: int
    name: str
    vendor: str
    backend: str
    type: str
    driver: str
    capabilities: Capabilities = field(repr=False)
    usable: bool

    def __str__(self) -> str:
        """Return ``0: llvmpipe (Vulkan, CPU)``."""
        return f"{self.index}: {self.name} ({self.backend}, {self.type}{'' if self.usable else ', not usable'})"


def adapters() -> tuple[AdapterInfo, ...]:
    """List the adapters of this machine, usable or not.

    Returns:
        One description each, in the order of the driver.

    Raises:
        NoAdapterError: wgpu cannot be loaded.
        ForkedProcessError: wgpu was used before this process was forked.

    Source: WebGPU, section 4.2.
    """
    return tuple(describe(adapter, index) for index, adapter in enumerate(enumerate_adapters()))


def describe(adapter: Wgpu, index: int) -> AdapterInfo:
    """Describe one of wgpu's adapters.

    Args:
        adapter: wgpu's adapter.
        index: its place in wgpu's list.

    Returns:
        The description.

    Source: WebGPU, section 4.3.
    """
    info = adapter.info
    return AdapterInfo(
        index=index,
        name=info["device"],
        vendor=_vendor(info),
        backend=info["backend_type"],
        type=info["adapter_type"],
        driver=info["description"],
        capabilities=capabilities_of(adapter),
        usable=info["backend_type"] in USABLE_BACKENDS,
    )


def capabilities_of(source: Wgpu) -> Capabilities:
    """Say what an adapter or a device can do, in WebGPU's words.

    Args:
        source: wgpu's adapter or device.

    Returns:
        Features, limits and adapter facts; wgpu's own extensions are left out.

    Source: WebGPU, section 3.6; GPU_NOTES, "Traps".
    """
    info = getattr(source, "adapter_info", None) or source.info
    limits = {_LIMIT_NAMES[key]: value for key, value in _plain_names(source.limits) if key in _LIMIT_NAMES}
    return Capabilities(
        features=frozenset(_FEATURE_NAMES[name] for name in source.features if name in _FEATURE_NAMES),
        limits=limits,
        adapter_info={
            "vendor": _vendor(info),
            "architecture": info["architecture"].lower(),
            "device": info["device"],
            "description": info["description"],
            "subgroupMinSize": info["stackgroup_min_size"],
            "subgroupMaxSize": info["stackgroup_max_size"],
            "isFallbackAdapter": info["adapter_type"] == "CPU",
        },
    )


def choose_adapter(
    found: Sequence[AdapterInfo], wanted: str | int | AdapterInfo | None, power_preference: str | None = None
) -> AdapterInfo:
    """Choose among adapters: what was asked for, else the fastest kind.

    Args:
        found: what ``adapters()`` returned.
        wanted: part of a name, in any case; an index; a description; None for the best.
        power_preference: ``"low-power"`` puts integrated GPUs first.

    Returns:
        A usable adapter.

    Raises:
        NoAdapterError: none is usable, or none is what was asked for; the message lists what there is.

    Source: WebGPU, section 4.2.
    """
    usable = [adapter for adapter in found if adapter.usable]
    if not usable:
        there = f"; only {', '.join(map(str, found))}" if found else ""
        raise NoAdapterError(f"no Vulkan, Metal or D3D12 adapter on this machine{there}", hint=INSTALL_HINT)
    matching = [adapter for adapter in usable if _matches(adapter, wanted)]
    if not matching:
        asked = str(wanted) if isinstance(wanted, AdapterInfo) else repr(wanted)
        raise NoAdapterError("no such adapter", expected=f"one of {'; '.join(map(str, found))}", got=asked)
    order = _LOW_POWER_TYPES if power_preference == "low-power" else _TYPES
    return min(matching, key=lambda adapter: order.index(adapter.type) if adapter.type in order else len(order))


def open_device(info: AdapterInfo) -> Wgpu:
    """Open a device with every feature that kernels may use and the adapter's own limits.

    Args:
        info: a description that ``adapters()`` gave in this process.

    Returns:
        wgpu's device.

    Raises:
        NoAdapterError: the adapter is gone, or refuses.

    Source: DESIGN, "wgpu-py facts": limits must be asked for.
    """
    listed = enumerate_adapters()
    if info.index >= len(listed) or describe(listed[info.index], info.index) != info:
        raise NoAdapterError(f"the adapter {info.name} is not there any more")
    adapter = listed[info.index]
    features = [name for name in WANTED_FEATURES if name in adapter.features]
    try:
        return adapter.request_device_sync(required_features=features, required_limits=dict(adapter.limits))
    except Exception as error:
        raise NoAdapterError(f"the adapter {info.name} gives no device ({error})", hint=INSTALL_HINT) from error


def _matches(adapter: AdapterInfo, wanted: str | int | AdapterInfo | None) -> bool:
    if wanted is None:
        return True
    if isinstance(wanted, AdapterInfo):
        return adapter == wanted
    if isinstance(wanted, int):
        return adapter.index == wanted
    return wanted.lower() in adapter.name.lower()


def _vendor(info: Mapping[str, object]) -> str:
    number = info["vendor_id"]
    known = _VENDORS.get(number) if isinstance(number, int) else None
    return known or str(info["vendor"]).lower()


def _plain_names(limits: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return ((name.replace("-", "").lower(), value) for name, value in limits.items())
