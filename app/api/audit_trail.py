"""``GET /audit``: who did what with which memory, and when."""

from typing import Annotated

from fastapi import Query, Response

from app.api.document import problems
from app.api.examples import recorded
from app.api.memory_listing import moment_in_query
from app.api.routers import Router
from app.api.schemas import Wire
from app.api.scope import ServicesDep, TenantDep
from app.api.wire import Json
from app.core.memories.audit import Action, AuditEntry, AuditFilter

router = Router(tags=["memories"])

MAX_ENTRIES = 500


class ActorBody(Wire):
    """Who it was, as far as the request named them."""

    token: str | None
    agent: str | None
    session: str | None


class AuditEntryBody(Wire):
    """One thing that was done with one memory."""

    at: str
    action: Action
    memory_id: str
    actor: ActorBody
    request_id: str | None
    trace_id: str | None


class AuditBody(Wire):
    """A page of the audit trail, newest first."""

    entries: list[AuditEntryBody]
    next_cursor: str | None


@router.get(
    "/audit",
    summary="Who did what with which memory, and when",
    response_model=AuditBody,
    responses={200: recorded("audit"), **problems(503)},
)
async def audit(
    services: ServicesDep,
    tenant: TenantDep,
    since: Annotated[str | None, Query(max_length=40, description="At or after this, ISO 8601.")] = None,
    until: Annotated[str | None, Query(max_length=40, description="At or before this, ISO 8601.")] = None,
    memory_id: Annotated[str | None, Query(alias="memoryId", max_length=128, pattern=r"^[^\x00]*$")] = None,
    action: Annotated[Action | None, Query(description="Only this action.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ENTRIES, description="Entries on a page.")] = 50,
    cursor: Annotated[
        str | None, Query(pattern="^[0-9]{1,18}$", description="`nextCursor` of the page before.")
    ] = None,
) -> Response:
    """Newest first. It never holds a text; a token is named by the first eight characters of its SHA-256.

    Entries are only added, and dropped after `SIDECAR_AUDIT__KEEP_DAYS`.
    """
    wanted = AuditFilter(moment_in_query("since", since), moment_in_query("until", until), memory_id or None, action)
    found = await services.store.audit.page(tenant, wanted, limit, int(cursor) if cursor else None)
    following = None if found.after is None else str(found.after)
    return Json({"entries": [_shown(entry) for entry in found.entries], "nextCursor": following})


def _shown(entry: AuditEntry) -> dict[str, object]:
    actor = {"token": entry.actor.token, "agent": entry.actor.agent, "session": entry.actor.session}
    return {
        "at": entry.at,
        "action": entry.action,
        "memoryId": entry.memory_id,
        "actor": actor,
        "requestId": entry.request_id,
        "traceId": entry.trace_id,
    }
