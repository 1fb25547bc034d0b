"""How much undelivered text the store holds, of everybody and of each tenant, and whether more may come.

A count is trusted for a second, and what is accepted meanwhile is added to it; other processes write to the store, too.
It is made again beside the answers, and awaited only where a turn does not fit by the last one. Turns that are being
written while it is made are added to it: it may have come too early for them. If it did not, they are counted twice,
until the next count.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from app.core.identity import Tenant
from app.errors import OutboxFull, StoreUnavailable
from app.store.schema import sessions, turns
from app.store.work import UNDELIVERED

TRUSTED_S = 1.0
"""How long a count serves before it is made again."""

_OF_SESSIONS = (
    select(turns.c.session_id, func.sum(turns.c.bytes).label("bytes"))
    .where(turns.c.state.in_(UNDELIVERED))
    .group_by(turns.c.session_id)
    .subquery()
)
_OF_TENANTS = (
    select(sessions.c.account, sessions.c.user_name, func.sum(_OF_SESSIONS.c.bytes))
    .join(_OF_SESSIONS, _OF_SESSIONS.c.session_id == sessions.c.id)
    .group_by(sessions.c.account, sessions.c.user_name)
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bytes of undelivered text that there may be, in all and of one tenant."""

    total: int
    tenant: int


def bytes_by_tenant(connection: Connection) -> dict[Tenant, int]:
    """The bytes of the turns that the backend does not have, for each tenant with any."""
    rows = connection.execute(_OF_TENANTS)
    return {Tenant(account or None, user or None): int(size) for account, user, size in rows}


class Backlog:
    """The last count, and what was accepted since. ``count`` reads it from the store."""

    def __init__(self, bounds: Bounds, count: Callable[[], Awaitable[Mapping[Tenant, int]]]) -> None:
        self.bounds = bounds
        self._count = count
        self._sizes: Counter[Tenant] = Counter()
        self._total = 0
        self._in_flight: Counter[Tenant] = Counter()
        """Bytes set aside for turns that are being written."""
        self._since: Counter[Tenant] = Counter()
        """Those of them that the count under way may miss: in flight when it began, or set aside since."""
        self._counted_at = float("-inf")
        self._counting = asyncio.Lock()
        self._recount: asyncio.Task[None] | None = None

    async def take(self, tenant: Tenant, size: int) -> OutboxFull | None:
        """Set ``size`` bytes aside for a turn until it is `done`; if they do not fit, say what is full."""
        asked_at = time.monotonic()
        if self._counted_at == float("-inf") or self._too_much(tenant, size):
            await self._count_again(asked_at)
        elif asked_at - self._counted_at > TRUSTED_S and (self._recount is None or self._recount.done()):
            self._recount = asyncio.create_task(self._count_beside(asked_at))
        full = self._too_much(tenant, size)
        if full is None:
            self._in_flight[tenant] += size
            self._add(tenant, size)
        return full

    def done(self, tenant: Tenant, size: int, *, kept: bool) -> None:
        """The turn is on disk, or it was not kept and gives its bytes back."""
        self._in_flight[tenant] -= size
        if not self._in_flight[tenant]:
            del self._in_flight[tenant]
        if not kept:
            self._add(tenant, -size)

    async def aclose(self) -> None:
        """Wait for a count that is under way: it reads the store, which is closed next."""
        if self._recount is not None:
            await self._recount

    def _add(self, tenant: Tenant, size: int) -> None:
        self._sizes[tenant] += size
        self._since[tenant] += size
        self._total += size

    def _too_much(self, tenant: Tenant, size: int) -> OutboxFull | None:
        if self._total + size > self.bounds.total:
            return OutboxFull("the outbox holds as much undelivered text as it may; nothing of this turn was accepted")
        held = self._sizes[tenant]
        if held > 0 and held + size > self.bounds.tenant:  # one turn of any size goes in, or it would never
            return OutboxFull(
                "the outbox holds as much undelivered text of this tenant as it may; nothing of this turn was accepted"
            )
        return None

    async def _count_again(self, asked_at: float) -> None:
        async with self._counting:  # who waited here finds what the one before has counted
            if self._counted_at < asked_at:
                began = time.monotonic()
                self._since = self._in_flight.copy()
                counted = Counter(await self._count())
                counted.update(self._since)
                self._sizes, self._total, self._counted_at = counted, counted.total(), began

    async def _count_beside(self, asked_at: float) -> None:
        try:
            await self._count_again(asked_at)
        except StoreUnavailable:
            return  # the turns that come now find out by themselves
