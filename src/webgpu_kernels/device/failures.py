"""The ways in which a device fails, read out of what wgpu raises.

wgpu-py reports a lost device and a failed allocation as validation errors, told apart only by their text.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from webgpu_kernels.errors import DeviceClosed, DeviceError, DeviceLost, ForkedProcessError, OutOfMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Failed: TypeAlias = Callable[[BaseException, str], DeviceError]
    """``DeviceCore.failed``: translates an error, and remembers a lost device."""

FORKED_HINT: Final = "Start workers with multiprocessing's 'spawn' or 'forkserver', or open the device after the fork"
REOPEN_HINT: Final = "Open a new one; default_device() does so by itself"

_STATES: Final[Mapping[type[DeviceError], tuple[str, str]]] = MappingProxyType(
    {
        DeviceClosed: ("the device was closed", REOPEN_HINT),
        DeviceLost: ("the device was lost", REOPEN_HINT),
        ForkedProcessError: ("the device belongs to the process that this one was forked from", FORKED_HINT),
    }
)


def describe_state(state: type[DeviceError]) -> DeviceError:
    """Return the error of using a device in a state that it does not come back from.

    Args:
        state: DeviceClosed, DeviceLost or ForkedProcessError.

    Returns:
        The error, to be raised.

    Source: none.
    """
    message, hint = _STATES[state]
    return state(message, hint=hint)


def is_lost(error: BaseException) -> bool:
    """Tell whether an error of wgpu's means that its device is gone.

    Args:
        error: what wgpu raised.

    Returns:
        True for "Parent device is lost", and for the missing poll thread of a destroyed device.

    Source: wgpu-py 0.32, which has no ``device.lost``.
    """
    text = str(error)
    return "device is lost" in text or "Device lost" in text or "get_token" in text


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error of wgpu's means that an allocation failed.

    Args:
        error: what wgpu raised.

    Returns:
        True for a GPUOutOfMemoryError and for the validation error that ``create_buffer`` raises in its place.

    Source: wgpu-py 0.32.
    """
    return "Not enough memory left" in str(error) or type(error).__name__ == "GPUOutOfMemoryError"


def translate(error: BaseException, doing: str) -> DeviceError:
    """Turn an error of wgpu's into one of this library's; the caller raises it ``from`` the original.

    Args:
        error: what wgpu raised.
        doing: what was being done, for the message.

    Returns:
        DeviceLost, OutOfMemory or DeviceError.

    Source: DESIGN, "wgpu-py facts".
    """
    if is_lost(error):
        return DeviceLost(f"the device was lost while {doing}", hint=REOPEN_HINT)
    if is_out_of_memory(error):
        return OutOfMemory(
            f"the device has not enough memory left for {doing}", hint="Destroy tensors or trim its pool"
        )
    if isinstance(error, TypeError) and "must be a cdata pointer, not NoneType" in str(error):
        return DeviceError(
            f"what is needed for {doing} was collected already", hint="Do not use the device in finalizers"
        )
    return DeviceError(f"wgpu failed while {doing} ({reason(error)})")


def reason(error: BaseException) -> str:
    """Return what wgpu's error says, in one line without its preamble.

    Args:
        error: what wgpu raised.

    Returns:
        The lines after "Caused by:", joined.

    Source: wgpu-py 0.32.
    """
    text = str(error).partition("Caused by:")[2] or str(error)
    return "; ".join(line.strip() for line in text.splitlines() if line.strip()) or type(error).__name__
