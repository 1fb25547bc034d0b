"""The route of every endpoint with a body: first who calls, then whether it is JSON, then what it says."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from app.api.scope import tenant_from
from app.api.wire import parse_json
from app.errors import FieldProblem, InvalidRequest


class StrictRoute(APIRoute):
    """A route whose body is JSON and says so, parsed by `parse_json`; a stranger's body is not looked at.

    A page on another site can post anything to this machine but JSON that says it is JSON: a browser asks first.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, given a request that parses strictly."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            tenant_from(request)
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if not (kind == "application/json" or kind.endswith("+json")):
                raise InvalidRequest(FieldProblem("headers.Content-Type", "send the body as application/json"))
            return await handler(_StrictRequest(request.scope, request.receive))

        return strict


class _StrictRequest(Request):
    async def json(self) -> Any:
        return parse_json(await self.body())
