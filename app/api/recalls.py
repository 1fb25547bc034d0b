"""Looking at recalls: ``GET /recalls``, ``GET /recalls/{traceId}``, and the same as a page at ``/ui/recalls``."""

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query, Response

from app.api.document import problems
from app.api.recalls_page import detail_page, list_page
from app.api.recalls_schema import RecallLine, RecallList
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.api.wire import Json
from app.core.deadline import Deadline
from app.core.identity import MAX_ID_CHARS, Tenant, session_name
from app.core.messages.timestamps import moment_from
from app.core.recall.trace import RecallTrace
from app.errors import FieldProblem, InvalidRequest, NotFound

router = Router(tags=["recalls"])

TEXTS_MS = 3_000
"""Longest wait for the texts that a page shows, milliseconds."""
_ID = "^[A-Za-z0-9_.-]{1,64}$"
TraceId = Annotated[str, Path(pattern=_ID, description="The `traceId` of an answer's `recall`.")]
SessionQuery = Annotated[
    str | None,
    Query(max_length=MAX_ID_CHARS, description="Only this session: the host's id or key, or OpenViking's id."),
]
SinceQuery = Annotated[
    str | None, Query(max_length=64, description="Not older than: ISO 8601, or epoch seconds or ms.")
]
LimitQuery = Annotated[int, Query(ge=1, le=200, description="Recalls on a page.")]
CursorQuery = Annotated[str | None, Query(pattern=_ID, description="`nextCursor` of the page before.")]


@router.get("/recalls", summary="Recalls of this tenant, newest first", response_model=RecallList, responses=problems())
async def recalls(
    services: ServicesDep,
    tenant: TenantDep,
    session: SessionQuery = None,
    since: SinceQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> Response:
    """One line a recall: when, for which session, with what outcome. No message text."""
    found, following = await _page(services, tenant, session, since, limit, cursor)
    return Json(RecallList(recalls=[RecallLine.of(trace) for trace in found], next_cursor=following))


@router.get(
    "/recalls/{trace_id}",
    summary="Why a recall came out as it did",
    response_model=RecallTrace,
    responses=problems(404),
)
async def recall(services: ServicesDep, tenant: TenantDep, trace_id: TraceId) -> Response:
    """The whole story: the gate with its points, each search, each candidate with its score's parts and verdict."""
    return Json(await _one(services, tenant, trace_id))


@router.get("/ui/recalls", summary="The recalls as a page", include_in_schema=False)
async def recalls_page(
    services: ServicesDep,
    tenant: TenantDep,
    session: SessionQuery = None,
    since: SinceQuery = None,
    limit: LimitQuery = 50,
    cursor: CursorQuery = None,
) -> Response:
    """The list, for people. Works without a network, a script, or a build."""
    found, following = await _page(services, tenant, session, since, limit, cursor)
    asked = [(trace, services.queries.of(trace)) for trace in found]
    return list_page(
        asked, tenant, services.policy.text, session=session or "", since=since or "", next_cursor=following
    )


@router.get("/ui/recalls/{trace_id}", summary="One recall as a page", include_in_schema=False)
async def recall_page(services: ServicesDep, tenant: TenantDep, trace_id: TraceId) -> Response:
    """The candidates as bars with the line that they had to reach, and what they say now."""
    trace = await _one(services, tenant, trace_id)
    texts = await services.explain.run(trace, tenant, Deadline.after_ms(TEXTS_MS))
    return detail_page(trace, texts, tenant, services.policy.text)


async def _one(services: ServicesDep, tenant: Tenant, trace_id: str) -> RecallTrace:
    trace = await services.traces.get(tenant.account_key, trace_id)
    if trace is None:
        raise NotFound("no such recall, or it is no longer kept")
    return await services.explain.shown(trace)


async def _page(
    services: ServicesDep, tenant: Tenant, session: str | None, since: str | None, limit: int, cursor: str | None
) -> tuple[list[RecallTrace], str | None]:
    """The traces of a page, and the cursor of the next one if there may be more."""
    moment = _moment(since) if since else None
    found = await services.traces.page(
        tenant.account_key,
        sessions=_names_of(session),
        since=moment.timestamp() if moment else None,
        before=cursor,
        limit=limit,
    )
    return found, found[-1].trace_id if len(found) == limit else None


def _names_of(session: str | None) -> frozenset[str]:
    """What a session may be stored as: as given, or made from the host's id or from its key."""
    session = (session or "").replace("\0", "")
    if not session:
        return frozenset()
    return frozenset({session, session_name(session, None) or session, session_name(None, session) or session})


def _moment(since: str) -> datetime:
    moment = moment_from(since) or moment_from(since.replace(" ", "+"))
    if moment is None:
        raise InvalidRequest(FieldProblem("since", "give ISO 8601, or epoch seconds or milliseconds"))
    return moment
