"""HTTP/1.1 over the event loop's own sockets, behind httpx: a tenth of the CPU time of its default connection pool.

`Transport` is httpx's own `AsyncHTTPTransport` with another pool inside, so requests, responses, exceptions and mocks
are httpx's. Parsing is httptools', which the server uses too. There are no proxies, no HTTP/2, no HEAD, no upgrades and
no streamed bodies of requests: nothing here needs them.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self, cast

import httpcore
import httpx

from app.openviking.http_connection import Connection, Headers


class Transport(httpx.AsyncHTTPTransport):
    """``pool_size`` connections, each used again until it was idle for ``keepalive_s``."""

    def __init__(self, pool_size: int, keepalive_s: float) -> None:
        # Not the parent's constructor: it would build the pool that this one replaces, and load certificates for it.
        self._pool = Pool(pool_size, keepalive_s)  # type: ignore[assignment]


class Pool:
    """Connections by origin. A request waits for a free place among ``size``; idle connections give theirs up."""

    def __init__(self, size: int, keepalive_s: float) -> None:
        self._keepalive_s = keepalive_s
        self._places = asyncio.Semaphore(size)
        self._idle: deque[tuple[tuple[bytes, bytes, int], Connection]] = deque()
        """The most recently used last."""
        self._busy: set[Connection] = set()
        self._certificates: ssl.SSLContext | None = None
        self._closed = False

    async def handle_async_request(self, request: httpcore.Request) -> "Answered":
        """One request; its place is free again when the answer's stream is closed. Raises httpcore's errors."""
        limits = request.extensions.get("timeout", {})
        body = b"".join(cast(Iterable[bytes], request.stream))
        origin = _origin(request.url)
        await self._take_place(limits.get("pool"))
        connection: Connection | None = None
        try:
            if self._closed:
                raise RuntimeError("the transport is closed")
            connection = self._idle_one(origin) or await self._connect(origin, limits.get("connect"))
            self._busy.add(connection)
            status = await connection.exchange(_head(request), body)
        except BaseException:
            self._release(origin, connection)
            raise
        stream = _Answer(connection, lambda: self._release(origin, connection))
        return Answered(status, connection.headers, stream)

    async def aclose(self) -> None:
        """Close all connections; callers that wait for an answer get an error."""
        self._closed = True
        for connection in (*self._busy, *(idle for _, idle in self._idle)):
            connection.abort()
        self._idle.clear()

    async def __aenter__(self) -> "Pool":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _take_place(self, timeout_s: float | None) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._places.acquire()
        except TimeoutError as late:
            raise httpcore.PoolTimeout("no free connection") from late

    def _idle_one(self, origin: tuple[bytes, bytes, int]) -> Connection | None:
        """The connection that was used last, if there is one to this origin; those idle for too long are closed."""
        now = asyncio.get_running_loop().time()
        while self._idle and (self._idle[0][1].closed or now - self._idle[0][1].idle_since >= self._keepalive_s):
            self._idle.popleft()[1].abort()
        for place in range(len(self._idle) - 1, -1, -1):
            found, connection = self._idle[place]
            if found == origin and not connection.closed:
                del self._idle[place]
                return connection
        return None

    async def _connect(self, origin: tuple[bytes, bytes, int], timeout_s: float | None) -> Connection:
        scheme, host, port = origin
        if scheme == b"https" and self._certificates is None:
            self._certificates = httpx.create_ssl_context(trust_env=False)
        try:
            async with asyncio.timeout(timeout_s):
                _, connection = await asyncio.get_running_loop().create_connection(
                    Connection, host.decode(), port, ssl=self._certificates if scheme == b"https" else None
                )
        except TimeoutError as late:
            raise httpcore.ConnectTimeout("no connection in time") from late
        except (OSError, UnicodeError) as problem:
            raise httpcore.ConnectError(str(problem)) from problem
        return connection

    def _release(self, origin: tuple[bytes, bytes, int], connection: Connection | None) -> None:
        """Give the place back, and keep the connection for the next request if it can serve again."""
        if connection is not None:
            self._busy.discard(connection)
            if connection.reusable and not self._closed:
                connection.idle_since = asyncio.get_running_loop().time()
                self._idle.append((origin, connection))
            else:
                connection.abort()
        self._places.release()


class Answered(NamedTuple):
    """What httpx takes of httpcore's response, which checks and copies every header."""

    status: int
    headers: Headers
    stream: "_Answer"
    extensions: Mapping[str, Any] = MappingProxyType({})


class _Answer:
    """The stream of an answer's body."""

    def __init__(self, connection: Connection, release: Callable[[], None]) -> None:
        self._connection = connection
        self._release: Callable[[], None] | None = release

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if chunk := await self._connection.chunk():
            return chunk
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Done with it, read or not."""
        release, self._release = self._release, None
        if release:
            release()


def _origin(url: httpcore.URL) -> tuple[bytes, bytes, int]:
    if url.scheme not in (b"http", b"https"):
        raise httpcore.UnsupportedProtocol(f"no http or https URL: {url.scheme!r}")
    return url.scheme, url.host, url.port or (443 if url.scheme == b"https" else 80)


def _head(request: httpcore.Request) -> bytes:
    lines = [b"%b %b HTTP/1.1\r\n" % (request.method, request.url.target)]
    values = b" ".join([value for _, value in request.headers])
    if b"\r" in values or b"\n" in values or b"\0" in values:
        raise httpcore.LocalProtocolError("a header with a line break")
    for name, value in request.headers:
        lines.append(b"%b: %b\r\n" % (name, value))
    lines.append(b"\r\n")
    return b"".join(lines)
