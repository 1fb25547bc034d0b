"""Searching memories one by one: what OpenViking finds are files, in which several may stand."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.core.memories.memory import MemoryFilter, ScoredMemory
from app.core.memories.relevance import relevance
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import MAX_FILTERED
from app.openviking.ledger_entries import SHOWN, memory_of
from app.openviking.ledger_sync import LedgerSync
from app.openviking.recall import LedgerRecall
from app.openviking.remote_files import HOME, canonical, home_of, is_memory
from app.ports import LedgerEntry, MemoryLedger
from app.text.dates import iso

Find = Callable[[Tenant, str, Sequence[str], int, Deadline], Awaitable[list[Hit]]]
"""The best hits among the files below these URIs."""


@dataclass(frozen=True, slots=True)
class MemorySearch:
    """Finds memories that hold, with a score each."""

    ledger: MemoryLedger
    settling: LedgerSync
    recall: LedgerRecall
    find: Find
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def run(
        self, tenant: Tenant, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> list[ScoredMemory]:
        """At most ``limit`` of those wanted, best first. Raises `BackendError`."""
        most = limit if wanted == MemoryFilter(visible_to=wanted.visible_to) else max(limit, MAX_FILTERED)
        hits = [hit for hit in await self.find(tenant, query, _folders(wanted), most, deadline) if is_memory(_at(hit))]
        there = await self.ledger.by_uri(tenant, {_at(hit) for hit in hits})
        if any(_at(hit) not in there for hit in hits):
            await self.settling.look(tenant, deadline)
            there = await self.ledger.by_uri(tenant, {_at(hit) for hit in hits})
        now = iso(self.now())
        here = (await self.recall.notable(tenant)).undelivered(now)
        found = [ScoredMemory(one, score) for one in here if (score := relevance(query, one.text)) > 0]
        known = {one.id for one in here}
        for hit in hits:
            scored = _scored(hit, there.get(_at(hit), ()), query, now)
            found += [one for one in scored if one.memory.id not in known]
        return sorted((one for one in found if wanted.admits(one.memory)), key=lambda one: -one.score)[:limit]


def _scored(hit: Hit, entries: Sequence[LedgerEntry], query: str, now: str) -> list[ScoredMemory]:
    """The memories of a file; of several those count most that share words with the query."""
    memories = [memory_of(one, now) for one in entries if one.state in SHOWN]
    score = min(1.0, max(0.0, hit.score))
    if len(memories) < 2:
        return [ScoredMemory(one, score) for one in memories]
    shares = [relevance(query, one.text) for one in memories]
    best = max(shares)
    return [
        ScoredMemory(one, score * share / best if best else score) for one, share in zip(memories, shares, strict=True)
    ]


def _folders(wanted: MemoryFilter) -> list[str]:
    own = home_of(None)
    if wanted.visible_to is None:
        return [own, f"{HOME}peers"]
    return [own, *(home_of(peer) for peer in sorted(wanted.visible_to))]


def _at(hit: Hit) -> str:
    return canonical(hit.uri)
