"""Forgetting what is meant: one memory (by id, by URI, by a query that is clearly about it), or turns as a whole."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.memories.forget_selection import Forgetting, Statement
from app.core.memories.memory import MAX_PAGE, Memory, MemoryFilter, MemoryRecord
from app.core.memories.memory_outcomes import Receipt
from app.core.memories.naming import Homes, all_named, home_path, is_at, was_said
from app.core.memories.not_delivered import waiting_records
from app.engine.memories.browsing import ListMemories, MemoryListing, ReadMemory
from app.engine.memories.collaborators import told_to_the_caller
from app.engine.memories.erasing import EraseEverywhere, new_receipt_id
from app.errors import Ambiguous, BackendTrouble, NotFound
from app.text.dates import iso

MAX_CANDIDATES = 10
FLUSH_SHARE = 0.5
"""Of the time: a backend that is away must leave enough to forget what waits for it."""
MAX_SEARCHED = 50
"""Memories that a query is compared with."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The memory that is to be forgotten; exactly one of the three."""

    id: str | None = None
    uri: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class SelectMemory:
    """Finds the memory that a selection means, among those that the caller sees. ``listing`` cuts nothing off."""

    listing: ListMemories
    reading: ReadMemory
    homes: Homes

    async def run(self, who: Identity, asked: Selection, seen: MemoryFilter, deadline: Deadline) -> Memory | None:
        """The memory that is meant; None where nothing matches. What is forgotten by mistake does not come back.

        Raises `NotFound` for an id, and `Ambiguous` where several could be meant: a query that one memory does not
        hold as a whole, or a file in which several stand.
        """
        if asked.id is not None:
            memory = (await self.reading.run(who, asked.id, deadline)).memory
            if not seen.admits(memory):
                raise NotFound("there is no such memory")
            return memory
        if asked.uri is not None:
            path = self.homes.path(asked.uri, who.tenant)
            if path is None:
                return None
            there = [memory async for memory in self.every(who, seen, deadline) if is_at(memory, path)]
            return _only([memory for memory in there if home_path(memory.uri) == path] or there, there)
        query = asked.query or ""
        found = await self.listing.run(who, MemoryListing(seen, query=query, limit=MAX_SEARCHED), deadline)
        candidates = [memory for memory in found.memories if not was_said(memory)]
        return _only([memory for memory in candidates if all_named(query, memory.text)], candidates)

    async def every(self, who: Identity, seen: MemoryFilter, deadline: Deadline) -> AsyncIterator[Memory]:
        """Every memory that the filter asks for, newest first."""
        after = None
        while True:
            page = await self.listing.run(who, MemoryListing(seen, limit=MAX_PAGE, after=after), deadline)
            for memory in page.memories:
                yield memory
            if page.after is None:
                return
            after = page.after


def _only(meant: Sequence[Memory], candidates: Sequence[Memory]) -> Memory | None:
    """The one that is meant, if it is one; None where there are no candidates."""
    if len(meant) == 1 or not candidates:
        return meant[0] if meant else None
    raise Ambiguous("any of these could be meant; forget one by its id", (meant or candidates)[:MAX_CANDIDATES])


@dataclass(frozen=True, slots=True)
class TurnsMeant:
    """Turns that are to be forgotten as a whole, with what was learnt from them; one of the fields."""

    session: str | None = None
    person: str | None = None
    since: str | None = None
    until: str | None = None
    """With ``since``: ISO 8601 in UTC."""
    last_days: float | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True)
class ForgetMemory:
    """The use case of `DELETE /memories/{id}`."""

    erase: EraseEverywhere

    async def run(self, who: Identity, memory_id: str, deadline: Deadline, *, dry_run: bool = False) -> Receipt:
        """What was forgotten. Raises `NotFound`, `Conflict`, `BackendTrouble`, `StoreUnavailable`."""
        memories = self.erase.memories
        await memories.delivery.flush(who.tenant, deadline.within_ms(deadline.remaining * 1000 * FLUSH_SHARE))
        statement = await self._waiting(who, memory_id)
        waits = statement is not None
        try:
            with told_to_the_caller():
                known = await memories.store.statement(who, memory_id, deadline)
        except BackendTrouble as trouble:
            if not waits or trouble.status < 500:
                raise  # what waits can be forgotten here, whether the backend answers in time or not
        else:
            statement, waits = known or statement, known is None
        if statement is None:
            raise NotFound("there is no such memory")
        forgetting = Forgetting(iso(memories.now()), (statement,))
        carry_out = self.erase.look if dry_run else self.erase.run
        return await carry_out(who, forgetting, deadline, waits=waits)

    async def _waiting(self, who: Identity, memory_id: str) -> Statement | None:
        """The memory, if the backend has not been told of it yet."""
        memories = self.erase.memories
        here = waiting_records(await memories.waiting.of(who.tenant), iso(memories.now()))
        return next((_of_waiting(one) for one in here if one.memory.id == memory_id), None)


def _of_waiting(record: MemoryRecord) -> Statement:
    memory, earlier = record.memory, (version.text for version in record.history)
    turns = tuple(source.turn_id for source in memory.sources if source.turn_id)
    return Statement(memory.id, memory.uri, memory.category, (memory.text, *earlier), turns)


@dataclass(frozen=True, slots=True)
class ForgetSelected:
    """The use case of `POST /memories/forget`."""

    selecting: SelectMemory
    forgetting: ForgetMemory

    async def run(self, who: Identity, asked: Selection | TurnsMeant, dry_run: bool, deadline: Deadline) -> Receipt:
        """Forget what is selected, or say what would be. Raises `NotFound`, `Ambiguous`, `Conflict`, `BackendTrouble`,
        `StoreUnavailable`."""
        if isinstance(asked, TurnsMeant):
            return await self._turns(who, asked, dry_run, deadline)
        memory = await self.selecting.run(who, asked, MemoryFilter(state=None), deadline)
        if memory:
            return await self.forgetting.run(who, memory.id, deadline, dry_run=dry_run)
        return Receipt(new_receipt_id(), iso(self.forgetting.erase.memories.now()), dry_run=dry_run)

    async def _turns(self, who: Identity, asked: TurnsMeant, dry_run: bool, deadline: Deadline) -> Receipt:
        erase = self.forgetting.erase
        now = erase.memories.now()
        since = asked.since
        if asked.last_days is not None:
            since = iso(now - timedelta(days=asked.last_days))
        meant = Forgetting(
            iso(now),
            session=asked.session,
            person=asked.person,
            since=since,
            until=asked.until,
            everything=asked.everything,
        )
        return await (erase.look if dry_run else erase.run)(who, meant, deadline)
