"""The route of every endpoint with a body: first who calls, then whether it is JSON, then what it says."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Scope

from app.api.intake import Intake
from app.api.large import AT_ONCE_BYTES, AT_ONCE_VALUES, EXPECT_BYTES, Large, divide, is_large
from app.api.schemas import MessagesBody
from app.api.scope import CALLER_DOCUMENTED, tenant_from
from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.core.json.encoding import parse_json
from app.core.messages.host_message import HostMessage
from app.core.messages.reading_cache import Resumed
from app.errors import BodyTooLarge, FieldProblem, InvalidRequest
from app.services import Services


class StrictRoute(APIRoute):
    """A route whose body is JSON and says so, parsed by `parse_json`; a stranger's body is not even read.

    A page on another site can post anything to this machine but JSON that says it is JSON: a browser asks first.

    Its endpoints get the caller by `caller_of`: FastAPI's dependencies would find out a second time, at a tenth of the
    CPU time of a request. For the same reason a body that is as it should be goes to its endpoint at once, where the
    endpoint takes nothing else; FastAPI gets the others, and says what is wrong with them.
    """

    def __init__(self, *arguments: Any, openapi_extra: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(*arguments, openapi_extra={**(openapi_extra or {}), **CALLER_DOCUMENTED}, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, given a request that parses strictly."""
        handler = super().get_route_handler()
        names = self._names_of_two()

        async def strict(request: Request) -> Response:
            state, of_app = request.state, request.app.state
            services: Services = of_app.services
            state.tenant = tenant_from(request)
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if not (kind == "application/json" or kind.endswith("+json")):
                raise InvalidRequest(FieldProblem("headers.Content-Type", "send the body as application/json"))
            state.arrived = time.monotonic()
            intake: Intake = of_app.intake
            async with intake.body(request.headers, request.receive) as body:
                state.large = state.resumed = None
                if len(body) > EXPECT_BYTES:
                    services.offload.warm()
                resumed = Resumed(body)
                if names and len(body) <= AT_ONCE_BYTES:
                    resumed = services.readings.resume(body)
                state.divided = is_large(resumed.body)
                if state.divided:
                    body, state.large = await asyncio.to_thread(divide, body)
                elif names and (asked := self._understood(request, resumed)) is not None:
                    response: Response = await self.endpoint(**dict(zip(names, (request, asked), strict=True)))
                    return response
                return await handler(_StrictRequest(request.scope, body, in_thread=state.divided))

        return strict

    def _names_of_two(self) -> tuple[str, str] | None:
        """The names of the endpoint's request and body, where it takes nothing else and gives a response."""
        takes, gives = self.dependant, get_type_hints(self.endpoint).get("return")
        others = (takes.dependencies, takes.path_params, takes.query_params, takes.header_params, takes.cookie_params)
        if gives is not Response or takes.request_param_name is None or len(takes.body_params) != 1 or any(others):
            return None
        return takes.request_param_name, takes.body_params[0].name

    def _understood(self, request: Request, resumed: Resumed) -> Any:
        """What the endpoint takes, of a body that is as it should be; None for any other."""
        try:
            parsed = parse_json(resumed.body)
            if resumed.known and not request.app.state.services.readings.is_resumed(parsed):
                return None
        except json.JSONDecodeError:
            return None
        assert self.body_field is not None  # noqa: S101 - it takes a body
        asked, errors = self.body_field.validate(parsed, loc=("body",))
        if errors:
            return None
        request.state.resumed = resumed
        return asked


def messages_of(request: Request, body: MessagesBody) -> tuple[HostMessage, ...]:
    """The host's messages, those that were read before as they were read then."""
    resumed: Resumed | None = request.state.resumed
    services: Services = request.app.state.services
    return services.readings.read(body.messages, resumed)


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
