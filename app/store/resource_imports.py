"""Imports of documents and skills: accepted, taken up by one process at a time, ended well or badly.

A removal is a row among them, from when it begins until it has ended. What concerns one path goes in the order of its
rows, so that a removal takes what was accepted before it and nothing else. An import that somebody works on while it is
removed becomes a removal itself: whatever it still writes is deleted before anything newer is taken in.
"""

import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import anyio
from sqlalchemy import Connection, Row, and_, delete, exists, insert, or_, select, text, update

from app.core.identity import Tenant
from app.documents.resource import ImportTask, Kind, Resource, Status
from app.local.processes import is_gone, this_process
from app.ports import Forgotten
from app.store.connections import Database
from app.store.schema import resource_imports
from app.text.dates import iso

LEASE_S = 60.0
"""How long a process that died on another machine still holds an import."""
KEEP_S = 7 * 86_400.0
"""How long one can ask what became of an import."""
KEEP_REMOVALS_S = 3_600.0
"""How long a removal is known: longer than an import is fetched and read that was compared with what it removed."""
_REMOVING, _REMOVED = "removing", "removed"
"""States of removals: on their way, and ended. They are not listed."""
_OPEN = (Status.PROCESSING.value, _REMOVING)
_LOOKED_AT = 100
"""Imports that wait and are read at once, to look for one to take up."""
_T = resource_imports.c


@dataclass(frozen=True, slots=True)
class Claimed:
    """An import, or a removal, that this process works on."""

    tenant: Tenant
    task: ImportTask
    spool: str
    attempts: int
    age_s: float
    """Since it was accepted."""
    is_removal: bool = False
    """Whether what is at the path is to be removed; ``spool`` may be empty then."""


class SqlResourceImports:
    """`app.ports.ResourceTasks` in SQL, and more for the importer."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._owner = this_process()
        self.on_work: Callable[[], None] = lambda: None

    async def mark(self, tenant: Tenant, path: str) -> str | None:
        """See `ResourceTasks.mark`."""
        return await self._database.read(_mark, tenant, path)

    async def put(self, tenant: Tenant, task: ImportTask, spool: str, as_of: str | None = None) -> bool:
        """See `ResourceTasks.put`."""
        accepted = await self._database.write(_put, tenant, task, spool, as_of, self._clock())
        self.on_work()
        return accepted

    async def get(self, tenant: Tenant, task_id: str) -> ImportTask | None:
        """See `ResourceTasks.get`."""
        return await self._database.read(_get, tenant, task_id)

    async def unfinished(self, tenant: Tenant, kind: Kind) -> Sequence[ImportTask]:
        """See `ResourceTasks.unfinished`."""
        return await self._database.read(_unfinished, tenant, kind)

    @asynccontextmanager
    async def forgetting(self, tenant: Tenant, resource: Resource, seconds: float) -> AsyncIterator[Forgotten]:
        """See `ResourceTasks.forgetting`."""
        removal_id = f"r_{secrets.token_hex(16)}"
        now = self._clock()
        held = {"owner": self._owner, "lease_until": now + seconds + LEASE_S}
        forgotten = await self._database.write(_forget, tenant, resource, removal_id, held, now)
        try:
            yield forgotten
        finally:
            with anyio.CancelScope(shield=True):
                await self._database.write(_end_removal, removal_id, self._owner, self._clock())
            self.on_work()

    async def claim(self, owner: str, is_here: Callable[[str], bool]) -> Claimed | None:
        """The oldest import, or removal, without a lease and whose documents are here; a path's go in order."""
        return await self._database.write(_claim, owner, is_here, self._clock())

    async def hold(self, task_id: str, owner: str) -> bool:
        """Hold it for longer; False when it is this process' no more."""
        return await self._database.write(_hold, task_id, owner, self._clock())

    async def end(self, claimed: Claimed, owner: str, state: Status, detail: str = "") -> bool:
        """It is done, or never will be; False when it is this process' no more, or was removed meanwhile.

        What was removed meanwhile is claimed next, as a removal.
        """
        to = _REMOVED if claimed.is_removal else state.value
        ended = {"state": to, "detail": detail, "ended_at": self._clock()}
        return await self._database.write(_let_go, claimed, owner, ended)

    async def put_off(self, claimed: Claimed, owner: str, seconds: float, detail: str) -> bool:
        """It failed for now, and is tried again after so many seconds; False as for `end`."""
        waits = {"retry_at": self._clock() + seconds, "detail": detail}
        return await self._database.write(_let_go, claimed, owner, waits)

    async def spools(self) -> frozenset[str]:
        """The files of all imports that are not ended."""
        return await self._database.read(_spools)


