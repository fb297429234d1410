"""What the Hub sends, read no further than it may go: an endpoint that lies would fill memory or disk.

Sizes that it announces are no bound: what comes may be another size, packed, or never end.
"""

from __future__ import annotations

import json
import time
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract.files import MAX_FILE_BYTES
from webgpu_kernels.errors import HubUnavailable, PackageError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_ANSWER_BYTES: Final = 8 * 2**20
"""Most that is read of one answer: a list of a thousand files is a thirtieth of it."""
LONGEST_ANSWER_S: Final = 60.0
"""Longest that one answer is waited for, though something comes now and then."""
_OF_THE_BODY: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def ask(url: str, headers: Mapping[str, str], *, where: str, endpoint: str) -> tuple[Any, bool]:
    """Return what an address of the Hub's API answers.

    Args:
        url: the address.
        headers: of the request.
        where: what is asked for, for messages.
        endpoint: who is asked, for messages.

    Returns:
        The answer, parsed, and whether it goes on elsewhere.

    Raises:
        HubUnavailable: it does not end, or is no JSON.
        OSError: huggingface_hub's and the HTTP library's own, for ``faults``.

    Source: huggingface_hub, ``get_session``.
    """
    from httpx2 import Response  # noqa: PLC0415 - comes with huggingface_hub
    from huggingface_hub import constants, get_session, hf_raise_for_status  # noqa: PLC0415 - an extra

    # Unpacked already, each byte that comes is one byte here.
    asked = {**headers, "Accept-Encoding": "identity"}
    with get_session().stream("GET", url, headers=asked, timeout=constants.HF_HUB_ETAG_TIMEOUT) as stream:
        content = _some_of(stream, where, endpoint)
        said = [(name, value) for name, value in stream.headers.multi_items() if name.lower() not in _OF_THE_BODY]
        answer = Response(stream.status_code, headers=said, content=content, request=stream.request)
    hf_raise_for_status(answer)
    try:
        return json.loads(content), "next" in answer.links
    except (ValueError, RecursionError) as error:
        raise unintelligible(where, endpoint) from error


def unintelligible(where: str, endpoint: str) -> HubUnavailable:
    """Return the error of an answer that the Hub would not give.

    Args:
        where: what was asked for.
        endpoint: who was asked.

    Returns:
        The error to raise.

    Source: none.
    """
    return HubUnavailable(
        f"{endpoint} answers something else than the Hub would",
        where=where,
        hint="If HF_ENDPOINT is set, check that it is an endpoint of the Hub; otherwise check proxies.",
    )


@cache
def bounded_bar() -> type[Any]:
    """Return huggingface_hub's progress bar, which also ends the download of a file that is larger than one may be.

    It is the only thing of the caller's that sees a file while it comes, in pieces of 10 MB.

    Source: huggingface_hub, ``hf_hub_download`` (``tqdm_class``).
    """
    from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]  # noqa: PLC0415 - an extra

    class Bar(tqdm):
        """Counts for itself: a bar that is not shown does not."""

        came = 0.0

        def update(self, n: float | None = 1) -> bool | None:
            self.came += n or 0
            if self.came > MAX_FILE_BYTES:
                raise PackageError(
                    "comes larger than a package's file may be, so the rest of it is not fetched",
                    expected=f"at most {MAX_FILE_BYTES:,} bytes",
                )
            return super().update(n)  # type: ignore[no-any-return]

    return Bar


def _some_of(stream: Any, where: str, endpoint: str) -> bytes:
    """Read a body up to the bounds."""
    end = time.monotonic() + LONGEST_ANSWER_S
    content = bytearray()
    for piece in stream.iter_bytes():
        content += piece
        if len(content) > MAX_ANSWER_BYTES or time.monotonic() > end:
            raise unintelligible(where, endpoint)
    return bytes(content)
