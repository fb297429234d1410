"""Copies between numpy arrays and device memory.

Small uploads go through the queue; large ones through three staging buffers of 4 MiB, because a large write_buffer
doubles host memory, is slow, and loses the device where memory runs out inside it. Reads go through pooled buffers.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.arrays import np
from webgpu_kernels.device.codec import Narrowing, decode, encode, encoded_bits, stored_dtype
from webgpu_kernels.device.mapping import READ, WRITE, Mappings
from webgpu_kernels.device.seam import COPY_DST, COPY_SRC, MAP_READ, MAP_WRITE, Wgpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.device.encoding import Recorder
    from webgpu_kernels.device.failures import Failed
    from webgpu_kernels.device.mapping import Pending
    from webgpu_kernels.device.memory import Allocation
    from webgpu_kernels.device.native import Commands, Copy
    from webgpu_kernels.planning.spec import TensorSpec

CHUNK_BYTES: Final = 16 << 20
"""Most that is read in one piece."""
STAGED_READS_BYTES: Final = 64 << 20
"""Most that pooled read buffers keep (FORMAT, section 8)."""
WRITE_CHUNK_BYTES: Final = 4 << 20
"""Most that is uploaded in one piece: the first touch of its staging buffer takes longer than what it saves later."""
STAGED_WRITES: Final = 3
"""Such pieces under way at once."""
_QUEUE_WRITE_BYTES: Final = 1 << 20
"""Below this a queue write is faster than mapping; its own staging is too small to run out."""
_SMALLEST_STAGING: Final = 4096


class Source(NamedTuple):
    """What a read copies: memory, what lies in it, and the flat array to decode it into."""

    allocation: Allocation
    spec: TensorSpec
    target: Array


class Piece(NamedTuple):
    """Elements of a source, the bytes that they are there, and their place in a staging buffer."""

    source: Source
    start: int
    elements: int
    start_bytes: int
    size_bytes: int
    staged_at: int

    def copy_to(self, staging: Wgpu) -> Copy:
        """Return the copy that brings it to its place."""
        source = self.source.allocation
        return source.buffer, source.offset + self.start_bytes, staging, self.staged_at, _up(self.size_bytes, 4)


class Copied(NamedTuple):
    """Pieces on their way into the beginning of a staging buffer."""

    staging: Wgpu
    size_bytes: int
    pieces: tuple[Piece, ...]


class Transfers:
    """Uploads and reads of one device; the caller holds the device's lock but while it waits.

    Args:
        wgpu_device: whose queue copies.
        commands: records and submits.
        check: raises where the device cannot be used any more; called while waiting.
        failed: translates wgpu's errors.
    """

    def __init__(self, wgpu_device: Wgpu, commands: Commands, check: Callable[[], None], failed: Failed) -> None:
        self.mappings = Mappings(wgpu_device, check)
        self._device = wgpu_device
        self._commands = commands
        self._failed = failed
        self._reads: dict[int, list[Wgpu]] = {}
        self._reads_bytes = 0
        self._writes: deque[tuple[Wgpu, Pending]] = deque()

    def upload(self, target: Allocation, array: Array, spec: TensorSpec, narrowing: Narrowing, where: str) -> None:
        """Copy an array into device memory, encoded as the device stores it.

        Args:
            target: memory for ``encoded_bytes(spec)`` bytes.
            array: elements of the logical dtype, any memory layout.
            spec: what the memory shall hold.
            narrowing: how an int64 goes into a 32-bit storage.
            where: the port, for messages.

        Raises:
            RequestError: a value out of range under ``checked`` narrowing; the memory's contents are undefined then.
            OutOfMemory: no room for staging.

        Source: GPU_NOTES, "Traps".
        """
        bits = encoded_bits(spec)
        stored_bytes = _bytes(spec.size, bits)
        if stored_bytes == 0:
            return
        if stored_bytes <= _QUEUE_WRITE_BYTES:
            data = _padded(encode(array.reshape(-1), spec, narrowing, where=where))
            self._commands.write(target.buffer, target.offset, data)
            return
        offset = target.offset
        for chunk in _chunks(array, bits):
            offset += self._stage(target, offset, encode(chunk, spec, narrowing, where=where))

    def copy_out(self, recorder: Recorder, group: tuple[Piece, ...]) -> Copied:
        """Record the copies of one group of pieces into a staging buffer.

        Args:
            recorder: where to.
            group: pieces that ``plan_reads`` put together.

        Returns:
            What ``finish`` needs once they are submitted.

        Raises:
            OutOfMemory: no room for the staging buffer.

        Source: WebGPU, section 13.4.
        """
        last = group[-1]
        size_bytes = last.staged_at + _up(last.size_bytes, 8)
        staging = self._staging(size_bytes)
        recorder.copy([piece.copy_to(staging) for piece in group])
        return Copied(staging, size_bytes, group)

    def start(self, copied: Copied) -> Pending:
        """Ask for the staging buffer to be mapped, after the submission.

        Args:
            copied: what ``copy_out`` returned.

        Returns:
            What ``Mappings.wait`` waits for.

        Source: WebGPU, section 5.3.
        """
        return self.mappings.start(copied.staging, READ, copied.size_bytes)

    def finish(self, copied: Copied) -> None:
        """Decode what was mapped into the targets, and keep the staging buffer for the next read.

        The caller holds the lock: wgpu-native would end the process where the device were destroyed meanwhile.

        Args:
            copied: what ``copy_out`` returned, mapped by now.

        Source: FORMAT, sections 8 and 9.
        """
        staging = copied.staging
        if copied.pieces:
            _decode(copied, np.frombuffer(self.mappings.view(staging, copied.size_bytes), np.uint8))
        self.mappings.unmap(staging)
        size = staging.size
        if self._reads_bytes + size <= STAGED_READS_BYTES:
            self._reads.setdefault(size, []).append(staging)
            self._reads_bytes += size

    def mark(self) -> Copied:
        """Submit a small command whose staging buffer can be mapped once all earlier work is done.

        Returns:
            A copy of nothing.

        Source: GPU_NOTES, "Traps".
        """
        staging = self._staging(_SMALLEST_STAGING)
        self._commands.submit(((((staging, 0, 4),), (), ()),))
        return Copied(staging, 8, ())

    def trim(self) -> None:
        """Drop every staging buffer."""
        self._reads.clear()
        self._reads_bytes = 0
        self._writes.clear()

    def _staging(self, size_bytes: int) -> Wgpu:
        size = max(_SMALLEST_STAGING, 1 << (size_bytes - 1).bit_length())
        ready = self._reads.get(size)
        if ready:
            self._reads_bytes -= size
            return ready.pop()
        return self._create(size, MAP_READ | COPY_DST, mapped=False)

    def _stage(self, target: Allocation, offset: int, data: Array) -> int:
        """Write one chunk through a staging buffer; while the GPU copies it, the next ones are filled."""
        if len(self._writes) < STAGED_WRITES:
            staging = self._create(WRITE_CHUNK_BYTES, MAP_WRITE | COPY_SRC, mapped=True)
        else:
            staging, pending = self._writes.popleft()
            self.mappings.wait(pending)
        size_bytes = _up(data.nbytes, 4)
        view = np.frombuffer(self.mappings.view(staging, size_bytes), np.uint8)
        view[: data.nbytes] = data.reshape(-1).view(np.uint8)
        view[data.nbytes :] = 0
        self.mappings.unmap(staging)
        self._commands.submit((((), (), ((staging, 0, target.buffer, offset, size_bytes),)),))
        # Asked for now, the mapping is there by the time that the other chunks are written.
        self._writes.append((staging, self.mappings.start(staging, WRITE, WRITE_CHUNK_BYTES)))
        return size_bytes

    def _create(self, size_bytes: int, usage: int, *, mapped: bool) -> Wgpu:
        try:
            return self._device.create_buffer(size=size_bytes, usage=usage, mapped_at_creation=mapped)
        except Exception as error:
            raise self._failed(error, f"allocating a staging buffer of {size_bytes} bytes") from error


def plan_reads(sources: Sequence[Source]) -> Iterator[tuple[Piece, ...]]:
    """Cut reads into groups of at most 16 MiB, each one staging buffer and one mapping.

    Args:
        sources: what to read.

    Yields:
        Pieces in order, their places in the staging buffer multiples of 8.

    Source: WebGPU, section 5.3: mapped ranges start at multiples of 8.
    """
    group: list[Piece] = []
    used = 0
    for source in sources:
        bits, size = encoded_bits(source.spec), source.spec.size
        start = 0
        while start < size:
            if used >= CHUNK_BYTES:
                yield tuple(group)
                group, used = [], 0
            count = min(size - start, (CHUNK_BYTES - used) * 8 // bits)
            size_bytes = _bytes(count, bits)
            group.append(Piece(source, start, count, _bytes(start, bits), size_bytes, used))
            start += count
            used = _up(used + size_bytes, 8)
    if group:
        yield tuple(group)


def _decode(copied: Copied, view: Array) -> None:
    for piece in copied.pieces:
        stored = view[piece.staged_at : piece.staged_at + piece.size_bytes].view(stored_dtype(piece.source.spec))
        decode(stored, piece.source.spec, piece.source.target[piece.start : piece.start + piece.elements])


def _chunks(array: Array, bits: int) -> Iterator[Array]:
    """Flat pieces of at most 4 MiB encoded, without copying the whole of an array that is not contiguous."""
    step = WRITE_CHUNK_BYTES * 8 // bits
    flat: Any = array.reshape(-1) if array.flags.c_contiguous or array.nbytes <= WRITE_CHUNK_BYTES else array.flat
    for start in range(0, array.size, step):
        yield flat[start : start + step]


def _padded(data: Array) -> Array:
    """Round up to whole words with zeros: copies and writes take multiples of 4 bytes."""
    missing = -data.nbytes % 4
    if not missing:
        return data
    return np.concatenate([data.reshape(-1).view(np.uint8), np.zeros(missing, np.uint8)])


def _bytes(elements: int, bits: int) -> int:
    return (elements * bits + 7) // 8


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
