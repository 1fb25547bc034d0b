"""Imports of documents and skills: accepted, taken up by one process at a time, ended well or badly."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, insert, select, update

from app.core.identity import Tenant
from app.documents.resource import ImportTask, Kind, Resource, Status
from app.processes import is_gone
from app.store.connections import Database
from app.store.schema import resource_imports
from app.text.dates import iso

LEASE_S = 60.0
"""How long a process that died on another machine still holds an import."""
KEEP_S = 7 * 86_400.0
"""How long one can ask what became of an import."""
_LOOKED_AT = 100
"""Imports that wait and are looked at for one to take up."""
_T = resource_imports.c


@dataclass(frozen=True, slots=True)
class Claimed:
    """An import that this process works on."""

    tenant: Tenant
    task: ImportTask
    spool: str
    attempts: int
    age_s: float
    """Since it was accepted."""


class SqlResourceImports:
    """`app.resource_ports.ResourceTasks` in SQL, and more for whoever carries them out."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self.on_work: Callable[[], None] = lambda: None

    async def put(self, tenant: Tenant, task: ImportTask, spool: str) -> None:
        """See `ResourceTasks.put`."""
        await self._database.write(_put, tenant, task, spool, self._clock())
        self.on_work()

    async def get(self, tenant: Tenant, task_id: str) -> ImportTask | None:
        """See `ResourceTasks.get`."""
        return await self._database.read(_get, tenant, task_id)

    async def unfinished(self, tenant: Tenant, kind: Kind) -> Sequence[ImportTask]:
        """See `ResourceTasks.unfinished`."""
        return await self._database.read(_unfinished, tenant, kind)

    async def forget(self, tenant: Tenant, path: str) -> Sequence[str]:
        """See `ResourceTasks.forget`."""
        return await self._database.write(_forget, tenant, path)

    async def claim(self, owner: str, is_here: Callable[[str], bool]) -> Claimed | None:
        """The oldest import that nobody works on and whose documents are here; imports of one path go in order."""
        return await self._database.write(_claim, owner, is_here, self._clock())

    async def hold(self, task_id: str, owner: str) -> bool:
        """Hold it for longer; False when it is this process' no more."""
        return await self._database.write(_hold, task_id, owner, self._clock())

    async def end(self, task_id: str, owner: str, state: Status, detail: str = "") -> bool:
        """It is done, or never will be; False when it is this process' no more."""
        return await self._database.write(_end, task_id, owner, state, detail, self._clock())

    async def put_off(self, task_id: str, owner: str, seconds: float, detail: str) -> None:
        """It failed for now, and is tried again after so many seconds."""
        await self._database.write(_put_off, task_id, owner, self._clock() + seconds, detail)

    async def spools(self) -> frozenset[str]:
        """The files of all imports that are not ended."""
        return await self._database.read(_spools)


def _put(connection: Connection, tenant: Tenant, task: ImportTask, spool: str, now: float) -> None:
    old = and_(_T.ended_at.is_not(None), _T.ended_at < now - KEEP_S)
    connection.execute(delete(resource_imports).where(old))
    row = {
        "task_id": task.task_id,
        "account": tenant.account or "",
        "user_name": tenant.user or "",
        "path": task.resource.path,
        "kind": task.resource.kind.value,
        "body": json.dumps(asdict(task.resource)),
        "spool": spool,
        "state": Status.PROCESSING.value,
        "created_at": now,
    }
    connection.execute(insert(resource_imports).values(row))


def _get(connection: Connection, tenant: Tenant, task_id: str) -> ImportTask | None:
    row = connection.execute(select(resource_imports).where(_of(tenant), _T.task_id == task_id)).first()
    return _task(row) if row else None


def _unfinished(connection: Connection, tenant: Tenant, kind: Kind) -> list[ImportTask]:
    query = select(resource_imports).where(_of(tenant), _T.kind == kind.value).order_by(_T.id.desc()).limit(1_000)
    newest: dict[str, ImportTask] = {}
    for row in connection.execute(query):
        newest.setdefault(row.path, _task(row))
    return [task for task in newest.values() if task.resource.status is not Status.READY]


def _forget(connection: Connection, tenant: Tenant, path: str) -> list[str]:
    theirs = and_(_of(tenant), _T.path == path)
    spools = connection.execute(select(_T.spool).where(theirs, _T.state == Status.PROCESSING.value)).scalars().all()
    connection.execute(delete(resource_imports).where(theirs))
    return list(spools)


def _claim(connection: Connection, owner: str, is_here: Callable[[str], bool], now: float) -> Claimed | None:
    waiting = select(resource_imports).where(_T.state == Status.PROCESSING.value).order_by(_T.id).limit(_LOOKED_AT)
    before: set[tuple[str, str, str]] = set()
    for row in connection.execute(waiting).all():
        place = (row.account, row.user_name, row.path)
        is_free = row.lease_until <= now or not row.owner or is_gone(row.owner)
        if place not in before and is_free and row.retry_at <= now and is_here(row.spool):
            taken = {"owner": owner, "lease_until": now + LEASE_S, "attempts": row.attempts + 1}
            mine = and_(_T.id == row.id, _T.owner == row.owner, _T.state == Status.PROCESSING.value)
            if connection.execute(update(resource_imports).where(mine).values(taken)).rowcount:
                tenant = Tenant(row.account or None, row.user_name or None)
                return Claimed(tenant, _task(row), row.spool, row.attempts + 1, now - row.created_at)
        before.add(place)
    return None


def _hold(connection: Connection, task_id: str, owner: str, now: float) -> bool:
    held = update(resource_imports).where(_is(task_id, owner)).values(lease_until=now + LEASE_S)
    return connection.execute(held).rowcount > 0


def _end(connection: Connection, task_id: str, owner: str, state: Status, detail: str, now: float) -> bool:
    ended = {"state": state.value, "detail": detail, "ended_at": now, "owner": "", "lease_until": 0.0}
    return connection.execute(update(resource_imports).where(_is(task_id, owner)).values(ended)).rowcount > 0


def _put_off(connection: Connection, task_id: str, owner: str, until: float, detail: str) -> None:
    waits = {"retry_at": until, "detail": detail, "owner": "", "lease_until": 0.0}
    connection.execute(update(resource_imports).where(_is(task_id, owner)).values(waits))


def _spools(connection: Connection) -> frozenset[str]:
    return frozenset(connection.execute(select(_T.spool).where(_T.state == Status.PROCESSING.value)).scalars())


def _task(row: Row[Any]) -> ImportTask:
    fields: dict[str, Any] = json.loads(row.body)
    resource = Resource(**{**fields, "kind": Kind(fields["kind"]), "status": Status(row.state)})
    told = replace(resource, detail=row.detail or resource.detail)
    return ImportTask(row.task_id, told, iso(datetime.fromtimestamp(row.created_at, UTC)))


def _of(tenant: Tenant) -> Any:
    return and_(_T.account == (tenant.account or ""), _T.user_name == (tenant.user or ""))


def _is(task_id: str, owner: str) -> Any:
    return and_(_T.task_id == task_id, _T.owner == owner)
