"""``POST /sessions/start``, ``POST /sessions/end`` and ``POST /sessions/reset``."""

from typing import Annotated, Any

from fastapi import Body, Request, Response

from app.api.assemble_schema import names_tools
from app.api.compact_schema import SessionRequest, StartRequest
from app.api.document import problems
from app.api.examples import ANSWERS, SESSION_REQUEST, START_REQUEST
from app.api.routers import Router
from app.api.scope import resolve
from app.api.strict import StrictRoute, caller_of, deadline_of, refuse_large
from app.api.wire import Json
from app.core.deadline import Deadline
from app.core.history.summary_message import ARCHIVE_EXPAND, ARCHIVE_SEARCH
from app.engine.session_end import SessionInput, SessionResult
from app.engine.session_start.start import StartInput, StartResult
from app.observe.context import note
from app.services import Services

router = Router(prefix="/sessions", tags=["lifecycle"], route_class=StrictRoute)

_BODY = Body(openapi_examples={"session": {"summary": "One session", "value": SESSION_REQUEST}})


def _answers(example: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {"application/json": {"example": ANSWERS.get(example)}}}, **problems(503)}


@router.post(
    "/start",
    summary="What a session begins with",
    response_model=StartResult,
    responses={200: {"content": {"application/json": {"example": ANSWERS.get("sessions-start")}}}, **problems()},
)
async def start(
    request: Request,
    body: Annotated[StartRequest, Body(openapi_examples={"session": {"summary": "One chat", "value": START_REQUEST}})],
) -> Response:
    """What goes into the session's system prompt: the user's profile, and what else `SIDECAR_START__*` switches on.

    Every `preflight` and `full` of the session answers the same bytes until its epoch ends (a reset, a compaction). A
    host that calls `/assemble` with one of these needs no call of this one.
    """
    refuse_large(request)
    services, tenant = caller_of(request)
    deadline = deadline_of(request, body.deadline_ms or services.settings.limits.assemble_ms)
    who, bypassed = await resolve(services, tenant, body, deadline)
    reads_archives = names_tools(body.available_tools, ARCHIVE_SEARCH, ARCHIVE_EXPAND)
    result = await services.start_session.run(
        who, StartInput(body.chat, body.budget, bypassed, reads_archives), deadline
    )
    services.metrics.on_reason("/sessions/start", "", result.reason)
    note(reason=str(result.reason))
    return Json(result)


@router.post("/end", summary="A session ends", response_model=SessionResult, responses=_answers("sessions-end"))
async def end(request: Request, body: Annotated[SessionRequest, _BODY]) -> Response:
    """Delivers what is queued and commits what is live, so that the next session can recall it."""
    services, tenant = caller_of(request)
    who, bypassed = await resolve(services, tenant, body)
    result = await services.end_session.run(who, SessionInput(body.budget, bypassed), _deadline(services, body))
    return _answered(services, "/sessions/end", result)


@router.post(
    "/reset", summary="A session starts over", response_model=SessionResult, responses=_answers("sessions-reset")
)
async def reset(request: Request, body: Annotated[SessionRequest, _BODY]) -> Response:
    """Delivers and commits like `end`, then begins a new epoch: the old summary and messages no longer appear."""
    services, tenant = caller_of(request)
    who, bypassed = await resolve(services, tenant, body)
    result = await services.reset_session.run(who, SessionInput(body.budget, bypassed), _deadline(services, body))
    return _answered(services, "/sessions/reset", result)


def _deadline(services: Services, body: SessionRequest) -> Deadline:
    return Deadline.after_ms(body.deadline_ms or services.settings.limits.wait_ms)


def _answered(services: Services, endpoint: str, result: SessionResult) -> Response:
    services.metrics.on_reason(endpoint, "", result.reason)
    note(reason=str(result.reason))
    return Json(result)
