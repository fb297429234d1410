"""Intermediate buffers, shared by every program of a device.

Calls follow one another on a device's queue, so they can use the same intermediates; an executable that keeps its own
would hold as much again. The same buffers come back for the same sizes, so repeated calls keep their bind groups.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.device.memory import Allocation, Pool
    from webgpu_kernels.planning.program import Scratch

SCRATCH_LIMIT_BYTES: Final = 256 << 20
"""Bytes that stay for the next calls; a program that needs more gets more."""


class ScratchArena:
    """The intermediates of one device; the caller holds its lock.

    Args:
        pool: where memory comes from and goes to.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._kept: OrderedDict[tuple[int, int], Allocation] = OrderedDict()
        self._bytes = 0

    def get(self, wanted: Sequence[Scratch], where: str) -> dict[str, Allocation]:
        """Return memory for a program's intermediates, different memory for each.

        Args:
            wanted: ids and sizes.
            where: operator and variant, for messages.

        Returns:
            An allocation for each id.

        Raises:
            LimitError, OutOfMemory: as for ``Pool.acquire``.

        Source: FORMAT, section 6.
        """
        seen: Counter[int] = Counter()
        found: dict[str, Allocation] = {}
        for entry in wanted:
            size_class = self._pool.class_of(entry.size_bytes)
            place = (size_class, seen[size_class])
            seen[size_class] += 1
            found[entry.id] = self._at(place, f"{where}, {entry.id}")
        self._shrink(len(found))
        return found

    def clear(self) -> None:
        """Give every intermediate back to the pool; open batches keep theirs until they are submitted."""
        while self._kept:
            self._forget_oldest()

    def _at(self, place: tuple[int, int], where: str) -> Allocation:
        allocation = self._kept.get(place)
        if allocation is None:
            allocation = self._kept[place] = self._pool.acquire(place[0], where)
            self._bytes += allocation.capacity
        self._kept.move_to_end(place)
        return allocation

    def _shrink(self, in_use: int) -> None:
        while self._bytes > SCRATCH_LIMIT_BYTES and len(self._kept) > in_use:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, allocation = self._kept.popitem(last=False)
        self._bytes -= allocation.capacity
        if allocation.pins:
            allocation.retire()
        else:
            allocation.unbind()
        self._pool.returned.append(allocation)
