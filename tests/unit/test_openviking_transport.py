"""The transport against servers that frame their answers in every way HTTP/1.1 has, and in some it has not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from app.openviking import http_connection
from app.openviking.http_connection import READ_AHEAD_BYTES
from app.openviking.transport import Transport

pytestmark = pytest.mark.anyio

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Served:
    """A server and a transport to it. ``connections`` counts those made, ``heads`` are the requests as they came."""

    def __init__(self, transport: Transport, url: str) -> None:
        self.transport = transport
        self.url = url
        self.connections = 0
        self.heads: list[bytes] = []

    async def get(self, path: str = "/", **extensions: float) -> httpx.Response:
        request = httpx.Request("GET", self.url + path, extensions={"timeout": extensions})
        response = await self.transport.handle_async_request(request)
        try:
            await response.aread()
        finally:
            await response.aclose()
        return response


@asynccontextmanager
async def served(talk: Talk, pool_size: int = 4, keepalive_s: float = 60.0) -> AsyncIterator[Served]:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        try:
            while not writer.is_closing():
                found.heads.append(await reader.readuntil(b"\r\n\r\n"))
                await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    transport = Transport(pool_size, keepalive_s)
    found = Served(transport, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield found
    finally:
        await transport.aclose()
        server.close()


def saying(*pieces: bytes, close: bool = False) -> Talk:
    """Each piece in a packet of its own."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        if close:
            writer.close()

    return talk


