"""Batches: one thread's calls in one submission."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from webgpu_kernels.device import Executable
from webgpu_kernels.device.seam import COPY_DST, COPY_SRC, STORAGE
from webgpu_kernels.errors import DeviceError, TensorDestroyed
from webgpu_kernels.planning.program import Scratch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from hand_made_programs import Programs

    from webgpu_kernels.device import Batch, Device, Tensor
    from webgpu_kernels.device.native import Stage

pytestmark = pytest.mark.device

X = np.arange(256, dtype=np.float32)


@pytest.fixture
def double(own_device: Device, programs: Programs) -> Executable:
    """Y = 2 · x on this test's own device."""
    return Executable.compile(own_device, programs.scale())


@pytest.fixture
def fourfold(own_device: Device, programs: Programs) -> Executable:
    """Y = 2 · (2 · x), by way of an intermediate."""
    (half,) = programs.scale().passes
    params = next(slot for slot in half.slots if slot.source == "uniform")
    middle = programs.slot("middle", "storage", "scratch")
    first = replace(half, id="first", slots=(programs.slot("x", "read-only-storage"), middle, params))
    read = programs.slot("middle", "read-only-storage", "scratch")
    second = replace(half, id="second", slots=(read, programs.slot("y", "storage"), params))
    scratch = (Scratch(id="middle", size_bytes=1024, zero_init=False),)
    program = programs.program((first, second), programs.scale().inputs, programs.scale().outputs, scratch)
    return Executable.compile(own_device, program)


