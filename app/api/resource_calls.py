"""``/resources`` and ``/skills``: documents to look things up in, and skills to work by."""

import base64
import binascii
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response

from app.api.document import problems
from app.api.examples import RESOURCE_REQUEST, SKILL_REQUEST, recorded
from app.api.memory_listing import MAX_QUERY_CHARS
from app.api.resources_schema import (
    ImportedBody,
    ImportRequest,
    RemovedResourceBody,
    ResourcePageBody,
    SkillPageBody,
    shown,
    shown_import,
    shown_passages,
    shown_task,
)
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.api.uploads import FORM, JSON, Arrived, UploadRoute, arrived_with
from app.api.wire import Json
from app.core.cleaning.host_text import storable
from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.documents.resource import HOME, Kind, Status
from app.engine.memories.collaborators import operator_of
from app.engine.resources.import_sources import import_from_web, import_of_text
from app.engine.resources.importing import Imported, NewImport
from app.errors import FieldProblem, InvalidRequest, ResourceRefused
from app.gathering.reader_process import Upload
from app.observe.context import note
from app.services import Services

router = Router(tags=["resources"])
taking = Router(tags=["resources"], route_class=UploadRoute)

MAX_PAGE = 200
MAX_URI_CHARS = 1_000
MAX_CURSOR_CHARS = 1_000
GRACE_MS = 5_000
"""Beside the time to fetch and to read what is imported: for all else."""

Uri = Annotated[str, Query(max_length=MAX_URI_CHARS, description="As listed, or any spelling of it.")]


class Wanted:
    """What is asked for of a list: what a ``query`` is about, what stands at a ``uri``, or else a page of all."""

    def __init__(
        self,
        query: Annotated[
            str | None,
            Query(max_length=MAX_QUERY_CHARS, description="By relevance, each with a `score` and its best `passages`."),
        ] = None,
        uri: Annotated[
            str | None,
            Query(max_length=MAX_URI_CHARS, description="This one alone, with its `text` and `documents`."),
        ] = None,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many on a page.")] = 50,
        cursor: Annotated[
            str | None, Query(max_length=MAX_CURSOR_CHARS, description="`nextCursor` of the page before.")
        ] = None,
    ) -> None:
        self.query = (query or "").strip()
        self.uri = uri
        self.limit = limit
        self.cursor = cursor


WantedDep = Annotated[Wanted, Depends()]

_FILE = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary"},
        **{name: {"type": "string"} for name in ("to", "title")},
        "wait": {"type": "boolean"},
    },
}


def _sent(example: dict[str, Any]) -> dict[str, Any]:
    schema = {**ImportRequest.model_json_schema(by_alias=True), "title": "ImportRequest"}
    content = {JSON: {"schema": schema, "example": example}, FORM: {"schema": _FILE}}
    return {"requestBody": {"required": True, "content": content}}


_ANSWERS: dict[int | str, dict[str, Any]] = {
    201: {"description": "It can be found.", "model": ImportedBody},
    **problems(415, 422, 503),
}


@taking.post(
    "/resources",
    summary="Import a document, or a folder as a zip",
    status_code=202,
    response_model=ImportedBody,
    responses={**_ANSWERS, 201: {**_ANSWERS[201], **recorded("resources")}},
    openapi_extra=_sent(RESOURCE_REQUEST),
)
async def import_resource(request: Request, tenant: TenantDep) -> Response:
    """A file (`multipart/form-data`), or JSON with one of `url`, `git` and `text`.

    Markdown, text, HTML, PDF (with the extra `pdf`), source code, and zip archives of these. When this answers, it is
    on disk and read; what can not be imported is refused here and leaves nothing behind. The same again changes only
    what is different. URLs lead to public addresses only.
    """
    return await _imported(request, tenant, Kind.RESOURCE)


@taking.post(
    "/skills",
    summary="Import a skill",
    status_code=202,
    response_model=ImportedBody,
    responses={**_ANSWERS, 201: {**_ANSWERS[201], **recorded("skills")}},
    openapi_extra=_sent(SKILL_REQUEST),
)
async def import_skill(request: Request, tenant: TenantDep) -> Response:
    """A SKILL.md, a zip of a folder with one, or its `text`. Its `name` says where it goes."""
    return await _imported(request, tenant, Kind.SKILL)


router.routes.extend(taking.routes)


@router.get(
    "/resources",
    summary="Documents, by their paths, or those that a query is about",
    response_model=ResourcePageBody,
    response_model_exclude_none=True,
    responses={200: recorded("resources-search"), **problems(404, 503)},
)
async def list_resources(services: ServicesDep, tenant: TenantDep, wanted: WantedDep) -> Response:
    """The first page begins with those that are being imported, or could not be."""
    return await _found(services, tenant, Kind.RESOURCE, wanted)


@router.get(
    "/skills",
    summary="Skills, by their names, or those that a query is about",
    response_model=SkillPageBody,
    response_model_exclude_none=True,
    responses={200: recorded("skills-list"), **problems(404, 503)},
)
async def list_skills(services: ServicesDep, tenant: TenantDep, wanted: WantedDep) -> Response:
    """With a `uri`, the skill as it was imported."""
    return await _found(services, tenant, Kind.SKILL, wanted)


