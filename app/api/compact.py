"""``POST /compact``: archive a session and read its summary back."""

from typing import Annotated

from fastapi import Body, Request, Response

from app.api.compact_schema import CompactRequest
from app.api.document import problems
from app.api.examples import ANSWERS, COMPACT_REQUEST
from app.api.routers import Router
from app.api.scope import resolve
from app.api.strict import StrictRoute, caller_of
from app.api.wire import Json
from app.core.deadline import Deadline
from app.engine.compaction import CompactInput, CompactResult
from app.observe.context import note

router = Router(tags=["lifecycle"], route_class=StrictRoute)


@router.post(
    "/compact",
    summary="Archive a session",
    response_model=CompactResult,
    responses={200: {"content": {"application/json": {"example": ANSWERS.get("compact")}}}, **problems(503)},
)
async def compact_session(
    request: Request,
    body: Annotated[
        CompactRequest,
        Body(openapi_examples={"compact": {"summary": "Archive everything", "value": COMPACT_REQUEST}}),
    ],
) -> Response:
    """Delivers what is queued, commits, waits for the archive and its summary, and says honestly how that went.

    `compacted` is true only if the session got smaller; `result.details` says which of archive and extraction worked.
    Two calls at once share one commit.
    """
    services, tenant = caller_of(request)
    who, bypassed = await resolve(services, tenant, body)
    asked = CompactInput(
        token_budget=body.budget,
        keep_recent=body.keep_recent_count or 0,
        current_tokens=body.current_token_count,
        summary_share=services.settings.capture.summary_share,
        bypassed=bypassed,
        instructions=(body.custom_instructions or "").strip(),
    )
    deadline = Deadline.after_ms(body.deadline_ms or services.settings.limits.compact_ms)
    result = await services.compact.run(who, asked, deadline)
    services.metrics.on_reason("/compact", "", result.reason)
    note(reason=str(result.reason))
    return Json(result)
