"""Mapping buffers and waiting for them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from webgpu_kernels.device import Executable
from webgpu_kernels.device.mapping import READ
from webgpu_kernels.device.seam import COPY_DST, MAP_READ
from webgpu_kernels.errors import DeviceError

if TYPE_CHECKING:
    from types import FrameType

    from hand_made_programs import Programs

    from webgpu_kernels.device import Device

pytestmark = pytest.mark.device

X = np.arange(256, dtype=np.float32)


def test_a_result_that_takes_long_is_waited_for(own_device: Device, programs: Programs) -> None:
    """Longer than it is polled for without a pause."""
    executable = Executable.compile(own_device, programs.spin(16))
    (result,) = executable.run_to_host([own_device.tensor(X[:64])])
    assert (result > 1e30).all()


def test_a_mapping_that_wgpu_refuses_is_an_error(own_device: Device) -> None:
    """Refused at once or in its answer; in wgpu's words."""
    buffer = own_device.wgpu_device.create_buffer(size=64, usage=MAP_READ | COPY_DST)
    mappings = own_device.transfers.mappings
    mappings.wait(mappings.start(buffer, READ, 64))
    with pytest.raises(DeviceError, match=r"already mapped"), own_device.translating("mapping"):
        mappings.wait(mappings.start(buffer, READ, 64))


def test_an_answer_that_nobody_waits_for_any_more_is_dropped(own_device: Device) -> None:
    """Ctrl-C while waiting, say: later mappings are answered as ever."""
    buffer = own_device.wgpu_device.create_buffer(size=64, usage=MAP_READ | COPY_DST)
    own_device.transfers.mappings.start(buffer, READ, 64)
    np.testing.assert_array_equal(own_device.tensor(X).numpy(), X)


def interrupt_once(frame: FrameType, _event: str, _argument: object) -> None:
    """Trace a thread, and interrupt it as wgpu answers a mapping."""
    if frame.f_code.co_name == "resolve":
        sys.settrace(None)
        raise KeyboardInterrupt


def test_an_interrupt_as_wgpu_answers_is_raised_in_its_thread_whichever_mapping_was_answered(
    own_device: Device,
) -> None:
    """Python drops what a callback raises; neither Ctrl-C nor an answer is lost, and nobody else gets it."""
    mappings = own_device.transfers.mappings
    buffers = [own_device.wgpu_device.create_buffer(size=64, usage=MAP_READ | COPY_DST) for _ in range(2)]
    first, second = (mappings.start(buffer, READ, 64) for buffer in buffers)
    sys.settrace(interrupt_once)
    try:
        with pytest.raises(KeyboardInterrupt):
            mappings.wait(second)
    finally:
        sys.settrace(None)
    for pending in (first, second):
        mappings.wait(pending)
        assert pending.done
        assert pending.error is None


def test_an_interrupt_as_a_submission_answers_comes_out_of_it(own_device: Device) -> None:
    """Not out of some later read or upload."""
    buffer = own_device.wgpu_device.create_buffer(size=64, usage=MAP_READ | COPY_DST)
    pending = own_device.transfers.mappings.start(buffer, READ, 64)

    def submit_until_it_is_answered() -> None:
        while not pending.done:
            own_device.commands.submit([([], [], [])])

    sys.settrace(interrupt_once)
    try:
        with pytest.raises(KeyboardInterrupt):
            submit_until_it_is_answered()
    finally:
        sys.settrace(None)
    np.testing.assert_array_equal(own_device.tensor(X).numpy(), X)
