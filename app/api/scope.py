"""The door: who may call, for which tenant, and as whom (contract, "Who is calling")."""

import base64
import hmac
from typing import Annotated, Any

import structlog
from fastapi import Depends, Header, Request
from fastapi.security import HTTPBearer

from app.api.pages import PAGES
from app.api.schemas import ScopeBody
from app.core.deadline import Deadline
from app.core.identity import (
    NO_SESSION,
    Identity,
    Tenant,
    is_bypassed,
    is_openviking_id,
    resolve_identity,
    session_name,
)
from app.engine import bounded_waits
from app.engine.preflight import STORE_SHARE
from app.errors import FieldProblem, Forbidden, InvalidRequest, StoreUnavailable, Unauthorized
from app.observe.context import came_with, note
from app.services import Services

log = structlog.get_logger(__name__)

_bearer = HTTPBearer(auto_error=False, description="A token of `SIDECAR_AUTH__TOKENS`, when tokens are configured.")


DEMO = "demo"
"""Account and user of the examples: what is tried out must not come back in real prompts."""

TENANT_COOKIE = "sidecar-tenant"
"""``<account>/<user>``, each of which may be empty."""


_TENANT_HEADERS = ("X-OpenViking-Account", "X-OpenViking-User")
_TENANT_HEADER = "The tenant, where the token or key does not say it. The examples use a tenant of their own."

CALLER_DOCUMENTED: dict[str, Any] = {
    "security": [{_bearer.scheme_name: []}],
    "parameters": [
        {
            "name": name,
            "in": "header",
            "required": False,
            "description": _TENANT_HEADER,
            "schema": {"type": "string"},
            "examples": {DEMO: {"value": DEMO}},
        }
        for name in _TENANT_HEADERS
    ],
}
"""What the OpenAPI document says of the caller, for routes that know the caller without FastAPI's dependencies."""


def _tenant_header(name: str) -> Any:
    return Header(alias=name, description=_TENANT_HEADER, openapi_examples={DEMO: {"value": DEMO}})


async def services_of(request: Request) -> Services:
    """The services that the lifespan opened. Asynchronous, like all dependencies here: others cost a thread each."""
    services: Services = request.app.state.services
    return services


async def tenant_of(
    request: Request,
    _token: Annotated[object, Depends(_bearer)],
    _account: Annotated[str | None, _tenant_header(_TENANT_HEADERS[0])] = None,
    _user: Annotated[str | None, _tenant_header(_TENANT_HEADERS[1])] = None,
) -> Tenant:
    """`tenant_from` as a dependency, with the token and the tenant's headers in the OpenAPI document."""
    return tenant_from(request)


def is_known(request: Request) -> bool:
    """Whether the caller has a token, or none is needed."""
    try:
        _bound_tenant(request.app.state.services, token_of(request))
    except Unauthorized:
        return False
    return True


def tenant_from(request: Request) -> Tenant:
    """The tenant that the caller may act for: the token's, else the headers', else the configured one.

    On pages the one chosen there (`TENANT_COOKIE`) comes before the configured one: a browser sends no headers.

    Raises `Unauthorized`, `Forbidden` when a bound token comes with another tenant's headers, `InvalidRequest` for ids
    that OpenViking does not allow.
    """
    services: Services = request.app.state.services
    token = token_of(request)
    bound = _bound_tenant(services, token)
    came_with(token)
    asked = Tenant(_id_header(request, "X-OpenViking-Account"), _id_header(request, "X-OpenViking-User"))
    if bound:
        for wanted, allowed in ((asked.account, bound.account), (asked.user, bound.user)):
            if wanted and allowed and wanted != allowed:
                raise Forbidden("this token is bound to another tenant than the X-OpenViking headers name")
    default, chosen = services.settings.openviking, _chosen_tenant(request)
    tenant = Tenant(
        (bound and bound.account) or asked.account or chosen.account or default.account,
        (bound and bound.user) or asked.user or chosen.user or default.user,
    )
    return tenant.without(services.unnamed)


