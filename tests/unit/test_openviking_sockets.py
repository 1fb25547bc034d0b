"""The OpenViking client against real sockets that misbehave: what httpx really raises becomes the right error."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.reasons import Reason
from app.openviking.client import OpenVikingBackend
from app.ports import Appended, BackendError, Target
from app.settings import OpenVikingSettings
from tests.process import free_port

pytestmark = pytest.mark.anyio

WHO = Identity(Tenant("acme", "alice"), "s1", None, "main", None, PeerRole.ASSISTANT)
MESSAGE = CapturedMessage("user", (TextPart("hello"),), "2026-03-04T05:06:07+00:00", "t_a.0")
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served(talk: Talk) -> AsyncIterator[OpenVikingBackend]:
    """A client of a server that takes each request and then behaves like ``talk``."""
    ended = asyncio.Event()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await take_request(reader):
                await asyncio.wait(
                    [asyncio.ensure_future(talk(reader, writer)), waiting := asyncio.ensure_future(ended.wait())],
                    return_when=asyncio.FIRST_COMPLETED,
                )
                waiting.cancel()
                if writer.is_closing() or ended.is_set():
                    break
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    backend = OpenVikingBackend(OpenVikingSettings(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    try:
        yield backend
    finally:
        await backend.aclose()
        ended.set()
        server.close()
        await asyncio.sleep(0)


async def take_request(reader: asyncio.StreamReader) -> bool:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return False
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    await reader.readexactly(length)
    return True


async def write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def closes(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def resets(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def breaks_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await write(writer, b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"status": "ok"')
    writer.close()


async def speaks_no_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await write(writer, b"220 mail ready\r\n\r\n\x00\xff")
    writer.close()


async def hangs(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def trickles(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await write(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n")
    while True:
        await write(writer, b" ")
        await asyncio.sleep(0.005)


async def answers(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    body = json.dumps({"status": "ok", "result": {"message_count": 1, "pending_tokens": 2, "memories": []}}).encode()
    await write(writer, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


@pytest.mark.parametrize("talk", [closes, resets, breaks_off, speaks_no_http])
async def test_a_broken_connection_leaves_a_write_uncertain(talk: Talk) -> None:
    async with served(talk) as backend:
        with pytest.raises(BackendError) as broken:
            await backend.append(WHO, [MESSAGE], Deadline.after_ms(5_000))
        assert broken.value.reason is Reason.OPENVIKING_UNAVAILABLE
        assert (broken.value.retryable, broken.value.uncertain) == (True, True)
        with pytest.raises(BackendError) as broken:
            await backend.find(WHO, "tea", Target.MEMORIES, 3, Deadline.after_ms(5_000))
        assert (broken.value.retryable, broken.value.uncertain) == (True, False)


@pytest.mark.parametrize("talk", [hangs, trickles])
async def test_a_slow_server_is_given_up_at_the_deadline(talk: Talk) -> None:
    async with served(talk) as backend:
        with pytest.raises(BackendError) as late:
            await backend.append(WHO, [MESSAGE], Deadline.after_ms(60))
        assert late.value.reason is Reason.DEADLINE_EXCEEDED
        assert (late.value.retryable, late.value.uncertain) == (True, True)


async def test_a_refused_connection_leaves_nothing_uncertain() -> None:
    backend = OpenVikingBackend(OpenVikingSettings(url=f"http://127.0.0.1:{free_port()}"))
    with pytest.raises(BackendError) as refused:
        await backend.append(WHO, [MESSAGE], Deadline.after_ms(5_000))
    assert refused.value.reason is Reason.OPENVIKING_UNAVAILABLE
    assert (refused.value.retryable, refused.value.uncertain) == (True, False)
    await backend.aclose()


async def test_connections_are_used_again_and_a_closed_client_fails_cleanly() -> None:
    async with served(answers) as backend:
        for _ in range(3):
            assert await backend.append(WHO, [MESSAGE], Deadline.after_ms(5_000)) == Appended(1, 2)
        together = [backend.find(WHO, "tea", Target.MEMORIES, 3, Deadline.after_ms(5_000)) for _ in range(20)]
        assert await asyncio.gather(*together) == [[]] * 20
        await backend.aclose()
        with pytest.raises(BackendError):
            await backend.append(WHO, [MESSAGE], Deadline.after_ms(5_000))
