"""The outermost layer, plain ASGI: request id, host name, one log line and one count per request."""

import time
from collections.abc import Callable
from typing import Any

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.error_handlers import answer_to
from app.errors import CanNotStart, FieldProblem, InvalidRequest, SidecarError, Unexpected
from app.observe.context import begin, note
from app.observe.metrics import Metrics

log = structlog.get_logger("app.request")


class RequestShell:
    """Wraps every HTTP request; its body is left to those who want it (`app.api.intake`).

    ``is_ours`` says whether the value of a ``Host`` header may be served. HEAD is GET without the body.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, is_ours: Callable[[str], bool] = lambda _: True) -> None:
        self.app = app
        self.is_ours = is_ours
        self.metrics = metrics
        self._log: Any = None
        """``log``, bound once: to look its configuration up costs as much as a line."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http":
            self._log = None
            await _start(self.app, scope, receive, send)
            return
        started = time.monotonic()
        headers = Headers(scope=scope)
        request_id = begin(headers.get("x-request-id"), headers.get("traceparent"), headers.get("tracestate"))
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        status, head = 0, scope["method"] == "HEAD"
        if head:
            scope = {**scope, "method": "GET"}

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            elif head:
                message = {**message, "body": b""}
            await send(message)

        try:
            self._check_host(headers)
            await self.app(scope, receive, send_with_id)
        except SidecarError as refusal:
            note(reason=str(refusal.code))
            refused = answer_to(scope["path"], headers.get("accept", ""), refusal, request_id)
            await refused(scope, receive, send_with_id)
        except RecursionError:
            deep = InvalidRequest(FieldProblem("body", "nested too deeply"))
            await answer_to(scope["path"], headers.get("accept", ""), deep, request_id)(scope, receive, send_with_id)
        except Exception:
            log.exception("unexpected_error", endpoint=scope["path"])
            if not status:
                failure = Unexpected("an unexpected error of the sidecar; its log says more")
                failed = answer_to(scope["path"], headers.get("accept", ""), failure, request_id)
                await failed(scope, receive, send_with_id)
        self._report(scope, status, time.monotonic() - started)

    def _check_host(self, headers: Headers) -> None:
        if not self.is_ours(headers.get("host", "")):
            how = "set SIDECAR_AUTH__TOKENS, or name this host in SIDECAR_AUTH__ALLOWED_HOSTS"
            raise InvalidRequest(FieldProblem("headers.Host", how))

    def _report(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get("route")
        endpoint = getattr(route, "path", None) or "other"
        phase = scope["state"].get("phase", "")
        self.metrics.on_request(endpoint, phase, status, seconds)
        quiet = endpoint in {"/healthz", "/readyz", "/metrics"}
        if self._log is None:
            self._log = log.bind()
        (self._log.debug if quiet else self._log.info)(
            "request", method=scope["method"], endpoint=endpoint, status=status, ms=round(seconds * 1000, 1)
        )


async def _start(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """The lifespan. Why the service can not start is said to the server in one line, without a traceback."""
    held: list[Message] = []

    async def send_but_failure(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            held.append(message)
        else:
            await send(message)

    try:
        await app(scope, receive, send_but_failure)
    except CanNotStart as problem:
        await send({"type": "lifespan.startup.failed", "message": f"can not start: {problem}"})
        raise
    except BaseException:
        for message in held:
            await send(message)
        raise