def may_choose(request: Request) -> bool:
    """Whether the caller may act for other tenants than the one of its token."""
    bound = _bound_tenant(request.app.state.services, token_of(request))
    return not (bound and bound.account and bound.user)


async def resolve(
    services: Services, tenant: Tenant, body: ScopeBody, deadline: Deadline | None = None
) -> tuple[Identity, bool]:
    """The identity of a request, and whether a bypass pattern covers its session. `InvalidRequest` if none.

    Of what is left until ``deadline`` the store gets `STORE_SHARE` to tell who spoke last.
    """
    scope = body.scope
    session = session_name(scope.session_id, scope.session_key)
    if session is None:
        raise InvalidRequest(FieldProblem("sessionId", "give sessionId or sessionKey"))
    routing, names_agent = services.settings.routing, scope.names_agent
    who = resolve_identity(
        scope,
        session,
        tenant,
        agent_prefix=routing.agent_prefix,
        peer_role=routing.peer_role,
        last_agent=None if names_agent else await _last_agent(services, tenant, session, deadline),
    )
    if names_agent:
        services.store.saw(who)
    note(session=who.session, agent=who.agent)
    return who, is_bypassed(scope, routing.bypass_sessions)


async def resolve_optional(
    services: Services, tenant: Tenant, body: ScopeBody, deadline: Deadline | None = None
) -> tuple[Identity, bool, bool]:
    """`resolve` for what needs no session: the identity, whether it is bypassed, and whether the scope names a session.

    Without one the identity has the session `NO_SESSION`, in which nothing is ever written.
    """
    scope = body.scope
    if session_name(scope.session_id, scope.session_key) is not None:
        return *await resolve(services, tenant, body, deadline), True
    routing = services.settings.routing
    who = resolve_identity(
        scope, NO_SESSION, tenant, agent_prefix=routing.agent_prefix, peer_role=routing.peer_role, last_agent=None
    )
    note(agent=who.agent)
    return who, False, False


async def _last_agent(services: Services, tenant: Tenant, session: str, deadline: Deadline | None) -> str | None:
    """The agent last seen for the session; None while the store is away: only `/after-turn` needs the store."""
    try:
        looking = services.store.last_agent(tenant, session)
        if deadline is None:
            return await looking
        return await bounded_waits.in_time(looking, deadline.within_ms(deadline.remaining * 1000 * STORE_SHARE))
    except StoreUnavailable as error:
        log.warning("store_unavailable", detail=error.detail)
        return None


def _bound_tenant(services: Services, token: str | None) -> Tenant | None:
    """The tenant that the token is bound to, or None when it may act for any. Compares all tokens in constant time."""
    if not services.tokens:
        return None
    given = (token or "").encode("utf-8", "surrogateescape")
    found = False
    bound: Tenant | None = None
    for known, tenant in services.tokens.items():
        if hmac.compare_digest(known.encode(), given):
            found, bound = True, tenant
    if not found:
        raise Unauthorized("send Authorization: Bearer <token>")
    return bound


def token_of(request: Request) -> str | None:
    """The Bearer token; on pages also a password, for people: browsers send no Bearer tokens."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip()
    if scheme.lower() != "basic" or not request.scope["path"].startswith(PAGES):
        return None
    try:
        return base64.b64decode(given, validate=True).decode().partition(":")[2]
    except ValueError:
        return None


def _chosen_tenant(request: Request) -> Tenant:
    """The tenant that was chosen on the pages; None for other paths, and for a cookie that is not ours."""
    if not request.scope["path"].startswith(PAGES):
        return Tenant()
    account, _, user = request.cookies.get(TENANT_COOKIE, "").partition("/")
    return Tenant(*(one if one and is_openviking_id(one) else None for one in (account, user)))


def _id_header(request: Request, name: str) -> str | None:
    value = (request.headers.get(name) or "").strip()
    if value and not is_openviking_id(value):
        raise InvalidRequest(FieldProblem(f"headers.{name}", "may hold A-Z a-z 0-9 _ . @ - and at most one @"))
    return value or None


ServicesDep = Annotated[Services, Depends(services_of)]
TenantDep = Annotated[Tenant, Depends(tenant_of)]
