"""The pool hands dropped memory out again, within bounds."""

from __future__ import annotations

import pytest

from webgpu_kernels.device.failures import translate
from webgpu_kernels.device.memory import Allocation, Pool
from webgpu_kernels.errors import DeviceError, LimitError, OutOfMemory

LIMITS = {"maxStorageBufferBindingSize": 1 << 20, "maxBufferSize": 1 << 20}


class FakeBuffer:
    """A buffer that knows whether it was destroyed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.destroyed = False

    def destroy(self) -> None:
        """Note it."""
        self.destroyed = True


class FakeDevice:
    """Makes buffers, or fails so many times."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def create_buffer(self, *, size: int, usage: int) -> FakeBuffer:
        """Make one, or fail."""
        if self.failures:
            raise RuntimeError(self.failures.pop())
        return FakeBuffer(size)


@pytest.fixture
def fake() -> FakeDevice:
    return FakeDevice()


@pytest.fixture
def pool(fake: FakeDevice) -> Pool:
    return Pool(fake, LIMITS, 4096, translate)


def test_dropped_memory_comes_back_last_first(pool: Pool) -> None:
    """The most recently dropped allocation of a size class is reused."""
    first, second = pool.acquire(1000, "a"), pool.acquire(1000, "b")
    pool.returned.extend((first, second))
    assert [pool.acquire(990, "c"), pool.acquire(990, "d")] == [second, first]
    assert pool.created == 2


@pytest.mark.parametrize("size", [4, 256, 260, 1000, 4096, 5000, 123456, 1 << 20])
def test_a_size_class_wastes_an_eighth_at_most(pool: Pool, size: int) -> None:
    """Classes hold what was asked, keep 256-byte steps at least, and are stable."""
    rounded = pool.class_of(size)
    assert size <= rounded <= max(256, size + max(256, size // 8))
    assert pool.class_of(rounded) == rounded


def test_the_pool_is_bounded(pool: Pool) -> None:
    """What was unused for longest is destroyed first."""
    allocations = [pool.acquire(2048, "a") for _ in range(3)]
    pool.returned.extend(allocations)
    pool.collect()
    assert [allocation.destroyed for allocation in allocations] == [True, False, False]
    assert pool.free_bytes == 4096


def test_trimming_empties_the_pool(pool: Pool) -> None:
    """trim() gives every unused buffer back to the driver."""
    allocation = pool.acquire(2048, "a")
    pool.returned.append(allocation)
    pool.trim()
    assert allocation.buffer.destroyed
    assert pool.free_bytes == 0


def test_pinned_memory_waits(pool: Pool) -> None:
    """Memory that a batch uses is not handed out before it is unpinned."""
    allocation = pool.acquire(256, "a")
    allocation.pins = 1
    pool.returned.append(allocation)
    assert pool.acquire(256, "b") is not allocation
    pool.unpin(allocation)
    assert pool.acquire(256, "c") is allocation


def test_memory_that_a_caller_has_seen_is_not_reused(pool: Pool) -> None:
    """A caller may still hold the buffer; it is neither destroyed nor handed out."""
    allocation = pool.acquire(256, "a")
    allocation.reusable = False
    pool.returned.append(allocation)
    assert pool.acquire(256, "b") is not allocation
    assert not allocation.buffer.destroyed


def test_more_than_the_limit_is_refused_before_allocation(fake: FakeDevice) -> None:
    """The error says which limit, how much was asked and how much there is."""
    pool = Pool(fake, {**LIMITS, "maxBufferSize": 1024}, 4096, translate)
    with pytest.raises(LimitError) as caught:
        pool.acquire(2048, "input x")
    assert str(caught.value) == "input x: the tensor is too large: needs 2048, the device's maxBufferSize is 1024"
    assert pool.created == 0


def test_a_buffer_may_be_larger_than_a_binding(fake: FakeDevice) -> None:
    """A tensor may be bound in parts; what is bound is checked where it is."""
    pool = Pool(fake, {**LIMITS, "maxStorageBufferBindingSize": 1024}, 4096, translate)
    assert pool.acquire(2048, "input x").capacity == 2048


def test_running_out_empties_the_pool_and_tries_again(fake: FakeDevice, pool: Pool) -> None:
    """A failed allocation costs the unused buffers, not the call."""
    spare = pool.acquire(2048, "a")
    pool.returned.append(spare)
    fake.failures = ["Not enough memory left"]
    assert pool.acquire(512, "b").capacity == 512
    assert spare.destroyed


def test_running_out_twice_is_out_of_memory(fake: FakeDevice, pool: Pool) -> None:
    """The error is also a MemoryError, and the pool still works."""
    fake.failures = ["Not enough memory left"] * 2
    with pytest.raises(OutOfMemory) as caught:
        pool.acquire(512, "input x")
    assert str(caught.value) == (
        "the device has not enough memory left for allocating 512 bytes for input x. Destroy tensors or trim its pool"
    )
    assert isinstance(caught.value, MemoryError)
    assert pool.acquire(512, "input x").capacity == 512


def test_other_failures_are_device_errors(fake: FakeDevice, pool: Pool) -> None:
    """An unexpected error of wgpu's keeps its words."""
    fake.failures = ["strange"]
    with pytest.raises(DeviceError, match=r"^wgpu failed while allocating 512 bytes for x \(strange\)$"):
        pool.acquire(512, "x")


def test_a_key_stands_for_memory_and_spec() -> None:
    """The same spec on the same memory has the same key, and no other pair has it."""
    first, second = Allocation(None, 4), Allocation(None, 4)
    assert first.key("a") == first.key("a")
    assert len({first.key("a"), first.key("b"), second.key("a"), second.key("b")}) == 4


def test_keys_of_one_allocation_are_bounded() -> None:
    """Thousands of specs on recycled memory leave no trail."""
    allocation = Allocation(None, 4)
    for number in range(1000):
        allocation.key(number)
    assert len(allocation._keys) <= 64
