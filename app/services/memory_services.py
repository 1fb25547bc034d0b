"""Memories on purpose, and what delivers those that wait for the backend."""

import asyncio
import time
from contextlib import suppress

import structlog

from app.core.identity import Tenant
from app.core.memories.audit import OnWritten, Written
from app.embedded.extraction.readings import read_statement
from app.engine.memories.auditing import Audit
from app.engine.memories.collaborators import Memories, operator_of
from app.engine.policy.guarded_memories import GuardedWaiting
from app.errors import StoreUnavailable
from app.ports import (
    MemoryStore,
)
from app.recall.searches import Searches
from app.settings import Settings
from app.store.turns import SqlTurnStore
from app.worker.memory_delivery import MemoryCourier, usual_backoff

log = structlog.get_logger(__name__)


def told_from_any_thread(loop: asyncio.AbstractEventLoop, told: OnWritten, tenant: Tenant, written: Written) -> None:
    """Tell it on the loop; nothing is told once that has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(told, tenant, written)


def memories_of(
    settings: Settings, kept: MemoryStore, store: SqlTurnStore, searches: Searches, call_s: float
) -> tuple[Memories, MemoryCourier]:
    """Memories on purpose, and what delivers those that wait for the backend."""

    async def changed(tenant: Tenant) -> None:
        searches.memories_changed(operator_of(tenant))
        try:
            await store.waiting.changed(tenant)
        except StoreUnavailable as error:  # other processes answer from before it until their caches are old
            log.warning("change_not_counted", reason=str(error.code))

    delivery = settings.delivery
    backoff = usual_backoff(delivery.backoff_ms / 1000, delivery.max_backoff_ms / 1000)
    courier = MemoryCourier(kept, store.waiting, changed, backoff, call_s, time.monotonic)
    policy = settings.policy.policy()
    waiting = GuardedWaiting(store.waiting, policy)
    memories = Memories(kept, waiting, courier, changed, read_statement, policy=policy, audit=Audit(store.audit))
    return memories, courier