@pytest.mark.parametrize(
    ("talk", "again"),
    [
        (saying(OK), True),
        (saying(*(bytes([byte]) for byte in OK)), True),
        (saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n"), True),
        (saying(b"HTTP/1.1 100 Continue\r\n\r\n" + OK), True),
        (saying(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", OK), True),
        (saying(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), False),
        (saying(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), False),
        (saying(b"HTTP/1.1 200 OK\r\n\r\n", b"o", b"k", close=True), False),
    ],
)
async def test_answers_are_read_to_their_end_and_connections_used_again_where_they_may(talk: Talk, again: bool) -> None:
    async with served(talk) as server:
        for _ in range(3):
            response = await server.get()
            assert (response.status_code, response.content) == (200, b"ok")
        assert server.connections == (1 if again else 3)


async def test_an_answer_without_a_body() -> None:
    async with served(saying(b"HTTP/1.1 204 No Content\r\n\r\n")) as server:
        assert [(await server.get()).content for _ in range(2)] == [b"", b""]
        assert server.connections == 1


@pytest.mark.parametrize(
    ("talk", "error"),
    [
        (saying(close=True), httpx.RemoteProtocolError),
        (saying(b"HTTP/1.1 200 OK\r\nContent-Le", close=True), httpx.RemoteProtocolError),
        (saying(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", close=True), httpx.RemoteProtocolError),
        (
            saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", close=True),
            httpx.RemoteProtocolError,
        ),
        (saying(b"220 mail ready\r\n"), httpx.RemoteProtocolError),
        (saying(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + OK), httpx.RemoteProtocolError),
        (
            saying(b"HTTP/1.1 200 OK\r\n", *(b"X: %b\r\n" % (b"y" * 60_000) for _ in range(6))),
            httpx.RemoteProtocolError,
        ),
    ],
)
async def test_what_is_no_whole_answer_is_an_error_of_httpx(talk: Talk, error: type[Exception]) -> None:
    async with served(talk) as server:
        with pytest.raises(error):
            await server.get()


async def test_words_nobody_asked_for_are_not_taken_for_the_next_answer() -> None:
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
    async with served(saying(OK + forged)) as server:
        assert [(await server.get()).content for _ in range(2)] == [b"ok", b"ok"]
        assert server.connections == 2


async def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    async with served(saying(OK, close=True)) as server:
        for _ in range(2):
            await server.get()
            [(_, idle)] = server.transport._pool._idle  # type: ignore[attr-defined]
            while not idle.closed:  # noqa: ASYNC110 - the event loop notices by itself
                await asyncio.sleep(0)
        assert server.connections == 2


async def test_an_idle_connection_is_given_up_in_time() -> None:
    async with served(saying(OK), keepalive_s=0.0) as server:
        await server.get()
        await server.get()
        assert server.connections == 2


async def test_more_requests_than_connections_wait_for_a_place_and_no_longer_than_they_may() -> None:
    go = asyncio.Event()

    async def when_told(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await go.wait()
        writer.write(OK)

    async with served(when_told, pool_size=2) as server:
        waiting = [asyncio.create_task(server.get()) for _ in range(5)]
        while not server.transport._pool._places.locked():  # type: ignore[attr-defined]  # noqa: ASYNC110
            await asyncio.sleep(0)
        with pytest.raises(httpx.PoolTimeout):
            await server.get(pool=0.0)
        go.set()
        assert [response.status_code for response in await asyncio.gather(*waiting)] == [200] * 5
        assert server.connections == 2


async def test_a_cancelled_request_gives_its_place_back_and_closes_its_connection() -> None:
    gone = asyncio.Event()

    async def waits_for_the_end(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        if len(server.heads) == 1:
            asked.set()
            assert not await reader.read()
            gone.set()
        else:
            _.write(OK)

    asked = asyncio.Event()
    async with served(waits_for_the_end, pool_size=1) as server:
        hanging = asyncio.create_task(server.get())
        await asked.wait()
        hanging.cancel()
        assert (await server.get()).content == b"ok"
        await gone.wait()


async def test_a_server_that_sends_faster_than_it_is_read_has_to_wait() -> None:
    body = b"x" * (64 * READ_AHEAD_BYTES)
    sent = 0

    async def floods(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
        for at in range(0, len(body), READ_AHEAD_BYTES):
            writer.write(body[at : at + READ_AHEAD_BYTES])
            await writer.drain()
            sent += READ_AHEAD_BYTES

    async with served(floods) as server:
        response = await server.transport.handle_async_request(httpx.Request("GET", server.url))
        connection = next(iter(server.transport._pool._busy))  # type: ignore[attr-defined]
        while connection._buffered <= READ_AHEAD_BYTES:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        for _ in range(200):
            await asyncio.sleep(0)
        assert connection._buffered < 4 * READ_AHEAD_BYTES
        assert sent < len(body)
        assert len(await response.aread()) == len(body)
        await response.aclose()


async def test_a_connection_whose_answer_nobody_read_is_not_left_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "READ_AHEAD_BYTES", 1)
    async with served(saying(OK)) as server:
        unread = await server.transport.handle_async_request(httpx.Request("GET", server.url))
        connection = next(iter(server.transport._pool._busy))  # type: ignore[attr-defined]
        while not connection.complete:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        await unread.aclose()
        assert (await server.get(read=60.0)).content == b"ok"
        assert server.connections == 2


async def test_a_request_is_sent_as_httpx_made_it() -> None:
    async def echoes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = await reader.readexactly(5)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Two: a\r\nX-Two: b\r\n\r\n" + body)

    async with served(echoes) as server:
        request = httpx.Request(
            "POST", f"{server.url}/a%20b", params={"q": "ä"}, content=b"hello", headers={"X-Y": "z"}
        )
        response = await server.transport.handle_async_request(request)
        assert await response.aread() == b"hello"
        assert response.headers.get_list("x-two") == ["a", "b"]
        lines = server.heads[0].lower().split(b"\r\n")
        assert lines[0] == b"post /a%20b?q=%c3%a4 http/1.1"
        assert {b"x-y: z", b"content-length: 5"} < set(lines)
        await response.aclose()


async def test_refused_unknown_and_closed() -> None:
    async with served(saying(OK)) as server:
        with pytest.raises(httpx.UnsupportedProtocol):
            await server.transport.handle_async_request(httpx.Request("GET", "ftp://127.0.0.1/"))
        with pytest.raises(httpx.ConnectError):
            await server.transport.handle_async_request(httpx.Request("GET", "http://127.0.0.1:1/"))
        request = httpx.Request("GET", server.url, headers=[(b"x", b"a\r\nb: c")])
        with pytest.raises(httpx.LocalProtocolError):
            await server.transport.handle_async_request(request)
        assert (await server.get()).content == b"ok"
        await server.transport.aclose()
        with pytest.raises(RuntimeError):
            await server.get()
