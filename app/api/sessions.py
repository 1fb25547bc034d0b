"""``POST /sessions/end`` and ``POST /sessions/reset``."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from app.api.compact_schema import SessionRequest
from app.api.document import problems
from app.api.examples import ANSWERS, SESSION_REQUEST
from app.api.scope import resolve
from app.api.strict import StrictRoute, caller_of
from app.api.wire import Json
from app.core.deadline import Deadline
from app.engine.session_end import SessionInput, SessionResult
from app.observe.context import note
from app.services import Services

router = APIRouter(prefix="/sessions", tags=["lifecycle"], route_class=StrictRoute)

_BODY = Body(openapi_examples={"session": {"summary": "One session", "value": SESSION_REQUEST}})


def _answers(example: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {"application/json": {"example": ANSWERS.get(example)}}}, **problems(503)}


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
