"""Fetching what a URL names, for somebody who must not reach this machine or its network through it.

Names are resolved here, every address that a name has must be public, and the connection goes to the very address that
was looked at: a name that answers differently a moment later changes nothing. Each redirect is looked at anew. Size and
time are bounded, nothing is unpacked on the way, and no proxy, cookie or password is used.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import httpcore

from app.gathering.content import Content
from app.gathering.public_addresses import is_public
from app.gathering.reader_process import Upload

MAX_URL_CHARS = 2_000
MAX_REDIRECTS = 5
MAX_ADDRESSES = 20
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PORTS = {"http": 80, "https": 443}
_HEADERS = (("User-Agent", "openviking-sidecar"), ("Accept", "*/*"), ("Accept-Encoding", "identity"))


class UrlRefused(ValueError):
    """The URL is not fetched, or what it leads to is not taken; the message says why."""


Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host. Raises `OSError` for one that has none."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """What the system's resolver says."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class Fetching:
    """How the web is read."""

    max_bytes: int
    seconds: float
    resolve: Resolve = resolve
    admits: Callable[[str], bool] = is_public
    """Whether an address may be connected to."""


async def fetch(url: str, how: Fetching) -> Upload:
    """What the URL names. Raises `UrlRefused`."""
    try:
        async with asyncio.timeout(how.seconds):
            return await _followed(url, how)
    except TimeoutError:
        raise UrlRefused(f"the URL does not answer within {how.seconds:g} seconds") from None


def checked(url: str) -> SplitResult:
    """The parts of a URL that may be fetched, as far as its text tells. Raises `UrlRefused`."""
    if len(url) > MAX_URL_CHARS or not url.isprintable() or any(sign in url for sign in " \\"):
        raise UrlRefused(f"a URL has at most {MAX_URL_CHARS} printable characters, and no space or backslash")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UrlRefused(f"this is no URL: {error}") from None
    if parts.scheme not in _PORTS:
        raise UrlRefused("only http and https are fetched")
    if not parts.hostname:
        raise UrlRefused("the URL names no host")
    if parts.username is not None or parts.password is not None:
        raise UrlRefused("a URL with a user name or password is not fetched")
    if port is not None and port != _PORTS[parts.scheme] and port < 1024:
        raise UrlRefused(f"port {port} is none of the web's")
    return parts


async def _followed(url: str, how: Fetching) -> Upload:
    for _ in range(MAX_REDIRECTS + 1):
        parts = checked(url)
        async with httpcore.AsyncConnectionPool(
            ssl_context=_certificates(), network_backend=_Pinned(how), max_connections=1, retries=0
        ) as pool:
            try:
                request = httpcore.Request("GET", _ascii(parts), headers=[("Host", _host(parts)), *_HEADERS])
                answer = await pool.handle_async_request(request)
                try:
                    if answer.status not in _REDIRECTS:
                        return await _taken(parts, answer, how)
                    url = _joined(url, _header(answer, b"location"))
                finally:
                    await answer.aclose()
            except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
                raise UrlRefused(f"{parts.hostname} can not be read: {error or type(error).__name__}") from error
    raise UrlRefused(f"the URL redirects more than {MAX_REDIRECTS} times")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise UrlRefused(f"the URL redirects to what is no URL: {error}") from None


async def _taken(parts: SplitResult, answer: httpcore.Response, how: Fetching) -> Upload:
    if answer.status != 200:
        raise UrlRefused(f"{parts.hostname} answers with {answer.status}")
    if _header(answer, b"content-encoding") not in {"", "identity"}:
        raise UrlRefused(f"{parts.hostname} sends what was not asked for: packed content")
    content = Content()
    try:
        async for piece in answer.aiter_stream():
            content.write(piece)
            if content.size > how.max_bytes:
                raise UrlRefused(f"what the URL names has more than {how.max_bytes} bytes")
    except BaseException:
        content.close()
        raise
    media_type = _header(answer, b"content-type").partition(";")[0].strip().lower()
    name = unquote(parts.path.rstrip("/").rsplit("/", 1)[-1]) or parts.hostname or "page"
    return Upload(name, content, media_type)


class _Pinned(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were looked at, and to nothing else."""

    def __init__(self, how: Fetching) -> None:
        self._how = how
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first address of the host, once all of them are known to be public."""
        try:
            found = (await self._how.resolve(host, port))[:MAX_ADDRESSES]
        except (OSError, UnicodeError) as error:
            raise UrlRefused(f"there is no host {host!r}") from error
        if not found:
            raise UrlRefused(f"there is no host {host!r}")
        for address in found:
            if not self._how.admits(address):
                raise UrlRefused(f"{host!r} is not on the public internet")
        return await self._network.connect_tcp(found[0], port, timeout, None, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109, ARG002 - httpcore's signature
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        """Never."""
        raise UrlRefused(f"{path!r} is no address of the web")

    async def sleep(self, seconds: float) -> None:
        """See `httpcore.AsyncNetworkBackend`."""
        await asyncio.sleep(seconds)


def _ascii(parts: SplitResult) -> str:
    """The URL as it is sent: without its fragment, with the host's name and everything else in ASCII."""
    try:
        host = (parts.hostname or "").encode("idna" if not (parts.hostname or "").isascii() else "ascii").decode()
    except UnicodeError:
        raise UrlRefused("the URL's host has no valid name") from None
    host = f"[{host}]" if ":" in host else host
    place = f"{host}:{parts.port}" if parts.port else host
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = f"?{quote(parts.query, safe='/%:@!$&()*+,;=~-._?')}" if parts.query else ""
    return f"{parts.scheme}://{place}{path}{query}"


def _host(parts: SplitResult) -> str:
    return urlsplit(_ascii(parts)).netloc


def _header(answer: httpcore.Response, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in answer.headers if key.lower() == name), "")


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Loaded once: it takes some 20 ms."""
    return ssl.create_default_context()
