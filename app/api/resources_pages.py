"""``/ui/resources``: documents and skills, for people: uploaded, imported, found, read, removed."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import ValidationError

from app.api.document import problems
from app.api.forms import PROOF, Form, FormDep, check_proof, proof_for
from app.api.memory_listing import MAX_QUERY_CHARS
from app.api.pages import link, page, see_other
from app.api.resource_calls import MAX_CURSOR_CHARS, MAX_URI_CHARS, cursor_after, import_arrived, place_of
from app.api.resources_schema import ImportRequest
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.api.uploads import FORM, Arrived, UploadRoute, arrived_with
from app.api.wire import field_problems
from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.documents.resource import FoundPassage, ImportTask, Kind, Resource, known_path
from app.engine.memories.collaborators import operator_of
from app.engine.policy.names import shown_uri
from app.engine.resources.browse_resources import ResourcePage, ScoredResource
from app.errors import (
    BackendTrouble,
    BodyTooLarge,
    FieldProblem,
    InvalidRequest,
    NotFound,
    ResourceRefused,
    SidecarError,
    UnsupportedType,
    UrlNotFetched,
)
from app.observe.context import note
from app.services import Services

router = Router(tags=["pages"], include_in_schema=False, responses=problems())
uploading = Router(route_class=UploadRoute, include_in_schema=False)

HERE = "/ui/resources"
ON_A_PAGE = 50
MAX_TEXT_SHOWN = 100_000
"""Characters of a document on its page."""
MAX_DOCUMENTS_SHOWN = 500
_TYPED = ("url", "text", "title", "to")
_REFUSALS = (BackendTrouble, BodyTooLarge, InvalidRequest, ResourceRefused, UnsupportedType, UrlNotFetched)
"""What a person can mend: said above the forms, which keep what was typed."""

KindQuery = Annotated[Kind, Query()]
UriQuery = Annotated[str, Query(max_length=MAX_URI_CHARS)]


@router.get(HERE)
async def resources_page(
    request: Request,
    tenant: TenantDep,
    kind: KindQuery = Kind.RESOURCE,
    query: Annotated[str, Query(max_length=MAX_QUERY_CHARS)] = "",
    cursor: Annotated[str, Query(max_length=MAX_CURSOR_CHARS)] = "",
    task: Annotated[str, Query(max_length=128)] = "",
    done: Annotated[str, Query(max_length=16)] = "",
) -> Response:
    """The list by paths, or what a query is about; with ``task``, how far that import is."""
    return await _listed(request, tenant, kind, query=query.strip(), cursor=cursor, task=task, done=done)


@uploading.post(f"{HERE}/upload")
async def upload(request: Request, tenant: TenantDep) -> Response:
    """Import the file that a person chose."""
    arrived = arrived_with(request)
    if arrived.fields is None:
        raise InvalidRequest(FieldProblem("headers.Content-Type", f"send the form as {FORM}"))
    check_proof(request, tenant, arrived.fields.get(PROOF, ""))
    return await _imported(request, tenant, arrived, Form(arrived.fields))


router.routes.extend(uploading.routes)


@router.post(f"{HERE}/import")
async def import_typed(request: Request, tenant: TenantDep, form: FormDep) -> Response:
    """Import a URL, or a text that a person wrote."""
    given = {name: form.text(name).strip() for name in _TYPED}
    url = given.pop("url")
    if bool(url) == bool(given["text"]):
        wrong = InvalidRequest(FieldProblem("url", "give a URL or a text"))
        return await _listed(request, tenant, _kind(form), refusal=wrong, typed=form)
    source = {"git" if url.endswith(".git") else "url": url}
    asked = {name: value for name, value in {**given, **source}.items() if value}
    try:
        read = ImportRequest.model_validate({**asked, "wait": True})
    except ValidationError as error:
        wrong = field_problems([{**one, "loc": ("body", *one["loc"])} for one in error.errors()])
        return await _listed(request, tenant, _kind(form), refusal=wrong, typed=form)
    return await _imported(request, tenant, Arrived(read), form)


@router.get(f"{HERE}/one")
async def resource_page(services: ServicesDep, tenant: TenantDep, uri: UriQuery) -> Response:
    """One with what it says; of a folder each document has a page, too."""
    found = await services.browse_resources.read(tenant, uri, _deadline(services))
    resource = found.resource
    _, path = _known(shown_uri(services.policy.text, uri))
    inner = path[len(resource.path) + 1 :] if path != resource.path else ""
    documents = found.documents if len(found.documents) > 1 else ()
    return page(
        "resource.html",
        tenant=tenant,
        resource=resource,
        inner=inner,
        text=found.text[:MAX_TEXT_SHOWN] if inner or not documents or resource.kind is Kind.SKILL else "",
        hidden=max(0, len(found.text) - MAX_TEXT_SHOWN),
        documents=[] if inner else documents[:MAX_DOCUMENTS_SHOWN],
        more=max(0, len(documents) - MAX_DOCUMENTS_SHOWN),
        masked=services.policy.text,
        link=link,
    )


@router.get(f"{HERE}/remove")
async def before_removing(request: Request, services: ServicesDep, tenant: TenantDep, uri: UriQuery) -> Response:
    """What would be removed. Nothing is, before the button on this page is pressed."""
    resource: Resource | None = None
    _, path = _known(shown_uri(services.policy.text, uri))
    try:
        found = (await services.browse_resources.read(tenant, uri, _deadline(services))).resource
        resource = found if found.path == path else None
    except NotFound:  # it may still be on its way
        pass
    proof = proof_for(request, tenant)
    return page(
        "resource_remove.html", tenant=tenant, uri=uri, resource=resource, proof=proof, masked=services.policy.text
    )


@router.post(f"{HERE}/remove")
async def remove(services: ServicesDep, tenant: TenantDep, form: FormDep) -> Response:
    """Remove it, with all of its documents, and what of it is still being imported."""
    uri = form.text("uri")
    kind, _ = _known(uri)
    await services.remove_resource.run(tenant, uri, kind, _deadline(services))
    return see_other(link(HERE, kind=kind, done="removed"))


async def _imported(request: Request, tenant: Tenant, arrived: Arrived, form: Form) -> Response:
    kind = _kind(form)
    try:
        imported = await import_arrived(request.app.state.services, tenant, arrived, kind)
    except _REFUSALS as refusal:
        note(reason=str(refusal.code))
        return await _listed(request, tenant, kind, refusal=refusal, typed=form)
    same = None if imported.task_id else "same"
    return see_other(link(HERE, kind=kind, task=imported.task_id, done=same))


async def _listed(
    request: Request,
    tenant: Tenant,
    kind: Kind,
    *,
    query: str = "",
    cursor: str = "",
    task: str = "",
    done: str = "",
    refusal: SidecarError | None = None,
    typed: Form | None = None,
) -> Response:
    services: Services = request.app.state.services
    browse, deadline = services.browse_resources, _deadline(services)
    found: list[ScoredResource] = []
    listed, trouble = ResourcePage(()), None
    followed = await _task(services, tenant, task)  # before the list, which is then at least as new
    try:
        if query:
            found = list(await browse.search(operator_of(tenant), query, kind, ON_A_PAGE, deadline))
        else:
            listed = await browse.page(tenant, kind, place_of(cursor), ON_A_PAGE, deadline)
    except BackendTrouble as error:
        trouble = error
    rows: list[tuple[Resource, Sequence[FoundPassage], float | None]] = [
        *((one.resource, one.passages, one.score) for one in found),
        *((one, (), None) for one in listed.resources),
    ]
    after = cursor_after(listed.after)
    return page(
        "resources.html",
        tenant=tenant,
        status=refusal.status if refusal else trouble.status if trouble else 200,
        kind=kind,
        rows=rows,
        query=query,
        trouble=trouble,
        task=followed,
        done=done,
        refusal=refusal,
        wrong=refusal.problems if isinstance(refusal, InvalidRequest) else (),
        form={name: typed.text(name) if typed else "" for name in _TYPED},
        masked=services.policy.text,
        link=link,
        older=link(HERE, kind=kind, cursor=after) if after else None,
        proof=proof_for(request, tenant),
        here=HERE,
    )


async def _task(services: Services, tenant: Tenant, task_id: str) -> ImportTask | None:
    try:
        return await services.browse_resources.task(tenant, task_id) if task_id else None
    except NotFound:
        return None


def _kind(form: Form) -> Kind:
    try:
        return Kind(form.text("kind") or Kind.RESOURCE)
    except ValueError:
        raise InvalidRequest(FieldProblem("kind", "choose a document or a skill")) from None


def _known(uri: str) -> tuple[Kind, str]:
    known = known_path(uri)
    if known is None:
        raise InvalidRequest(FieldProblem("uri", "open it from the list"))
    return known


def _deadline(services: Services) -> Deadline:
    return Deadline.after_ms(services.settings.limits.wait_ms or 1)
