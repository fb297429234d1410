"""Show what a bug report needs.

That is: versions, adapters with their features and limits, caches, and the
environment variables that change something here. Tokens are not shown.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS
from webgpu_kernels.tools.capabilities import capabilities_json
from webgpu_kernels.tools.installation import describe_installation

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.device import AdapterInfo
    from webgpu_kernels.tools.installation import Installation

_SIZES: Final = (
    "maxBufferSize",
    "maxStorageBufferBindingSize",
    "maxUniformBufferBindingSize",
    "maxComputeWorkgroupStorageSize",
)
_COUNTS: Final = (
    "maxStorageBuffersPerShaderStage",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupSizeY",
    "maxComputeWorkgroupSizeZ",
    "maxComputeWorkgroupsPerDimension",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:  # noqa: ARG001
    """Show what is here."""
    here = describe_installation()
    _show_versions(here, screen)
    for adapter in here.adapters:
        _show_adapter(adapter, screen, default=adapter.index == here.default_adapter)
    if here.adapter_fault:
        screen.text()
        screen.text(("no adapter: ", "bold red"), here.adapter_fault)
    if any(adapter.usable for adapter in here.adapters):
        _show_limits([adapter for adapter in here.adapters if adapter.usable], screen)
    _show_places(here, screen)
    screen.result(_document(here))
    return Exit.GOOD


def _show_versions(here: Installation, screen: Screen) -> None:
    for name, version in here.versions.items():
        screen.text((f"{name:<16}", "bold" if name == "webgpu-kernels" else ""), version)
    screen.text(f"{'python':<16}{here.python}")
    screen.text(f"{'system':<16}{here.system}")


def _show_adapter(adapter: AdapterInfo, screen: Screen, *, default: bool) -> None:
    kind = f"{adapter.backend}, {adapter.type}" + ("" if adapter.usable else ", not usable")
    info = adapter.capabilities.adapter_info
    sizes = sorted({str(info.get(name)) for name in ("subgroupMinSize", "subgroupMaxSize") if info.get(name)}, key=int)
    screen.text()
    screen.text(
        (f"adapter {adapter.index}", "bold"), f"       {adapter.name}", ("  default", "green") if default else ""
    )
    screen.text(f"  {'reached by':<14}{kind}")
    screen.text(f"  {'vendor':<14}{adapter.vendor}")
    screen.text(f"  {'driver':<14}{adapter.driver}")
    screen.text(f"  {'features':<14}{', '.join(sorted(adapter.capabilities.features)) or 'none'}")
    screen.text(f"  {'subgroups':<14}{' to '.join(sizes) or 'not reported'}")


def _show_limits(found: list[AdapterInfo], screen: Screen) -> None:
    rows = []
    for name in (*_SIZES, *_COUNTS):
        of_adapters = [adapter.capabilities.limits[name] for adapter in found]
        rows.append([name, *(_amount(name, value) for value in (*of_adapters, DEFAULT_LIMITS[name]))])
    screen.text()
    headings = ["limit", *(f"adapter {adapter.index}" for adapter in found), "WebGPU's default"]
    screen.table(headings, rows, right=range(1, len(headings)))


def _amount(name: str, value: int) -> str:
    return size(value) if name in _SIZES else f"{value:,}"


def size(count: int) -> str:
    """Return a number of bytes for people: exact, or with one decimal."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor - 4:
            return f"{count / factor:,.1f}".removesuffix(".0") + f" {unit}"
    return f"{count} B"


def _show_places(here: Installation, screen: Screen) -> None:
    screen.text()
    for index, line in enumerate(textwrap.wrap(", ".join(here.bundled), 64)):
        screen.text(f"{'' if index else 'bundled':<16}{line}")
    screen.text(f"{'Hub':<16}{here.endpoint or 'huggingface_hub is not installed'}")
    for cache in here.caches:
        count = f"{cache.repositories} repositor{'y' if cache.repositories == 1 else 'ies'}"
        screen.text(f"{'cache':<16}{cache.place}: {count}, {size(cache.size_bytes)}")
    if not here.environment:
        screen.text(f"{'environment':<16}no variable that changes anything")
    for index, (name, value) in enumerate(here.environment.items()):
        screen.text(f"{'' if index else 'environment':<16}{name}={value}")


def _document(here: Installation) -> dict[str, Any]:
    return {
        "versions": {**here.versions, "python": here.python},
        "system": here.system,
        "adapters": [
            {
                "index": adapter.index,
                "name": adapter.name,
                "vendor": adapter.vendor,
                "backend": adapter.backend,
                "type": adapter.type,
                "driver": adapter.driver,
                "usable": adapter.usable,
                "default": adapter.index == here.default_adapter,
                "capabilities": capabilities_json(adapter.capabilities),
            }
            for adapter in here.adapters
        ],
        "adapterFault": here.adapter_fault,
        "endpoint": here.endpoint,
        "caches": [
            {
                "what": cache.what,
                "place": str(cache.place),
                "repositories": cache.repositories,
                "sizeBytes": cache.size_bytes,
            }
            for cache in here.caches
        ],
        "bundled": list(here.bundled),
        "environment": dict(here.environment),
    }
