"""``/tools``: what the model can call, and the calls."""

from typing import Annotated, Any

from fastapi import Body, Path, Query, Request, Response

from app.api.document import problems
from app.api.examples import ANSWERS, TOOL_REQUESTS
from app.api.routers import Router
from app.api.scope import TenantDep, resolve_optional
from app.api.strict import StrictRoute, caller_of, deadline_of, refuse_large
from app.api.tools_schema import ToolCallRequest, ToolCallResponse, ToolsResponse
from app.api.wire import Json
from app.errors import NotFound
from app.observe.context import note
from app.tools import BY_NAME, TOOLS
from app.tools.definitions import Style, definition
from app.tools.tool import Answer, Caller

router = Router(prefix="/tools", tags=["tools"])
calls = Router(prefix="/tools", tags=["tools"], route_class=StrictRoute)
_ANSWERS = {name: {"summary": name, "value": ANSWERS.get(f"tools-{name}")} for name in TOOL_REQUESTS}


@router.get("", summary="The tools that a model can call", response_model=ToolsResponse, responses=problems())
async def tools(
    _tenant: TenantDep,
    style: Annotated[Style, Query(description="Whose way of writing a definition.")] = Style.OPENAI,
    aliases: Annotated[
        bool, Query(description="Each tool under its other name as well, such as `search_memories`.")
    ] = False,
) -> Response:
    """Give these to the model as they are, and send what it calls to `POST /tools/{name}`."""
    shown = [definition(tool, style) for tool in TOOLS]
    if aliases:
        shown += [definition(tool, style, tool.alias) for tool in TOOLS if tool.alias]
    return Json({"tools": shown})


@calls.post(
    "/{name}",
    summary="Call a tool",
    response_model=ToolCallResponse,
    responses={200: {"content": {"application/json": {"examples": _ANSWERS}}}, **problems(404, 503)},
)
async def call(
    request: Request,
    name: Annotated[str, Path(max_length=64, description="The tool's name or alias.", examples=["ov_archive_search"])],
    body: Annotated[
        ToolCallRequest,
        Body(openapi_examples={name: {"summary": name, "value": body} for name, body in TOOL_REQUESTS.items()}),
    ],
) -> Response:
    """Give `content` to the model as the tool's result, whether `ok` or not: a mistake is answered with what to do.

    Nothing found is `ok`. The scope says who calls; a session is needed only by the tools that read one.
    """
    refuse_large(request)
    services, tenant = caller_of(request)
    if name not in BY_NAME:
        raise NotFound("there is no such tool; GET /tools lists them")
    deadline = deadline_of(request, body.deadline_ms or services.settings.limits.wait_ms)
    who, bypassed, has_session = await resolve_optional(services, tenant, body, deadline)
    caller = Caller(who, has_session, deadline)
    answer = await services.call_tool.run(name, body.arguments, caller, bypassed=bypassed)
    services.metrics.on_reason("/tools", BY_NAME[name].name, answer.reason)
    note(reason=str(answer.reason), tool=BY_NAME[name].name)
    return Json(rendered(answer))


def rendered(answer: Answer) -> dict[str, Any]:
    """The answer as its JSON."""
    return {
        "ok": answer.ok,
        "reason": str(answer.reason),
        "content": [{"type": "text", "text": answer.text}],
        "details": dict(answer.details),
        "policy": [line.shown() for line in answer.policy],
    }


router.routes.extend(calls.routes)
