"""``/ui/forget``: forget more than one memory at once: a session, a person, a time, everything."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import ValidationError

from app.api.document import problems
from app.api.forms import FormDep, proof_for
from app.api.memories_forget import ForgetRequest
from app.api.memory_listing import MAX_DATE_CHARS, end_of_day
from app.api.pages import page
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.api.wire import field_problems
from app.core.deadline import Deadline
from app.core.identity import MAX_ID_CHARS
from app.engine.memories.collaborators import operator_of
from app.engine.memories.forgetting import Selection, TurnsMeant
from app.services import Services

router = Router(tags=["pages"], include_in_schema=False, responses=problems())

FIELDS = ("session", "person", "lastDays", "since", "until", "everything")
SHOWN = 50
"""Memories that the page names; the others are counted."""

Name = Annotated[str, Query(max_length=MAX_ID_CHARS)]
Moment = Annotated[str, Query(max_length=MAX_DATE_CHARS)]


@router.get("/ui/forget")
async def forget_page(
    request: Request,
    services: ServicesDep,
    tenant: TenantDep,
    session: Name = "",
    person: Name = "",
    last_days: Annotated[str, Query(alias="lastDays", max_length=32)] = "",
    since: Moment = "",
    until: Moment = "",
    everything: Annotated[str, Query(max_length=8)] = "",
) -> Response:
    """What can be forgotten together; with a selection, what that would be. Nothing is forgotten by looking."""
    given = dict(zip(FIELDS, (session, person, last_days, since, until, everything), strict=True))
    chosen = {name: value.strip() for name, value in given.items() if value.strip()}
    receipt = None
    if chosen and services.keeps_memories:
        who, deadline = operator_of(tenant), _deadline(services)
        receipt = await services.forget_selected.run(who, _selection(chosen), True, deadline)
    return page(
        "forget_many.html",
        tenant=tenant,
        keeps_memories=services.keeps_memories,
        backend=services.backend.name,
        chosen=chosen,
        receipt=receipt,
        masked=services.policy.text,
        shown=SHOWN,
        proof=proof_for(request, tenant),
    )


@router.post("/ui/forget")
async def forget(services: ServicesDep, tenant: TenantDep, form: FormDep) -> Response:
    """Forget what the form selects, and show the receipt."""
    asked = _selection({name: value for name in FIELDS if (value := form.text(name).strip())})
    receipt = await services.forget_selected.run(operator_of(tenant), asked, False, _deadline(services))
    return page("forgotten.html", tenant=tenant, receipt=receipt)


def _selection(chosen: Mapping[str, str]) -> Selection | TurnsMeant:
    """What is selected. A day is over at its end. Raises `InvalidRequest`."""
    body: dict[str, object] = dict(chosen)
    if "until" in chosen:
        body["until"] = end_of_day(chosen["until"])
    if chosen.get("everything") == "true":
        body["everything"] = True
    try:
        return ForgetRequest.model_validate(body).selection()
    except ValidationError as error:
        raise field_problems([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from None


def _deadline(services: Services) -> Deadline:
    return Deadline.after_ms(services.settings.limits.wait_ms or 1)
