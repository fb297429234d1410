"""The calls that a kernel has planned, found again by what they were planned for."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.invocation import plain_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from webgpu_kernels.device import Device
    from webgpu_kernels.prepared import PreparedCall

CACHED_CALLS: Final = 256
"""Requests whose plan and pipelines a kernel remembers on a device; the least recently used goes first."""


class PlannedCalls:
    """The planned calls of one kernel; they lie with their devices, so that neither keeps the other alive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._token = object()

    def known(
        self, device: Device | None, inputs: Mapping[str, Any], attrs: object, outputs: object
    ) -> PreparedCall | None:
        """Return the call of the commonest request, GPU tensors and hardly an option, where it was seen before.

        Args:
            device: where it runs; None for that of the tensors.
            inputs: port name to GPU tensor.
            attrs: attributes by name, or None.
            outputs: a list of names, or None.

        Returns:
            The call; None where the longer way, which checks everything, has to find it.
        """
        key = plain_key(inputs, attrs, outputs) if inputs else None
        if key is None:
            return None
        target = device if device is not None else next(iter(inputs.values())).device
        try:
            calls = target.planned[self._token]
            call: PreparedCall = calls[key]
            calls.move_to_end(key)
        except (KeyError, TypeError):  # another thread has forgotten it just now; what has no hash is no name
            return None
        return call

    def find(self, device: Device, key: Hashable) -> PreparedCall | None:
        """Return the call of a request that was seen before.

        Args:
            device: where it runs.
            key: all that it was planned for, apart from the device.

        Returns:
            The call, now the most recently used.
        """
        with self._lock:
            calls = device.planned.get(self._token)
            call: PreparedCall | None = calls.get(key) if calls is not None else None
            if calls is not None and call is not None:
                calls.move_to_end(key)
            return call

    def keep(self, device: Device, key: Hashable, call: PreparedCall) -> None:
        """Remember a call, and forget the one that was not used for longest.

        Args:
            device: where it runs.
            key: as for ``find``.
            call: the call.
        """
        with self._lock:
            if self._token not in device.planned:
                device.planned[self._token] = OrderedDict()
                weakref.finalize(self, _forget, weakref.ref(device), self._token).atexit = False
            calls = device.planned[self._token]
            calls[key] = call
            while len(calls) > CACHED_CALLS:
                calls.popitem(last=False)


def _forget(device: weakref.ref[Device], token: object) -> None:
    """Drop a kernel's planned calls from a device that is still there."""
    alive = device()
    if alive is not None:
        alive.planned.pop(token, None)
