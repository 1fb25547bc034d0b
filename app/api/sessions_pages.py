"""``/ui/sessions``: what was said in each session, what was archived of it, and the summaries that stand for it."""

from typing import Annotated

from fastapi import Path, Query, Response

from app.api.document import problems
from app.api.pages import link, page
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.core.cleaning.host_text import storable
from app.core.deadline import Deadline
from app.core.identity import MAX_ID_CHARS
from app.engine.memories.collaborators import told_to_the_caller
from app.errors import NotFound

router = Router(tags=["pages"], include_in_schema=False, responses=problems())

SESSIONS_ON_A_PAGE = 50
TURNS_ON_A_PAGE = 10
MESSAGES_ON_A_PAGE = 50
TEXTS_MS = 3_000
"""Longest wait for what the backend has of a session, milliseconds."""

SessionName = Annotated[str, Path(alias="session", max_length=MAX_ID_CHARS, pattern=r"^[^\x00]*$")]
ArchiveName = Annotated[str, Path(alias="archive", max_length=MAX_ID_CHARS, pattern=r"^[^\x00]*$")]
CursorQuery = Annotated[str, Query(max_length=64, pattern=r"^[0-9._e+-]*$")]


@router.get("/ui/sessions")
async def sessions_page(
    services: ServicesDep,
    tenant: TenantDep,
    query: Annotated[str, Query(max_length=MAX_ID_CHARS)] = "",
    cursor: CursorQuery = "",
) -> Response:
    """The sessions, the latest first."""
    query = storable(query).strip()
    found = await services.look_at_sessions.sessions(tenant, query, SESSIONS_ON_A_PAGE, cursor or None)
    return page(
        "sessions.html",
        tenant=tenant,
        sessions=found.sessions,
        masked=services.policy.text,
        query=query,
        older=link("/ui/sessions", query=query, cursor=found.cursor) if found.cursor else None,
        here="/ui/sessions",
    )


@router.get("/ui/sessions/{session}")
async def session_page(
    services: ServicesDep, tenant: TenantDep, session: SessionName, cursor: CursorQuery = ""
) -> Response:
    """One session: its newest turns first, its summary, its archives, and how the commits are getting on."""
    deadline = Deadline.after_ms(TEXTS_MS)
    shown = await services.look_at_sessions.session(tenant, session, TURNS_ON_A_PAGE, cursor or None, deadline)
    return page("session.html", tenant=tenant, shown=shown, masked=services.policy.text, paged=bool(cursor))


@router.get("/ui/sessions/{session}/archives/{archive}")
async def archive_page(
    services: ServicesDep,
    tenant: TenantDep,
    session: SessionName,
    archive: ArchiveName,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Response:
    """The messages of an archive, oldest first."""
    who = await services.look_at_sessions.operator(tenant, session)
    with told_to_the_caller():
        found = await services.archives.expand(
            who, archive, offset, MESSAGES_ON_A_PAGE, Deadline.after_ms(services.settings.limits.wait_ms or 1)
        )
    if found.page is None:
        raise NotFound("the session has no such archive")
    return page(
        "archive.html",
        tenant=tenant,
        session=session,
        masked=services.policy.text,
        archive=archive,
        total=found.total,
        offset=offset,
        text=found.page.text,
        following=found.page.following,
    )
