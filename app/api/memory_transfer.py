"""``/memories/export`` and ``/memories/import``: all memories of a tenant, a JSON object a line."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from app.api.document import problems
from app.api.examples import ANSWERS, NDJSON, REQUESTS, recorded
from app.api.intake import Intake
from app.api.memories_schema import ImportBody, ImportedLine, exported, record_in
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep, tenant_from
from app.api.wire import Json
from app.core.deadline import Deadline
from app.core.json.encoding import encode, parse_json
from app.core.memories.memory import MemoryRecord
from app.engine.memories.collaborators import operator_of
from app.errors import FieldProblem, InvalidRequest

_KINDS = frozenset({NDJSON, "application/ndjson", "application/jsonl", "application/json-lines"})
MAX_REJECTED = 1_000
"""Lines that one answer names; the rest of the body is not read when there are more."""
MAX_LINE_BYTES = 8 * 1024 * 1024


class LinesRoute(APIRoute):
    """A route whose body is lines of JSON and says so; a stranger's body is not even read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, with the body read within the limits of all bodies."""
        handler = super().get_route_handler()

        async def lines(request: Request) -> Response:
            tenant_from(request)
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in _KINDS:
                raise InvalidRequest(FieldProblem("headers.Content-Type", f"send the body as {NDJSON}"))
            intake: Intake = request.app.state.intake
            async with intake.body(request.headers, request.receive) as body:
                request.state.lines = body
                return await handler(request)

        return lines


router = Router(prefix="/memories", tags=["memories"])
_AS_LINES = {"content": {NDJSON: {"schema": {"type": "string"}, "example": ANSWERS.get("memories-export")}}}
reading = Router(prefix="/memories", tags=["memories"], route_class=LinesRoute)


@router.get(
    "/export",
    summary="All memories, a line each",
    response_class=StreamingResponse,
    responses={200: _AS_LINES, **problems(503)},
)
async def export_memories(services: ServicesDep, tenant: TenantDep) -> Response:
    """Newest first, with id, times and history, superseded ones too; what was said (raw turns) is not among them.

    A connection that breaks off is an export that failed.
    """
    records = services.export_memories.run(operator_of(tenant))
    first = await anext(records, None)  # what fails at once is still answered as a problem
    return StreamingResponse(_lines(first, records), media_type=NDJSON)


@reading.post(
    "/import",
    summary="Take an export in",
    response_model=ImportBody,
    responses={200: recorded("memories-import"), **problems(503)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {NDJSON: {"schema": {"type": "string"}, "example": REQUESTS["memories-import"].body}},
        }
    },
)
async def import_memories(request: Request, services: ServicesDep, tenant: TenantDep) -> Response:
    """Ids, times and history are kept, and what is there already is left alone. Lines that are wrong are named."""
    deadline = Deadline(time.monotonic() + services.settings.limits.compact_ms / 1000)
    body: bytes = request.state.lines
    records = await asyncio.to_thread(lambda: list(_read(body)))
    result = await services.import_memories.run(operator_of(tenant), records, deadline)
    rejected = [{"line": line, "detail": detail} for line, detail in result.rejected]
    return Json({"imported": result.imported, "skipped": result.skipped, "rejected": rejected})


router.routes.extend(reading.routes)


async def _lines(first: MemoryRecord | None, rest: AsyncIterator[MemoryRecord]) -> AsyncIterator[bytes]:
    if first is None:
        return
    yield encode(exported(first)) + b"\n"
    async for record in rest:
        yield encode(exported(record)) + b"\n"


def _read(body: bytes) -> Iterator[MemoryRecord | tuple[int, str]]:
    """The memory of each line, or the number of a wrong one (from 1) and what is wrong with it."""
    wrong = 0
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        read = _record(line)
        if isinstance(read, str):
            wrong += 1
            if wrong > MAX_REJECTED:
                yield number, "too many lines are wrong; nothing from here on was read"
                return
            yield number, read
        else:
            yield read


def _record(line: bytes) -> MemoryRecord | str:
    if len(line) > MAX_LINE_BYTES:
        return f"a line may have {MAX_LINE_BYTES} bytes"
    try:
        value = parse_json(line)
    except (ValueError, RecursionError):
        return "not valid JSON"
    try:
        return record_in(ImportedLine.model_validate(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(to_camel(part) if isinstance(part, str) else str(part) for part in first["loc"])
        return f"{place or 'line'}: {first['msg']}"