@router.delete(
    "/resources",
    summary="Remove a document or a folder",
    response_model=RemovedResourceBody,
    responses={200: recorded("resources-remove"), **problems(404, 503)},
)
async def remove_resource(
    services: ServicesDep,
    tenant: TenantDep,
    uri: Annotated[Uri, Query(openapi_examples={"one": {"value": "viking://~/resources/Atlas handbook.md"}})],
) -> Response:
    """With all of its documents, and what of it is still being imported."""
    return await _removed(services, tenant, uri, Kind.RESOURCE)


@router.delete(
    "/skills",
    summary="Remove a skill",
    response_model=RemovedResourceBody,
    responses={200: recorded("skills-remove"), **problems(404, 503)},
)
async def remove_skill(
    services: ServicesDep,
    tenant: TenantDep,
    uri: Annotated[Uri, Query(openapi_examples={"one": {"value": "viking://~/skills/deploy-check"}})],
) -> Response:
    """With all of its files."""
    return await _removed(services, tenant, uri, Kind.SKILL)


@router.get(
    "/resources/tasks/{taskId}",
    summary="How far an import is",
    response_model=ImportedBody,
    responses=problems(404, 503),
)
async def import_task(
    services: ServicesDep,
    tenant: TenantDep,
    task_id: Annotated[str, Path(alias="taskId", max_length=128, pattern=r"^[^\x00]*$")],
) -> Response:
    """Of documents and skills alike, for a week after it has ended."""
    return Json(shown_task(await services.browse_resources.task(tenant, task_id)))


async def _imported(request: Request, tenant: Tenant, kind: Kind) -> Response:
    imported = await import_arrived(request.app.state.services, tenant, arrived_with(request), kind)
    return Json(shown_import(imported), 201 if imported.resource.status is Status.READY else 202)


async def import_arrived(services: Services, tenant: Tenant, arrived: Arrived, kind: Kind) -> Imported:
    """Import what was sent. Raises `ResourceRefused` where that has failed, and what `ImportResource` raises."""
    settings = services.settings
    ms = settings.limits.wait_ms + settings.resources.read_ms + settings.resources.fetch_ms + GRACE_MS
    imported = await services.import_resource.run(tenant, _new_import(services, arrived, kind), Deadline.after_ms(ms))
    note(resource=imported.resource.path, status=str(imported.resource.status))
    if imported.resource.status is Status.FAILED:
        raise ResourceRefused(imported.resource.detail or "it could not be imported")
    return imported


def _new_import(services: Services, arrived: Arrived, kind: Kind) -> NewImport:
    """What was sent, as the use case takes it. Raises `InvalidRequest`, `UrlNotFetched`."""
    asked = arrived.asked
    given = [name for name in ("url", "git", "text") if getattr(asked, name) is not None]
    if arrived.file is None and len(given) != 1:
        how = "send a file, or exactly one of url, git and text"
        raise InvalidRequest(*(FieldProblem(name, how) for name in given or ["body"]))
    title = " ".join(storable(asked.title or "").split())
    to = storable(asked.to) if asked.to else None
    if arrived.file is not None:
        file = arrived.file

        async def sent() -> Upload:
            return file

        return NewImport(kind, sent, file.name, file.name, title, to, asked.wait)
    if asked.text is not None:
        return import_of_text(kind, storable(asked.text), title, to, wait=asked.wait)
    return import_from_web(services.web, kind, asked.url, asked.git, title, to, wait=asked.wait)


async def _found(services: Services, tenant: Tenant, kind: Kind, wanted: Wanted) -> Response:
    deadline = _deadline(services)
    browse = services.browse_resources
    after = ""
    if wanted.uri is not None:
        known = await browse.read(tenant, wanted.uri, deadline, kind)
        found = [{**shown(known.resource), "text": known.text, "documents": list(known.documents)}]
    elif wanted.query:
        scored = await browse.search(operator_of(tenant), wanted.query, kind, wanted.limit, deadline)
        found = [
            {**shown(one.resource), "score": round(one.score, 4), "passages": shown_passages(one.passages)}
            for one in scored
        ]
    else:
        page = await browse.page(tenant, kind, place_of(wanted.cursor), wanted.limit, deadline)
        found, after = [shown(one) for one in page.resources], page.after
    return Json({kind.folder: found, "nextCursor": cursor_after(after)})


async def _removed(services: Services, tenant: Tenant, uri: str, kind: Kind) -> Response:
    path = await services.remove_resource.run(tenant, uri, kind, _deadline(services))
    return Json({"uri": HOME + path, "removed": True})


def _deadline(services: Services) -> Deadline:
    return Deadline.after_ms(services.settings.limits.wait_ms or 1)


def cursor_after(path: str) -> str | None:
    """What a page's reader gives back to read on behind ``path``; None at the end."""
    return base64.urlsafe_b64encode(path.encode()).decode().rstrip("=") or None


def place_of(cursor: str | None) -> str:
    """The path that a cursor stands for, empty for the beginning. Raises `InvalidRequest`."""
    try:
        return base64.urlsafe_b64decode((cursor or "") + "=" * (-len(cursor or "") % 4)).decode()
    except (binascii.Error, ValueError):
        raise InvalidRequest(FieldProblem("query.cursor", "give the nextCursor of the page before")) from None
