"""Programs bound to memory: bind groups and dispatches, ready to be encoded again and again."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.seam import Wgpu

MAX_BOUND_SETS: Final = 64
"""Binding sets that one executable keeps."""

Key = tuple[int, ...]
Dispatch = tuple["Wgpu", "Wgpu", int, int, int]
"""Pipeline, bind group, workgroups along x, y, z."""


class Segment(NamedTuple):
    """What goes into one compute pass.

    Attributes:
        clears: (buffer, offset, bytes) to zero before it.
        dispatches: in order.
        names: the pass id of each.
        waits: whether the work so far is submitted and waited for after it.
    """

    clears: tuple[tuple[Wgpu, int, int], ...]
    dispatches: tuple[Dispatch, ...]
    names: tuple[str, ...]
    waits: bool


class BoundSet:
    """A program with its bind groups made for particular memory.

    Args:
        cache: where it is kept.
        key: under which key.
        segments: what to encode.
        allocations: all memory that its bind groups hold.
        written: the allocations that it writes.
    """

    __slots__ = ("__weakref__", "_cache", "allocations", "dead", "key", "segments", "simple", "written")

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
        plain = len(self.segments) == 1 and not self.segments[0].clears and not self.segments[0].waits
        self.simple: tuple[Dispatch, ...] | None = self.segments[0].dispatches if plain else None
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
