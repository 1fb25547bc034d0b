"""The port to memories on local files: `app.embedded.memory_desk` in worker threads, under a deadline."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

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
    MemoryState,
    NewMemory,
    ScoredMemory,
)
from app.core.memories.memory_outcomes import Receipt, Stored
from app.core.memories.paging import Place
from app.core.memories.relevance import relevance
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import MAX_FILTERED
from app.embedded.index.documents import Document, peer_realm
from app.embedded.local_engine import LocalEngine
from app.ports import BackendError
from app.text.dates import iso

MAX_SCANNED = 10_000
"""Memories that do not hold any more are in no index of words: so many of the newest are compared with a query."""


class EmbeddedMemories:
    """`app.ports.MemoryStore` on local files."""

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine

    async def newest(
        self, who: Identity, wanted: MemoryFilter, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[Memory]:
        """See `MemoryStore.newest`. The table of memories in the index answers."""
        now = self._now()
        with nothing_is_normal():
            return await self._engine.reading(
                who, lambda space: space.memories.newest(wanted, after, limit, now), deadline
            )
        return ()

    async def search(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        """See `MemoryStore.search`. Turns that answer together stand in one text, as recall shows them."""
        with nothing_is_normal():
            if wanted.state is not MemoryState.LIVE:
                return await self._scanned(who, query, wanted, limit, deadline)
            return await self._searched(who, query, wanted, limit, deadline)
        return ()

    async def _searched(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        now = self._now()
        realms = await self._engine.reading(who, lambda space: space.memories.realms(), deadline)
        if wanted.visible_to is not None:
            realms = [realm for realm in realms if realm in {"", "x", *map(peer_realm, wanted.visible_to)}]
        most = limit if wanted == MemoryFilter(visible_to=wanted.visible_to) else max(limit, MAX_FILTERED)

        def admits(document: Document) -> bool:
            """What can not be asked for must not stand in the place of what can: a turn in that of its statement."""
            if wanted.pinned and document.speaker:
                return False
            return wanted.category is None or document.category == wanted.category

        hits = await self._engine.find_in(who, query, realms, most, deadline, admits)
        uris = [hit.uri for hit in hits]
        at = await self._engine.reading(who, lambda space: space.memories.at(uris, now), deadline)
        found = [_scored(hit, memory) for hit in hits if (memory := at.get(hit.uri)) and wanted.admits(memory)]
        return found[:limit]

    async def _scanned(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        memories = await self.newest(who, wanted, None, MAX_SCANNED, deadline)
        scored = [ScoredMemory(memory, relevance(query, memory.text)) for memory in memories]
        return sorted((one for one in scored if one.score > 0), key=lambda one: -one.score)[:limit]

    async def get(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord | None:
        """See `MemoryStore.get`."""
        now = self._now()
        with nothing_is_normal():
            return await self._engine.reading(who, lambda space: space.memories.get(memory_id, now), deadline)
        return None

    async def store(self, who: Identity, new: NewMemory, deadline: Deadline) -> Stored:
        """See `MemoryStore.store`."""
        now = self._now()
        return await self._engine.changing(who, lambda space: space.memories.store(new, now, deadline), deadline)

    async def change(
        self, who: Identity, memory_id: str, change: MemoryChange, if_version: int | None, deadline: Deadline
    ) -> Memory | None:
        """See `MemoryStore.change`."""
        now = self._now()
        if not await self._is_known(who, memory_id, deadline):
            return None
        return await self._engine.changing(
            who, lambda space: space.memories.change(memory_id, change, if_version, now, deadline), deadline
        )

    async def forget(self, who: Identity, memory_id: str, deadline: Deadline) -> Receipt | None:
        """See `MemoryStore.forget`."""
        now = self._now()
        if not await self._is_known(who, memory_id, deadline):
            return None
        return await self._engine.changing(who, lambda space: space.memories.forget(memory_id, now, deadline), deadline)

    async def ids(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """See `MemoryStore.ids`."""
        now = self._now()
        with nothing_is_normal():
            found = await self._engine.reading(who, lambda space: space.memories.at(uris, now), deadline)
            return {uri: memory.id for uri, memory in found.items()}
        return {}

    async def revise(self, who: Identity, revisions: Sequence[Revision], deadline: Deadline) -> Sequence[str]:
        """See `MemoryStore.revise`."""
        now = self._now()
        return await self._engine.changing(who, lambda space: space.memories.revise(revisions, now, deadline), deadline)

    async def statement(self, who: Identity, memory_id: str, deadline: Deadline) -> Statement | None:
        """See `MemoryStore.statement`."""
        now = self._now()
        with nothing_is_normal():
            return await self._engine.reading(who, lambda space: space.memories.statement(memory_id, now), deadline)
        return None

    async def erase(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """See `MemoryStore.erase`."""
        with nothing_is_normal():
            return await self._engine.reading(
                who, lambda space: space.memories.erase(forgetting, deadline, dry_run=dry_run), deadline
            )
        return Erased()

    async def export(
        self, who: Identity, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[MemoryRecord]:
        """See `MemoryStore.export`."""
        now = self._now()
        with nothing_is_normal():
            return await self._engine.reading(who, lambda space: space.memories.export(after, limit, now), deadline)
        return ()

    async def take_in(self, who: Identity, records: Sequence[MemoryRecord], deadline: Deadline) -> Sequence[str]:
        """See `MemoryStore.take_in`."""
        return await self._engine.changing(who, lambda space: space.memories.take_in(records, deadline), deadline)

    async def workspace(self, who: Identity, days: Sequence[str], deadline: Deadline) -> Workspace:
        """See `MemoryStore.workspace`. What a person wrote into MEMORY.md is taken in before."""
        now = self._now()
        with nothing_is_normal():
            return await self._engine.reading(who, lambda space: space.workspace(days, now, deadline), deadline)
        return Workspace()

    async def undelivered(self, tenant: Tenant) -> Sequence[Memory]:  # noqa: ARG002 - there are none
        """None: all of them are where they are searched for."""
        return ()

    async def unsettled(self) -> Sequence[Tenant]:
        """None."""
        return ()

    async def settle(self, tenant: Tenant, deadline: Deadline) -> None:
        """Nothing to do."""

    async def _is_known(self, who: Identity, memory_id: str, deadline: Deadline) -> bool:
        """Whether it is there; asking leaves no trace on disk."""
        return await self.get(who, memory_id, deadline) is not None

    def _now(self) -> str:
        return iso(self._engine.clock())


def _scored(hit: Hit, memory: Memory) -> ScoredMemory:
    is_excerpt = hit.text != memory.text and memory.category == "events"
    return ScoredMemory(replace(memory, text=hit.text) if is_excerpt else memory, hit.score)


@contextmanager
def nothing_is_normal() -> Iterator[None]:
    """Not to be there is an answer here, no error."""
    try:
        yield
    except BackendError as error:
        if not error.not_found:
            raise
