"""Intermediates that a program keeps from one run to the next."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from webgpu_kernels.device import Executable

if TYPE_CHECKING:
    from hand_made_programs import Programs

    from webgpu_kernels.device import Device, Tensor

pytestmark = pytest.mark.device


def seen(executable: Executable, x: Tensor) -> list[float]:
    """Run, and return what the run saw."""
    (y,) = executable.run([x])
    found: list[float] = y.numpy().tolist()
    return found


@pytest.fixture
def zero(device: Device) -> Tensor:
    """A tensor of one zero."""
    return device.tensor(np.zeros(1, np.float32))


def test_the_first_run_sees_zeros_and_the_next_what_it_left(device: Device, programs: Programs, zero: Tensor) -> None:
    """What is not kept is cleared as ever."""
    executable = Executable.compile(device, programs.counting())
    assert [seen(executable, zero) for _ in range(4)] == [[0, 0], [1, 0], [2, 0], [3, 0]]


def test_without_being_kept_it_is_cleared(device: Device, programs: Programs, zero: Tensor) -> None:
    """Every run sees zeros."""
    executable = Executable.compile(device, programs.counting(kept=False))
    assert [seen(executable, zero) for _ in range(3)] == [[0, 0]] * 3


def test_each_executable_keeps_its_own(device: Device, programs: Programs, zero: Tensor) -> None:
    """Also two of the same program, in turns."""
    first, second = (Executable.compile(device, programs.counting()) for _ in range(2))
    assert [seen(each, zero)[0] for each in (first, second, first, first, second)] == [0, 0, 1, 2, 1]


def test_other_tensors_meet_the_same_memory(device: Device, programs: Programs, zero: Tensor) -> None:
    """It belongs to the program, not to what is bound beside it."""
    executable = Executable.compile(device, programs.counting())
    ten = device.tensor(np.full(1, 10, np.float32))
    assert [seen(executable, x)[0] for x in (zero, ten, zero, ten)] == [0, 11, 2, 13]


def test_runs_of_a_batch_follow_one_another(device: Device, programs: Programs, zero: Tensor) -> None:
    """One submission, and each run sees what the one before left."""
    executable = Executable.compile(device, programs.counting())
    with device.batch():
        results = [executable.run([zero])[0] for _ in range(3)]
    assert [float(y.numpy()[0]) for y in results] == [0, 1, 2]


def test_an_abandoned_batch_leaves_it_alone(device: Device, programs: Programs, zero: Tensor) -> None:
    """What was recorded did not run."""
    executable = Executable.compile(device, programs.counting())
    assert seen(executable, zero)[0] == 0

    def abandon() -> None:
        with device.batch():
            executable.run([zero])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        abandon()
    assert seen(executable, zero)[0] == 1


def test_it_outlives_trimming(own_device: Device, programs: Programs) -> None:
    """Memory that is given back to the driver is what no program keeps."""
    executable = Executable.compile(own_device, programs.counting())
    x = own_device.tensor(np.zeros(1, np.float32))
    assert seen(executable, x)[0] == 0
    own_device.trim()
    assert seen(executable, x)[0] == 1


def test_a_program_that_waits_between_passes_keeps_it_too(device: Device, programs: Programs, zero: Tensor) -> None:
    """What is cleared is so before the first pass only."""
    whole = programs.counting()
    first = dataclasses.replace(whole.passes[0], id="first", submit_after=True)
    executable = Executable.compile(device, dataclasses.replace(whole, passes=(first, *whole.passes)))
    assert [seen(executable, zero) for _ in range(2)] == [[1, 1], [3, 1]]


def test_timed_runs_count(device: Device, programs: Programs, zero: Tensor) -> None:
    """They are runs like others."""
    if "timestamp-query" not in device.capabilities.features:
        pytest.skip("the adapter has no timestamp queries")
    executable = Executable.compile(device, programs.counting())
    executable.time([zero], repeat=3)
    between = seen(executable, zero)[0]
    executable.time_calls([([zero], None)], repeat=2)
    assert between >= 3
    assert seen(executable, zero)[0] >= between + 3
