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


def test_an_interrupt_as_wgpu_answers_is_raised_where_the_answer_is_waited_for(own_device: Device) -> None:
    """Python drops what a callback raises; neither Ctrl-C nor the answer is lost."""
    buffer = own_device.wgpu_device.create_buffer(size=64, usage=MAP_READ | COPY_DST)
    mappings = own_device.transfers.mappings
    pending = mappings.start(buffer, READ, 64)

    def interrupt(frame: FrameType, _event: str, _argument: object) -> None:
        if frame.f_code.co_name == "resolve":
            sys.settrace(None)
            raise KeyboardInterrupt

    sys.settrace(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            mappings.wait(pending)
    finally:
        sys.settrace(None)
    assert pending.done
    assert pending.error is None
