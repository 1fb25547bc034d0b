"""One HTTP/1.1 connection to OpenViking on the event loop's own sockets, parsed by httptools."""

import asyncio
from collections import deque
from typing import cast

import httpcore
import httptools

MAX_HEAD_BYTES = 256 * 1024
"""Status line and headers of an answer."""
READ_AHEAD_BYTES = 1024 * 1024
"""What may wait to be consumed before the server is made to wait."""

Headers = list[tuple[bytes, bytes]]


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
        """Parse what came. Bytes without a request, and what is no HTTP, end the connection."""
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
        """The end of an answer that has no other end, or an error for the caller that waits for one."""
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
        """An answer begins. The error for a second one ends the parsing, and with it the connection."""
        if self.complete:
            raise ValueError("an answer without a request")

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
