"""Taking memories out and in: `GET /memories/export` and `POST /memories/import`."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.memories.audit import Action
from app.core.memories.memory import MemoryRecord
from app.core.memories.memory_outcomes import Imported
from app.core.memories.not_delivered import waiting_records
from app.core.memories.paging import Place, place_of
from app.engine.memories.collaborators import Memories, told_to_the_caller
from app.engine.policy.applying import under
from app.text.dates import iso

AT_ONCE = 200
"""Memories read or written in one call."""


@dataclass(frozen=True, slots=True)
class ExportMemories:
    """The use case of `GET /memories/export`. ``page_ms`` is the longest time for `AT_ONCE` memories."""

    memories: Memories
    page_ms: int = 10_000

    async def run(self, who: Identity) -> AsyncIterator[MemoryRecord]:
        """Every memory of the tenant with its history, newest first; what was said (raw turns) is not among them."""
        here = waiting_records(await self.memories.waiting.of(who.tenant), iso(self.memories.now()))
        await self.memories.audit.wrote(who, Action.EXPORTED, (record.memory.id for record in here))
        for record in here:
            yield record
        after: Place | None = None
        while True:
            with told_to_the_caller():
                deadline = Deadline.after_ms(self.page_ms)
                page = await self.memories.store.export(who, after, AT_ONCE, deadline)
            await self.memories.audit.wrote(who, Action.EXPORTED, (record.memory.id for record in page))
            for record in page:
                yield record
            if len(page) < AT_ONCE:
                return
            after = place_of(page[-1].memory)


@dataclass(frozen=True, slots=True)
class ImportMemories:
    """The use case of `POST /memories/import`."""

    memories: Memories

    async def run(
        self, who: Identity, records: Iterable[MemoryRecord | tuple[int, str]], deadline: Deadline
    ) -> Imported:
        """Put exported memories back; a (line, problem) among them is one that could not be read.

        Raises `BackendTrouble`. What the rules drop is skipped, and what an interrupted import has
        written is skipped when it is tried again.
        """
        rejected: list[tuple[int, str]] = []
        readable: list[MemoryRecord] = []
        for one in records:
            if isinstance(one, tuple):
                rejected.append(one)
            else:
                readable.append(one)
        policy, texts = self.memories.policy, [one.memory.text for one in readable]
        drops = await under(policy, lambda: [policy.apply(text).dropped for text in texts], texts)
        wanted = [one for one, is_dropped in zip(readable, drops, strict=True) if not is_dropped]
        imported = 0
        with told_to_the_caller():
            try:
                for start in range(0, len(wanted), AT_ONCE):
                    some = wanted[start : start + AT_ONCE]
                    written = await self.memories.store.take_in(who, some, deadline)
                    imported += len(written)
                    await self.memories.audit.wrote(who, Action.IMPORTED, written)
            finally:
                await self.memories.changed(who.tenant)
        return Imported(imported, len(readable) - imported, tuple(rejected))
