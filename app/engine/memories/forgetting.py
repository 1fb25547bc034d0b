"""Forgetting what is meant: by id, by URI, or by a query that is clearly about one memory."""

import secrets
from base64 import b32encode
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.memories.memory import MAX_PAGE, Memory, MemoryFilter, Receipt, Selected
from app.core.memories.naming import all_named, home_path, is_at, was_said
from app.engine.memories.browsing import ListMemories, MemoryListing, ReadMemory
from app.engine.memories.keeping import ForgetMemory
from app.errors import Ambiguous, NotFound
from app.text.dates import iso

MAX_CANDIDATES = 10
MAX_SEARCHED = 50
"""Memories that a query is compared with."""


def new_receipt_id() -> str:
    """``f_`` and 26 letters and digits."""
    return f"f_{b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be forgotten; exactly one of the three."""

    id: str | None = None
    uri: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class SelectMemory:
    """Finds the memory that a selection means, among those that the caller sees. ``listing`` cuts nothing off."""

    listing: ListMemories
    reading: ReadMemory

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
            path = home_path(asked.uri)
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
class ForgetSelected:
    """The use case of `POST /memories/forget`."""

    selecting: SelectMemory
    forgetting: ForgetMemory

    async def run(self, who: Identity, asked: Selection, dry_run: bool, deadline: Deadline) -> Receipt:
        """Forget what is selected, or say what would be. Raises `NotFound`, `Ambiguous`, `BackendTrouble`."""
        memory = await self.selecting.run(who, asked, MemoryFilter(state=None), deadline)
        if memory and not dry_run:
            return await self.forgetting.run(who, memory.id, deadline)
        selected = (Selected(memory.id, memory.uri, memory.category),) if memory else ()
        return Receipt(new_receipt_id(), iso(self.forgetting.memories.now()), selected, dry_run=dry_run)
