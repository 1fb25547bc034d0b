"""What the sections of a session's addition are made of, from wherever it is kept."""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from app.core.capture.tool_records import ToolRecord, texts_of, without
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole
from app.core.injection.session_start.persona import SOUL_TYPES
from app.core.injection.session_start.recent_notes import NOTE_DAYS
from app.core.injection.session_start.section import Facts, Section, Source, Workspace
from app.core.injection.session_start.user_profile import PREFERENCES, PROFILE
from app.core.memories.memory import MAX_PAGE, Memory, MemoryFilter
from app.core.memories.naming import folder_of, was_said
from app.engine.memories.browsing import ListMemories, MemoryListing
from app.engine.memories.collaborators import told_to_the_caller
from app.text.dates import iso

MAX_COUNTED = 2_000
"""Memories that the directory counts, the newest; a tenant of more has its folders all the same."""
MAX_RECENT = 50


class ToolMemory(Protocol):
    """What is remembered of tool calls; see `app.store.use_rows`."""

    async def tools(self, who: Identity) -> Sequence[ToolRecord]:
        """The agent's records. Raises `StoreUnavailable`."""
        ...


@dataclass(frozen=True, slots=True)
class ReadFacts:
    """Reads what sections need. ``commands`` is what the model is told to call."""

    listing: ListMemories
    tools: ToolMemory
    commands: Sequence[tuple[str, str]] = ()

    async def run(self, who: Identity, sections: Collection[Section], deadline: Deadline) -> Facts:
        """The facts for these sections. Raises `BackendTrouble`, `StoreUnavailable`."""
        names = {section.name for section in sections}
        needs = {need for section in sections for need in section.needs}
        seen = frozenset({who.actor_peer} if who.actor_peer else ())
        # First: an edit of one of its files may change a memory.
        workspace = await self._workspace(who, deadline) if Source.WORKSPACE in needs else Workspace()
        profile, soul, recent, folders, tools = await asyncio.gather(
            self._profile(who, seen, deadline) if "profile" in names else _nothing(),
            self._of_types(who, SOUL_TYPES, seen, deadline) if "persona" in names else _nothing(),
            self._recent(who, seen, deadline) if "notes" in names else _nothing(),
            self._folders(who, seen, deadline) if Source.FOLDERS in needs else _none_stored(),
            self._tools(who) if Source.TOOLS in needs else _no_tools(),
        )
        return Facts(profile, soul, recent, workspace, folders, tools, self.commands)

    async def _tools(self, who: Identity) -> Sequence[ToolRecord]:
        """How the agent's tools fare; of what was said in the calls nothing where persons are kept apart."""
        records = await self.tools.tools(who)
        if who.peer_role is not PeerRole.PERSON:
            return records
        return [without(record, frozenset(texts_of(record))) for record in records]

    async def _profile(self, who: Identity, seen: frozenset[str], deadline: Deadline) -> list[Memory]:
        asked = [
            MemoryFilter(category=PROFILE, visible_to=seen),
            MemoryFilter(category=PREFERENCES, visible_to=seen),
            MemoryFilter(pinned=True, visible_to=seen),
        ]
        found = [memory for one in asked for memory in await self._newest(who, one, MAX_PAGE, deadline)]
        return list({memory.id: memory for memory in found}.values())

    async def _of_types(
        self, who: Identity, types: Sequence[str], seen: frozenset[str], deadline: Deadline
    ) -> list[Memory]:
        asked = [MemoryFilter(category=one, visible_to=seen) for one in types]
        return [memory for one in asked for memory in await self._newest(who, one, MAX_RECENT, deadline)]

    async def _recent(self, who: Identity, seen: frozenset[str], deadline: Deadline) -> list[Memory]:
        since = iso(self.listing.memories.now() - timedelta(days=NOTE_DAYS))
        asked = MemoryFilter(category="events", visible_to=seen, since=since)
        return [memory for memory in await self._newest(who, asked, MAX_PAGE, deadline) if not was_said(memory)]

    async def _folders(self, who: Identity, seen: frozenset[str], deadline: Deadline) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        after = None
        while True:
            asked = MemoryListing(MemoryFilter(visible_to=seen), limit=MAX_PAGE, after=after)
            page = await self.listing.run(who, asked, deadline)
            counts.update(f"viking://~/{folder_of(memory)}" for memory in page.memories if not was_said(memory))
            if page.after is None or counts.total() >= MAX_COUNTED:
                return counts
            after = page.after

    async def _workspace(self, who: Identity, deadline: Deadline) -> Workspace:
        today = self.listing.memories.now()
        days = [f"{today - timedelta(days=ago):%Y-%m-%d}" for ago in range(NOTE_DAYS)]
        with told_to_the_caller():
            return await self.listing.memories.store.workspace(who, days, deadline)

    async def _newest(self, who: Identity, wanted: MemoryFilter, limit: int, deadline: Deadline) -> Sequence[Memory]:
        return (await self.listing.run(who, MemoryListing(wanted, limit=limit), deadline)).memories


async def _nothing() -> list[Memory]:
    return []


async def _none_stored() -> Mapping[str, int]:
    return {}


async def _no_tools() -> Sequence[ToolRecord]:
    return ()
