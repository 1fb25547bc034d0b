"""One bounded call to OpenViking: deadline, breaker, size limit, envelope, and every failure as `BackendError`."""

import asyncio
import base64
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar, cast

import httpx

from app.core.deadline import Clock, Deadline
from app.openviking.breaker import BreakerOpen, Breakers, Circuit, Ticket, Verdict
from app.openviking.call_errors import (
    CallFailed,
    Garbage,
    Operation,
    from_garbage,
    from_open_breaker,
    from_status,
    from_timeout,
    from_transport,
)
from app.openviking.session_messages import encode
from app.openviking.transport import Transport
from app.settings import OpenVikingSettings

MAX_RESPONSE_BYTES = 96 * 1024 * 1024
"""Above what a whole session's messages can take (a turn is at most 32 MiB of JSON); more is not read."""
AT_ONCE_BYTES = 256 * 1024
"""Longer answers (an archive's messages) are parsed in a thread: others need the event loop."""
PATIENCE_S = 0.5
"""A time-out of a call that had this long is a failure of the server; shorter ones in a row add up to one."""
PROBE_S = 2.0
"""For this long others wait for what a probe finds out: their calls may go ahead then. A healthy server is sooner."""
KEEPALIVE_S = 4.0
"""Shorter than the 5 s after which uvicorn closes an idle connection, so that no request meets a closing one."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class File:
    """A file to upload. Its name has no sign that means anything in a header."""

    name: str
    data: bytes


@dataclass(slots=True)  # not frozen: every request makes one, in a third of the time
class Request:
    """What is sent: ``body`` as JSON, or ``file`` as a form; with neither there is no body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None = None
    params: Mapping[str, str] | None = None
    file: File | None = None


