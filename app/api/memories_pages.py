"""``/ui/memories``: what is remembered, for people: found, read, corrected, pinned, forgotten."""

from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request, Response
from pydantic import ValidationError

from app.api.document import problems
from app.api.forms import Form, FormDep, proof_for
from app.api.memories import MemoryId
from app.api.memories_schema import ChangeMemoryRequest
from app.api.memory_listing import MAX_DATE_CHARS, MAX_QUERY_CHARS, end_of_day, listing
from app.api.pages import link, page, see_other
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.api.wire import field_problems
from app.core.cleaning.host_text import storable
from app.core.deadline import Deadline
from app.core.identity import MAX_ID_CHARS, Tenant
from app.core.memories.audit import Action, AuditFilter
from app.core.memories.memory import (
    MAX_TEXT_CHARS,
    MAX_TTL_DAYS,
    Memory,
    MemoryChange,
    MemoryRecord,
    MemoryState,
    Sensitivity,
)
from app.core.memories.naming import was_said
from app.core.memories.paging import MAX_CURSOR_CHARS, cursor_of
from app.engine.memories.browsing import ListedMemories, MemoryListing
from app.engine.memories.collaborators import operator_of
from app.engine.memories.forgetting import Selection
from app.engine.memories.keeping import Alteration
from app.errors import (
    BackendTrouble,
    Conflict,
    FieldProblem,
    InvalidRequest,
    RefusedByPolicy,
    SidecarError,
    VersionConflict,
)
from app.observe.context import note
from app.services import Services

router = Router(tags=["pages"], include_in_schema=False, responses=problems())

ON_A_PAGE = 50
RECALLS_SHOWN = 10
"""Recalls that a memory's page names, the newest."""
CATEGORIES = ("profile", "preferences", "entities", "notes", "experiences", "events")
ANY = "any"
_REFUSALS = (Conflict, InvalidRequest, RefusedByPolicy, VersionConflict)
"""What a person can mend: said on the same page, with everything that was typed."""


class Filters:
    """What the list is filtered by, as the form sends it: a field that is left empty asks for nothing."""

    def __init__(
        self,
        query: Annotated[str, Query(max_length=MAX_QUERY_CHARS)] = "",
        category: Annotated[str, Query(max_length=64)] = "",
        state: Literal["", "any", "live", "superseded", "expired"] = "",
        peer: Annotated[str, Query(max_length=MAX_ID_CHARS)] = "",
        since: Annotated[str, Query(max_length=MAX_DATE_CHARS)] = "",
        until: Annotated[str, Query(max_length=MAX_DATE_CHARS)] = "",
        pinned: Literal["", "true", "false"] = "",
        session: Annotated[str, Query(max_length=MAX_ID_CHARS)] = "",
    ) -> None:
        self.given = {
            "query": query.strip(),
            "category": category.strip(),
            "state": "" if state == "live" else state,
            "peer": peer.strip(),
            "since": since.strip(),
            "until": until.strip(),
            "pinned": pinned,
            "session": session.strip(),
        }

    @property
    def chosen(self) -> dict[str, str]:
        """Those that ask for something."""
        return {name: value for name, value in self.given.items() if value}

    def listing(self, cursor: str) -> MemoryListing:
        """What they ask for, to the end of the last day. Raises `InvalidRequest`."""
        given = self.given
        return listing(
            query=given["query"],
            category=given["category"],
            state=None if given["state"] == ANY else MemoryState(given["state"] or MemoryState.LIVE),
            peer=given["peer"],
            since=given["since"],
            until=end_of_day(given["until"]),
            pinned={"true": True, "false": False}.get(given["pinned"]),
            session=given["session"],
            limit=ON_A_PAGE,
            cursor=cursor,
        )


FiltersDep = Annotated[Filters, Depends()]
CursorQuery = Annotated[str, Query(max_length=MAX_CURSOR_CHARS)]
DoneQuery = Annotated[str, Query(max_length=16)]


@router.get("/ui/memories")
async def memories_page(
    services: ServicesDep, tenant: TenantDep, filters: FiltersDep, cursor: CursorQuery = ""
) -> Response:
    """The list, newest first, or what a query is about, best first."""
    asked = filters.listing(cursor)
    found, trouble = ListedMemories(()), None
    if services.keeps_memories:
        try:
            found = await services.list_memories.run(operator_of(tenant), asked, _deadline(services))
        except BackendTrouble as error:
            trouble = error
    scores = found.scores or (None,) * len(found.memories)
    return page(
        "memories.html",
        tenant=tenant,
        status=trouble.status if trouble else 200,
        rows=list(zip(found.memories, scores, strict=True)),
        given=filters.given,
        filtered=bool(filters.chosen),
        categories=CATEGORIES,
        trouble=trouble,
        keeps_memories=services.keeps_memories,
        backend=services.backend.name,
        older=link("/ui/memories", **filters.chosen, cursor=cursor_of(found.after)) if found.after else None,
        here="/ui/memories",
    )


@router.get("/ui/memories/{id}")
async def memory_page(
    request: Request, services: ServicesDep, tenant: TenantDep, memory_id: MemoryId, done: DoneQuery = ""
) -> Response:
    """One memory: what it says, what it said before, where it came from, and which recalls showed it."""
    record = await services.read_memory.run(operator_of(tenant), memory_id, _deadline(services))
    return await _shown(request, tenant, record, done=done)


