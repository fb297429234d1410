"""Devices described in JSON, and the ones that come with the library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import webgpu_kernels as wk
from webgpu_kernels.errors import RequestError
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS, Capabilities
from webgpu_kernels.tools.capabilities import capabilities_json, known_capabilities, load_capabilities

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, value: object) -> Path:
    path = folder / "device.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_four_devices_come_with_the_library() -> None:
    """What any device offers, software Vulkan, a browser without a GPU, and a large GPU."""
    assert known_capabilities() == ("chromium-swiftshader", "h200", "lavapipe", "webgpu-defaults")


def test_the_least_device_is_webgpus_defaults() -> None:
    """It is what a device has of which nothing is said."""
    assert load_capabilities("webgpu-defaults") == Capabilities()


def test_a_browser_without_a_gpu_lacks_float16() -> None:
    """Kernels must know from its features; its subgroups are of four."""
    found = load_capabilities("chromium-swiftshader")
    assert "shader-f16" not in found.features
    assert "timestamp-query" in found.features
    assert found.adapter_info["subgroupMinSize"] == 4
    assert found.limits["maxComputeInvocationsPerWorkgroup"] == 256


def test_a_large_gpu_has_its_own_limits() -> None:
    """As far as variants ask for them."""
    found = load_capabilities("h200")
    assert "shader-f16" in found.features
    assert found.limits["maxComputeWorkgroupStorageSize"] == 49152
    assert found.limits["maxComputeInvocationsPerWorkgroup"] == 1024
    assert isinstance(found.adapter_info["invocationsInFlight"], int)


@pytest.mark.device
def test_software_vulkan_is_described_as_it_reports_itself() -> None:
    """Where that is what is here, in the very version."""
    found = load_capabilities("lavapipe")
    here = [adapter.capabilities for adapter in wk.adapters() if adapter.name == found.adapter_info["device"]]
    if not here:
        pytest.skip("another adapter, or another version of it")
    assert found == here[0]


@pytest.mark.parametrize("name", known_capabilities())
def test_a_description_can_be_written_and_read(name: str, tmp_path: Path) -> None:
    """Nothing is lost on the way."""
    found = load_capabilities(name)
    assert load_capabilities(write(tmp_path, capabilities_json(found, "a copy"))) == found


def test_what_is_left_out_has_defaults(tmp_path: Path) -> None:
    """An empty object is a device, too."""
    assert load_capabilities(write(tmp_path, {})) == Capabilities()
    found = load_capabilities(write(tmp_path, {"features": ["shader-f16"], "limits": {"maxBufferSize": 1024}}))
    assert found.features == {"shader-f16"}
    assert dict(found.limits) == {**DEFAULT_LIMITS, "maxBufferSize": 1024}


def test_a_name_that_is_close_is_proposed() -> None:
    """With the names that there are."""
    with pytest.raises(RequestError) as caught:
        load_capabilities("h20")
    assert str(caught.value) == (
        "h20: no such device is described: expected a JSON file, or one of chromium-swiftshader, h200, lavapipe, "
        "webgpu-defaults. Did you mean 'h200'?"
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [("shader_f16", "shader-f16"), ("subgroup", "subgroups"), ("timestamp-queries", "timestamp-query")],
)
def test_a_feature_that_is_nearly_webgpus_is_misspelt(tmp_path: Path, name: str, meant: str) -> None:
    """In silence it would only select other variants."""
    path = write(tmp_path, {"features": ["shader-f16", name]})
    with pytest.raises(RequestError) as caught:
        load_capabilities(path)
    assert str(caught.value).splitlines()[1:] == [f"  features[1]: is no feature of WebGPU's: did you mean '{meant}'?"]


@pytest.mark.parametrize("name", ["texture-formats-tier3", "shader-f64", "chromium-experimental-subgroups", "other"])
def test_a_feature_that_nobody_knows_yet_may_be_new(tmp_path: Path, name: str) -> None:
    """Or an engine's own."""
    assert load_capabilities(write(tmp_path, {"features": [name]})).features == {name}


def test_all_defects_of_a_file_are_listed(tmp_path: Path) -> None:
    """With their places, in the order of the document."""
    path = write(
        tmp_path,
        {
            "feature": [],
            "features": ["shader-f16", 3],
            "limits": {"maxBuferSize": 1, "maxBufferSize": -1, "maxBindGroups": True},
            "adapterInfo": {"vendor": "x", "subgroupMinSize": "4", "invocationsInFlight": 0},
        },
    )
    with pytest.raises(RequestError) as caught:
        load_capabilities(path)
    assert str(caught.value).splitlines() == [
        f"{path}: the description of a device has 7 defects",
        "  feature: is not a key of a device: did you mean 'features'?",
        "  features[1]: must be a string, not the number 3",
        "  limits.maxBuferSize: is not a key of 'limits': did you mean 'maxBufferSize'?",
        "  limits.maxBufferSize: must be an integer of at least 0, not the number -1",
        "  limits.maxBindGroups: must be an integer of at least 0, not true",
        '  adapterInfo.subgroupMinSize: must be an integer of at least 1, not the string "4"',
        "  adapterInfo.invocationsInFlight: must be an integer of at least 1, not the number 0",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        ("[]", "must be an object with the keys $schema, description, features, limits, adapterInfo, "),
        ('{"limits": {"maxBufferSize": NaN}}', "limits.maxBufferSize: must be a number that a double holds, not NaN"),
        ("[" * 5000, "is nested too deep: 100 levels are the most"),
    ],
)
def test_a_file_that_is_no_description_is_one_error(text: str, message: str, tmp_path: Path) -> None:
    """Whatever is in it."""
    with pytest.raises(RequestError) as caught:
        load_capabilities(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    """A folder, for example."""
    with pytest.raises(RequestError, match=r"the file cannot be read: .*Is a directory"):
        load_capabilities(tmp_path)
