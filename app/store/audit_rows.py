"""The audit trail in SQL: entries are added, read, and dropped when they are too old; never changed.

What is written, changed or forgotten is on disk before its answer. What is only read or recalled is written behind the
answer, in batches: no prompt waits for it.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from sqlalchemy import BigInteger, Connection, and_, delete, insert, literal, select

from app.core.identity import Tenant
from app.core.memories.audit import Action, Actor, AuditEntry, AuditFilter
from app.errors import StoreUnavailable
from app.store.connections import Database
from app.store.schema import audit

MAX_PENDING = 20_000
"""Entries that wait to be written; the oldest go when the disk can not keep up."""
GATHER_S = 0.25
AT_ONCE = 500

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries, newest first; ``after`` is where the next page begins, None at the end."""

    entries: tuple[AuditEntry, ...]
    after: int | None = None


class SqlAuditTrail:
    """Bounded by age; see `app.store.retention`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: deque[tuple[Tenant, AuditEntry]] = deque(maxlen=MAX_PENDING)
        self._woken = asyncio.Event()

    async def add(self, tenant: Tenant, entries: Sequence[AuditEntry]) -> None:
        """Put entries on disk. Raises `StoreUnavailable`."""
        for start in range(0, len(entries), AT_ONCE):
            await self._database.write(_add, [(tenant, one) for one in entries[start : start + AT_ONCE]])

    def add_soon(self, tenant: Tenant, entries: Sequence[AuditEntry]) -> None:
        """Put entries on disk behind the answer."""
        self._pending.extend((tenant, one) for one in entries)
        self._woken.set()

    async def page(self, tenant: Tenant, wanted: AuditFilter, limit: int, after: int | None) -> AuditPage:
        """At most ``limit`` of a tenant's entries, newest first, from behind ``after`` on; all that were added."""
        await self.flush()
        return await self._database.read(_page, tenant, wanted, limit, after)

    async def run(self) -> None:
        """Write what is added, until cancelled."""
        while True:
            await self._woken.wait()
            await asyncio.sleep(GATHER_S)
            self._woken.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write what was added so far."""
        while batch := [self._pending.popleft() for _ in range(min(AT_ONCE, len(self._pending)))]:
            try:
                await self._database.write_behind(_add, batch)
            except StoreUnavailable as error:
                log.warning("audit_not_written", count=len(batch), reason=str(error.code))
                return


def _add(connection: Connection, entries: Sequence[tuple[Tenant, AuditEntry]]) -> None:
    rows = [
        {
            "account": tenant.account or "",
            "user_name": tenant.user or "",
            "at": entry.at,
            "action": entry.action.value,
            "memory_id": entry.memory_id,
            "token": entry.actor.token,
            "agent": entry.actor.agent,
            "session": entry.actor.session,
            "request_id": entry.request_id,
            "trace_id": entry.trace_id,
        }
        for tenant, entry in entries
    ]
    connection.execute(insert(audit), rows)


def _page(connection: Connection, tenant: Tenant, wanted: AuditFilter, limit: int, after: int | None) -> AuditPage:
    conditions = [audit.c.account == (tenant.account or ""), audit.c.user_name == (tenant.user or "")]
    if wanted.since is not None:
        conditions.append(audit.c.at >= wanted.since)
    if wanted.until is not None:
        conditions.append(audit.c.at <= wanted.until)
    if wanted.memory_id is not None:
        conditions.append(audit.c.memory_id == wanted.memory_id)
    if wanted.action is not None:
        conditions.append(audit.c.action == wanted.action.value)
    if after is not None:
        conditions.append(audit.c.id < literal(after, BigInteger))  # a cursor may name any number
    query = select(audit).where(and_(*conditions)).order_by(audit.c.id.desc()).limit(limit + 1)
    rows = connection.execute(query).all()
    entries = tuple(
        AuditEntry(
            row.at,
            Action(row.action),
            row.memory_id,
            Actor(row.token, row.agent, row.session),
            row.request_id,
            row.trace_id,
        )
        for row in rows[:limit]
    )
    return AuditPage(entries, int(rows[limit - 1].id) if len(rows) > limit else None)


def drop_old(connection: Connection, before: str) -> bool:
    """Drop some of the entries from before a moment; whether none is left."""
    old = select(audit.c.id).where(audit.c.at < before).limit(AT_ONCE)
    gone = list(connection.execute(old).scalars())
    connection.execute(delete(audit).where(audit.c.id.in_(gone)))
    return len(gone) < AT_ONCE