def count_submissions(device: Device, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many stages each submission has."""
    submissions: list[int] = []
    submit = device.commands.submit

    def counted(stages: Sequence[Stage]) -> None:
        submissions.append(len(stages))
        submit(stages)

    monkeypatch.setattr(device.commands, "submit", counted)
    return submissions


def test_calls_go_out_together(own_device: Device, double: Executable, monkeypatch: pytest.MonkeyPatch) -> None:
    """32 dependent calls are one submission, and give what 32 separate ones give."""
    (tensor,) = double.run([own_device.tensor(X)])
    submissions = count_submissions(own_device, monkeypatch)
    with own_device.batch():
        for _ in range(31):
            (tensor,) = double.run([tensor])
        assert submissions == []
    assert submissions == [31]
    np.testing.assert_array_equal(tensor.numpy(), X * np.float32(2) ** 32)


def test_an_empty_batch_submits_nothing(own_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """No calls, no submission."""
    submissions = count_submissions(own_device, monkeypatch)
    with own_device.batch():
        pass
    assert submissions == []


def test_writes_keep_the_order_of_the_calls(own_device: Device, double: Executable) -> None:
    """The last call into the same tensor wins, and earlier readers saw what was there before."""
    first, second = own_device.tensor(X), own_device.tensor(X + 1)
    target = own_device.empty((256,), "float32")
    with own_device.batch():
        double.run([first], [target])
        (between,) = double.run([target])
        double.run([second], [target])
    np.testing.assert_array_equal(between.numpy(), 4 * X)
    np.testing.assert_array_equal(target.numpy(), 2 * (X + 1))


def test_uploads_do_not_overtake_recorded_calls(own_device: Device, double: Executable) -> None:
    """An input dropped inside the batch is not overwritten by a later upload of the same size."""
    with own_device.batch():
        results = [double.run([own_device.tensor(X + turn)])[0] for turn in range(8)]
    for turn, result in enumerate(results):
        np.testing.assert_array_equal(result.numpy(), 2 * (X + turn))


def test_destroying_waits_for_the_submission(own_device: Device, double: Executable) -> None:
    """A tensor destroyed inside the batch was still read by the calls before."""
    tensor = own_device.tensor(X)
    memory = tensor.allocation
    with own_device.batch():
        (result,) = double.run([tensor])
        tensor.destroy()
        own_device.tensor(np.zeros(256, np.float32))
        assert not memory.destroyed
        with pytest.raises(TensorDestroyed):
            double.run([tensor])
    np.testing.assert_array_equal(result.numpy(), 2 * X)
    assert own_device.empty((256,), "float32").allocation in {memory, None} or own_device.pool.free_bytes > 0


def test_an_exception_submits_nothing(own_device: Device, double: Executable) -> None:
    """What the calls would have made is gone and says why; given tensors keep their contents; all is released."""
    tensor, target = own_device.tensor(X), own_device.tensor(X)
    with pytest.raises(KeyError), own_device.batch():  # noqa: PT012 - leaving is what is tested
        (made,) = double.run([tensor])
        double.run([tensor], [target])
        raise KeyError
    with pytest.raises(TensorDestroyed, match="its batch ended with an exception and was not submitted"):
        made.numpy()
    np.testing.assert_array_equal(target.numpy(), X)
    assert tensor.allocation.pins == 0
    assert own_device.open_batches == 0
    np.testing.assert_array_equal(double.run([tensor])[0].numpy(), 2 * X)


def test_reading_inside_the_batch_is_an_error(own_device: Device, double: Executable) -> None:
    """What an open batch writes cannot be read yet, by any thread; other tensors can."""
    tensor = own_device.tensor(X)
    with own_device.batch():
        (made,) = double.run([tensor])
        with pytest.raises(DeviceError) as caught:
            made.numpy()
        np.testing.assert_array_equal(tensor.numpy(), X)
    assert str(caught.value) == "float32[256]: the tensor is written by an open batch. Leave the batch first."
    np.testing.assert_array_equal(made.numpy(), 2 * X)


def test_results_on_the_host_are_refused_inside_the_batch(own_device: Device, double: Executable) -> None:
    """run_to_host and time would have to submit."""
    tensor = own_device.tensor(X)
    with own_device.batch():
        with pytest.raises(DeviceError, match=r"^cannot run to numpy in an open batch\. Leave the batch first\.$"):
            double.run_to_host([tensor])
        with pytest.raises(DeviceError, match=r"^cannot time passes in an open batch"):
            double.time([tensor])


def test_batches_do_not_nest(own_device: Device, double: Executable) -> None:
    """Opening a second one is an error; the first one still ends well."""
    with own_device.batch():
        (made,) = double.run([own_device.tensor(X)])
        with pytest.raises(DeviceError, match=r"^cannot open a batch in an open batch"), own_device.batch():
            pass
    np.testing.assert_array_equal(made.numpy(), 2 * X)


def test_a_batch_is_one_threads(own_device: Device, double: Executable) -> None:
    """Another thread's calls are submitted at once, and it may have a batch of its own."""
    results: list[np.ndarray] = []

    def other() -> None:
        results.append(double.run_to_host([own_device.tensor(X)])[0])
        with own_device.batch():
            (made,) = double.run([own_device.tensor(X)])
        results.append(made.numpy())

    with own_device.batch():
        (mine,) = double.run([own_device.tensor(X)])
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(30)
    np.testing.assert_array_equal(results, [2 * X, 2 * X])
    np.testing.assert_array_equal(mine.numpy(), 2 * X)


def test_a_buffer_destroyed_before_the_submission_is_noticed(own_device: Device, double: Executable) -> None:
    """Its owner destroys a wrapped buffer while the batch is open: an error, not the end of the process."""
    buffer = own_device.wgpu_device.create_buffer(size=1024, usage=STORAGE | COPY_SRC | COPY_DST)
    tensor = own_device.wrap(buffer, (256,), "float32")
    with (  # noqa: PT012 - the error comes from leaving
        pytest.raises(TensorDestroyed, match="destroyed before it was submitted"),
        own_device.batch(),
    ):
        (made,) = double.run([tensor])
        buffer.destroy()
    assert made.destroyed
    np.testing.assert_array_equal(double.run([own_device.tensor(X)])[0].numpy(), 2 * X)


def test_trimming_leaves_recorded_memory_alone(own_device: Device, double: Executable) -> None:
    """trim() inside a batch frees only what no call uses."""
    with own_device.batch():
        (made,) = double.run([own_device.tensor(X)])
        own_device.trim()
    np.testing.assert_array_equal(made.numpy(), 2 * X)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in another thread"])
def test_trimming_leaves_recorded_intermediates_alone(
    own_device: Device, fourfold: Executable, elsewhere: bool
) -> None:
    """What the calls of an open batch pass through survives trim(), and is freed after the batch."""
    tensor = own_device.tensor(X)
    with own_device.batch():
        (first,) = fourfold.run([tensor])
        if elsewhere:
            thread = threading.Thread(target=own_device.trim)
            thread.start()
            thread.join(30)
        else:
            own_device.trim()
        (second,) = fourfold.run([first])
    np.testing.assert_array_equal(first.numpy(), 4 * X)
    np.testing.assert_array_equal(second.numpy(), 16 * X)
    own_device.trim()
    assert own_device.pool.free_bytes == 0
    np.testing.assert_array_equal(fourfold.run([tensor])[0].numpy(), 4 * X)


def test_a_recorded_call_hears_of_destroyed_memory_after_its_binding_left_the_cache(
    own_device: Device, fourfold: Executable
) -> None:
    """Trimmed from the cache, a call of the batch is still refused where a buffer of its went away."""
    buffer = own_device.wgpu_device.create_buffer(size=1024, usage=STORAGE | COPY_SRC | COPY_DST)
    tensor = own_device.wrap(buffer, (256,), "float32")
    with (  # noqa: PT012 - the error comes from leaving
        pytest.raises(TensorDestroyed, match="destroyed before it was submitted"),
        own_device.batch(),
    ):
        fourfold.run([tensor])
        own_device.trim()
        buffer.destroy()


def test_closing_the_device_inside_a_batch(own_device: Device, double: Executable) -> None:
    """Leaving the batch says that the device is closed."""
    with pytest.raises(DeviceError, match=r"^the device was closed"), own_device.batch():  # noqa: PT012 - see above
        double.run([own_device.tensor(X)])
        own_device.close()


def test_a_second_exit_does_nothing(own_device: Device, double: Executable) -> None:
    """The batch is over after the first one; the next batch is like any other."""
    batch = own_device.batch()
    batch.__enter__()
    (made,) = double.run([own_device.tensor(X)])
    batch.__exit__(None, None, None)
    batch.__exit__(None, None, None)
    batch.__exit__(KeyError, KeyError(), None)
    assert own_device.open_batches == 0
    np.testing.assert_array_equal(made.numpy(), 2 * X)
    with batch:
        (again,) = double.run([own_device.tensor(X)])
    np.testing.assert_array_equal(again.numpy(), 2 * X)


@pytest.mark.parametrize("kept", [False, True], ids=["forgotten", "kept in a variable"])
@pytest.mark.parametrize("step", ["__enter__", "begin", "_leave"])
def test_an_interrupt_leaves_no_batch_open(own_device: Device, double: Executable, step: str, kept: bool) -> None:
    """Ctrl-C as the batch is entered or left: outputs are gone, memory is free, and the next batch works."""
    tensor = own_device.tensor(X)
    made: list[Tensor] = []
    caught: list[KeyboardInterrupt] = []

    def interrupt(frame: FrameType, _event: str, _argument: object) -> None:
        if frame.f_code.co_name == step and "batch.py" in frame.f_code.co_filename:
            sys.settrace(None)
            raise KeyboardInterrupt

    batch = own_device.batch()
    sys.settrace(interrupt)
    try:
        with batch:
            made.extend(double.run([tensor]))
    except KeyboardInterrupt as error:
        caught.append(error)
    finally:
        sys.settrace(None)
    if not kept:
        del batch
        caught.clear()
    assert own_device.open_batches == 0
    assert own_device.current_batch() is None
    for output in made:
        with pytest.raises(TensorDestroyed, match="its batch ended with an exception and was not submitted"):
            output.numpy()
    with own_device.batch():
        (after,) = double.run([tensor])
    np.testing.assert_array_equal(after.numpy(), 2 * X)
    assert tensor.allocation.pins == 0


def test_a_batch_that_nobody_can_leave_is_over(own_device: Device, double: Executable) -> None:
    """Entered by hand and forgotten: its calls are given up with it."""
    tensor = own_device.tensor(X)
    batch = own_device.batch()
    batch.__enter__()
    (made,) = double.run([tensor])
    assert own_device.open_batches == 1
    del batch
    assert own_device.open_batches == 0
    with pytest.raises(TensorDestroyed, match="was not submitted"):
        made.numpy()
    assert tensor.allocation.pins == 0
    np.testing.assert_array_equal(double.run_to_host([tensor])[0], 2 * X)


def test_an_exit_stack_leaves_a_batch_as_a_with_statement_does(own_device: Device, double: Executable) -> None:
    """ExitStack looks the methods up on the class."""
    with ExitStack() as stack:
        stack.enter_context(own_device.batch())
        (made,) = double.run([own_device.tensor(X)])
        assert own_device.open_batches == 1
    assert own_device.open_batches == 0
    np.testing.assert_array_equal(made.numpy(), 2 * X)


def test_another_thread_may_leave_a_batch(own_device: Device, double: Executable) -> None:
    """Its calls are submitted; the thread that opened it has none open any more."""
    batch = own_device.batch()
    batch.__enter__()
    (made,) = double.run([own_device.tensor(X)])
    thread = threading.Thread(target=batch.__exit__, args=(None, None, None))
    thread.start()
    thread.join(30)
    np.testing.assert_array_equal(made.numpy(), 2 * X)
    np.testing.assert_array_equal(double.run_to_host([own_device.tensor(X)])[0], 2 * X)
    with own_device.batch():
        (after,) = double.run([made])
    np.testing.assert_array_equal(after.numpy(), 4 * X)


def test_an_open_batch_cannot_be_opened_by_another_thread(own_device: Device, double: Executable) -> None:
    """One object is one batch at a time."""
    caught: list[DeviceError] = []

    def enter(batch: Batch) -> None:
        try:
            batch.__enter__()
        except DeviceError as error:
            caught.append(error)

    with own_device.batch() as batch:
        (made,) = double.run([own_device.tensor(X)])
        thread = threading.Thread(target=enter, args=(batch,))
        thread.start()
        thread.join(30)
    assert [str(error) for error in caught] == [
        "the batch is open in another thread. Open a batch for each thread",
    ]
    np.testing.assert_array_equal(made.numpy(), 2 * X)


def test_the_batch_of_a_dead_thread_can_still_be_left(own_device: Device, double: Executable) -> None:
    """Kept by somebody it is submitted then; forgotten it holds no memory."""
    kept: list[Batch] = []
    tensor = own_device.tensor(X)
    made: list[Tensor] = []

    def work() -> None:
        batch = own_device.batch()
        batch.__enter__()
        made.extend(double.run([tensor]))
        kept.append(batch)

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(30)
    kept[0].__exit__(None, None, None)
    np.testing.assert_array_equal(made[0].numpy(), 2 * X)
    kept.clear()
    assert own_device.open_batches == 0
    own_device.trim()
    assert made[1].destroyed
    assert tensor.allocation.pins == 0
