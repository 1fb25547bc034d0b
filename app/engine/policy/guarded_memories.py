"""Memories on purpose behind the policy: written and shown masked, whatever was stored before."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.memory import (
    Memory,
    MemoryChange,
    MemoryFilter,
    MemoryRecord,
    NewMemory,
    Receipt,
    ScoredMemory,
    Stored,
)
from app.core.memories.paging import Place
from app.memory_ports import MemoryNews, MemoryStore, WaitingMemories
from app.policy.policy import Policy


class GuardedMemories:
    """A `MemoryStore` that passes each call on to another one, with texts, keys and queries under the policy."""

    def __init__(self, memories: MemoryStore, policy: Policy) -> None:
        self._memories = memories
        self._policy = policy

    async def newest(
        self, who: Identity, wanted: MemoryFilter, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[Memory]:
        """See `MemoryStore.newest`."""
        return [
            shown_memory(self._policy, one) for one in await self._memories.newest(who, wanted, after, limit, deadline)
        ]

    async def search(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        """See `MemoryStore.search`."""
        found = await self._memories.search(who, self._policy.text(query), wanted, limit, deadline)
        return [replace(one, memory=shown_memory(self._policy, one.memory)) for one in found]

    async def get(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord | None:
        """See `MemoryStore.get`."""
        record = await self._memories.get(who, memory_id, deadline)
        return record and self._shown(record)

    async def store(self, who: Identity, new: NewMemory, deadline: Deadline) -> Stored:
        """See `MemoryStore.store`."""
        stored = await self._memories.store(who, shown_new(self._policy, new), deadline)
        return replace(stored, memory=shown_memory(self._policy, stored.memory))

    async def change(
        self, who: Identity, memory_id: str, change: MemoryChange, if_version: int | None, deadline: Deadline
    ) -> Memory | None:
        """See `MemoryStore.change`."""
        text = None if change.text is None else self._policy.text(change.text)
        changed = await self._memories.change(who, memory_id, replace(change, text=text), if_version, deadline)
        return changed and shown_memory(self._policy, changed)

    async def forget(self, who: Identity, memory_id: str, deadline: Deadline) -> Receipt | None:
        """See `MemoryStore.forget`."""
        return await self._memories.forget(who, memory_id, deadline)

    async def export(
        self, who: Identity, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[MemoryRecord]:
        """See `MemoryStore.export`."""
        return [self._shown(record) for record in await self._memories.export(who, after, limit, deadline)]

    async def take_in(self, who: Identity, records: Sequence[MemoryRecord], deadline: Deadline) -> int:
        """See `MemoryStore.take_in`."""
        return await self._memories.take_in(who, [self._shown(record) for record in records], deadline)

    def _shown(self, record: MemoryRecord) -> MemoryRecord:
        history = tuple(replace(version, text=self._policy.text(version.text)) for version in record.history)
        return replace(record, memory=shown_memory(self._policy, record.memory), history=history)


class GuardedWaiting:
    """The memories that wait for the backend, likewise: they may have been put there before a rule came."""

    def __init__(self, waiting: WaitingMemories, policy: Policy) -> None:
        self._waiting = waiting
        self._policy = policy

    async def put(self, tenant: Tenant, new: NewMemory) -> Stored:
        """See `WaitingMemories.put`."""
        stored = await self._waiting.put(tenant, shown_new(self._policy, new))
        return replace(stored, memory=shown_memory(self._policy, stored.memory))

    async def of(self, tenant: Tenant) -> Sequence[NewMemory]:
        """See `WaitingMemories.of`."""
        return [shown_new(self._policy, new) for new in await self._waiting.of(tenant)]

    async def news(self, tenant: Tenant) -> MemoryNews:
        """See `WaitingMemories.news`."""
        news = await self._waiting.news(tenant)
        return replace(news, waiting=tuple(shown_new(self._policy, new) for new in news.waiting))

    async def remove(self, tenant: Tenant, memory_id: str) -> bool:
        """See `WaitingMemories.remove`."""
        return await self._waiting.remove(tenant, memory_id)

    async def changed(self, tenant: Tenant) -> None:
        """See `WaitingMemories.changed`."""
        await self._waiting.changed(tenant)


def shown_memory(policy: Policy, memory: Memory) -> Memory:
    """The memory with everything masked that is not allowed."""
    text, key = policy.text(memory.text), memory.key and policy.text(memory.key)
    return memory if (text, key) == (memory.text, memory.key) else replace(memory, text=text, key=key)


def shown_new(policy: Policy, new: NewMemory) -> NewMemory:
    """The memory that is to be stored, likewise."""
    return replace(new, text=policy.text(new.text), key=new.key and policy.text(new.key))
