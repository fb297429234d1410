"""Carries bytes to a page of a local browser and back, over HTTP on loopback: neither JSON nor Base64 in between.

The address holds a secret, so that nobody else on the machine can read or write.
"""

from __future__ import annotations

import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Bytes: TypeAlias = "bytes | memoryview[Any]"
_PIECE: Final = 1 << 20


class Courier:
    """A server of one page and of the bytes that it asks for; opened when it is made.

    Args:
        page: the page's HTML.
    """

    def __init__(self, page: str) -> None:
        self._parcels: dict[str, tuple[str, Sequence[Bytes]]] = {"": ("text/html; charset=utf-8", [page.encode()])}
        self._arrived: dict[str, bytearray] = {}
        secret = secrets.token_urlsafe(24)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self, f"/{secret}/"))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/{secret}/"
        threading.Thread(target=self._server.serve_forever, name="webgpu-kernels courier", daemon=True).start()

    def offer(self, name: str, parts: Sequence[Bytes]) -> None:
        """Let the page fetch something, as often as it likes.

        Args:
            name: the path, relative to the page.
            parts: what it gets, one part after another.
        """
        self._parcels[name] = ("application/octet-stream", parts)

    def withdraw(self, *names: str) -> None:
        """Forget what was offered, and what came."""
        for name in names:
            self._parcels.pop(name, None)
            self._arrived.pop(name, None)

    def take(self, name: str) -> bytearray:
        """Return what the page posted.

        Args:
            name: the path, relative to the page.

        Raises:
            KeyError: nothing came.
        """
        return self._arrived.pop(name)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def parcel(self, name: str) -> tuple[str, Sequence[Bytes]] | None:
        """Return the kind and parts of what is offered under a name."""
        return self._parcels.get(name)

    def put(self, name: str, contents: bytearray) -> None:
        """Keep what the page posted."""
        self._arrived[name] = contents


def _handler_of(courier: Courier, prefix: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body leave together, at once: else each answer waits 40 ms for an acknowledgement.
        wbufsize = _PIECE
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            found = courier.parcel(self.path.removeprefix(prefix)) if self.path.startswith(prefix) else None
            if found is None:
                self._answer(HTTPStatus.NOT_FOUND)
                return
            kind, parts = found
            self._answer(HTTPStatus.OK, kind, sum(len(part) for part in parts))
            for part in parts:
                self.wfile.write(part)

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            contents = bytearray(length)
            view, read = memoryview(contents), 0
            while read < length:
                count = self.rfile.readinto(view[read : read + _PIECE])
                if not count:
                    return
                read += count
            if self.path.startswith(prefix):
                courier.put(self.path.removeprefix(prefix), contents)
            self._answer(HTTPStatus.OK if self.path.startswith(prefix) else HTTPStatus.NOT_FOUND)

        def _answer(self, status: HTTPStatus, kind: str = "text/plain", length: int = 0) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing: the default prints every request."""

    return Handler
