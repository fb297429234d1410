"""``wk info``: what a bug report needs."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

import webgpu_kernels as wk_library
from webgpu_kernels.cli.commands.info import size
from webgpu_kernels.contract import bundled_names
from webgpu_kernels.errors import NoAdapterError
from webgpu_kernels.tools.installation import told_environment

if TYPE_CHECKING:
    from command_line import Wk


@pytest.mark.device
def test_an_adapter_is_told_with_features_and_limits(wk: Wk) -> None:
    """The one that calls use is marked; all of it fits the terminal."""
    code, out, err = wk("info")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    adapter = wk_library.adapters()[0]
    assert lines[0] == f"webgpu-kernels  {version('webgpu-kernels')}"
    assert sum(line.endswith("  default") for line in lines) == 1
    assert any(line.startswith(f"adapter {adapter.index}       {adapter.name}") for line in lines)
    assert f"  driver        {adapter.driver}" in lines
    assert f"  features      {', '.join(sorted(adapter.capabilities.features))}" in lines
    assert any(line.split()[:1] == ["maxStorageBufferBindingSize"] for line in lines)
    assert max(len(line) for line in lines if "=" not in line and "/" not in line) <= 80


@pytest.mark.device
def test_programs_get_everything(wk: Wk) -> None:
    """With every limit, as --capabilities reads it."""
    document = wk("info", "--json").document
    first = wk_library.adapters()[0]
    assert document["versions"]["wgpu"] == version("wgpu")
    assert {"python", "numpy", "wgpu-native", "webgpu-kernels"} <= document["versions"].keys()
    assert document["adapters"][0]["name"] == first.name
    assert document["adapters"][0]["capabilities"]["limits"] == dict(first.capabilities.limits)
    assert sum(adapter["default"] for adapter in document["adapters"]) == 1
    assert document["bundled"] == list(bundled_names())


def test_a_machine_without_an_adapter_is_described_too(wk: Wk, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is when a report is needed most."""

    def none() -> None:
        raise NoAdapterError("wgpu does not load (no library)")

    monkeypatch.setattr("webgpu_kernels.tools.installation.adapters", none)
    ran = wk("info")
    assert (ran.code, ran.err) == (0, "")
    assert "no adapter: wgpu does not load (no library)" in ran.out.splitlines()
    document = wk("info", "--json").document
    assert document["adapters"] == []
    assert document["adapterFault"] == "wgpu does not load (no library)"


@pytest.mark.device
def test_an_adapter_that_is_named_and_not_there_is_told(wk: Wk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is shown, and why no call can run."""
    monkeypatch.setenv("WEBGPU_KERNELS_ADAPTER", "nonsense")
    out = wk("info").out
    assert "no adapter: the environment variable WEBGPU_KERNELS_ADAPTER: no such adapter" in " ".join(out.split())
    assert "WEBGPU_KERNELS_ADAPTER=nonsense" in out


def test_variables_that_change_something_are_told_and_secrets_are_not() -> None:
    """Nor who an address of a proxy is for."""
    told = told_environment(
        {
            "HF_TOKEN": "hf_secret",
            "HF_HUB_OFFLINE": "1",
            "HTTPS_PROXY": "http://me:secret@proxy:3128",
            "https_proxy": "http://proxy:1",
            "HOME": "/home/me",
            "WEBGPU_KERNELS_LOCAL": "a/b=/c",
            "HF_HOME": "",
        }
    )
    assert told == {
        "HF_TOKEN": "(set)",
        "HF_HUB_OFFLINE": "1",
        "HTTPS_PROXY": "http://proxy:3128",
        "https_proxy": "http://proxy:1",
        "WEBGPU_KERNELS_LOCAL": "a/b=/c",
    }


def test_sizes_are_for_people() -> None:
    """A limit that is four bytes short of a round one is shown as that."""
    assert [size(count) for count in (0, 1000, 1024, 2**28, 2**31 - 4, 2**31 - 1, 1_610_612_736)] == [
        "0 B",
        "1000 B",
        "1 KiB",
        "256 MiB",
        "2 GiB",
        "2 GiB",
        "1.5 GiB",
    ]
