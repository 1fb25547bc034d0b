"""How connections are treated before there is a request: uvicorn's HTTP protocol with the limits that it lacks.

A connection that sends nothing, or sends it slowly, costs a descriptor; enough of them and no request is answered.
"""

import asyncio
import resource
from typing import Any

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.observe.bursts import Bursts
from app.settings import LimitSettings

log = structlog.get_logger(__name__)

MAX_HEADER_BYTES = 64 * 1024
BODY_GRACE_S = 5.0
"""How much later a body that no handler reads is given up than one that is read."""
KEEPALIVE_S = 75
"""How long a connection waits for its next request. Longer than the clients and proxies in use keep theirs (httpx 5 s,
Node 4 s, load balancers 60 s): where both give up at once, a request meets a connection that is being closed."""
SPARE = 16
"""Connections above the bound while all others are at work: one may be a health check."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Waiting:
    """The connections of one server without a whole request, the one that waits longest first."""

    def __init__(self, limits: LimitSettings, descriptors: int | None = None) -> None:
        if descriptors is None:
            descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.header_s = limits.header_ms / 1000
        self.body_s = limits.body_ms / 1000 + BODY_GRACE_S
        # The other half is for the store, for memories and for the backend.
        self.most = limits.max_connections if descriptors < 0 else min(limits.max_connections, max(8, descriptors // 2))
        self._waiting: dict[LimitedProtocol, None] = {}
        self._bursts = Bursts()

    def add(self, connection: "LimitedProtocol") -> None:
        """The connection waits for a request from now on."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None

    def remove(self, connection: "LimitedProtocol") -> None:
        """The connection has a request, or is gone."""
        self._waiting.pop(connection, None)

    def make_room(self, connections: int) -> None:
        """Close the connection that has waited longest where there are too many: it will hardly be missed."""
        if connections <= self.most:
            return
        if self._bursts.begins("connections"):
            log.warning("connections_full", most=self.most, waiting=len(self._waiting))
        oldest = next(iter(self._waiting))  # the new one at the least
        if len(self._waiting) > 1 or connections > self.most + SPARE:
            oldest.give_up()


class LimitedProtocol(HttpToolsProtocol):
    """One connection: its header and its body have to arrive in time, and its header has to be of a sane size.

    Made by `uvicorn_options`, which says how much is allowed.
    """

    waiting: Waiting

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._in_header = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection begins by waiting for its first header."""
        super().connection_made(transport)
        self._wait(self.waiting.header_s)
        self.waiting.add(self)
        self.waiting.make_room(len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended, so that no time-out is needed any more."""
        self._wait(None)
        self.waiting.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a header that is not complete."""
        super().data_received(data)
        if not self._in_header:
            return
        self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.give_up()

    def on_message_begin(self) -> None:
        """A header begins."""
        super().on_message_begin()
        self._in_header, self._header_bytes = True, 0
        self._wait(self.waiting.header_s)

    def on_headers_complete(self) -> None:
        """A body begins."""
        self._in_header = False
        self._wait(self.waiting.body_s)
        self.waiting.remove(self)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is complete: its client has no time limit any more."""
        self._wait(None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The connection waits for the next request, for `KEEPALIVE_S`, unless others need the room."""
        super().on_response_complete()
        if not self.transport.is_closing() and not self.pipeline:
            self.waiting.add(self)

    def give_up(self) -> None:
        """Close the connection; what it has sent so far is lost."""
        self._wait(None)
        self.waiting.remove(self)
        if not self.transport.is_closing():
            self.transport.close()

    def _wait(self, seconds: float | None) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self.give_up) if seconds is not None else None


def uvicorn_options(limits: LimitSettings) -> dict[str, Any]:
    """What uvicorn is told about the connections of one server."""
    protocol = type("LimitedProtocol", (LimitedProtocol,), {"waiting": Waiting(limits)})
    return {"http": protocol, "timeout_keep_alive": KEEPALIVE_S}
