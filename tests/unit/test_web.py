"""Fetching: names are resolved once, connections go to the address that was looked at, every redirect is looked at."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from app.gathering.forges import archive_of
from app.gathering.public_addresses import is_public
from app.gathering.web import Fetching, UrlRefused, checked, fetch

pytestmark = pytest.mark.anyio

HOW = Fetching(max_bytes=10_000, seconds=60.0)
Answer = Callable[[str], bytes]


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers])
    return head.encode() + b"\r\n\r\n" + body


@asynccontextmanager
async def site(answer: Answer) -> AsyncIterator[tuple[int, list[str]]]:
    """A web site on this machine, and the requests that it got."""
    asked: list[str] = []

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        asked.append(request)
        writer.write(answer(request.split(" ")[1]))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


def resolving(*answers: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """A resolver that says something else each time; the last of it from then on."""
    left = list(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


def local(**changes: object) -> Fetching:
    """As if this machine's address were one of the web's."""
    return replace(HOW, resolve=resolving(["127.0.0.1"]), admits=lambda address: address == "127.0.0.1", **changes)  # type: ignore[arg-type]


async def test_a_document_is_fetched_with_its_name_and_type() -> None:
    async with site(lambda _: response(b"# Guide", "Content-Type: text/markdown; charset=utf-8")) as (port, asked):
        found = await fetch(f"http://docs.example.org:{port}/a%20b/guide.md?x=1#part", local())
    assert (found.name, found.content.read(), found.media_type) == ("guide.md", b"# Guide", "text/markdown")
    found.content.close()
    assert asked[0].startswith("GET /a%20b/guide.md?x=1 HTTP/1.1") and f"Host: docs.example.org:{port}" in asked[0]


async def test_a_name_is_resolved_once_for_a_connection() -> None:
    """A name that is public when it is looked at, and this machine a moment later, gains nothing."""
    async with site(lambda _: response(b"inside")) as (port, asked):
        how = replace(
            HOW, resolve=resolving(["192.0.2.7"], ["127.0.0.1"]), admits=lambda address: address == "192.0.2.7"
        )
        with pytest.raises(UrlRefused):
            await fetch(f"http://rebinding.example.org:{port}/", replace(how, seconds=1.0))
    assert asked == []


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["fe80::1%eth0"], []])
async def test_every_address_of_a_name_must_be_public(addresses: list[str]) -> None:
    with pytest.raises(UrlRefused):
        await fetch("http://docs.example.org/", replace(HOW, resolve=resolving(addresses)))


async def test_a_redirect_is_looked_at_anew() -> None:
    inside = response(b"", "Location: http://inside.example.org/", status="302 Found")
    async with site(lambda _: inside) as (port, asked):
        how = replace(local(), resolve=resolving(["127.0.0.1"], ["169.254.169.254"]))
        with pytest.raises(UrlRefused, match="public"):
            await fetch(f"http://docs.example.org:{port}/", how)
    assert len(asked) == 1


async def test_a_redirect_to_a_file_or_without_end_is_refused() -> None:
    async with site(lambda _: response(b"", "Location: file:///etc/passwd", status="302 Found")) as (port, _):
        with pytest.raises(UrlRefused, match="http and https"):
            await fetch(f"http://docs.example.org:{port}/", local())
    async with site(lambda _: response(b"", "Location: http://[", status="302 Found")) as (port, _):
        with pytest.raises(UrlRefused, match="no URL"):
            await fetch(f"http://docs.example.org:{port}/", local())
    async with site(lambda _: response(b"", "Location: /again", status="302 Found")) as (port, asked):
        with pytest.raises(UrlRefused, match="redirects"):
            await fetch(f"http://docs.example.org:{port}/", local())
    assert len(asked) == 6


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (response(b"x" * 20_000), "bytes"),
        (response(b"x", "Content-Encoding: gzip"), "packed"),
        (response(b"x", status="404 Not Found"), "404"),
        (b"no HTTP at all\r\n\r\n", "can not be read"),
    ],
)
async def test_what_is_too_much_or_no_document_is_refused(answer: bytes, why: str) -> None:
    async with site(lambda _: answer) as (port, _):
        with pytest.raises(UrlRefused, match=why):
            await fetch(f"http://docs.example.org:{port}/", local())


@pytest.mark.parametrize(
    "address",
    """
    127.0.0.1 10.1.2.3 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 192.0.2.1
    ::1 :: fe80::1 fc00::1 ff02::1 ::ffff:10.0.0.1 ::7f00:1 64:ff9b::a00:1 2002:7f00:1:: 2001:0:7f00:1:: nonsense
    127.0.0.1%lo fec0::1 feff::1 3fff::1 5f00::1 192.88.99.1 192.0.0.9
    """.split(),  # noqa: SIM905
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("url", ["https://example.org/x", "http://example.org:8080/", "https://[2606:2800::1]/"])
def test_urls_that_may_be_fetched(url: str) -> None:
    assert checked(url).hostname


def test_repositories_are_fetched_as_archives() -> None:
    assert archive_of("https://github.com/owner/name.git") == (
        "https://codeload.github.com/owner/name/zip/HEAD",
        "name",
    )
    assert archive_of("https://gitlab.com/a/b/c")[0] == "https://gitlab.com/a/b/c/-/archive/HEAD/archive.zip"
    for wrong in (
        "https://github.com/a",
        "http://github.com/a/b",
        "https://example.org/a/b",
        "https://github.com/../x",
    ):
        with pytest.raises(UrlRefused):
            archive_of(wrong)
