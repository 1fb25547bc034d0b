"""The catalogue of documents whose passages a backend keeps; see `app.ports.ResourceCatalogue`."""

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from app.core.identity import Tenant
from app.documents.resource import Kind, Resource, Status
from app.ports import CataloguedDocument, DocumentPlace, DocumentState
from app.store.connections import Database
from app.store.schema import resource_catalogue, resource_documents

_AT_ONCE = 500
"""Values in one statement."""
_C, _D = resource_catalogue.c, resource_documents.c
_THERE = frozenset({DocumentState.MADE, DocumentState.LIVE})
_HEAD = _D.path, _D.folder, _D.digest, _D.body


class SqlResourceCatalogue:
    """`app.ports.ResourceCatalogue` in SQL. Texts are compressed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def live(self, tenant: Tenant, resource: str) -> Mapping[str, CataloguedDocument]:
        """See `ResourceCatalogue.live`."""
        return await self._database.read(_live, tenant, resource)

    async def begin(self, tenant: Tenant, resource: str, documents: Sequence[CataloguedDocument]) -> bool:
        """See `ResourceCatalogue.begin`."""
        return await self._database.write_behind(_begin, tenant, resource, documents)

    async def made(self, tenant: Tenant, folders: Collection[str]) -> bool:
        """See `ResourceCatalogue.made`."""
        return await self._database.write(_made, tenant, folders)

    async def show(self, tenant: Tenant, resource: Resource, folders: Collection[str]) -> bool:
        """See `ResourceCatalogue.show`."""
        return await self._database.write(_show, tenant, resource, folders)

    async def remove(self, tenant: Tenant, resource: str) -> bool:
        """See `ResourceCatalogue.remove`."""
        return await self._database.write(_remove, tenant, resource)

    async def gone(self, tenant: Tenant) -> Mapping[str, bool]:
        """See `ResourceCatalogue.gone`."""
        return await self._database.read(_gone, tenant)

    async def forget(self, tenant: Tenant, folders: Collection[str]) -> None:
        """See `ResourceCatalogue.forget`."""
        await self._database.write(_forget, tenant, folders)

    async def listed(self, tenant: Tenant, kind: Kind, after: str, limit: int) -> Sequence[Resource]:
        """See `ResourceCatalogue.listed`."""
        return await self._database.read(_listed, tenant, kind, after, limit)

    async def get(self, tenant: Tenant, paths: Collection[str]) -> Resource | None:
        """See `ResourceCatalogue.get`."""
        return await self._database.read(_get, tenant, paths)

    async def contents(self, tenant: Tenant, resource: str, limit: int) -> Sequence[tuple[str, str]]:
        """See `ResourceCatalogue.contents`."""
        return await self._database.read(_contents, tenant, resource, limit)

    async def document(self, tenant: Tenant, resource: str, path: str) -> CataloguedDocument | None:
        """See `ResourceCatalogue.document`."""
        return await self._database.read(_document, tenant, resource, path)

    async def places(self, tenant: Tenant, folders: Collection[str]) -> Mapping[str, DocumentPlace]:
        """See `ResourceCatalogue.places`."""
        return await self._database.read(_places, tenant, folders) if folders else {}


def _live(connection: Connection, tenant: Tenant, resource: str) -> dict[str, CataloguedDocument]:
    query = select(*_HEAD).where(_of(_D, tenant), _D.resource == resource, _D.state == DocumentState.LIVE.value)
    return {row.path: _document_of(row) for row in connection.execute(query)}


def _begin(connection: Connection, tenant: Tenant, resource: str, documents: Sequence[CataloguedDocument]) -> bool:
    states = _states(connection, tenant, [one.folder for one in documents])
    new = [_row(tenant, resource, one) for one in documents if one.folder not in states]
    if new:
        connection.execute(insert(resource_documents), new)
    again = [folder for folder, state in states.items() if state not in _THERE]
    _move(connection, tenant, again, DocumentState.MAKING)
    return not new and not again


def _made(connection: Connection, tenant: Tenant, folders: Collection[str]) -> bool:
    if _those(connection, tenant, folders, {DocumentState.MAKING, *_THERE}) < len(folders):
        return False
    _move(connection, tenant, folders, DocumentState.MADE)
    return True


def _show(connection: Connection, tenant: Tenant, resource: Resource, folders: Collection[str]) -> bool:
    if _those(connection, tenant, folders, _THERE) < len(folders):
        return False
    theirs = and_(_of(_D, tenant), _D.resource == resource.path)
    connection.execute(update(resource_documents).where(theirs).values(state=DocumentState.GONE.value))
    _move(connection, tenant, folders, DocumentState.LIVE)
    is_it = and_(_of(_C, tenant), _C.path == resource.path)
    values = {"kind": resource.kind.value, "body": json.dumps(asdict(resource))}
    if connection.execute(update(resource_catalogue).where(is_it).values(values)).rowcount == 0:
        connection.execute(insert(resource_catalogue).values({**_names(tenant), "path": resource.path, **values}))
    return True


def _remove(connection: Connection, tenant: Tenant, resource: str) -> bool:
    header = delete(resource_catalogue).where(_of(_C, tenant), _C.path == resource)
    was_there = connection.execute(header).rowcount
    theirs = update(resource_documents).where(_of(_D, tenant), _D.resource == resource)
    return bool(connection.execute(theirs.values(state=DocumentState.GONE.value)).rowcount or was_there)


def _gone(connection: Connection, tenant: Tenant) -> dict[str, bool]:
    mine = select(_D.folder, _D.state).where(_of(_D, tenant))
    is_gone = _D.state == DocumentState.GONE.value
    folders = list(connection.execute(select(_D.folder).where(_of(_D, tenant), is_gone)).scalars())
    if not folders:
        return {}
    wanted = {_parent(folder) for folder, _ in connection.execute(mine.where(~is_gone))}
    return {folder: _parent(folder) not in wanted for folder in folders}


def _forget(connection: Connection, tenant: Tenant, folders: Collection[str]) -> None:
    for some in _slices(folders):
        rows = and_(_of(_D, tenant), _D.folder.in_(some), _D.state == DocumentState.GONE.value)
        connection.execute(delete(resource_documents).where(rows))


def _listed(connection: Connection, tenant: Tenant, kind: Kind, after: str, limit: int) -> list[Resource]:
    mine = and_(_of(_C, tenant), _C.kind == kind.value, _C.path > after)
    query = select(_C.body).where(mine).order_by(_C.path).limit(limit)
    return [_resource(body) for body in connection.execute(query).scalars()]


def _get(connection: Connection, tenant: Tenant, paths: Collection[str]) -> Resource | None:
    query = select(_C.body).where(_of(_C, tenant), _C.path.in_(list(paths))).order_by(func.length(_C.path).desc())
    body = connection.execute(query.limit(1)).scalar()
    return _resource(body) if body is not None else None


def _contents(connection: Connection, tenant: Tenant, resource: str, limit: int) -> list[tuple[str, str]]:
    mine = and_(_of(_D, tenant), _D.resource == resource, _D.state == DocumentState.LIVE.value)
    query = select(_D.path, _D.body).where(mine).order_by(_D.path).limit(limit)
    return [(path, json.loads(body)["summary"]) for path, body in connection.execute(query)]


def _document(connection: Connection, tenant: Tenant, resource: str, path: str) -> CataloguedDocument | None:
    it = and_(_of(_D, tenant), _D.resource == resource, _D.path == path, _D.state == DocumentState.LIVE.value)
    row = connection.execute(select(*_HEAD, _D.text).where(it)).first()
    return _document_of(row, _unpacked(row.text)) if row else None


def _places(connection: Connection, tenant: Tenant, folders: Collection[str]) -> dict[str, DocumentPlace]:
    found: dict[str, DocumentPlace] = {}
    for some in _slices(folders):
        mine = and_(_of(_D, tenant), _D.folder.in_(some), _D.state == DocumentState.LIVE.value)
        rows = connection.execute(select(_D.folder, _D.resource, _D.path).where(mine))
        found |= {row.folder: DocumentPlace(row.resource, row.path) for row in rows}
    return found


def _states(connection: Connection, tenant: Tenant, folders: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for some in _slices(folders):
        rows = connection.execute(select(_D.folder, _D.state).where(_of(_D, tenant), _D.folder.in_(some)))
        found |= {row.folder: row.state for row in rows}
    return found


def _move(connection: Connection, tenant: Tenant, folders: Collection[str], state: DocumentState) -> None:
    for some in _slices(folders):
        rows = update(resource_documents).where(_of(_D, tenant), _D.folder.in_(some))
        connection.execute(rows.values(state=state.value))


def _those(connection: Connection, tenant: Tenant, folders: Collection[str], states: Collection[str]) -> int:
    """How many of these documents are in one of these states."""
    return sum(state in states for state in _states(connection, tenant, folders).values())


def _row(tenant: Tenant, resource: str, one: CataloguedDocument) -> dict[str, Any]:
    return {
        **_names(tenant),
        "resource": resource,
        "path": one.path,
        "folder": one.folder,
        "digest": one.digest,
        "body": json.dumps({"title": one.title, "summary": one.summary}),
        "state": DocumentState.MAKING.value,
        "text": zlib.compress(one.text.encode("utf-8", "surrogatepass")),
    }


def _document_of(row: Any, text: str = "") -> CataloguedDocument:
    return CataloguedDocument(row.path, row.folder, row.digest, **json.loads(row.body), text=text)


def _unpacked(text: bytes) -> str:
    return zlib.decompress(text).decode("utf-8", "surrogatepass")


def _resource(body: str) -> Resource:
    fields: dict[str, Any] = json.loads(body)
    return Resource(**{**fields, "kind": Kind(fields["kind"]), "status": Status.READY})


def _parent(folder: str) -> str:
    return folder.rpartition("/")[0]


def _slices(values: Collection[str]) -> list[list[str]]:
    known = list(values)
    return [known[start : start + _AT_ONCE] for start in range(0, len(known), _AT_ONCE)]


def _names(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}


def _of(columns: Any, tenant: Tenant) -> Any:
    return and_(columns.account == (tenant.account or ""), columns.user_name == (tenant.user or ""))
