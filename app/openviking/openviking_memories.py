"""Memories one by one on OpenViking: files on the server, and all about them in the ledger.

What is asked for is decided within a transaction of the ledger (`app.openviking.ledger_decisions`); then the files are
brought in step (`app.openviking.ledger_sync`). A server that is away delays that and nothing else: until it is done,
what is new is recalled from the ledger, and what is old is left out of what the server finds.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.injection.session_start.section import Workspace
from app.core.memories.forget_selection import Erased, Forgetting, Redactor, Statement
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
from app.core.memories.memory_outcomes import Kept, Receipt, Selected, Stored
from app.core.memories.paging import Place
from app.core.memories.relevance import relevance
from app.openviking import ledger_decisions
from app.openviking.ledger_entries import (
    LIVE,
    SHOWN,
    SUPERSEDED,
    memory_of,
    record_of,
)
from app.openviking.ledger_sync import LedgerSync
from app.openviking.memory_search import MemorySearch
from app.openviking.recall import LedgerRecall, withholding_of
from app.openviking.remote_files import canonical
from app.ports import BackendError, MemoryLedger
from app.text.dates import iso

PAGE = 500
"""Entries read at once while a filter is looked for."""
MAX_SCANNED = 10_000
"""Memories that do not hold, or that can not be searched for on the server, are compared with a query one by one."""
_STATES = {None: SHOWN, MemoryState.LIVE: (LIVE,), MemoryState.EXPIRED: (LIVE,), MemoryState.SUPERSEDED: (SUPERSEDED,)}

SESSIONS_LEFT = Kept(
    "OpenViking's sessions and archives", "it can not take a message back; delete the session there to be rid of them"
)


class OpenVikingMemories:
    """`MemoryStore` on an OpenViking server. ``tenant_of`` fills in what a request does not name."""

    def __init__(
        self,
        ledger: MemoryLedger,
        settling: LedgerSync,
        recall: LedgerRecall,
        search: MemorySearch,
        tenant_of: Callable[[Tenant], Tenant],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._ledger = ledger
        self._settling = settling
        self._recall = recall
        self._search = search
        self._tenant_of = tenant_of
        self._clock = now

    async def newest(
        self, who: Identity, wanted: MemoryFilter, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[Memory]:
        """See `MemoryStore.newest`. The ledger answers, once it knows what OpenViking has written by itself."""
        tenant = self._tenant_of(who.tenant)
        await self._settling.look(tenant, deadline)
        return await self._newest(tenant, wanted, after, limit)

    async def _newest(self, tenant: Tenant, wanted: MemoryFilter, after: Place | None, limit: int) -> list[Memory]:
        found: list[Memory] = []
        now, size = self._now(), limit if wanted == MemoryFilter() else PAGE
        while len(found) < limit:
            page = await self._ledger.entries(tenant, after, size, _STATES[wanted.state])
            found += [memory for one in page if wanted.admits(memory := memory_of(one, now))]
            if len(page) < size:
                break
            after = Place(page[-1].created_at, page[-1].memory_id)
        return found[:limit]

    async def search(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        """See `MemoryStore.search`. While the server is away, memories are found by their words alone."""
        tenant = self._tenant_of(who.tenant)
        if wanted.state is MemoryState.LIVE:
            try:
                return await self._search.run(tenant, query, wanted, limit, deadline)
            except BackendError as error:
                if not error.retryable:
                    raise
        memories = await self._newest(tenant, wanted, None, MAX_SCANNED)
        scored = [ScoredMemory(memory, relevance(query, memory.text)) for memory in memories]
        return sorted((one for one in scored if one.score > 0), key=lambda one: -one.score)[:limit]

    async def get(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord | None:
        """See `MemoryStore.get`."""
        tenant = self._tenant_of(who.tenant)
        entry = await self._ledger.by_id(tenant, memory_id)
        if entry is None:
            await self._settling.look(tenant, deadline)
            entry = await self._ledger.by_id(tenant, memory_id)
        return record_of(entry, self._now()) if entry and entry.state in SHOWN else None

    async def store(self, who: Identity, new: NewMemory, deadline: Deadline) -> Stored:
        """See `MemoryStore.store`."""
        tenant, now = self._tenant_of(who.tenant), self._now()
        withholding = withholding_of(tenant)
        kept, created, touched = await self._ledger.changing(
            tenant, lambda rows: ledger_decisions.store(rows, new, now, withholding)
        )
        await self._settling.settle(tenant, touched, deadline)
        return Stored(memory_of(kept, now), created, superseded=touched[1:])

    async def change(
        self, who: Identity, memory_id: str, change: MemoryChange, if_version: int | None, deadline: Deadline
    ) -> Memory | None:
        """See `MemoryStore.change`."""
        if await self.get(who, memory_id, deadline) is None:
            return None
        tenant, now = self._tenant_of(who.tenant), self._now()
        withholding = withholding_of(tenant)
        entry = await self._ledger.changing(
            tenant, lambda rows: ledger_decisions.change(rows, memory_id, change, if_version, now, withholding)
        )
        if entry is None:
            return None
        await self._settling.settle(tenant, (memory_id,), deadline)
        return memory_of(entry, now)

    async def forget(self, who: Identity, memory_id: str, deadline: Deadline) -> Receipt | None:
        """See `MemoryStore.forget`. Where OpenViking says it all the same is looked for, and named."""
        if await self.get(who, memory_id, deadline) is None:
            return None
        tenant, now = self._tenant_of(who.tenant), self._now()
        withholding = withholding_of(tenant)
        entry = await self._ledger.changing(
            tenant, lambda rows: ledger_decisions.forget(rows, memory_id, now, withholding)
        )
        if entry is None:
            return None
        await self._settling.settle(tenant, (memory_id,), deadline)
        memory = memory_of(entry, now)
        kept = await self._settling.left_of(tenant, memory_id, memory.text, deadline)
        selected = (Selected(memory.id, memory.uri, memory.category),)
        removed = {"memories": 1, "turns": 0}
        return Receipt(f"f_{memory_id.removeprefix('m_')}", now, selected, removed, tuple(Kept(*one) for one in kept))

    async def ids(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:  # noqa: ARG002
        """See `MemoryStore.ids`. The ledger knows them; a hit spells the home another way than it does."""
        places = {uri: canonical(uri) for uri in uris}
        found = await self._ledger.by_uri(self._tenant_of(who.tenant), set(places.values()))
        shown = {place: one.memory_id for place, entries in found.items() for one in entries if one.state in SHOWN}
        return {uri: shown[place] for uri, place in places.items() if place in shown}

    async def revise(self, who: Identity, revisions: Sequence[Revision], deadline: Deadline) -> Sequence[str]:
        """See `MemoryStore.revise`. In the ledger; OpenViking's files follow."""
        tenant, now = self._tenant_of(who.tenant), self._now()
        withholding = withholding_of(tenant)
        changed = await self._ledger.changing(
            tenant, lambda rows: ledger_decisions.revise(rows, revisions, now, withholding)
        )
        await self._settling.settle(tenant, changed, deadline)
        return changed

    async def statement(self, who: Identity, memory_id: str, deadline: Deadline) -> Statement | None:
        """See `MemoryStore.statement`."""
        record = await self.get(who, memory_id, deadline)
        if record is None:
            return None
        memory = record.memory
        texts = (memory.text, *(version.text for version in record.history))
        turns = tuple(dict.fromkeys(source.turn_id for source in memory.sources if source.turn_id))
        return Statement(memory_id, memory.uri, memory.category, tuple(filter(None, dict.fromkeys(texts))), turns)

    async def erase(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """See `MemoryStore.erase`. Memories are forgotten; what was said stands in OpenViking's sessions, and is
        named."""
        tenant, redactor, now = self._tenant_of(who.tenant), Redactor(forgetting), self._now()
        await self._settling.look(tenant, deadline)
        entries = await self._ledger.entries(tenant, None, -1, SHOWN)
        dropped = [memory for entry in entries if redactor.drops(memory := memory_of(entry, now), forgetting.turns)]
        selected = tuple(Selected(memory.id, memory.uri, memory.category) for memory in dropped)
        if dry_run:
            return Erased(selected, len(selected))
        kept: list[Kept] = [] if not forgetting.takes_turns else [SESSIONS_LEFT]
        for memory in dropped:
            receipt = await self.forget(who, memory.id, deadline)
            kept += receipt.kept if receipt else ()
        named = tuple(dict.fromkeys(kept))
        return Erased(
            selected, len(selected), keeps_sessions=forgetting.takes_turns, removed=redactor.needles(), kept=named
        )

    async def export(
        self, who: Identity, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[MemoryRecord]:
        """See `MemoryStore.export`."""
        tenant, now = self._tenant_of(who.tenant), self._now()
        await self._settling.look(tenant, deadline)
        return [record_of(one, now) for one in await self._ledger.entries(tenant, after, limit, SHOWN)]

    async def take_in(self, who: Identity, records: Sequence[MemoryRecord], deadline: Deadline) -> Sequence[str]:
        """See `MemoryStore.take_in`. What is not on the server at the deadline is brought there later."""
        tenant = self._tenant_of(who.tenant)
        by_id = {one.memory.id: one for one in reversed(records)}
        new = await self._ledger.changing(tenant, lambda rows: ledger_decisions.take_in(rows, list(by_id.values())))
        await self._settling.settle(tenant, new, deadline)
        return new

    async def workspace(self, who: Identity, days: Sequence[str], deadline: Deadline) -> Workspace:  # noqa: ARG002
        """See `MemoryStore.workspace`. OpenViking has memories of such types instead."""
        return Workspace()

    async def undelivered(self, tenant: Tenant) -> Sequence[Memory]:
        """See `MemoryStore.undelivered`."""
        notable = await self._recall.notable(self._tenant_of(tenant))
        return notable.undelivered(self._now())

    async def unsettled(self) -> Sequence[Tenant]:
        """See `MemoryStore.unsettled`."""
        return await self._ledger.unsettled()

    async def settle(self, tenant: Tenant, deadline: Deadline) -> None:
        """See `MemoryStore.settle`."""
        await self._settling.settle_all(self._tenant_of(tenant), deadline)

    def _now(self) -> str:
        return iso(self._clock())
