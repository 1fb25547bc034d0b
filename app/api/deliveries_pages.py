"""``/ui/deliveries``: what is on its way to the backend, and what was set aside, with the reason and what to do."""

from typing import Annotated, Literal

from fastapi import Path, Query, Request, Response

from app.api.deliveries import TurnId
from app.api.document import problems
from app.api.forms import FormDep, proof_for
from app.api.pages import link, page, see_other
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.core.identity import MAX_ID_CHARS, session_name
from app.store.work import OPEN_TURNS, UNDELIVERED, TurnState

router = Router(tags=["pages"], include_in_schema=False, responses=problems())

ON_A_PAGE = 50
_STATES = {
    "": UNDELIVERED,
    "waiting": OPEN_TURNS,
    "dead": (TurnState.DEAD,),
    "delivered": (TurnState.DELIVERED,),
    "all": (),
}
Turn = Annotated[TurnId, Path(alias="turnId")]


@router.get("/ui/deliveries")
async def deliveries_page(
    services: ServicesDep,
    tenant: TenantDep,
    state: Literal["", "waiting", "dead", "delivered", "all"] = "",
    session: Annotated[str, Query(max_length=MAX_ID_CHARS)] = "",
    cursor: Annotated[str, Query(max_length=18, pattern="^[0-9]*$")] = "",
) -> Response:
    """Turns that the backend does not have, newest first; others where they are asked for."""
    session = session.strip()
    found = await services.store.deliveries.page(
        tenant,
        states=[one.value for one in _STATES[state]],
        session=session_name(session, None) if session else None,
        limit=ON_A_PAGE,
        cursor=cursor or None,
    )
    plain = not (state or session or cursor)
    older = link("/ui/deliveries", state=state, session=session, cursor=found.cursor) if found.cursor else None
    return page(
        "deliveries.html",
        tenant=tenant,
        turns=found.items,
        masked=services.policy.text,
        memories=await services.list_memories.memories.waiting.of(tenant) if plain else (),
        refusals=await services.store.waiting.refusals(tenant) if plain else {},
        state=state,
        session=session,
        filtered=bool(state or session),
        older=older,
        here="/ui/deliveries",
    )


@router.get("/ui/deliveries/{turnId}")
async def delivery_page(
    request: Request,
    services: ServicesDep,
    tenant: TenantDep,
    turn_id: Turn,
    done: Annotated[str, Query(max_length=16)] = "",
) -> Response:
    """Where one turn is, why, and what can be done about it."""
    turn = await services.store.deliveries.get(tenant, turn_id)
    proof, open_ = proof_for(request, tenant), turn.state in UNDELIVERED
    return page(
        "delivery.html", tenant=tenant, turn=turn, masked=services.policy.text, open=open_, done=done, proof=proof
    )


@router.post("/ui/deliveries/{turnId}/retry")
async def retry(services: ServicesDep, tenant: TenantDep, turn_id: Turn, _form: FormDep) -> Response:
    """Send it now."""
    await services.store.deliveries.retry(tenant, turn_id)
    return see_other(link(f"/ui/deliveries/{turn_id}", done="retried"))


@router.get("/ui/deliveries/{turnId}/discard")
async def before_discarding(request: Request, services: ServicesDep, tenant: TenantDep, turn_id: Turn) -> Response:
    """What giving it up means. Nothing is, before the button on this page is pressed."""
    turn = await services.store.deliveries.get(tenant, turn_id)
    return page("discard.html", tenant=tenant, turn=turn, masked=services.policy.text, proof=proof_for(request, tenant))


@router.post("/ui/deliveries/{turnId}/discard")
async def discard(services: ServicesDep, tenant: TenantDep, turn_id: Turn, _form: FormDep) -> Response:
    """Give it up: its text is deleted for good."""
    await services.store.deliveries.discard(tenant, turn_id)
    return see_other(link(f"/ui/deliveries/{turn_id}", done="discarded"))
