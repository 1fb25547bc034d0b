"""Looking at memories: `GET /memories`, by date or by relevance, and `GET /memories/{id}`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.memories.memory import Memory, MemoryFilter, MemoryRecord, ScoredMemory
from app.core.memories.not_delivered import all_waiting, waiting_records
from app.core.memories.paging import Place, merged, page_of
from app.core.memories.relevance import relevance
from app.engine.memories.collaborators import Memories, told_to_the_caller
from app.errors import NotFound
from app.text.dates import iso

Cut = Callable[[str, Sequence[ScoredMemory]], Sequence[ScoredMemory]]
"""Which of the memories that a search found recall would show for the query, best first."""


def whole(_query: str, found: Sequence[ScoredMemory]) -> Sequence[ScoredMemory]:
    """A cut that cuts nothing: who forgets has to see all that could be meant, however little it is about it."""
    return found


@dataclass(frozen=True, slots=True)
class MemoryListing:
    """Which memories are asked for. With a ``query`` they come by relevance, on one page."""

    wanted: MemoryFilter = field(default_factory=MemoryFilter)
    query: str = ""
    limit: int = 50
    after: Place | None = None


@dataclass(frozen=True, slots=True)
class ListedMemories:
    """A page. ``scores`` are those of a search, else None; ``after`` is where the next page begins."""

    memories: tuple[Memory, ...]
    scores: tuple[float, ...] | None = None
    after: Place | None = None


@dataclass(frozen=True, slots=True)
class ListMemories:
    """The use case of `GET /memories`: what the backend has, and what waits for it."""

    memories: Memories
    cut: Cut

    async def run(self, who: Identity, asked: MemoryListing, deadline: Deadline) -> ListedMemories:
        """The memories asked for. Raises `BackendTrouble`, `StoreUnavailable`."""
        searched = bool(asked.query.strip())
        found = await (self._searched if searched else self._listed)(who, asked, deadline)
        self.memories.audit.read(who, (memory.id for memory in found.memories))
        return found

    async def _listed(self, who: Identity, asked: MemoryListing, deadline: Deadline) -> ListedMemories:
        here = await _waiting(self.memories, who)
        here = [one for one in here if asked.wanted.admits(one) and (not asked.after or asked.after.precedes(one))]
        with told_to_the_caller():
            there = await self.memories.store.newest(who, asked.wanted, asked.after, asked.limit + 1, deadline)
        here.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        page = page_of(merged(there, here), asked.limit)
        return ListedMemories(page.memories, after=page.after)

    async def _searched(self, who: Identity, asked: MemoryListing, deadline: Deadline) -> ListedMemories:
        here = await _waiting(self.memories, who)
        scored = [ScoredMemory(one, relevance(asked.query, one.text)) for one in here if asked.wanted.admits(one)]
        with told_to_the_caller():
            there = await self.memories.store.search(who, asked.query, asked.wanted, asked.limit, deadline)
        known = {one.memory.id for one in there}
        both = [*there, *(one for one in scored if one.score > 0 and one.memory.id not in known)]
        best = self.cut(asked.query, sorted(both, key=lambda one: -one.score))[: asked.limit]
        return ListedMemories(tuple(one.memory for one in best), tuple(one.score for one in best))


@dataclass(frozen=True, slots=True)
class ReadMemory:
    """The use case of `GET /memories/{id}`."""

    memories: Memories

    async def run(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord:
        """The memory with its history. Raises `NotFound`, also for another tenant's."""
        here = await self.memories.waiting.of(who.tenant)
        for record in waiting_records(here, iso(self.memories.now())):
            if record.memory.id == memory_id:
                self.memories.audit.read(who, (memory_id,))
                return record
        with told_to_the_caller():
            found = await self.memories.store.get(who, memory_id, deadline)
        if found is None:
            raise NotFound("there is no such memory")
        self.memories.audit.read(who, (memory_id,))
        return found


async def _waiting(memories: Memories, who: Identity) -> list[Memory]:
    return all_waiting(await memories.waiting.of(who.tenant), iso(memories.now()))
