"""``POST /assemble``: the context for the model, whatever the backend does."""

from functools import partial
from typing import Annotated

import structlog
from fastapi import Body, Request, Response

from app.api.assemble_schema import AssembleRequest, Phase, TriggerHint
from app.api.document import problems
from app.api.examples import ANSWERS, ASSEMBLE_REQUEST, PREFLIGHT_REQUEST
from app.api.large import Large, Value
from app.api.offloading import run_offloaded
from app.api.routers import Router
from app.api.scope import resolve
from app.api.strict import StrictRoute, caller_of, deadline_of, large_part, messages_of
from app.api.wire import Json, JsonInPieces
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.injection.inject import Mode
from app.core.injection.session_start.section import ChatType
from app.core.json.answers import encode_answer
from app.core.messages.host_message import encode_messages
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY
from app.core.recall.tool_subject import ToolSubject
from app.core.recall.trace import RecallTrace
from app.engine.assembly import within_budget
from app.engine.results import AssembleInput, AssembleResult
from app.engine.session_start.start import BEGIN_SHARE
from app.observe.context import note
from app.offload.pool import ChildFailed
from app.services import Services

log = structlog.get_logger(__name__)

OVERTIME_S = 0.05
"""How long behind the deadline a large answer that is nearly done may still come."""

_MESSAGES = frozenset({"messages"})

router = Router(tags=["lifecycle"], route_class=StrictRoute)


@router.post(
    "/assemble",
    summary="Give the model its history and what is worth knowing",
    response_model=AssembleResult,
    responses={200: {"content": {"application/json": {"example": ANSWERS.get("assemble")}}}, **problems(503)},
)
async def assemble(
    request: Request,
    body: Annotated[
        AssembleRequest,
        Body(
            openapi_examples={
                "transform": {"summary": "Recall for the latest user message", "value": ASSEMBLE_REQUEST},
                "preflight": {"summary": "Rebuild the session's history", "value": PREFLIGHT_REQUEST},
            }
        ),
    ],
) -> Response:
    """Answers 200 with the host's own messages, a status and a reason within the deadline, even with no backend.

    `preflight` replaces the archived history by its summary; `transform` recalls memories for the latest user message;
    `full` does both. Without `phase`, the presence of `prompt` or `availableTools` means `preflight`.
    """
    services, tenant = caller_of(request)
    deadline = deadline_of(request, body.deadline_ms or services.settings.limits.assemble_ms)
    who, bypassed = await resolve(services, tenant, body, deadline)
    messages = messages_of(request, body)
    subject = body.subject(messages)
    phase = Phase.TRANSFORM if subject else body.chosen_phase
    request.state.phase = phase.value
    asked = AssembleInput(
        messages=messages,
        prompt=subject.query if subject else body.prompt,
        token_budget=body.budget,
        inject=body.inject or Mode.MESSAGE,
        trigger_hint=body.trigger_hint.value if body.trigger_hint else None,
        scope=body.scope,
        bypassed=bypassed,
        phase=phase.value,
        reads_archives=body.reads_archives,
        subject=subject,
        skill=await _skill(services, who, body, subject, deadline, bypassed=bypassed),
        session_addition=await _begun(services, who, body.chat, phase, deadline, bypassed=bypassed),
        style=body.style.value if body.style else None,
        tools=body.tool_names,
        only=body.recall_filter.filter if body.recall_filter else ANY,
    )
    large = large_part(request)
    encoded: Value
    if large is None:
        result = await services.assemble.run(who, asked, deadline)
        encoded = encode_messages(result.messages)
    else:
        result, encoded = await _apart(services, large, who, asked, deadline)
    services.metrics.on_reason("/assemble", asked.phase, result.reason)
    note(reason=str(result.reason), phase=asked.phase)
    # Put in as the JSON they were read as: they are nearly all of the answer.
    rest = encode_answer(result, without=_MESSAGES)
    parts = (b'{"messages":', encoded, b",", rest[1:])
    return JsonInPieces(parts) if large else Response(b"".join(parts), media_type=Json.media_type)


async def _skill(
    services: Services,
    who: Identity,
    body: AssembleRequest,
    subject: ToolSubject | None,
    deadline: Deadline,
    *,
    bypassed: bool,
) -> Hit | None:
    """What is remembered of the skill that is loaded; None for anything else."""
    if subject is None or body.trigger_hint is not TriggerHint.SKILL_LOAD:
        return None
    within = deadline.within_ms(deadline.remaining * 1000 * BEGIN_SHARE)
    return await services.read_skill_memory.run(who, subject.skill, body.chat, within, bypassed=bypassed)


async def _begun(
    services: Services, who: Identity, chat: ChatType, phase: Phase, deadline: Deadline, *, bypassed: bool
) -> str:
    """What the session began with; for a phase that shows the history."""
    if phase is Phase.TRANSFORM:
        return ""
    within = deadline.within_ms(deadline.remaining * 1000 * BEGIN_SHARE)
    return (await services.begin_session.run(who, chat, within, bypassed=bypassed)).text


async def _apart(
    services: Services, large: Large, who: Identity, asked: AssembleInput, deadline: Deadline
) -> tuple[AssembleResult, Value]:
    """The answer, and its messages as JSON; the host's own, unread, when the other process is not ready in time."""
    latest = Deadline(deadline.at + OVERTIME_S, deadline.clock)
    try:
        done = await run_offloaded(services, "assemble", large, who, asked, deadline, deadline=latest)
    except (TimeoutError, ChildFailed) as error:
        reason = Reason.DEADLINE_EXCEEDED if isinstance(error, TimeoutError) else Reason.INTERNAL_ERROR
        log.warning("large_request_unread", reason=str(reason), bytes=len(large.messages))
        addition = within_budget(asked.session_addition, asked.token_budget) or None
        return AssembleResult(
            (), large.tokens, reason, assembled=False, system_prompt_addition=addition
        ), large.messages
    for trace in done.traces:
        services.traces.record(partial(_as_is, trace))
    for outcome in done.recalled:
        services.metrics.on_recall(outcome)
    if done.result.recall:
        services.queries.keep(done.result.recall.trace_id, done.result.recall.query)
    return done.result, large.messages if done.messages is None else done.messages


def _as_is(trace: RecallTrace) -> RecallTrace:
    return trace
