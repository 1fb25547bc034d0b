"""``POST /after-turn``: keep a turn."""

from dataclasses import replace
from typing import Annotated

import structlog
from fastapi import Body, Header, Request, Response

from app.api.after_turn_schema import AfterTurnRequest
from app.api.document import problems
from app.api.examples import AFTER_TURN_REQUEST, ANSWERS
from app.api.large import Large
from app.api.offloading import run_offloaded
from app.api.routers import Router
from app.api.scope import resolve
from app.api.strict import StrictRoute, caller_of, large_part, messages_of
from app.api.wire import Json
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.messages.usage import usage_in
from app.engine.turn_capture import AfterTurnResult, TurnInput, is_delivered
from app.errors import FieldProblem, InvalidRequest, Overloaded
from app.observe.context import note
from app.offload.pool import ChildFailed
from app.services import Services

log = structlog.get_logger(__name__)

router = Router(tags=["lifecycle"], route_class=StrictRoute)


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
        messages=messages_of(request, body),
        pre_prompt_count=body.pre_prompt_message_count,
        key=_key(body.advancement_key, idempotency_key),
        token_budget=body.budget,
        is_heartbeat=bool(body.is_heartbeat),
        bypassed=bypassed,
        wait=bool(body.wait),
        usage=usage_in(body.usage),
    )
    deadline = Deadline.after_ms(body.deadline_ms or services.settings.limits.wait_ms)
    large = large_part(request)
    if large is None:
        result = await services.after_turn.run(who, asked, deadline)
    else:
        result = await _read_apart(services, large, who, asked, deadline)
        if asked.wait and result.captured and result.delivery == "queued":
            store, worker = services.store, services.worker
            delivered = await is_delivered(who, result.turn_id, deadline, store=store, worker=worker)
            result = replace(result, delivery="delivered" if delivered else "queued")
    services.metrics.on_reason("/after-turn", "", result.reason)
    note(reason=str(result.reason), turn=result.turn_id)
    return Json(result)


async def _read_apart(
    services: Services, large: Large, who: Identity, turn: TurnInput, deadline: Deadline
) -> AfterTurnResult:
    """The turn, read in another process and put on disk in this one. Raises `Overloaded` when that takes too long, or
    when the process is killed.

    Nothing is lost then: the host has no answer and sends the turn again, which is recognised if it was kept meanwhile.
    """
    latest_ms = services.settings.limits.large_turn_ms
    try:
        kept: AfterTurnResult = await run_offloaded(
            services, "keep_turn", large, who, turn, deadline, deadline=Deadline.after_ms(latest_ms)
        )
    except TimeoutError:
        log.warning("large_turn_unread", bytes=len(large.messages))
        raise Overloaded(f"the turn was not read within {latest_ms / 1000:g} seconds; send it again") from None
    except ChildFailed as error:
        log.warning("large_turn_unread", bytes=len(large.messages), error=str(error))
        raise Overloaded("the process that read the turn ended; send it again") from None
    return kept


def _key(in_body: str | None, in_header: str | None) -> str | None:
    if in_body and in_header and in_body != in_header:
        raise InvalidRequest(FieldProblem("headers.Idempotency-Key", "differs from advancementKey"))
    return in_body or in_header
