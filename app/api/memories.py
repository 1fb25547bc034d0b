"""``/memories``: what is remembered, one statement at a time: listed, read, stored, changed, forgotten."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Body, Header, Path, Query, Request, Response

from app.api.document import problems
from app.api.examples import MEMORY_CHANGE_REQUEST, MEMORY_ID, MEMORY_REQUEST, recorded
from app.api.memories_schema import (
    ChangeMemoryRequest,
    MemoryPageBody,
    MemoryRecordBody,
    ReceiptBody,
    StoreMemoryRequest,
    WrittenMemoryBody,
    shown,
    shown_receipt,
    shown_record,
)
from app.api.memory_listing import MAX_DATE_CHARS, MAX_QUERY_CHARS, listing
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep, resolve_optional
from app.api.strict import StrictRoute, caller_of, deadline_of, refuse_large
from app.api.wire import Json
from app.core.capture.policy_line import PolicyLine
from app.core.cleaning.host_text import storable
from app.core.deadline import Deadline
from app.core.identity import MAX_ID_CHARS
from app.core.memories.memory import MAX_PAGE, Memory, MemoryChange, MemoryState
from app.core.memories.paging import MAX_CURSOR_CHARS, cursor_of
from app.engine.memories.collaborators import operator_of
from app.engine.memories.keeping import Alteration, Statement
from app.errors import FieldProblem, InvalidRequest
from app.observe.context import note
from app.services import Services

router = Router(tags=["memories"])
writing = Router(tags=["memories"], route_class=StrictRoute)

MemoryId = Annotated[
    str,
    Path(
        alias="id",
        max_length=128,
        pattern=r"^[^\x00]*$",
        description="A memory's `id`; the example's is there after the example of `POST /memories/import`.",
        examples=[MEMORY_ID],
    ),
]


@router.get(
    "/memories",
    summary="Memories, newest first, or those that a query is about",
    response_model=MemoryPageBody,
    responses={200: recorded("memories-list"), **problems(503)},
)
async def list_memories(
    services: ServicesDep,
    tenant: TenantDep,
    query: Annotated[
        str | None, Query(max_length=MAX_QUERY_CHARS, description="By relevance, each with a `score`; one page.")
    ] = None,
    category: Annotated[
        str | None,
        Query(max_length=64, description="Only this category; `events` lists what was said, too."),
    ] = None,
    state: Annotated[MemoryState, Query(description="Only those that hold, were superseded, or expired.")] = (
        MemoryState.LIVE
    ),
    peer: Annotated[str | None, Query(max_length=MAX_ID_CHARS, description="Only this peer's.")] = None,
    since: Annotated[
        str | None, Query(max_length=MAX_DATE_CHARS, description="Said at or after this, ISO 8601.")
    ] = None,
    until: Annotated[
        str | None, Query(max_length=MAX_DATE_CHARS, description="Said at or before this, ISO 8601.")
    ] = None,
    pinned: Annotated[bool | None, Query(description="Only those that are pinned, or are not.")] = None,
    session: Annotated[
        str | None, Query(max_length=MAX_ID_CHARS, description="Only what was said in this session.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Memories on a page.")] = 50,
    cursor: Annotated[
        str | None, Query(max_length=MAX_CURSOR_CHARS, description="`nextCursor` of the page before.")
    ] = None,
) -> Response:
    """Every statement is a memory of its own. Pages stay put while others write.

    What was said (raw turns) is among them only with `category=events`, or where a `query` finds it.
    """
    asked = listing(
        query=query,
        category=category,
        state=state,
        peer=peer,
        since=since,
        until=until,
        pinned=pinned,
        session=session,
        limit=limit,
        cursor=cursor,
    )
    found = await services.list_memories.run(operator_of(tenant), asked, _deadline(services))
    memories = [shown(memory) for memory in found.memories]
    if found.scores is not None:
        memories = [{**memory, "score": score} for memory, score in zip(memories, found.scores, strict=True)]
    return Json({"memories": memories, "nextCursor": cursor_of(found.after)})


@router.get(
    "/memories/{id}",
    summary="One memory with its history",
    response_model=MemoryRecordBody,
    responses={200: recorded("memories-read"), **problems(404, 503)},
)
async def read_memory(services: ServicesDep, tenant: TenantDep, memory_id: MemoryId) -> Response:
    """In whatever state it is. `ETag` is its version, for `If-Match`."""
    record = await services.read_memory.run(operator_of(tenant), memory_id, _deadline(services))
    return Json(shown_record(record), headers=_version(record.memory))


@writing.post(
    "/memories",
    summary="Store a memory",
    status_code=201,
    response_model=WrittenMemoryBody,
    responses={
        201: recorded("memories"),
        200: {"description": "The same text was there: it is confirmed.", "model": WrittenMemoryBody},
        **problems(422, 503),
    },
)
async def store_memory(
    request: Request,
    body: Annotated[
        StoreMemoryRequest, Body(openapi_examples={"memory": {"summary": "A preference", "value": MEMORY_REQUEST}})
    ],
) -> Response:
    """On disk when it answers, and the tenant's next `/assemble` can recall it, in any session.

    The same text again confirms the memory (200). The same `key` with another text takes the place of the former one.
    While the backend is away it is kept here, recalled from here, and delivered later.
    """
    refuse_large(request)
    services, tenant = caller_of(request)
    deadline = deadline_of(request, body.deadline_ms or services.settings.limits.wait_ms)
    who, _, has_session = await resolve_optional(services, tenant, body, deadline)
    asked = Statement(
        text=_text(body.text),
        category=body.category,
        key=_text(body.key, "key") if body.key is not None else None,
        important=body.importance == "high",
        ttl_days=body.ttl_days,
        sensitivity=body.sensitivity,
        pinned=bool(body.pinned),
        session=who.session if has_session else None,
        for_peer=body.owner == "peer",
    )
    stored = await services.store_memory.run(who, asked, deadline)
    note(memory=stored.memory.id)
    headers = {**_version(stored.memory), "Location": f"/memories/{stored.memory.id}"}
    return Json(_told(shown(stored.memory), stored.policy), 201 if stored.created else 200, headers=headers)


@writing.patch(
    "/memories/{id}",
    summary="Change a memory",
    response_model=WrittenMemoryBody,
    responses={200: recorded("memories-change"), **problems(404, 409, 412, 422, 503)},
)
async def change_memory(
    request: Request,
    memory_id: MemoryId,
    body: Annotated[
        ChangeMemoryRequest,
        Body(openapi_examples={"text": {"summary": "Another text", "value": MEMORY_CHANGE_REQUEST}}),
    ],
    if_match: Annotated[
        str | None, Header(max_length=64, description='The version that you have seen, such as `"3"`; `*` is any.')
    ] = None,
) -> Response:
    """The old text is recalled no more, from no source, and stays in `history`.

    409 for what was said (raw turns), for what was superseded, and for a piece of a text that a person wrote.
    """
    refuse_large(request)
    services, tenant = caller_of(request)
    change = MemoryChange(
        text=_text(body.text) if body.text is not None else None,
        category=body.category,
        pinned=body.pinned,
        ttl_days=body.ttl_days,
        ends_ttl="ttl_days" in body.model_fields_set and body.ttl_days is None,
        sensitivity=body.sensitivity,
    )
    asked = Alteration(memory_id, change, _seen_version(if_match))
    changed = await services.change_memory.run(operator_of(tenant), asked, _deadline(services))
    return Json(_told(shown(changed.memory), changed.policy), headers=_version(changed.memory))


@router.delete(
    "/memories/{id}",
    summary="Forget a memory",
    response_model=ReceiptBody,
    responses={200: recorded("memories-forget"), **problems(404, 409, 503)},
)
async def forget_memory(services: ServicesDep, tenant: TenantDep, memory_id: MemoryId) -> Response:
    """It is erased wherever it is kept, with what says it; then all of that is read again.

    `kept` names what was not reached. See `POST /memories/forget`.
    """
    receipt = await services.forget_memory.run(operator_of(tenant), memory_id, _deadline(services))
    return Json(shown_receipt(receipt))


router.routes.extend(writing.routes)


def _told(memory: dict[str, Any], policy: tuple[PolicyLine, ...]) -> dict[str, Any]:
    return {**memory, "policy": [line.shown() for line in policy]}


def _deadline(services: Services) -> Deadline:
    return Deadline.after_ms(services.settings.limits.wait_ms or 1)


def _text(given: str, field: str = "text") -> str:
    """The text as every store takes it. Raises `InvalidRequest` when nothing is left."""
    text = storable(given).strip()
    if not text:
        raise InvalidRequest(FieldProblem(field, "must say something"))
    return text


def _version(memory: Memory) -> Mapping[str, str]:
    return {"ETag": f'"{memory.version}"'}


def _seen_version(if_match: str | None) -> int | None:
    given = (if_match or "").strip().removeprefix("W/")
    if given in {"", "*"}:
        return None
    number = given.strip('"')
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InvalidRequest(FieldProblem("headers.If-Match", 'give the version that you have seen, such as "3"'))
    return int(number)
