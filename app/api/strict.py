"""The route of every endpoint with a body: first who calls, then whether it is JSON, then what it says."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Scope

from app.api.intake import Intake
from app.api.large import AT_ONCE_BYTES, AT_ONCE_VALUES, EXPECT_BYTES, Large, divide, is_large
from app.api.scope import CALLER_DOCUMENTED, tenant_from
from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.core.json.encoding import parse_json
from app.errors import BodyTooLarge, FieldProblem, InvalidRequest
from app.services import Services


class StrictRoute(APIRoute):
    """A route whose body is JSON and says so, parsed by `parse_json`; a stranger's body is not even read.

    A page on another site can post anything to this machine but JSON that says it is JSON: a browser asks first.

    Its endpoints get the caller by `caller_of`: FastAPI's dependencies would find out a second time, at a tenth of the
    CPU time of a request.
    """

    def __init__(self, *arguments: Any, openapi_extra: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(*arguments, openapi_extra={**(openapi_extra or {}), **CALLER_DOCUMENTED}, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, given a request that parses strictly."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            request.state.tenant = tenant_from(request)
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if not (kind == "application/json" or kind.endswith("+json")):
                raise InvalidRequest(FieldProblem("headers.Content-Type", "send the body as application/json"))
            request.state.arrived = time.monotonic()
            intake: Intake = request.app.state.intake
            async with intake.body(request.headers, request.receive) as body:
                state = request.state
                state.large = None
                if len(body) > EXPECT_BYTES:
                    request.app.state.services.offload.warm()
                state.divided = is_large(body)
                if state.divided:
                    body, state.large = await asyncio.to_thread(divide, body)
                return await handler(_StrictRequest(request.scope, body, in_thread=state.divided))

        return strict


def caller_of(request: Request) -> tuple[Services, Tenant]:
    """The services, and the tenant that the caller may act for."""
    return request.app.state.services, request.state.tenant


def large_part(request: Request) -> Large | None:
    """The messages that were too large to be parsed here; the parsed body has none then."""
    large: Large | None = request.state.large
    return large


def refuse_large(request: Request) -> None:
    """Raises `BodyTooLarge` for a body of which large members were left out: here every member is read."""
    if request.state.divided:
        raise BodyTooLarge(f"the body may have {AT_ONCE_BYTES} bytes, and {AT_ONCE_VALUES} arrays and objects")


def deadline_of(request: Request, ms: int) -> Deadline:
    """``ms`` milliseconds from when the request began to arrive: a host counts from there."""
    return Deadline(request.state.arrived + ms / 1000)


class _StrictRequest(Request):
    def __init__(self, scope: Scope, body: bytes, *, in_thread: bool) -> None:
        super().__init__(scope)
        self._body = body
        self._in_thread = in_thread

    async def json(self) -> Any:
        if self._in_thread:
            return await asyncio.to_thread(parse_json, self._body)
        return parse_json(self._body)
