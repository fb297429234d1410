"""What a device can do, as a plain value: selection and rendering need no more of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from webgpu_kernels.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

DEFAULT_LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "maxTextureDimension1D": 8192,
        "maxTextureDimension2D": 8192,
        "maxTextureDimension3D": 2048,
        "maxTextureArrayLayers": 256,
        "maxBindGroups": 4,
        "maxBindGroupsPlusVertexBuffers": 24,
        "maxBindingsPerBindGroup": 1000,
        "maxDynamicUniformBuffersPerPipelineLayout": 8,
        "maxDynamicStorageBuffersPerPipelineLayout": 4,
        "maxSampledTexturesPerShaderStage": 16,
        "maxSamplersPerShaderStage": 16,
        "maxStorageBuffersPerShaderStage": 8,
        "maxStorageTexturesPerShaderStage": 4,
        "maxUniformBuffersPerShaderStage": 12,
        "maxUniformBufferBindingSize": 65536,
        "maxStorageBufferBindingSize": 134217728,
        "minUniformBufferOffsetAlignment": 256,
        "minStorageBufferOffsetAlignment": 256,
        "maxVertexBuffers": 8,
        "maxBufferSize": 268435456,
        "maxVertexAttributes": 16,
        "maxVertexBufferArrayStride": 2048,
        "maxInterStageShaderVariables": 16,
        "maxColorAttachments": 8,
        "maxColorAttachmentBytesPerSample": 32,
        "maxComputeWorkgroupStorageSize": 16384,
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxComputeWorkgroupSizeY": 256,
        "maxComputeWorkgroupSizeZ": 64,
        "maxComputeWorkgroupsPerDimension": 65535,
    }
)
"""WebGPU's default limits (WebGPU, section 3.6.2 "Limits")."""

FEATURES = frozenset(
    {
        "core-features-and-limits",
        "depth-clip-control",
        "depth32float-stencil8",
        "texture-compression-bc",
        "texture-compression-bc-sliced-3d",
        "texture-compression-etc2",
        "texture-compression-astc",
        "texture-compression-astc-sliced-3d",
        "timestamp-query",
        "indirect-first-instance",
        "shader-f16",
        "rg11b10ufloat-renderable",
        "bgra8unorm-storage",
        "float32-filterable",
        "float32-blendable",
        "clip-distances",
        "dual-source-blending",
        "subgroups",
        "texture-formats-tier1",
        "texture-formats-tier2",
        "primitive-index",
        "texture-component-swizzle",
        "subgroup-size-control",
        "chromium-experimental-subgroup-matrix",
    }
)
"""WebGPU's features, and those beside them that published packages name."""

MAX_GRID = 65535
"""Ceiling of a grid axis: templates rebuild flat ids with this width (FORMAT, sections 5 and 8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Features, limits and adapter facts of a device, present or imagined.

    Args:
        features: WebGPU feature names, such as ``"shader-f16"``.
        limits: WebGPU limit names to numbers; a limit that is left out has WebGPU's default.
        adapter_info: WebGPU's ``GPUAdapterInfo`` members, such as ``vendor`` or ``subgroupMinSize``.
        wgsl_language_features: WGSL language extensions the implementation reports.

    Raises:
        RequestError: a limit whose name WebGPU does not know, or that is not a non-negative integer.

    Source: FORMAT, sections 3 and 5; WebGPU, section 3.6.
    """

    features: Collection[str] = frozenset()
    limits: Mapping[str, int] = field(default_factory=dict)
    adapter_info: Mapping[str, object] = field(default_factory=dict)
    wgsl_language_features: Collection[str] = frozenset()

    def __post_init__(self) -> None:
        """Complete the limits and freeze every member."""
        for name, value in self.limits.items():
            _check_limit(name, value)
        limits = {**DEFAULT_LIMITS, **self.limits}
        limits["maxComputeWorkgroupsPerDimension"] = min(limits["maxComputeWorkgroupsPerDimension"], MAX_GRID)
        object.__setattr__(self, "features", _frozen_names("features", self.features))
        object.__setattr__(
            self, "wgsl_language_features", _frozen_names("wgsl_language_features", self.wgsl_language_features)
        )
        object.__setattr__(self, "limits", MappingProxyType(limits))
        object.__setattr__(self, "adapter_info", MappingProxyType(dict(self.adapter_info)))

    def __hash__(self) -> int:
        """Hash by the parts that tell devices apart; equality compares everything."""
        return hash((self.features, tuple(sorted(self.limits.items()))))

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from plain containers: read-only mappings do not pickle."""
        parts = (self.features, dict(self.limits), dict(self.adapter_info), self.wgsl_language_features)
        return (_rebuild, parts)


def _rebuild(
    features: Collection[str], limits: Mapping[str, int], info: Mapping[str, object], wgsl: Collection[str]
) -> Capabilities:
    return Capabilities(features=features, limits=limits, adapter_info=info, wgsl_language_features=wgsl)


def _frozen_names(what: str, names: Collection[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise RequestError(what, where="Capabilities", expected="a collection of names", got=repr(names))
    return frozenset(names)


def _check_limit(name: str, value: object) -> None:
    if name not in DEFAULT_LIMITS:
        known = ", ".join(sorted(limit for limit in DEFAULT_LIMITS if "Compute" in limit or "Buffer" in limit))
        raise RequestError("unknown limit", where="Capabilities", got=repr(name), hint=f"WebGPU's names are {known}, …")
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RequestError(name, where="Capabilities", expected="a non-negative integer", got=repr(value))
