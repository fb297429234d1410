"""Calls that a package's own suites make: whether the other package still takes them, on every device that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.errors import KernelError
from webgpu_kernels.tools.capabilities import known_capabilities, load_capabilities
from webgpu_kernels.tools.cases import good_calls
from webgpu_kernels.tools.diff.changes import breaks, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.spec import TensorSpec
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.diff.changes import Change


class _Fate(NamedTuple):
    """What becomes of a call: its outputs, or why it is refused."""

    outputs: Mapping[str, TensorSpec] | None
    reason: str


class _Loss(NamedTuple):
    """Calls that are lost for one reason.

    Attributes:
        reason: that of the first of them.
        calls: where they are described.
        devices: the known devices on which the first of them is lost.
    """

    reason: str
    calls: list[str]
    devices: tuple[str, ...]


def lost_calls(old: Kernel, new: Kernel) -> Iterator[Change]:
    """Find calls of the old package's suites that the new one refuses, or answers in another shape or dtype.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        One change for each reason, with one of the calls that are lost for it.

    Raises:
        PackageError: a suite cannot be read.

    Source: FORMAT, section 5.
    """
    devices = {name: load_capabilities(name) for name in known_capabilities()}
    losses: dict[str, _Loss] = {}
    total = 0
    for name, call in good_calls(old.package):
        total += 1
        lost = {device: why for device, found in devices.items() if (why := _loss(old, new, call, found))}
        if lost:
            kind, reason = next(iter(lost.values()))
            losses.setdefault(kind, _Loss(reason, [], tuple(lost))).calls.append(name)
    for loss in losses.values():
        where = "every device" if len(loss.devices) == len(devices) else listed(loss.devices)
        yield breaks("suites", f"{loss.reason}: {len(loss.calls)} of {total} calls, such as {loss.calls[0]} on {where}")


def _loss(old: Kernel, new: Kernel, call: CallDescription, device: Capabilities) -> tuple[str, str] | None:
    """Return what is lost and how; an output that is another in each call is one loss."""
    before = _fate(old, call, device)
    if before.outputs is None:
        return None
    after = _fate(new, call, device)
    if after.outputs is None:
        return after.reason, after.reason
    for name, spec in before.outputs.items():
        if after.outputs.get(name) != spec:
            return f"output {name!r}", f"output {name!r} was {spec}, is {after.outputs.get(name, 'absent')}"
    return None


def _fate(kernel: Kernel, call: CallDescription, device: Capabilities) -> _Fate:
    try:
        selection = call.select(kernel, device)
    except KernelError as error:
        return _Fate(None, error.message)
    if selection.variant is None:
        return _Fate(None, "no variant takes it")
    return _Fate(selection.request.outputs, "")