def _mark(connection: Connection, tenant: Tenant, path: str) -> str | None:
    at = and_(_of(tenant), _T.path == path)
    rows = connection.execute(select(_T.task_id, _T.state).where(at).order_by(_T.id)).all()
    if any(row.state in _OPEN for row in rows):
        return None
    return str(rows[-1].task_id) if rows else ""


def _put(connection: Connection, tenant: Tenant, task: ImportTask, spool: str, as_of: str | None, now: float) -> bool:
    _alone_at(connection, tenant, task.resource.path)
    if as_of is not None and _mark(connection, tenant, task.resource.path) != as_of:
        return False
    _tidy(connection, now)
    row = _row(tenant, task.task_id, task.resource, now)
    connection.execute(insert(resource_imports).values({**row, "spool": spool, "state": Status.PROCESSING.value}))
    return True


def _tidy(connection: Connection, now: float) -> None:
    """Delete what ended long ago."""
    is_old = or_(_T.ended_at < now - KEEP_S, and_(_T.state == _REMOVED, _T.ended_at < now - KEEP_REMOVALS_S))
    connection.execute(delete(resource_imports).where(_T.ended_at.is_not(None), is_old))


def _get(connection: Connection, tenant: Tenant, task_id: str) -> ImportTask | None:
    it = and_(_of(tenant), _T.task_id == task_id, _T.state.not_in([_REMOVING, _REMOVED]))
    row = connection.execute(select(resource_imports).where(it)).first()
    return _task(row) if row else None


def _unfinished(connection: Connection, tenant: Tenant, kind: Kind) -> list[ImportTask]:
    theirs = and_(_of(tenant), _T.kind == kind.value, _T.state.not_in([_REMOVING, _REMOVED]))
    query = select(resource_imports).where(theirs).order_by(_T.id.desc()).limit(1_000)
    newest: dict[str, ImportTask] = {}
    for row in connection.execute(query):
        newest.setdefault(row.path, _task(row))
    return [task for task in newest.values() if task.resource.status is not Status.READY]


def _forget(
    connection: Connection, tenant: Tenant, resource: Resource, removal_id: str, held_by: dict[str, Any], now: float
) -> Forgotten:
    _alone_at(connection, tenant, resource.path)
    _tidy(connection, now)
    theirs = and_(_of(tenant), _T.path == resource.path)
    rows = connection.execute(select(resource_imports).where(theirs).with_for_update()).all()
    accepted = [row for row in rows if row.state == Status.PROCESSING.value]
    held = [row.id for row in rows if row.state in _OPEN and not _is_free(row, now)]
    removal = {**_row(tenant, removal_id, resource, now), "state": _REMOVING}
    becomes = {"state": _REMOVING, "body": removal["body"]}  # what the import said of its documents is removed, too
    connection.execute(update(resource_imports).where(_T.id.in_(held)).values(becomes))
    connection.execute(delete(resource_imports).where(theirs, _T.id.not_in(held)))
    connection.execute(insert(resource_imports).values({**removal, **held_by, "spool": ""}))
    return Forgotten(len(accepted), [row.spool for row in rows if row.spool and row.id not in held])


def _end_removal(connection: Connection, removal_id: str, owner: str, now: float) -> None:
    ended = {"state": _REMOVED, "ended_at": now, "owner": "", "lease_until": 0.0}
    connection.execute(update(resource_imports).where(_is(removal_id, owner)).values(ended))


