"""``POST /assemble``: the context for the model, whatever the backend does."""

from typing import Annotated

import structlog
from fastapi import APIRouter, Body, Request, Response

from app.api.assemble_schema import AssembleRequest, AssembleResponse
from app.api.document import problems
from app.api.examples import ASSEMBLE_REQUEST, ASSEMBLE_RESPONSE, PREFLIGHT_REQUEST
from app.api.scope import ServicesDep, TenantDep, resolve
from app.api.strict import StrictRoute
from app.api.wire import Json
from app.core.deadline import Deadline
from app.core.encoding import encode
from app.core.inject import Mode
from app.core.readings import Conversation
from app.engine.assemble import assemble_context
from app.engine.results import AssembleInput, AssembleResult

router = APIRouter(tags=["lifecycle"], route_class=StrictRoute)


@router.post(
    "/assemble",
    summary="Give the model its past and what is worth knowing",
    response_model=AssembleResponse,
    response_model_exclude_none=True,
    responses={200: {"content": {"application/json": {"example": ASSEMBLE_RESPONSE}}}, **problems(503)},
)
async def assemble(
    request: Request,
    services: ServicesDep,
    tenant: TenantDep,
    body: Annotated[
        AssembleRequest,
        Body(
            openapi_examples={
                "transform": {"summary": "Recall for the latest user message", "value": ASSEMBLE_REQUEST},
                "preflight": {"summary": "Rebuild the session's past", "value": PREFLIGHT_REQUEST},
            }
        ),
    ],
) -> Response:
    """Answers 200 with the host's own messages, a status and a reason within the deadline, even with no backend.

    `preflight` replaces the archived past by its summary; `transform` recalls memories for the latest user message;
    `full` does both. Without `phase`, the presence of `prompt` or `availableTools` means `preflight`.
    """
    phase = body.chosen_phase
    request.state.phase = phase.value
    deadline = Deadline.after_ms(body.deadline_ms or services.settings.limits.assemble_ms)
    who, bypassed = await resolve(services, tenant, body, deadline)
    asked = AssembleInput(
        messages=tuple(body.messages),
        prompt=body.prompt,
        token_budget=body.budget,
        inject=(body.inject or Mode.MESSAGE).value,
        trigger_hint=body.trigger_hint.value if body.trigger_hint else None,
        scope=body.scope(),
        bypassed=bypassed,
    )
    result = await assemble_context(
        who, asked, phase.value, deadline, preflight=services.preflight, transform=services.transform
    )
    services.metrics.on_reason("/assemble", phase.value, result.reason)
    structlog.contextvars.bind_contextvars(reason=str(result.reason), phase=phase.value)
    return Response(_rendered(result), media_type=Json.media_type)


def _rendered(result: AssembleResult) -> bytes:
    """The answer. Its messages are put in as the JSON they were read as: they are nearly all of it."""
    conversation = result.conversation or Conversation(result.messages)
    answer: dict[str, object] = {"estimatedTokens": result.estimated_tokens}
    if result.system_prompt_addition:
        answer["systemPromptAddition"] = result.system_prompt_addition
    if result.context_block:
        answer["contextBlock"] = result.context_block
    answer |= {
        "status": "assembled" if result.assembled else "passthrough",
        "reason": str(result.reason),
        "recall": result.recall.as_json() if result.recall else None,
    }
    return b'{"messages":%b,%b' % (conversation.json(result.messages), encode(answer)[1:])
