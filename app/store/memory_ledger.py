"""What the sidecar keeps of memories beside a backend that has no place for it; see `app.memory_ports.MemoryLedger`."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.core.identity import Tenant
from app.core.memories.paging import Place
from app.memory_ports import LedgerEntry
from app.store.connections import Database
from app.store.schema import memory_ledger

_AT_ONCE = 500
_OF_TENANT = and_(memory_ledger.c.account == bindparam("account"), memory_ledger.c.user_name == bindparam("user_name"))
_NEWEST = memory_ledger.c.created_at.desc(), memory_ledger.c.memory_id.desc()


class SqlMemoryLedger:
    """`app.memory_ports.MemoryLedger` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entries(self, tenant: Tenant, after: Place | None = None, limit: int = -1) -> Sequence[LedgerEntry]:
        """See `MemoryLedger.entries`."""
        return await self._database.read(_entries, tenant, after, limit)

    async def by_id(self, tenant: Tenant, memory_id: str) -> LedgerEntry | None:
        """See `MemoryLedger.by_id`."""
        return await self._database.read(_by_id, tenant, memory_id)

    async def by_uri(self, tenant: Tenant, uris: Sequence[str]) -> dict[str, LedgerEntry]:
        """See `MemoryLedger.by_uri`."""
        return await self._database.read(_by_uri, tenant, uris)

    async def put(self, tenant: Tenant, entry: LedgerEntry, if_version: int | None = None) -> bool:
        """See `MemoryLedger.put`."""
        try:
            return await self._database.write(_put, tenant, entry, if_version)
        except IntegrityError:  # another process has put it in just now
            return if_version is None and await self._database.write(_put, tenant, entry, if_version)

    async def remove(self, tenant: Tenant, memory_id: str) -> bool:
        """See `MemoryLedger.remove`."""
        return await self._database.write(_remove, tenant, memory_id)


def _entries(connection: Connection, tenant: Tenant, after: Place | None, limit: int) -> list[LedgerEntry]:
    query = select(memory_ledger).where(_OF_TENANT).order_by(*_NEWEST)
    if after is not None:
        earlier = memory_ledger.c.created_at < after.created_at
        same = and_(memory_ledger.c.created_at == after.created_at, memory_ledger.c.memory_id < after.id)
        query = query.where(earlier | same)
    query = query.limit(limit) if limit >= 0 else query
    return [_entry(row) for row in connection.execute(query, _name(tenant))]


def _by_id(connection: Connection, tenant: Tenant, memory_id: str) -> LedgerEntry | None:
    query = select(memory_ledger).where(_OF_TENANT, memory_ledger.c.memory_id == memory_id)
    row = connection.execute(query, _name(tenant)).one_or_none()
    return _entry(row) if row else None


def _by_uri(connection: Connection, tenant: Tenant, uris: Sequence[str]) -> dict[str, LedgerEntry]:
    found: dict[str, LedgerEntry] = {}
    for start in range(0, len(uris), _AT_ONCE):
        query = select(memory_ledger).where(_OF_TENANT, memory_ledger.c.uri.in_(uris[start : start + _AT_ONCE]))
        found |= {row.uri: _entry(row) for row in connection.execute(query, _name(tenant))}
    return found


def _put(connection: Connection, tenant: Tenant, entry: LedgerEntry, if_version: int | None) -> bool:
    values = {
        "uri": entry.uri,
        "text_hash": entry.text_hash,
        "state": entry.state,
        "created_at": entry.created_at,
        "key": entry.key,
        "fields": json.dumps(entry.fields),
        "history": json.dumps(entry.history),
        "version": entry.version,
    }
    changed = update(memory_ledger).where(_is(tenant, entry.memory_id)).values(values)
    if if_version:
        changed = changed.where(memory_ledger.c.version == if_version)
    if if_version != 0 and connection.execute(changed).rowcount:
        return True
    if if_version:
        return False
    connection.execute(insert(memory_ledger).values(**_name(tenant), memory_id=entry.memory_id, **values))
    return True


def _remove(connection: Connection, tenant: Tenant, memory_id: str) -> bool:
    return connection.execute(delete(memory_ledger).where(_is(tenant, memory_id))).rowcount > 0


def _is(tenant: Tenant, memory_id: str) -> Any:
    name = _name(tenant)
    return and_(
        memory_ledger.c.account == name["account"],
        memory_ledger.c.user_name == name["user_name"],
        memory_ledger.c.memory_id == memory_id,
    )


def _name(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}


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
    )
