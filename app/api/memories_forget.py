"""``POST /memories/forget``: forget what is selected, after a look at what that is."""

from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from pydantic import Field

from app.api.document import problems
from app.api.memories_schema import ReceiptBody, shown_receipt
from app.api.memory_examples import MEMORY_RECEIPT
from app.api.schemas import Flag, Id, Millis, Wire
from app.api.scope import ServicesDep, TenantDep
from app.api.strict import StrictRoute, deadline_of, refuse_large
from app.api.wire import Json
from app.core.cleaning.host_text import storable
from app.engine.memories.collaborators import operator_of
from app.engine.memories.forgetting import Selection
from app.errors import FieldProblem, InvalidRequest

router = APIRouter(tags=["memories"], route_class=StrictRoute)


class ForgetRequest(Wire):
    """Exactly one selection."""

    id: Id | None = Field(None, description="The memory of this id.")
    uri: Id | None = Field(None, description="The memory at this URI; `~` is the user's home.")
    query: str | None = Field(None, max_length=4_000, description="The one memory that has all of these words.")
    dry_run: Flag = Field(True, description="Only say what would be forgotten.")
    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")

    def selection(self) -> Selection:
        """Raises `InvalidRequest` unless it is one."""
        given = [storable(text).strip() or None if text else None for text in (self.id, self.uri, self.query)]
        if sum(text is not None for text in given) != 1:
            how = "give exactly one of id, uri and query; this version takes no other selection"
            raise InvalidRequest(FieldProblem("body", how))
        return Selection(*given)


@router.post(
    "/memories/forget",
    summary="Forget what is selected",
    response_model=ReceiptBody,
    responses={200: {"content": {"application/json": {"example": MEMORY_RECEIPT}}}, **problems(404, 409, 503)},
)
async def forget(
    request: Request,
    services: ServicesDep,
    tenant: TenantDep,
    body: Annotated[
        ForgetRequest,
        Body(openapi_examples={"query": {"summary": "A look first", "value": {"query": "green tea in the morning"}}}),
    ],
) -> Response:
    """A dry run unless `dryRun` is false: then it is recalled no more, from no source.

    A `query` forgets only when exactly one memory is clearly meant; else 409 `ambiguous` with `candidates`. A selection
    that matches nothing is an empty receipt, an unknown `id` 404.
    """
    refuse_large(request)
    deadline = deadline_of(request, body.deadline_ms or services.settings.limits.wait_ms)
    who, selection = operator_of(tenant), body.selection()
    return Json(shown_receipt(await services.forget_selected.run(who, selection, body.dry_run, deadline)))
