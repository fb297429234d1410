"""Which adapter is chosen, and how adapters are described."""

from __future__ import annotations

import pytest

from webgpu_kernels.device.adapters import AdapterInfo, adapters, capabilities_of, choose_adapter
from webgpu_kernels.errors import NoAdapterError
from webgpu_kernels.planning.capabilities import Capabilities


def an_adapter(index: int, name: str, kind: str = "DiscreteGPU", backend: str = "Vulkan") -> AdapterInfo:
    return AdapterInfo(
        index=index,
        name=name,
        vendor="nvidia",
        backend=backend,
        type=kind,
        driver="",
        capabilities=Capabilities(),
        usable=backend != "OpenGL",
    )


CPU = an_adapter(0, "llvmpipe (LLVM 15)", "CPU")
INTEGRATED = an_adapter(1, "Intel UHD", "IntegratedGPU")
DISCRETE = an_adapter(2, "NVIDIA H200")
ODD = an_adapter(3, "Strange", "Unknown")
OPENGL = an_adapter(4, "llvmpipe (OpenGL)", "CPU", "OpenGL")
ALL = (CPU, INTEGRATED, DISCRETE, ODD, OPENGL)


@pytest.mark.parametrize(
    ("wanted", "preference", "chosen"),
    [
        (None, None, DISCRETE),
        (None, "low-power", INTEGRATED),
        ("LLVMPIPE", None, CPU),
        (1, None, INTEGRATED),
        (ODD, None, ODD),
    ],
)
def test_an_adapter_is_chosen(
    wanted: str | int | AdapterInfo | None, preference: str | None, chosen: AdapterInfo
) -> None:
    """By part of its name, by index, by description; else the fastest kind."""
    assert choose_adapter(ALL, wanted, preference) is chosen


def test_no_adapter_says_what_to_install() -> None:
    """The message names Debian's packages."""
    with pytest.raises(NoAdapterError) as caught:
        choose_adapter((), None)
    assert str(caught.value) == (
        "no Vulkan, Metal or D3D12 adapter on this machine. Install a Vulkan driver: on Debian and Ubuntu, "
        "apt-get install mesa-vulkan-drivers libvulkan1 gives one that runs on the CPU"
    )


def test_opengl_alone_does_not_count() -> None:
    """An OpenGL adapter is listed in the message and not used."""
    with pytest.raises(NoAdapterError, match=r"machine; only 4: llvmpipe \(OpenGL\) \(OpenGL, CPU, not usable\)\."):
        choose_adapter((OPENGL,), None)


def test_an_adapter_that_is_not_there_lists_those_that_are() -> None:
    """A wrong name shows the right ones."""
    with pytest.raises(NoAdapterError, match=r"^no such adapter: expected one of 0: llvmpipe .*, got 'Radeon'$"):
        choose_adapter(ALL, "Radeon")


class FakeAdapter:
    """What wgpu-py says of an adapter."""

    info = {  # noqa: RUF012 - a stand-in
        "vendor": "NVIDIA",
        "architecture": "Hopper",
        "device": "NVIDIA H200",
        "description": "570.1",
        "vendor_id": 0x10DE,
        "stackgroup_min_size": 32,
        "stackgroup_max_size": 32,
        "adapter_type": "DiscreteGPU",
        "backend_type": "Vulkan",
    }
    features = {"subgroup", "shader-f16", "multi-draw-indirect-count"}  # noqa: RUF012 - a stand-in
    limits = {"max-buffer-size": 7, "max-texture-dimension-1d": 9, "max-immediate-size": 1}  # noqa: RUF012


def test_capabilities_speak_webgpu() -> None:
    """The spellings that wgpu has for features, limits and adapter facts become WebGPU's."""
    found = capabilities_of(FakeAdapter())
    assert found.features == {"subgroups", "shader-f16"}
    assert (found.limits["maxBufferSize"], found.limits["maxTextureDimension1D"]) == (7, 9)
    assert dict(found.adapter_info) == {
        "vendor": "nvidia",
        "architecture": "hopper",
        "device": "NVIDIA H200",
        "description": "570.1",
        "subgroupMinSize": 32,
        "subgroupMaxSize": 32,
        "isFallbackAdapter": False,
    }


@pytest.mark.device
def test_this_machine_has_a_usable_adapter() -> None:
    """adapters() lists it with its capabilities; OpenGL is marked as not usable."""
    found = adapters()
    assert any(adapter.usable for adapter in found)
    assert all(adapter.usable == (adapter.backend != "OpenGL") for adapter in found)
    assert [adapter.index for adapter in found] == list(range(len(found)))
