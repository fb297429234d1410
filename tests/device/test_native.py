"""Submissions on wgpu-native's C functions: what they release, and what they raise."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
import wgpu

from webgpu_kernels.device import Executable
from webgpu_kernels.device.native import gone
from webgpu_kernels.errors import DeviceError, DeviceLost

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from hand_made_programs import Programs

    from webgpu_kernels.device import Device
    from webgpu_kernels.device.binding import BoundSet

pytestmark = pytest.mark.device

X = np.arange(256, dtype=np.float32)


def live_objects() -> dict[str, int]:
    """Return how many objects of each kind wgpu-native holds."""
    gc.collect()
    return {name: entry["count"] for name, entry in wgpu.diagnostics.wgpu_native_counts.get_dict().items()}


def more_than(before: dict[str, int]) -> dict[str, int]:
    """Return the kinds of which there are more now; other tests' devices may still go."""
    return {name: count for name, count in live_objects().items() if name != "total" and count > before[name]}


@pytest.fixture
def bound(own_device: Device, programs: Programs) -> Iterator[BoundSet]:
    """Y = 2 · x, bound to memory that stays."""
    executable = Executable.compile(own_device, programs.scale())
    bound, results = executable.bind([own_device.tensor(X)])
    own_device.commands.submit(bound.stages or ())
    own_device.synchronize()
    yield bound
    del executable, results


def test_a_submission_leaves_nothing_behind(own_device: Device, bound: BoundSet) -> None:
    """Encoder, passes and command buffer are released: as many objects are alive as before."""
    before = live_objects()
    for _ in range(20):
        own_device.commands.submit((*(bound.stages or ()), *(bound.stages or ())))
    own_device.synchronize()
    assert more_than(before) == {}


def test_an_interrupt_at_any_step_leaves_nothing_behind(own_device: Device, bound: BoundSet) -> None:
    """Ctrl-C after each call of a built-in function: all is released, and no error is put where nobody looks for it."""
    before, interrupted = live_objects(), 0
    for turn in range(100):
        left = [turn]

        def interrupt(frame: FrameType, event: str, _argument: object, left: list[int] = left) -> None:
            if event == "c_return" and frame.f_code.co_filename.endswith("native.py"):
                left[0] -= 1
                if left[0] < 0:
                    sys.setprofile(None)
                    raise KeyboardInterrupt

        sys.setprofile(interrupt)
        try:
            own_device.commands.submit(bound.stages or ())
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.setprofile(None)
        if left[0] >= 0:
            break
    own_device.synchronize()
    assert interrupted >= 5
    assert more_than(before) == {}
    assert not own_device.commands._slots()


@pytest.mark.parametrize("step", ["_create", "_begin", "_set_pipeline", "_set_group", "_dispatch", "_end", "_finish"])
def test_a_step_that_raises_leaves_nothing_behind(
    own_device: Device, bound: BoundSet, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whatever it raises comes out, and nothing is submitted."""

    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError

    before = live_objects()
    with monkeypatch.context() as patch:
        patch.setattr(own_device.commands, step, fail)
        with pytest.raises(ZeroDivisionError):
            own_device.commands.submit(bound.stages or ())
    own_device.synchronize()
    assert more_than(before) == {}
    own_device.commands.submit(bound.stages or ())


def test_what_wgpu_reports_is_a_device_error(own_device: Device, bound: BoundSet) -> None:
    """The first report in wgpu's own words; the device works on."""
    (segment,) = bound.segments
    pipeline, group, *_ = segment.dispatches[0]
    with pytest.raises(DeviceError) as caught, own_device.translating("testing"):
        own_device.commands.submit((((), ((pipeline, group, 70_000, 1, 1),), ()),))
    assert str(caught.value) == (
        "wgpu failed while testing (In wgpuCommandEncoderFinish; In a dispatch command, indirect:false; "
        "Each current dispatch group size dimension ([70000, 1, 1]) must be less or equal to 65535)"
    )
    own_device.commands.submit(bound.stages or ())


def test_a_lost_device_is_met_before_anything_is_recorded(
    own_device: Device, bound: BoundSet, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where only wgpu knows: DeviceLost, nothing aborts, and nothing is logged but what wgpu-py logs of the loss."""
    type(own_device.wgpu_device).destroy(own_device.wgpu_device)
    with pytest.raises(DeviceLost):
        own_device.submit(bound)
    with pytest.raises(DeviceLost):
        own_device.probe()
    assert "Caused by" not in capsys.readouterr().err


def test_probing_leaves_nothing_behind(own_device: Device) -> None:
    """A thread that waits for long asks again and again."""
    before = live_objects()
    for _ in range(20):
        own_device.probe()
    assert more_than(before) == {}


def test_an_object_that_was_collected_is_an_error(own_device: Device, bound: BoundSet) -> None:
    """In finalizers wgpu-py's objects may have lost what they stand for: an exception, not the end of the process."""
    (segment,) = bound.segments
    pipeline, group, *grid = segment.dispatches[0]
    assert not gone(group)
    group.__del__()
    assert gone(group)
    with pytest.raises(DeviceError, match=r"^what is needed for submitting was collected already"):
        own_device.submit(bound)
    assert pipeline is not None
    assert grid == [4, 1, 1]
