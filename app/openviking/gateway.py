"""One bounded call to OpenViking: deadline, breaker, size limit, envelope, and every failure as `BackendError`."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx

from app.core.deadline import Clock, Deadline
from app.openviking.breaker import BreakerOpen, Breakers, Circuit, Ticket, Verdict
from app.openviking.errors import (
    CallFailed,
    Garbage,
    Operation,
    from_garbage,
    from_open_breaker,
    from_status,
    from_timeout,
    from_transport,
)
from app.openviking.wire import encode
from app.settings import OpenVikingSettings

MAX_RESPONSE_BYTES = 96 * 1024 * 1024
"""Above what a whole session's messages can take (a turn is at most 32 MiB of JSON); more is not read."""
PATIENCE_S = 0.5
"""A time-out speaks against the server only if the call had this long; a hurried caller must not open the breaker."""
KEEPALIVE_S = 4.0
"""Shorter than the 5 s after which uvicorn closes an idle connection, so that no request meets a closing one."""

OnCall = Callable[[str, str, float], None]
"""Told of every call: operation, outcome, seconds."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent. ``body`` None is no body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None = None
    params: Mapping[str, str] | None = None


class Gateway:
    """The connection pool, and the breakers that guard it."""

    def __init__(
        self,
        settings: OpenVikingSettings,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock = time.monotonic,
        on_call: OnCall | None = None,
    ) -> None:
        self._timeout_s = settings.timeout_ms / 1000
        self._connect_s = settings.connect_timeout_ms / 1000
        self._clock = clock
        self._on_call = on_call or (lambda _operation, _outcome, _seconds: None)
        self.breakers = Breakers(settings.breaker_failures, settings.breaker_reset_ms / 1000, clock)
        self._client = httpx.AsyncClient(
            base_url=settings.url,
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            limits=httpx.Limits(
                max_connections=settings.pool_size,
                max_keepalive_connections=settings.pool_size,
                keepalive_expiry=KEEPALIVE_S,
            ),
        )

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
        outcome, verdict = "cancelled", Verdict.UNKNOWN
        began = self._clock()
        try:
            if deadline.expired:
                raise from_timeout(operation, sent=False, patient=False)
            if tenant_key is not None:
                ticket = self._admit(operation, circuit)
            answer = await self._exchange(operation, request, parse, min(deadline.remaining, self._timeout_s))
            outcome, verdict = "ok", Verdict.ALIVE
            return answer
        except CallFailed as failure:
            outcome, verdict = failure.outcome, failure.verdict
            raise failure.error from failure.__cause__
        finally:
            if ticket is not None:
                self.breakers.record(circuit, ticket, verdict)
            self._on_call(operation.name, outcome, self._clock() - began)

    def move_to(self, url: str) -> None:
        """Send what is asked from now on to another base URL."""
        self._client.base_url = httpx.URL(url)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def _admit(self, operation: Operation, circuit: Circuit) -> Ticket:
        try:
            return self.breakers.admit(circuit)
        except BreakerOpen as refusal:
            raise from_open_breaker(operation, refusal) from None

    async def _exchange(self, operation: Operation, request: Request, parse: Callable[[Any], T], budget_s: float) -> T:
        patient = budget_s >= min(PATIENCE_S, self._timeout_s)
        try:
            async with asyncio.timeout(budget_s):
                response, content = await self._send(operation, request, budget_s)
        except TimeoutError as problem:
            raise from_timeout(operation, sent=True, patient=patient) from problem
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, RuntimeError, OSError) as problem:
            raise from_transport(operation, problem, patient=patient) from problem
        body = _parsed(content)
        if not response.is_success:
            raise from_status(operation, response.status_code, response.headers, body, datetime.now(UTC))
        if not isinstance(body, dict) or body.get("status") != "ok":
            raise from_garbage(operation, "no envelope")
        try:
            return parse(body.get("result", body))
        except (Garbage, ValueError, OverflowError, RecursionError) as problem:
            raise from_garbage(operation, str(problem)) from problem

    async def _send(self, operation: Operation, request: Request, budget_s: float) -> tuple[httpx.Response, bytes]:
        content = None if request.body is None else encode(request.body)
        message = self._client.build_request(
            request.method,
            request.path,
            params=request.params,
            content=content,
            headers={"Content-Type": "application/json", **request.headers} if content is not None else request.headers,
            timeout=httpx.Timeout(budget_s, connect=min(budget_s, self._connect_s)),
        )
        response = await self._client.send(message, stream=True)
        try:
            chunks = bytearray()
            async for chunk in response.aiter_bytes():
                chunks += chunk
                if len(chunks) > MAX_RESPONSE_BYTES:
                    raise from_garbage(operation, "an endless answer")
            return response, bytes(chunks)
        finally:
            await response.aclose()


def _parsed(content: bytes) -> Any:
    """The JSON of a body, or None: what is not JSON is judged by its status alone."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
