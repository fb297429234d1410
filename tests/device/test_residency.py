"""How many invocations an adapter has in flight, as far as that can be told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, NoReturn

import pytest

from webgpu_kernels.device.residency import WORKGROUP, invocations_in_flight, with_residency
from webgpu_kernels.errors import DeviceLost

if TYPE_CHECKING:
    from webgpu_kernels.device import Device

FACTS = {"vendor": "somebody", "isFallbackAdapter": False}


def refusing(error: Exception) -> SimpleNamespace:
    """Return a device that compiles nothing."""

    def refuse(**_: object) -> NoReturn:
        raise error

    return SimpleNamespace(create_shader_module=refuse)


def test_a_software_adapter_has_no_such_fact() -> None:
    """It runs workgroups in turns, whatever a measurement says; its device is not touched."""
    facts = {**FACTS, "isFallbackAdapter": True}
    assert with_residency(facts, object()) == facts


@pytest.mark.parametrize("error", [RuntimeError("no"), MemoryError(), DeviceLost("gone")])
def test_a_device_that_cannot_be_measured_opens_without_the_fact(error: Exception) -> None:
    """Kernels that do not ask for it run there all the same."""
    assert with_residency(FACTS, refusing(error)) == FACTS


def test_ctrl_c_is_not_taken_for_a_failure() -> None:
    """It ends the opening of a device, as it ends everything else."""
    with pytest.raises(KeyboardInterrupt):
        with_residency(FACTS, refusing(KeyboardInterrupt()))  # type: ignore[arg-type]  # any exception can be raised


def test_the_facts_stay_as_they_were() -> None:
    """The result is a mapping of its own."""
    facts = dict(FACTS)
    found = with_residency(facts, refusing(RuntimeError("no")))
    found["more"] = 1
    assert facts == FACTS


@pytest.mark.device
def test_what_is_measured_is_whole_workgroups(device: Device) -> None:
    """At least the one that measures, also where workgroups run one after the other."""
    found = invocations_in_flight(device.wgpu_device)
    assert found > 0
    assert found % WORKGROUP == 0


@pytest.mark.device
def test_a_gpu_s_fact_is_the_measurement(device: Device) -> None:
    """Asked of a real device as of one that is no software."""
    found = with_residency(FACTS, device.wgpu_device)
    assert {name: found[name] for name in FACTS} == FACTS
    count = found["invocationsInFlight"]
    assert isinstance(count, int)
    assert count % WORKGROUP == 0


@pytest.mark.device
def test_an_open_device_tells_it(device: Device) -> None:
    """Formulas read it, on a GPU; software has none."""
    on_software = bool(device.adapter_info["isFallbackAdapter"])
    assert ("invocationsInFlight" in device.adapter_info) == (not on_software)
    assert device.capabilities.adapter_info == device.adapter_info
