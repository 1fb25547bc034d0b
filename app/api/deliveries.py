"""Where is my turn? ``/turns`` and ``/deliveries``: looking into the outbox, deciding about what waits there."""

from typing import Annotated

from fastapi import Path, Query, Response

from app.api.document import problems
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.api.wire import Json
from app.core.identity import MAX_ID_CHARS, session_name
from app.errors import FieldProblem, InvalidRequest
from app.store.delivery_rows import MAX_PAGE, Delivery, DeliveryPage
from app.store.work import TurnState

router = Router(tags=["deliveries"])

TurnId = Annotated[
    str, Path(max_length=64, pattern=r"^[^\x00]*$", description="The `turnId` of an `/after-turn` answer.")
]


@router.get("/turns/{turnId}", summary="One turn", response_model=Delivery, responses=problems(404))
async def turn(services: ServicesDep, tenant: TenantDep, turn_id: Annotated[TurnId, Path(alias="turnId")]) -> Response:
    """Where the turn is on its way to the backend. Holds no text."""
    return Json(await services.store.deliveries.get(tenant, turn_id))


@router.get(
    "/deliveries", summary="Turns of this tenant, newest first", response_model=DeliveryPage, responses=problems()
)
async def deliveries(
    services: ServicesDep,
    tenant: TenantDep,
    state: Annotated[list[TurnState] | None, Query(description="Only these states.")] = None,
    session: Annotated[
        str | None, Query(max_length=MAX_ID_CHARS, description="Only this session: the host's id, or the backend's.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Turns on a page.")] = 50,
    cursor: Annotated[str | None, Query(max_length=32, description="`nextCursor` of the page before.")] = None,
) -> Response:
    """`state=dead` lists what the backend refused for good and what waits for a decision."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
        raise InvalidRequest(FieldProblem("cursor", "give the nextCursor of the page before"))
    page = await services.store.deliveries.page(
        tenant,
        states=[one.value for one in state or ()],
        session=session_name(session, None) if session else None,
        limit=limit,
        cursor=cursor,
    )
    return Json(page)


@router.post(
    "/deliveries/{turnId}/retry",
    summary="Send an undelivered turn now",
    response_model=Delivery,
    responses=problems(404, 409),
)
async def retry(services: ServicesDep, tenant: TenantDep, turn_id: Annotated[TurnId, Path(alias="turnId")]) -> Response:
    """What waits is tried at once; a write that may still arrive is waited for all the same.

    A dead letter goes back to its place in the session, or behind what was delivered since. 409 for what is delivered
    or given up, and for a dead letter of a session that was reset since.
    """
    return Json(await services.store.deliveries.retry(tenant, turn_id))


@router.post(
    "/deliveries/{turnId}/discard",
    summary="Give an undelivered turn up",
    response_model=Delivery,
    responses=problems(404, 409),
)
async def discard(
    services: ServicesDep, tenant: TenantDep, turn_id: Annotated[TurnId, Path(alias="turnId")]
) -> Response:
    """Deletes the turn's text for good; its key stays known, so a repeat is still a duplicate.

    What waits behind it goes on. A write that is under way just now may still arrive. 409 for what is delivered or
    given up.
    """
    return Json(await services.store.deliveries.discard(tenant, turn_id))