class _Probe:
    """A probe under way. ``until``: when those who wait for its outcome give up."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.ended = asyncio.Event()

    async def ended_within(self, seconds: float) -> bool:
        """Whether it ends in time."""
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self.ended.wait()
        except TimeoutError:
            return False
        return True


class Gateway:
    """The connection pool, and the breakers that guard it."""

    def __init__(
        self,
        settings: OpenVikingSettings,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._timeout_s = settings.timeout_ms / 1000
        self._connect_s = settings.connect_timeout_ms / 1000
        self._clock = clock
        self._probes: dict[Circuit, _Probe] = {}
        self.breakers = Breakers(settings.breaker_failures, settings.breaker_reset_ms / 1000, clock)
        # Requests go straight to httpx's transport: its client's cookies, redirects and hooks are not wanted, and cost
        # as much as the call.
        self._transport = transport or Transport(settings.pool_size, KEEPALIVE_S)
        self.move_to(settings.url)

    async def call(
        self,
        operation: Operation,
        request: Request,
        parse: Callable[[Any], T],
        deadline: Deadline,
        *,
        tenant_key: str | None,
    ) -> T:
        """``parse`` of the answer's ``result`` (of the whole body where there is no envelope).

        ``tenant_key`` None goes past the breaker. Raises `BackendError` for every failure, and nothing else.
        """
        circuit = (tenant_key or "", operation.lane.value)
        ticket: Ticket | None = None
        verdict, weight = Verdict.UNKNOWN, 1.0
        began = self._clock()
        try:
            if tenant_key is not None:
                ticket = await self._admit(operation, circuit, deadline)
            if deadline.expired:
                raise from_timeout(operation, sent=False, weight=0)
            answer = await self._exchange(operation, request, parse, min(deadline.remaining, self._timeout_s))
            verdict = Verdict.ALIVE
            return answer
        except CallFailed as failure:
            verdict, weight = failure.verdict, failure.weight
            raise failure.error from failure.__cause__
        except asyncio.CancelledError:
            if deadline.expired:  # the caller had the same deadline, and was a moment faster
                verdict, weight = Verdict.FAILED, self._weight(deadline.at - began)
            raise
        finally:
            if ticket is not None:
                self._hand_back(circuit, ticket, verdict, weight)

    def move_to(self, url: str) -> None:
        """Send what is asked from now on to another base URL."""
        base = httpx.URL(url)
        self._base = str(base.copy_with(userinfo=b"")).rstrip("/")
        # As it is: nothing is gained by compressing what comes from the same machine or network.
        accepted = {"Accept": "application/json", "Accept-Encoding": "identity"}
        self._headers = {"Host": base.netloc.decode(), **accepted, **_basic(base)}

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def _admit(self, operation: Operation, circuit: Circuit, deadline: Deadline) -> Ticket:
        """Permission to call. While a probe is under way, its outcome is waited for: it may be good news."""
        while True:
            try:
                ticket = self.breakers.admit(circuit)
            except BreakerOpen as refusal:
                probe = self._probes.get(circuit)
                patience_s = min(probe.until - self._clock(), deadline.remaining) if probe else 0.0
                if probe is None or not await probe.ended_within(patience_s):
                    raise from_open_breaker(operation, refusal) from None
            else:
                if ticket.probe:
                    self._probes[circuit] = _Probe(self._clock() + PROBE_S)
                return ticket

    def _hand_back(self, circuit: Circuit, ticket: Ticket, verdict: Verdict, weight: float) -> None:
        self.breakers.record(circuit, ticket, verdict, weight)
        if ticket.probe and (probe := self._probes.pop(circuit, None)):
            probe.ended.set()

    def _weight(self, budget_s: float) -> float:
        """How far a call that got no answer within ``budget_s`` speaks against the server."""
        return min(1.0, budget_s / min(PATIENCE_S, self._timeout_s))

    async def _exchange(self, operation: Operation, request: Request, parse: Callable[[Any], T], budget_s: float) -> T:
        weight = self._weight(budget_s)
        try:
            async with asyncio.timeout(budget_s):
                response, content = await self._send(operation, request, budget_s)
        except TimeoutError as problem:
            raise from_timeout(operation, sent=True, weight=weight) from problem
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, RuntimeError, OSError) as problem:
            raise from_transport(operation, problem, weight=weight) from problem
        large = len(content) > AT_ONCE_BYTES
        body = await asyncio.to_thread(_parsed, content) if large else _parsed(content)
        if not response.is_success:
            raise from_status(operation, response.status_code, response.headers, body, datetime.now(UTC))
        if not isinstance(body, dict) or body.get("status") != "ok":
            raise from_garbage(operation, "no envelope")
        try:
            result = body.get("result", body)
            return await asyncio.to_thread(parse, result) if large else parse(result)
        except (Garbage, ValueError, OverflowError, RecursionError) as problem:
            raise from_garbage(operation, str(problem)) from problem

    async def _send(self, operation: Operation, request: Request, budget_s: float) -> tuple[httpx.Response, bytes]:
        kind, content = _content(request)
        headers = {**self._headers, **request.headers}
        if kind:
            headers |= {"Content-Type": kind, "Content-Length": str(len(content))}
        limits = {"connect": min(budget_s, self._connect_s), "pool": budget_s, "read": budget_s, "write": budget_s}
        message = httpx.Request(
            request.method,
            _url(self._base + request.path),
            params=request.params,
            headers=headers,
            stream=httpx.ByteStream(content),
            extensions={"timeout": limits},
        )
        response = await self._transport.handle_async_request(message)
        try:
            chunks = bytearray()
            async for chunk in cast(httpx.AsyncByteStream, response.stream):
                chunks += chunk
                if len(chunks) > MAX_RESPONSE_BYTES:
                    raise from_garbage(operation, "an endless answer")
            return response, bytes(chunks)
        finally:
            await response.aclose()


def _content(request: Request) -> tuple[str, bytes]:
    """The type of the body, and its bytes; no type where there is none."""
    if request.file is not None:
        boundary = secrets.token_hex(16)
        named = f'Content-Disposition: form-data; name="file"; filename="{request.file.name}"'
        head = f"--{boundary}\r\n{named}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()
        form = b"".join((head, request.file.data, f"\r\n--{boundary}--\r\n".encode()))
        return f"multipart/form-data; boundary={boundary}", form
    return ("", b"") if request.body is None else ("application/json", encode(request.body))


@lru_cache(maxsize=1024)
def _url(text: str) -> httpx.URL:
    """Parsing a URL costs as much as sending it, and searches go to one."""
    return httpx.URL(text)


def _basic(url: httpx.URL) -> dict[str, str]:
    """The header for a user and a password in a URL, if it has them."""
    if not url.userinfo:
        return {}
    given = f"{url.username}:{url.password}".encode()
    return {"Authorization": f"Basic {base64.b64encode(given).decode()}"}


def _parsed(content: bytes) -> Any:
    """The JSON of a body, or None: what is not JSON is judged by its status alone."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