def _claim(connection: Connection, owner: str, is_here: Callable[[str], bool], now: float) -> Claimed | None:
    for row in _next_in_line(connection, now):
        is_removal = row.state == _REMOVING
        if not _is_free(row, now) or not (is_removal or is_here(row.spool)):
            continue
        taken = {"owner": owner, "lease_until": now + LEASE_S, "attempts": row.attempts + 1}
        mine = and_(_T.id == row.id, _T.owner == row.owner, _T.state == row.state)
        if connection.execute(update(resource_imports).where(mine).values(taken)).rowcount:
            tenant = Tenant(row.account or None, row.user_name or None)
            return Claimed(tenant, _task(row), row.spool, row.attempts + 1, now - row.created_at, is_removal)
    return None


def _next_in_line(connection: Connection, now: float) -> Iterator[Row[Any]]:
    """What is open and not put off, the oldest first; of each path only its oldest.

    All of it, however much there is: what one tenant's imports wait for is nothing to another's.
    """
    older = resource_imports.alias()
    same = and_(older.c.account == _T.account, older.c.user_name == _T.user_name, older.c.path == _T.path)
    is_first = ~exists().where(same, older.c.state.in_(_OPEN), older.c.id < _T.id)
    due = select(resource_imports).where(_T.state.in_(_OPEN), _T.retry_at <= now, is_first).order_by(_T.id)
    at = 0
    while rows := connection.execute(due.where(_T.id > at).limit(_LOOKED_AT)).all():
        yield from rows
        at = rows[-1].id


def _is_free(row: Row[Any], now: float) -> bool:
    return row.lease_until <= now or not row.owner or is_gone(row.owner)


def _hold(connection: Connection, task_id: str, owner: str, now: float) -> bool:
    held = update(resource_imports).where(_is(task_id, owner)).values(lease_until=now + LEASE_S)
    return connection.execute(held).rowcount > 0


def _let_go(connection: Connection, claimed: Claimed, owner: str, outcome: dict[str, Any]) -> bool:
    mine = _is(claimed.task.task_id, owner)
    free = {"owner": "", "lease_until": 0.0}
    as_claimed = and_(mine, _T.state == (_REMOVING if claimed.is_removal else Status.PROCESSING.value))
    if connection.execute(update(resource_imports).where(as_claimed).values({**outcome, **free})).rowcount:
        return True
    connection.execute(update(resource_imports).where(mine).values({**free, "attempts": 0, "retry_at": 0.0}))
    return False


def _spools(connection: Connection) -> frozenset[str]:
    return frozenset(connection.execute(select(_T.spool).where(_T.state.in_(_OPEN))).scalars())


def _row(tenant: Tenant, task_id: str, resource: Resource, now: float) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "account": tenant.account or "",
        "user_name": tenant.user or "",
        "path": resource.path,
        "kind": resource.kind.value,
        "body": json.dumps(asdict(resource)),
        "created_at": now,
    }


def _task(row: Row[Any]) -> ImportTask:
    fields: dict[str, Any] = json.loads(row.body)
    status = Status.PROCESSING if row.state == _REMOVING else Status(row.state)
    resource = Resource(**{**fields, "kind": Kind(fields["kind"]), "status": status})
    told = replace(resource, detail=row.detail or resource.detail)
    return ImportTask(row.task_id, told, iso(datetime.fromtimestamp(row.created_at, UTC)))


def _of(tenant: Tenant) -> Any:
    return and_(_T.account == (tenant.account or ""), _T.user_name == (tenant.user or ""))


def _is(task_id: str, owner: str) -> Any:
    return and_(_T.task_id == task_id, _T.owner == owner)


def _alone_at(connection: Connection, tenant: Tenant, path: str) -> None:
    """No other transaction accepts or removes anything at the path until this one ends: the rows are in that order.

    SQLite has one writer at a time anyway.
    """
    if connection.dialect.name == "postgresql":
        place = json.dumps(["resource_imports", tenant.account, tenant.user, path]).encode()
        key = int.from_bytes(hashlib.blake2b(place, digest_size=8).digest(), signed=True)
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
