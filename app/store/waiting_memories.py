"""Memories that are on disk here and not yet in the backend, and how often a tenant's memories changed.

Like turns they are acknowledged once they are committed, and delivered in order. Storing one twice does no harm, so
nothing is leased: two processes that deliver the same one store it once.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update

from app.core.identity import Tenant
from app.core.memories.memory import MemorySource, MemoryVersion, NewMemory, Sensitivity, said_the_same
from app.core.memories.memory_outcomes import Stored
from app.core.memories.not_delivered import waiting
from app.errors import OutboxFull
from app.ports import MemoryNews
from app.store.backlog import Bounds
from app.store.connections import Database
from app.store.memory_versions import count_change, version_of
from app.store.schema import waiting_memories

_OF_TENANT = and_(
    waiting_memories.c.account == bindparam("account"), waiting_memories.c.user_name == bindparam("user_name")
)
_BODIES = select(waiting_memories.c.body, waiting_memories.c.refused).where(_OF_TENANT).order_by(waiting_memories.c.id)


class SqlWaitingMemories:
    """`app.ports.WaitingMemories` in SQL. ``on_work`` is called after something was put in."""

    def __init__(self, database: Database, bounds: Bounds, clock: Callable[[], float]) -> None:
        self.on_work: Callable[[], None] = lambda: None
        self._database = database
        self._bounds = bounds
        self._clock = clock

    async def put(self, tenant: Tenant, new: NewMemory) -> Stored:
        """See `WaitingMemories.put`."""
        stored = await self._database.write(put, tenant, new, self._bounds, self._clock())
        self.on_work()
        return stored

    async def of(self, tenant: Tenant) -> Sequence[NewMemory]:
        """See `WaitingMemories.of`."""
        return (await self.news(tenant)).waiting

    async def news(self, tenant: Tenant) -> MemoryNews:
        """See `WaitingMemories.news`."""
        return await self._database.read_known(_news, tenant)

    async def to_deliver(self, tenant: Tenant) -> Sequence[NewMemory]:
        """Those that the backend has not refused, oldest first."""
        return await self._database.read(_to_deliver, tenant)

    async def one(self, tenant: Tenant, memory_id: str) -> NewMemory | None:
        """The memory as it waits now; None where it waits no more."""
        return await self._database.read(_one, tenant, memory_id)

    async def refusals(self, tenant: Tenant) -> dict[str, str]:
        """Which of them the backend never takes, and why."""
        return await self._database.read(_refusals, tenant)

    async def tenants(self) -> Sequence[Tenant]:
        """Whose memories wait to be delivered."""
        return await self._database.read_known(_tenants)

    async def change(
        self, tenant: Tenant, memory_id: str, change: Callable[[NewMemory], NewMemory]
    ) -> NewMemory | None:
        """See `WaitingMemories.change`."""
        changed = await self._database.write(_change, tenant, memory_id, change)
        self.on_work()
        return changed

    async def delivered(self, tenant: Tenant, new: NewMemory) -> bool:
        """Take it out, unless it was changed since it was read: then it is still to be delivered."""
        return await self._database.write(_delivered, tenant, new)

    async def remove(self, tenant: Tenant, memory_id: str) -> bool:
        """See `WaitingMemories.remove`."""
        return await self._database.write(_remove, tenant, memory_id)

    async def refuse(self, tenant: Tenant, memory_id: str, why: str) -> None:
        """The backend never takes it: it stays, to be recalled from here."""
        await self._database.write(_refuse, tenant, memory_id, why)

    async def changed(self, tenant: Tenant) -> None:
        """See `WaitingMemories.changed`."""
        await self._database.write(count_change, tenant)


def put(connection: Connection, tenant: Tenant, new: NewMemory, bounds: Bounds, now: float) -> Stored:
    """Put a memory in, or recognise it, within a transaction. Raises `OutboxFull`."""
    said = _said(new)
    same = and_(waiting_memories.c.said == said, _OF_TENANT)
    known = connection.execute(select(waiting_memories.c.body).where(same).limit(1), _name(tenant)).scalar()
    if known is not None and new.key is None:
        return Stored(waiting(load_waiting(known)), created=False)
    body = json.dumps(asdict(new))
    held = select(func.coalesce(func.sum(waiting_memories.c.bytes), 0))
    if connection.execute(held.where(_OF_TENANT), _name(tenant)).scalar_one() + len(body) > bounds.tenant:
        raise OutboxFull("as many memories of this tenant wait for the backend as may; nothing was accepted")
    if connection.execute(held).scalar_one() + len(body) > bounds.total:
        raise OutboxFull("as many memories wait for the backend as may; nothing was accepted")
    row = {**_name(tenant), "memory_id": new.id, "said": said, "body": body, "bytes": len(body), "created_at": now}
    connection.execute(insert(waiting_memories).values(row))
    return Stored(waiting(new), created=True)


def _news(connection: Connection, tenant: Tenant) -> MemoryNews:
    bodies = connection.execute(_BODIES, _name(tenant)).all()
    return MemoryNews(version_of(connection, tenant), tuple(load_waiting(row.body) for row in bodies))


def _to_deliver(connection: Connection, tenant: Tenant) -> tuple[NewMemory, ...]:
    rows = connection.execute(_BODIES, _name(tenant)).all()
    return tuple(load_waiting(row.body) for row in rows if not row.refused)


def _one(connection: Connection, tenant: Tenant, memory_id: str) -> NewMemory | None:
    body = connection.execute(select(waiting_memories.c.body).where(_is(tenant, memory_id))).scalar()
    return None if body is None else load_waiting(body)


def _refusals(connection: Connection, tenant: Tenant) -> dict[str, str]:
    query = select(waiting_memories.c.memory_id, waiting_memories.c.refused).where(_OF_TENANT)
    rows = connection.execute(query.where(waiting_memories.c.refused != ""), _name(tenant))
    return {row.memory_id: row.refused for row in rows}


def _tenants(connection: Connection) -> list[Tenant]:
    columns = waiting_memories.c.account, waiting_memories.c.user_name
    rows = connection.execute(select(*columns).where(waiting_memories.c.refused == "").distinct())
    return [Tenant(account or None, user or None) for account, user in rows]


def _change(
    connection: Connection, tenant: Tenant, memory_id: str, change: Callable[[NewMemory], NewMemory]
) -> NewMemory | None:
    one = select(waiting_memories.c.body).where(_is(tenant, memory_id)).with_for_update()
    body = connection.execute(one).scalar()
    if body is None:
        return None
    changed = change(load_waiting(body))
    body = json.dumps(asdict(changed))
    row = {"said": _said(changed), "body": body, "bytes": len(body), "refused": ""}
    connection.execute(update(waiting_memories).where(_is(tenant, memory_id)).values(row))
    return changed


def _delivered(connection: Connection, tenant: Tenant, new: NewMemory) -> bool:
    one = select(waiting_memories.c.body).where(_is(tenant, new.id)).with_for_update()
    body = connection.execute(one).scalar()
    return body is not None and load_waiting(body) == new and _remove(connection, tenant, new.id)


def _remove(connection: Connection, tenant: Tenant, memory_id: str) -> bool:
    gone = delete(waiting_memories).where(_is(tenant, memory_id))
    return connection.execute(gone).rowcount > 0


def _refuse(connection: Connection, tenant: Tenant, memory_id: str, why: str) -> None:
    connection.execute(update(waiting_memories).where(_is(tenant, memory_id)).values(refused=why or "refused"))


def _is(tenant: Tenant, memory_id: str) -> Any:
    name = _name(tenant)
    return and_(
        waiting_memories.c.account == name["account"],
        waiting_memories.c.user_name == name["user_name"],
        waiting_memories.c.memory_id == memory_id,
    )


def _name(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}


def _said(new: NewMemory) -> str:
    words = f"{new.peer or ''}\n{said_the_same(new.text)}"
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def load_waiting(body: str) -> NewMemory:
    """A memory as its row has it."""
    fields = json.loads(body)
    source, sensitivity = MemorySource(**fields.pop("source")), Sensitivity(fields.pop("sensitivity"))
    earlier = tuple(MemoryVersion(**one) for one in fields.pop("earlier", ()))
    return NewMemory(**fields, source=source, sensitivity=sensitivity, earlier=earlier)
