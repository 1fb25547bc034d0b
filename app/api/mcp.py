"""``/mcp``: the Model Context Protocol over Streamable HTTP. Each POST is one message and is answered with JSON."""

import asyncio
from importlib import import_module
from typing import Annotated, Any

from fastapi import Body, Request, Response
from starlette.datastructures import Headers

from app.api.hosts import is_ours
from app.api.routers import Router
from app.api.schemas import ScopeBody
from app.api.scope import ServicesDep, TenantDep, resolve_optional
from app.api.strict import StrictRoute, deadline_of, refuse_large
from app.api.wire import Json
from app.core.identity import MAX_ID_CHARS, agent_of_key
from app.errors import FieldProblem, Forbidden, InvalidRequest
from app.services import Services
from app.tools.tool import Caller

SESSION = "X-Sidecar-Session"


class McpRoute(StrictRoute):
    """A strict route that no page of another site may speak with."""

    def get_route_handler(self) -> Any:
        """The strict handler, behind a look at ``Origin``."""
        handler = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            check_origin(request.headers, request.app.state.services)
            return await handler(request)

        return guarded


router = Router(tags=["tools"], route_class=McpRoute)


@router.post("/mcp", summary="Model Context Protocol", include_in_schema=False)
async def mcp(
    request: Request, services: ServicesDep, tenant: TenantDep, message: Annotated[Any, Body()] = None
) -> Response:
    """One JSON-RPC message. The token chooses the tenant, `X-Sidecar-Session` the session."""
    refuse_large(request)
    deadline = deadline_of(request, services.settings.limits.wait_ms)
    who, bypassed, has_session = await resolve_optional(services, tenant, _scope(request.headers), deadline)
    # In a thread: building the protocol's models takes a few tenths of a second, once.
    exchange, methods = [
        await asyncio.to_thread(import_module, name) for name in ("app.mcp.exchange", "app.mcp.methods")
    ]
    served = methods.McpServer(
        services.call_tool,
        services.list_memories,
        services.assemble.transform,
        Caller(who, has_session, deadline),
        bypassed=bypassed,
    )
    reply = await exchange.answer(message, request.headers, served.handlers())
    return Response(status_code=reply.status) if reply.body is None else Json(reply.body, reply.status)


def check_origin(headers: Headers, services: Services) -> None:
    """Raises `Forbidden` for a page that the service may not be read by; the rule is that of `Host`.

    A page on another site can post JSON to this machine when its name leads here, and a browser tells where it is from.
    """
    origin = headers.get("origin")
    if origin is None:
        return
    scheme, _, host = origin.partition("://")
    if scheme not in {"http", "https"} or not host or not is_ours(host, services.settings.auth.served_hosts()):
        raise Forbidden("this Origin may not use the sidecar: see SIDECAR_AUTH__ALLOWED_HOSTS")


def _scope(headers: Headers) -> ScopeBody:
    """Of the header's text: a session key where it looks like one, else the host's session id."""
    session = headers.get(SESSION, "").strip()
    if len(session) > MAX_ID_CHARS:
        raise InvalidRequest(FieldProblem(f"headers.{SESSION}", f"may have {MAX_ID_CHARS} characters"))
    return ScopeBody(session_key=session) if agent_of_key(session) else ScopeBody(session_id=session or None)