@router.post("/ui/memories/{id}")
async def change(
    request: Request, services: ServicesDep, tenant: TenantDep, memory_id: MemoryId, form: FormDep
) -> Response:
    """Change what the form says otherwise. What can not be done is said above the form, which keeps what was typed."""
    who, deadline = operator_of(tenant), _deadline(services)
    record = await services.read_memory.run(who, memory_id, deadline)
    try:
        wanted = _wanted(form, record.memory)
        if wanted == MemoryChange():
            return see_other(link(f"/ui/memories/{memory_id}", done="same"))
        asked = Alteration(memory_id, wanted, _version_seen(form))
        changed = await services.change_memory.run(who, asked, deadline)
    except _REFUSALS as refusal:
        note(reason=str(refusal.code))
        return await _shown(request, tenant, record, refusal=refusal, typed=form)
    return see_other(link(f"/ui/memories/{memory_id}", done="masked" if changed.policy else "changed"))


@router.post("/ui/memories/{id}/pin")
async def pin(services: ServicesDep, tenant: TenantDep, memory_id: MemoryId, form: FormDep) -> Response:
    """Pin it, or take the pin off."""
    pinned = form.text("pinned") == "true"
    asked = Alteration(memory_id, MemoryChange(pinned=pinned))
    await services.change_memory.run(operator_of(tenant), asked, _deadline(services))
    return see_other(link(f"/ui/memories/{memory_id}", done="pinned" if pinned else "unpinned"))


@router.get("/ui/memories/{id}/forget")
async def before_forgetting(
    request: Request, services: ServicesDep, tenant: TenantDep, memory_id: MemoryId
) -> Response:
    """What would be forgotten. Nothing is, before the button on this page is pressed."""
    who, deadline = operator_of(tenant), _deadline(services)
    record = await services.read_memory.run(who, memory_id, deadline)
    receipt = await services.forget_selected.run(who, Selection(id=memory_id), True, deadline)
    return page("forget.html", tenant=tenant, memory=record.memory, receipt=receipt, proof=proof_for(request, tenant))


@router.post("/ui/memories/{id}/forget")
async def forget(services: ServicesDep, tenant: TenantDep, memory_id: MemoryId, _form: FormDep) -> Response:
    """Forget it, and show the receipt: what was removed, and where the text still stands."""
    receipt = await services.forget_memory.run(operator_of(tenant), memory_id, _deadline(services))
    return page("forgotten.html", tenant=tenant, receipt=receipt)


async def _shown(
    request: Request,
    tenant: Tenant,
    record: MemoryRecord,
    *,
    done: str = "",
    refusal: SidecarError | None = None,
    typed: Form | None = None,
) -> Response:
    services: Services = request.app.state.services
    memory = record.memory
    recalled = AuditFilter(memory_id=memory.id, action=Action.RECALLED)
    return page(
        "memory.html",
        tenant=tenant,
        status=refusal.status if refusal else 200,
        memory=memory,
        history=list(reversed(record.history)),
        said=was_said(memory),
        fixed=was_said(memory) or memory.state is MemoryState.SUPERSEDED,
        recalls=(await services.store.audit.page(tenant, recalled, RECALLS_SHOWN, None)).entries,
        masked=services.policy.text,
        done=done,
        refusal=refusal,
        wrong=refusal.problems if isinstance(refusal, InvalidRequest) else (),
        stale=isinstance(refusal, VersionConflict),
        form=_filled_in(memory, typed),
        categories=CATEGORIES,
        sensitivities=[(one, one) for one in Sensitivity],
        longest=MAX_TEXT_CHARS,
        most_days=MAX_TTL_DAYS,
        proof=proof_for(request, tenant),
    )


def _filled_in(memory: Memory, typed: Form | None) -> dict[str, Any]:
    """What stands in the fields: what was typed, else what is so."""
    if typed is not None:
        return {name: typed.text(name) for name in ("text", "category", "sensitivity", "ttlDays", "version")}
    return {
        "text": memory.text,
        "category": memory.category,
        "sensitivity": memory.sensitivity,
        "ttlDays": "",
        "version": memory.version,
    }


def _wanted(form: Form, memory: Memory) -> MemoryChange:
    """What the form says otherwise than the memory. Raises `InvalidRequest`."""
    given: dict[str, Any] = {name: form.text(name).strip() for name in ("text", "category", "sensitivity")}
    days = form.text("ttlDays").strip()
    try:
        read = ChangeMemoryRequest.model_validate(given | ({"ttlDays": days} if days else {}))
    except ValidationError as error:
        raise field_problems([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from None
    text = storable(read.text or "").strip()
    if not text:
        raise InvalidRequest(FieldProblem("text", "must say something"))
    return MemoryChange(
        text=text if text != memory.text.strip() else None,
        category=read.category if read.category != memory.category else None,
        ttl_days=read.ttl_days,
        ends_ttl=form.text("forGood") == "true" and read.ttl_days is None and memory.expires_at is not None,
        sensitivity=read.sensitivity if read.sensitivity != memory.sensitivity else None,
    )


def _version_seen(form: Form) -> int:
    number = form.text("version")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InvalidRequest(FieldProblem("version", "open the memory's page again"))
    return int(number)


def _deadline(services: Services) -> Deadline:
    return Deadline.after_ms(services.settings.limits.wait_ms or 1)
