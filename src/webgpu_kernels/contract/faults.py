"""What the failures of huggingface_hub and of HTTP mean: which of them pass, and what the others are called here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.errors import HubAccessDenied, HubError, HubUnavailable, PackageNotFound

if TYPE_CHECKING:
    from webgpu_kernels.errors import PackageError

_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_DENIED: Final = frozenset({401, 403})
_GONE: Final = frozenset({404, 410})
_LONGEST_PAUSE_S: Final = 10.0


def is_passing(error: Exception) -> bool:
    """Tell whether a failure may be gone at the next try.

    Args:
        error: what huggingface_hub raised.

    Returns:
        True for a busy or broken server, a lost connection, an answer that was cut off.

    Source: huggingface_hub, ``errors``.
    """
    from httpx2 import ProxyError, TransportError  # noqa: PLC0415 - comes with huggingface_hub
    from huggingface_hub.errors import (  # noqa: PLC0415
        EntryNotFoundError,
        FileMetadataError,
        HfHubHTTPError,
        OfflineModeIsEnabled,
    )

    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in _PASSING
    if isinstance(error, (OfflineModeIsEnabled, EntryNotFoundError, FileMetadataError, ProxyError)):
        return False
    # The bare OSError says that a file came in another size than was announced.
    return isinstance(error, TransportError) or (type(error) is OSError and error.errno is None)


def pause_s(error: Exception) -> float:
    """Return how long a server wants to be left alone.

    Args:
        error: what huggingface_hub raised.

    Returns:
        Seconds, at most ten: a longer wait is the caller's to decide.

    Source: HTTP, ``Retry-After``.
    """
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    asked = error.response.headers.get("Retry-After", "") if isinstance(error, HfHubHTTPError) else ""
    return min(float(asked), _LONGEST_PAUSE_S) if asked.isdecimal() else 0.0


def fault_of(error: BaseException, *, where: str, endpoint: str) -> PackageError:
    """Return what a failure is called here.

    Args:
        error: what huggingface_hub raised.
        where: what was asked for.
        endpoint: who was asked.

    Returns:
        The error to raise.

    Source: huggingface_hub, ``errors``.
    """
    from httpx2 import HTTPError  # noqa: PLC0415 - comes with huggingface_hub
    from huggingface_hub.errors import (  # noqa: PLC0415
        FileMetadataError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
    )

    if isinstance(error, LocalTokenNotFoundError):
        return HubAccessDenied("token=True, and no token is saved", where=where, hint="Log in with: hf auth login.")
    if isinstance(error, HfHubHTTPError):
        return _fault_of_status(error.response.status_code, where, endpoint)
    if isinstance(error, LocalEntryNotFoundError) and error.__cause__ is not None:
        return fault_of(error.__cause__, where=where, endpoint=endpoint)
    if isinstance(error, OfflineModeIsEnabled):
        return HubUnavailable(
            "is not in the cache, and HF_HUB_OFFLINE forbids to ask the Hub",
            where=where,
            hint="Load it once with network.",
        )
    if isinstance(error, (HTTPError, FileMetadataError, LocalEntryNotFoundError)):
        return HubUnavailable(
            f"{endpoint} does not answer as the Hub would, and the cache has no copy",
            where=where,
            got=type(error).__name__,
            hint="Check the connection and try again.",
        )
    return HubError("cannot be brought into the cache", where=where, got=str(error).partition("\n")[0])


def _fault_of_status(status: int, where: str, endpoint: str) -> PackageError:
    if status in _DENIED:
        return HubAccessDenied(
            f"{endpoint} does not give it to this token, or has no such repository",
            where=where,
            got=f"status {status}",
            hint="Check the name; give token= or log in with: hf auth login.",
        )
    if status in _GONE:
        return PackageNotFound(f"{endpoint} has no such thing", where=where, got=f"status {status}")
    return HubUnavailable(
        f"{endpoint} fails, and the cache has no copy",
        where=where,
        got=f"status {status}",
        hint="Try again later." if status in _PASSING else None,
    )
