"""``POST /after-turn``: keep a turn."""

from dataclasses import replace
from typing import Annotated

import structlog
from fastapi import APIRouter, Body, Header, Request, Response

from app.api.after_turn_schema import AfterTurnRequest
from app.api.document import problems
from app.api.examples import AFTER_TURN_REQUEST, ANSWERS
from app.api.offloading import run_offloaded
from app.api.scope import resolve
from app.api.strict import StrictRoute, caller_of, large_part
from app.api.wire import Json
from app.core.deadline import Deadline
from app.engine.turn_capture import AfterTurnResult, TurnInput, is_delivered
from app.errors import FieldProblem, InvalidRequest

router = APIRouter(tags=["lifecycle"], route_class=StrictRoute)


@router.post(
    "/after-turn",
    summary="Keep a turn",
    response_model=AfterTurnResult,
    responses={200: {"content": {"application/json": {"example": ANSWERS.get("after-turn")}}}, **problems(422, 503)},
)
async def keep_turn(
    request: Request,
    body: Annotated[
        AfterTurnRequest,
        Body(openapi_examples={"turn": {"summary": "A question and its answer", "value": AFTER_TURN_REQUEST}}),
    ],
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=512, description="Names this turn, like `advancementKey`.")
    ] = None,
) -> Response:
    """Answers 2xx only when the turn is on disk; from then on it reaches the backend exactly once and in order.

    Captured are the new user and assistant messages with their tool calls and results; injected blocks and the host's
    own metadata are not.
    """
    services, tenant = caller_of(request)
    who, bypassed = await resolve(services, tenant, body)
    asked = TurnInput(
        messages=services.readings.read(body.messages),
        pre_prompt_count=body.pre_prompt_message_count,
        key=_key(body.advancement_key, idempotency_key),
        token_budget=body.budget,
        is_heartbeat=bool(body.is_heartbeat),
        bypassed=bypassed,
        wait=bool(body.wait),
    )
    deadline = Deadline.after_ms(body.deadline_ms or services.settings.limits.wait_ms)
    large = large_part(request)
    if large is None:
        result = await services.after_turn.run(who, asked, deadline)
    else:
        result = await run_offloaded(services, "keep_turn", large, who, asked, deadline)
        if asked.wait and result.captured and result.delivery == "queued":
            store, worker = services.store, services.worker
            delivered = await is_delivered(who, result.turn_id, deadline, store=store, worker=worker)
            result = replace(result, delivery="delivered" if delivered else "queued")
    services.metrics.on_reason("/after-turn", "", result.reason)
    structlog.contextvars.bind_contextvars(reason=str(result.reason), turn=result.turn_id)
    return Json(result)


def _key(in_body: str | None, in_header: str | None) -> str | None:
    if in_body and in_header and in_body != in_header:
        raise InvalidRequest(FieldProblem("headers.Idempotency-Key", "differs from advancementKey"))
    return in_body or in_header
