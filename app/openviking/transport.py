"""HTTP/1.1 over the event loop's own sockets, behind httpx: a tenth of the CPU time of its default connection pool.

`Transport` is httpx's own `AsyncHTTPTransport` with another pool inside, so requests, responses, exceptions and mocks
are httpx's. Parsing is httptools', which the server uses too. What is not needed here is not here: no proxies, no
HTTP/2, no HEAD, no upgrades, no bodies of requests that are not there as a whole.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self, cast

import httpcore
import httptools
import httpx

MAX_HEAD_BYTES = 256 * 1024
"""Status line and headers of an answer."""
READ_AHEAD_BYTES = 1024 * 1024
"""What may wait to be consumed before the server is made to wait."""

Headers = list[tuple[bytes, bytes]]


class Transport(httpx.AsyncHTTPTransport):
    """``pool_size`` connections, each used again until it was idle for ``keepalive_s``."""

    def __init__(self, pool_size: int, keepalive_s: float) -> None:
        # Not the parent's constructor: it would build the pool that this one replaces, and load certificates for it.
        self._pool = Pool(pool_size, keepalive_s)  # type: ignore[assignment]


class Connection(asyncio.Protocol):
    """One connection: sends a request, gives its answer, and is then free for the next or closed."""

    def __init__(self) -> None:
        self.closed = False
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._loop = asyncio.get_running_loop()
        self._begin()

    def _begin(self) -> None:
        """Forget the last answer."""
        self.headers: Headers = []
        self.complete = False
        self._keeps = False
        self._status = 0
        self._begun = False
        self._until_eof = False
        self._head_bytes = 0
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._paused = False
        self._problem: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._asked = False

    async def exchange(self, head: bytes, body: bytes) -> int:
        """Send a request; returns when the status and the headers of its answer are there. Raises httpcore's errors."""
        self._begin()
        if self._transport is None or self.closed:
            raise httpcore.ReadError("the connection is closed")
        self._asked = True
        self._transport.writelines((head, body))
        while not self._begun:
            await self._more()
        return self._status

    async def chunk(self) -> bytes:
        """The next piece of the answer's body; empty at its end."""
        while not self._chunks:
            if self.complete:
                return b""
            await self._more()
        chunk = self._chunks.popleft()
        self._buffered -= len(chunk)
        if self._paused and self._transport and not self.closed and self._buffered <= READ_AHEAD_BYTES:
            self._transport.resume_reading()
            self._paused = False
        return chunk

    @property
    def reusable(self) -> bool:
        """Whether another request may follow: the answer is complete, nothing of the request is still unsent, and the
        socket is being read."""
        unsent = self._transport is None or self._transport.get_write_buffer_size() > 0
        return self.complete and self._keeps and not self.closed and not unsent and not self._paused

    def abort(self) -> None:
        """Close at once."""
        self.closed = True
        if self._transport:
            self._transport.abort()

    async def _more(self) -> None:
        if self._problem:
            raise self._problem
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, problem: Exception) -> None:
        self._problem = self._problem or problem
        self.abort()
        self._wake()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse what came. Words without a question, and what is no HTTP, end the connection."""
        if not self._asked or self.complete:
            self.abort()
            return
        if not self._begun:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            self._fail(httpcore.RemoteProtocolError(str(problem) or type(problem).__name__))
            return
        if not self._begun and self._head_bytes > MAX_HEAD_BYTES:
            self._fail(httpcore.RemoteProtocolError("endless headers"))
        elif self._buffered > READ_AHEAD_BYTES and self._transport and not self.closed:
            self._transport.pause_reading()
            self._paused = True
        self._wake()

    def connection_lost(self, problem: Exception | None) -> None:
        """The end of an answer that has no other end, or an error of whoever waits for one."""
        self.closed = True
        if self._begun and self._until_eof and problem is None:
            self.complete = True
        elif not self.complete:
            lost = "the connection broke off" if self._begun else "the server hung up without an answer"
            kind = httpcore.ReadError if problem else httpcore.RemoteProtocolError
            self._problem = self._problem or kind(str(problem) if problem else lost)
        self._wake()

    # What the parser calls

    def on_message_begin(self) -> None:
        """An answer. A second one is none of ours: the error ends the parsing, and with it the connection."""
        if self.complete:
            raise ValueError("an answer nobody asked for")

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, as it was sent."""
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The answer has begun, unless it is only an interim one."""
        self._status = int(self._parser.get_status_code())
        if self._status < 200:
            self.headers = []
            return
        self._begun = True
        framed = {b"content-length", b"transfer-encoding"}
        self._until_eof = not any(name.lower() in framed for name, _ in self.headers)

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._chunks.append(body)
        self._buffered += len(body)

    def on_message_complete(self) -> None:
        """The whole answer is there."""
        self.complete = self._begun
        self._keeps = bool(self._parser.should_keep_alive())


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
        """Close all connections; whoever waits for an answer gets an error."""
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
        """Give the place back, and the connection to whoever comes next if it can serve again."""
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
