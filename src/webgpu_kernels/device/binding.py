"""Programs bound to memory: bind groups and dispatches, ready to be encoded again and again."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.device.native import keep_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.native import Clear, Dispatch, Stage

MAX_BOUND_SETS: Final = 64
"""Binding sets that one executable keeps."""

Key = tuple[int, ...]


class Segment(NamedTuple):
    """What goes into one compute pass.

    Attributes:
        clears: (buffer, offset, bytes) to zero before it.
        dispatches: in order.
        names: the pass id of each.
        waits: whether the work so far is submitted and waited for after it.
    """

    clears: tuple[Clear, ...]
    dispatches: tuple[Dispatch, ...]
    names: tuple[str, ...]
    waits: bool

    @property
    def stage(self) -> Stage:
        """What ``Commands`` takes."""
        return self.clears, self.dispatches, ()


class BoundSet:
    """A program with its bind groups made for particular memory.

    Args:
        cache: where it is kept.
        key: under which key.
        segments: what to encode.
        allocations: all memory that its bind groups hold.
        written: the allocations that it writes.

    Attributes:
        stages: what to submit, or None where a segment waits between.
    """

    __slots__ = ("__weakref__", "_cache", "allocations", "dead", "key", "segments", "stages", "written")

    def __init__(
        self,
        cache: BindingCache,
        key: Key,
        segments: Sequence[Segment],
        allocations: Iterable[Allocation],
        written: Iterable[Allocation],
    ) -> None:
        self._cache = weakref.ref(cache)  # a cycle would keep bind groups until the next garbage collection
        self.key = key
        self.segments = tuple(segments)
        self.allocations = tuple(allocations)
        self.written = tuple(written)
        self.dead = False
        waits = any(segment.waits for segment in self.segments)
        self.stages = None if waits else tuple(segment.stage for segment in self.segments)
        keep_for(self, chain.from_iterable(step[:2] for segment in self.segments for step in segment.dispatches))
        for allocation in self.allocations:
            allocation.bound.add(self)

    def drop(self) -> None:
        """Forget it: memory that it holds is going away."""
        self.dead = True
        self.release()
        for allocation in self.allocations:
            allocation.bound.discard(self)

    def release(self) -> None:
        """Leave the cache. A batch that recorded it may still encode it, and hears where its memory is destroyed."""
        cache = self._cache()
        if cache is not None and cache.sets.get(self.key) is self:
            del cache.sets[self.key]


class BindingCache:
    """The binding sets of one executable, the least recently used leaving first.

    Args:
        limit: how many are kept.
    """

    def __init__(self, limit: int = MAX_BOUND_SETS) -> None:
        self.sets: OrderedDict[Key, BoundSet] = OrderedDict()
        self._limit = limit

    def find(self, key: Key) -> BoundSet | None:
        """Return the set for this memory, if there is one.

        Args:
            key: the tensors' keys.

        Returns:
            The set, now the most recently used.

        Source: FORMAT, section 8.
        """
        bound = self.sets.get(key)
        if bound is not None:
            self.sets.move_to_end(key)
        return bound

    def keep(self, bound: BoundSet) -> None:
        """Keep a new set, and let go of the one that was not used for longest.

        Args:
            bound: the set.

        Source: FORMAT, section 8.
        """
        self.sets[bound.key] = bound
        if len(self.sets) > self._limit:
            next(iter(self.sets.values())).release()
