"""Bringing memories that wait to the backend, in order. Storing one twice does no harm, so nothing is leased."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from weakref import WeakValueDictionary

import anyio
import structlog

from app.core.deadline import Clock, Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.memories.memory import MemoryChange, NewMemory
from app.core.reasons import Reason
from app.errors import StoreUnavailable
from app.ports import BackendError, MemoryStore
from app.store.waiting_memories import SqlWaitingMemories
from app.worker.backoff import Backoff

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 1.0
"""Longest sleep: other processes put memories in without waking this one."""
TENANTS_AT_ONCE = 8


@dataclass(slots=True)
class _Failures:
    """What kept a tenant's memories from being delivered, and when that is tried again."""

    error: BackendError
    count: int
    until: float


class MemoryCourier:
    """Delivers what waits, at the request of a caller and by itself. ``changed`` is told of each tenant with news."""

    def __init__(
        self,
        store: MemoryStore,
        waiting: SqlWaitingMemories,
        changed: Callable[[Tenant], Awaitable[None]],
        backoff: Backoff,
        call_s: float,
        monotonic: Clock,
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._changed = changed
        self._backoff = backoff
        self._call_s = call_s
        self._monotonic = monotonic
        self._failures: dict[Tenant, _Failures] = {}
        self._turns: WeakValueDictionary[Tenant, anyio.Lock] = WeakValueDictionary()
        self._work = anyio.Event()
        waiting.on_work = self.wake

    def wake(self) -> None:
        """There may be something to deliver."""
        self._work.set()

    async def flush(self, tenant: Tenant, deadline: Deadline) -> BackendError | None:
        """Deliver what waits of the tenant, in order; why something is left, None when nothing is.

        After a failure nothing is tried until the back-off is over: the callers of an outage need not each wait for it.
        Nor does a caller wait for the delivery of another beyond its own deadline.
        """
        if not await self._waiting.to_deliver(tenant):
            return None
        turn = self._turn_of(tenant)
        with anyio.move_on_after(deadline.remaining) as patience:
            await turn.acquire()
        if patience.cancelled_caught:
            return BackendError(Reason.DEADLINE_EXCEEDED, "what waits is being delivered", retryable=True)
        try:
            return await self._deliver(tenant, deadline)
        finally:
            turn.release()

    async def _deliver(self, tenant: Tenant, deadline: Deadline) -> BackendError | None:
        if (failed := self._failed_lately(tenant)) is not None:
            return failed
        for listed in await self._waiting.to_deliver(tenant):
            new = await self._waiting.one(tenant, listed.id)
            if new is None:  # it was forgotten while one before it was being delivered
                continue
            try:
                stored = await self._store.store(_operator(tenant), new, deadline)
                if stored.memory.id == new.id and stored.memory.version < new.version:
                    await self._store.change(_operator(tenant), new.id, _as_change(new), None, deadline)
            except BackendError as error:
                if error.retryable:
                    self._failed(tenant, error)
                    return error
                if not error.not_found:  # one that was forgotten meanwhile is only taken out
                    log.error("memory_refused", memory=new.id)
                    await self._waiting.refuse(tenant, new.id, error.detail)
                    continue
            await self._waiting.delivered(tenant, new)
            await self._changed(tenant)
        self._failures.pop(tenant, None)
        return None

    async def _settle(self, tenant: Tenant, deadline: Deadline) -> None:
        """Have the backend know what the store of memories has decided without it."""
        async with self._turn_of(tenant):
            if self._failed_lately(tenant) is not None:
                return
            try:
                await self._store.settle(tenant, deadline)
            except BackendError as error:
                self._failed(tenant, error)
            else:
                self._failures.pop(tenant, None)
            await self._changed(tenant)

    async def run(self) -> None:
        """Deliver until cancelled."""
        places = anyio.CapacityLimiter(TENANTS_AT_ONCE)

        async def deliver(tenant: Tenant) -> None:
            async with places:
                await self.flush(tenant, self._deadline())

        async def settle(tenant: Tenant) -> None:
            async with places:
                await self._settle(tenant, self._deadline())

        while True:
            self._work = anyio.Event()
            try:
                async with anyio.create_task_group() as group:
                    for tenant in await self._waiting.tenants():
                        group.start_soon(deliver, tenant)
                    for tenant in await self._store.unsettled():
                        group.start_soon(settle, tenant)
            except* StoreUnavailable:
                log.error("store_unavailable")
            with anyio.move_on_after(self._next_look()):
                await self._work.wait()

    def _turn_of(self, tenant: Tenant) -> anyio.Lock:
        return self._turns.setdefault(tenant, anyio.Lock())

    def _deadline(self) -> Deadline:
        return Deadline(self._monotonic() + self._call_s, self._monotonic)

    def _failed_lately(self, tenant: Tenant) -> BackendError | None:
        """What kept the tenant's memories from being delivered, as long as that is not tried again."""
        failed = self._failures.get(tenant)
        return failed.error if failed and self._monotonic() < failed.until else None

    def _failed(self, tenant: Tenant, error: BackendError) -> None:
        before = self._failures.get(tenant)
        count = before.count + 1 if before else 1
        wait = self._backoff.after_failure(count, error)
        self._failures[tenant] = _Failures(error, count, self._monotonic() + wait)

    def _next_look(self) -> float:
        now = self._monotonic()
        return min([LOOK_EVERY_S, *(max(0.01, failed.until - now) for failed in self._failures.values())])


def usual_backoff(first_s: float, longest_s: float) -> Backoff:
    """The back-off of deliveries."""
    return Backoff(first_s, longest_s, random.random)


def _as_change(new: NewMemory) -> MemoryChange:
    """What makes of a memory, as it was first delivered, the one that it became while it waited."""
    return MemoryChange(
        new.text, new.category, new.pinned, new.ttl_days, ends_ttl=new.ttl_days is None, sensitivity=new.sensitivity
    )


def _operator(tenant: Tenant) -> Identity:
    return Identity(tenant, "", None, "", None, PeerRole.NONE)
