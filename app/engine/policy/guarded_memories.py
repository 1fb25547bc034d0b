"""Memories on purpose behind the policy: written and shown masked, whatever was stored before."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.injection.session_start.section import Workspace
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.core.memories.freshness import Revision
from app.core.memories.memory import (
    Memory,
    MemoryChange,
    MemoryFilter,
    MemoryRecord,
    MemoryVersion,
    NewMemory,
    ScoredMemory,
)
from app.core.memories.memory_outcomes import Receipt, Stored
from app.core.memories.paging import Place
from app.engine.policy.applying import under
from app.policy.policy import Policy
from app.ports import MemoryNews, MemoryStore, WaitingMemories

T = TypeVar("T")


class _Guarded:
    """What both have in common. ``shown`` is what the policy makes of one thing that has texts."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def _one(self, shown: Callable[[Policy, T], T], one: T) -> T:
        return (await self._each(shown, [one]))[0]

    async def _each(self, shown: Callable[[Policy, T], T], things: Sequence[T]) -> list[T]:
        policy = self._policy
        return await under(policy, lambda: [shown(policy, one) for one in things], [_texts_of(one) for one in things])


class GuardedMemories(_Guarded):
    """A `MemoryStore` that passes each call on to another one, with texts, keys and queries under the policy."""

    def __init__(self, memories: MemoryStore, policy: Policy) -> None:
        super().__init__(policy)
        self._memories = memories

    async def newest(
        self, who: Identity, wanted: MemoryFilter, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[Memory]:
        """See `MemoryStore.newest`."""
        return await self._each(shown_memory, await self._memories.newest(who, wanted, after, limit, deadline))

    async def search(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        """See `MemoryStore.search`."""
        query = await under(self._policy, partial(self._policy.text, query), query)
        return await self._each(_shown_found, await self._memories.search(who, query, wanted, limit, deadline))

    async def get(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord | None:
        """See `MemoryStore.get`."""
        record = await self._memories.get(who, memory_id, deadline)
        if record is None:
            return None
        [shown] = await self._each(_shown_record, [record])
        return shown

    async def store(self, who: Identity, new: NewMemory, deadline: Deadline) -> Stored:
        """See `MemoryStore.store`."""
        stored = await self._memories.store(who, await self._one(shown_new, new), deadline)
        return replace(stored, memory=await self._one(shown_memory, stored.memory))

    async def change(
        self, who: Identity, memory_id: str, change: MemoryChange, if_version: int | None, deadline: Deadline
    ) -> Memory | None:
        """See `MemoryStore.change`."""
        change = await self._one(_shown_change, change)
        changed = await self._memories.change(who, memory_id, change, if_version, deadline)
        if changed is None:
            return None
        [shown] = await self._each(shown_memory, [changed])
        return shown

    async def forget(self, who: Identity, memory_id: str, deadline: Deadline) -> Receipt | None:
        """See `MemoryStore.forget`."""
        return await self._memories.forget(who, memory_id, deadline)

    async def ids(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """See `MemoryStore.ids`."""
        return await self._memories.ids(who, uris, deadline)

    async def revise(self, who: Identity, revisions: Sequence[Revision], deadline: Deadline) -> Sequence[str]:
        """See `MemoryStore.revise`."""
        return await self._memories.revise(who, revisions, deadline)

    async def statement(self, who: Identity, memory_id: str, deadline: Deadline) -> Statement | None:
        """See `MemoryStore.statement`: as it is stored, for only so it can be found."""
        return await self._memories.statement(who, memory_id, deadline)

    async def erase(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """See `MemoryStore.erase`."""
        return await self._memories.erase(who, forgetting, deadline, dry_run=dry_run)

    async def export(
        self, who: Identity, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[MemoryRecord]:
        """See `MemoryStore.export`."""
        return await self._each(_shown_record, await self._memories.export(who, after, limit, deadline))

    async def take_in(self, who: Identity, records: Sequence[MemoryRecord], deadline: Deadline) -> Sequence[str]:
        """See `MemoryStore.take_in`."""
        return await self._memories.take_in(who, await self._each(_shown_record, records), deadline)

    async def workspace(self, who: Identity, days: Sequence[str], deadline: Deadline) -> Workspace:
        """See `MemoryStore.workspace`."""
        return await self._one(_shown_workspace, await self._memories.workspace(who, days, deadline))

    async def undelivered(self, tenant: Tenant) -> Sequence[Memory]:
        """See `MemoryStore.undelivered`."""
        return await self._each(shown_memory, await self._memories.undelivered(tenant))

    async def unsettled(self) -> Sequence[Tenant]:
        """See `MemoryStore.unsettled`."""
        return await self._memories.unsettled()

    async def settle(self, tenant: Tenant, deadline: Deadline) -> None:
        """See `MemoryStore.settle`."""
        await self._memories.settle(tenant, deadline)


class GuardedWaiting(_Guarded):
    """The memories that wait for the backend, likewise: they may have been put there before a rule came."""

    def __init__(self, waiting: WaitingMemories, policy: Policy) -> None:
        super().__init__(policy)
        self._waiting = waiting

    async def put(self, tenant: Tenant, new: NewMemory) -> Stored:
        """See `WaitingMemories.put`."""
        stored = await self._waiting.put(tenant, await self._one(shown_new, new))
        return replace(stored, memory=await self._one(shown_memory, stored.memory))

    async def of(self, tenant: Tenant) -> Sequence[NewMemory]:
        """See `WaitingMemories.of`."""
        return await self._each(shown_new, await self._waiting.of(tenant))

    async def news(self, tenant: Tenant) -> MemoryNews:
        """See `WaitingMemories.news`."""
        news = await self._waiting.news(tenant)
        return replace(news, waiting=tuple(await self._each(shown_new, news.waiting))) if news.waiting else news

    async def change(
        self, tenant: Tenant, memory_id: str, change: Callable[[NewMemory], NewMemory]
    ) -> NewMemory | None:
        """See `WaitingMemories.change`."""
        changed = await self._waiting.change(tenant, memory_id, change)
        return next(iter(await self._each(shown_new, [changed] if changed else [])), None)

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
    earlier = tuple(_shown_version(policy, version) for version in new.earlier)
    return replace(new, text=policy.text(new.text), key=new.key and policy.text(new.key), earlier=earlier)


def _shown_version(policy: Policy, version: MemoryVersion) -> MemoryVersion:
    return replace(version, text=policy.text(version.text), reason=policy.text(version.reason))


def _shown_record(policy: Policy, record: MemoryRecord) -> MemoryRecord:
    history = tuple(_shown_version(policy, version) for version in record.history)
    return replace(record, memory=shown_memory(policy, record.memory), history=history)


def _shown_found(policy: Policy, found: ScoredMemory) -> ScoredMemory:
    return replace(found, memory=shown_memory(policy, found.memory))


def _shown_change(policy: Policy, change: MemoryChange) -> MemoryChange:
    return change if change.text is None else replace(change, text=policy.text(change.text))


def _shown_workspace(policy: Policy, files: Workspace) -> Workspace:
    notes = tuple((day, policy.text(text)) for day, text in files.notes)
    return replace(files, soul=policy.text(files.soul), notes=notes)


def _texts_of(one: object) -> list[object]:
    """What of a memory is under the policy."""
    match one:
        case Memory():
            return [one.text, one.key]
        case NewMemory():
            return [one.text, one.key, _texts_of_versions(one.earlier)]
        case ScoredMemory():
            return [one.memory.text, one.memory.key]
        case MemoryRecord():
            return [one.memory.text, one.memory.key, _texts_of_versions(one.history)]
        case MemoryChange():
            return [one.text]
        case Workspace():
            return [one.soul, *(text for _, text in one.notes)]
        case _:
            raise TypeError(type(one))


def _texts_of_versions(versions: Sequence[MemoryVersion]) -> list[str]:
    return [text for version in versions for text in (version.text, version.reason)]
