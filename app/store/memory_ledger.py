"""What the sidecar keeps of memories beside a backend that has no place for it; see `app.ports.MemoryLedger`."""

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, delete, insert, select, update

from app.core.identity import Tenant
from app.core.memories.paging import Place
from app.ports import LedgerEntry, LedgerPlace, LedgerRows
from app.ports.ledger_port import Answer
from app.store.connections import Database
from app.store.memory_versions import count_change, version_of
from app.store.schema import memory_ledger

_AT_ONCE = 500
_ROWS = memory_ledger.c
_OF_TENANT = and_(_ROWS.account == bindparam("account"), _ROWS.user_name == bindparam("user_name"))
_NEWEST = _ROWS.created_at.desc(), _ROWS.memory_id.desc()
_OLDEST = _ROWS.created_at, _ROWS.memory_id


class SqlMemoryLedger:
    """`app.ports.MemoryLedger` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entries(
        self, tenant: Tenant, after: Place | None = None, limit: int = -1, states: Collection[str] = ()
    ) -> Sequence[LedgerEntry]:
        """See `MemoryLedger.entries`."""
        return await self._database.read(_entries, tenant, after, limit, states)

    async def by_id(self, tenant: Tenant, memory_id: str) -> LedgerEntry | None:
        """See `MemoryLedger.by_id`."""
        return await self._database.read(lambda connection: _Rows(connection, tenant).by_id(memory_id))

    async def by_uri(self, tenant: Tenant, uris: Collection[str]) -> dict[str, list[LedgerEntry]]:
        """See `MemoryLedger.by_uri`."""
        return await self._database.read(_by_uri, tenant, list(uris)) if uris else {}

    async def places(self, tenant: Tenant) -> Sequence[LedgerPlace]:
        """See `MemoryLedger.places`."""
        return await self._database.read(_places, tenant)

    async def notable(self, tenant: Tenant) -> Sequence[LedgerEntry]:
        """See `MemoryLedger.notable`."""
        return await self._database.read(_notable, tenant)

    async def version(self, tenant: Tenant) -> int:
        """See `MemoryLedger.version`."""
        return await self._database.read_known(version_of, tenant)

    async def unsettled(self) -> Sequence[Tenant]:
        """See `MemoryLedger.unsettled`."""
        return await self._database.read_known(_unsettled)

    async def changing(self, tenant: Tenant, work: Callable[[LedgerRows], Answer]) -> Answer:
        """See `MemoryLedger.changing`."""
        return await self._database.write(_changing, tenant, work)


class _Rows:
    """`app.ports.LedgerRows` on a connection."""

    def __init__(self, connection: Connection, tenant: Tenant) -> None:
        self._connection = connection
        self._tenant = tenant

    def by_id(self, memory_id: str) -> LedgerEntry | None:
        """See `LedgerRows.by_id`."""
        return next(iter(self._those(_ROWS.memory_id == memory_id)), None)

    def at(self, uri: str) -> list[LedgerEntry]:
        """See `LedgerRows.at`."""
        return self._those(_ROWS.uri == uri)

    def saying(self, text_hash: str) -> list[LedgerEntry]:
        """See `LedgerRows.saying`."""
        return self._those(_ROWS.text_hash == text_hash)

    def named(self, key: str) -> list[LedgerEntry]:
        """See `LedgerRows.named`."""
        return self._those(_ROWS.key == key)

    def put(self, entry: LedgerEntry) -> None:
        """See `LedgerRows.put`."""
        values = _values(entry)
        changed = update(memory_ledger).where(_is(self._tenant, entry.memory_id)).values(values)
        if self._connection.execute(changed).rowcount == 0:
            row = {**_name(self._tenant), "memory_id": entry.memory_id, **values}
            self._connection.execute(insert(memory_ledger).values(row))

    def remove(self, memory_id: str) -> None:
        """See `LedgerRows.remove`."""
        self._connection.execute(delete(memory_ledger).where(_is(self._tenant, memory_id)))

    def _those(self, condition: Any) -> list[LedgerEntry]:
        query = select(memory_ledger).where(_OF_TENANT, condition).order_by(*_OLDEST)
        return [_entry(row) for row in self._connection.execute(query, _name(self._tenant))]


def _changing(connection: Connection, tenant: Tenant, work: Callable[[LedgerRows], Answer]) -> Answer:
    count_change(connection, tenant)  # first: on PostgreSQL it is the lock that puts a tenant's writers in a row
    return work(_Rows(connection, tenant))


def _entries(
    connection: Connection, tenant: Tenant, after: Place | None, limit: int, states: Collection[str]
) -> list[LedgerEntry]:
    query = select(memory_ledger).where(_OF_TENANT).order_by(*_NEWEST)
    if states:
        query = query.where(_ROWS.state.in_(states))
    if after is not None:
        same = and_(_ROWS.created_at == after.created_at, _ROWS.memory_id < after.id)
        query = query.where((_ROWS.created_at < after.created_at) | same)
    query = query.limit(limit) if limit >= 0 else query
    return [_entry(row) for row in connection.execute(query, _name(tenant))]


def _by_uri(connection: Connection, tenant: Tenant, uris: Sequence[str]) -> dict[str, list[LedgerEntry]]:
    found: dict[str, list[LedgerEntry]] = {}
    for start in range(0, len(uris), _AT_ONCE):
        query = (
            select(memory_ledger).where(_OF_TENANT, _ROWS.uri.in_(uris[start : start + _AT_ONCE])).order_by(*_OLDEST)
        )
        for row in connection.execute(query, _name(tenant)):
            found.setdefault(row.uri, []).append(_entry(row))
    return found


def _places(connection: Connection, tenant: Tenant) -> list[LedgerPlace]:
    columns = _ROWS.uri, _ROWS.memory_id, _ROWS.stamp, _ROWS.settled, _ROWS.version, _ROWS.state
    return [LedgerPlace(*row) for row in connection.execute(select(*columns).where(_OF_TENANT), _name(tenant))]


def _notable(connection: Connection, tenant: Tenant) -> list[LedgerEntry]:
    query = select(memory_ledger).where(_OF_TENANT, _ROWS.plain.is_(False)).order_by(*_OLDEST)
    return [_entry(row) for row in connection.execute(query, _name(tenant))]


def _unsettled(connection: Connection) -> list[Tenant]:
    open_ones = select(_ROWS.account, _ROWS.user_name).where(_ROWS.plain.is_(False), _ROWS.settled.is_(False))
    return [Tenant(account or None, user or None) for account, user in connection.execute(open_ones.distinct())]


def _is(tenant: Tenant, memory_id: str) -> Any:
    name = _name(tenant)
    mine = and_(_ROWS.account == name["account"], _ROWS.user_name == name["user_name"])
    return and_(mine, _ROWS.memory_id == memory_id)


def _name(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}


def _values(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "uri": entry.uri,
        "text_hash": entry.text_hash,
        "state": entry.state,
        "created_at": entry.created_at,
        "key": entry.key,
        "fields": json.dumps(entry.fields),
        "history": json.dumps(entry.history),
        "version": entry.version,
        "stamp": entry.stamp,
        "settled": entry.settled,
        "plain": entry.plain,
    }


def _entry(row: Row[*tuple[Any, ...]]) -> LedgerEntry:
    return LedgerEntry(
        memory_id=row.memory_id,
        uri=row.uri,
        text_hash=row.text_hash,
        state=row.state,
        created_at=row.created_at,
        key=row.key,
        fields=json.loads(row.fields),
        history=tuple(json.loads(row.history)),
        version=row.version,
        stamp=row.stamp,
        settled=row.settled,
        plain=row.plain,
    )
