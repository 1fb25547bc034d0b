"""Storing and changing a memory: `POST` and `PATCH /memories`."""

from dataclasses import dataclass, replace
from functools import partial

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.memories.audit import Action
from app.core.memories.memory import Memory, MemoryChange, MemorySource, NewMemory, Sensitivity
from app.core.memories.memory_outcomes import Changed, Stored
from app.core.memories.not_delivered import changed_while_waiting, waiting
from app.engine.memories.collaborators import Memories, new_memory_id, told_to_the_caller
from app.engine.policy.applying import under
from app.engine.policy.texts import Texts
from app.errors import NotFound, RefusedByPolicy, VersionConflict
from app.ports import BackendError
from app.text.dates import iso

NORMAL, IMPORTANT = 0.9, 1.0
"""Confidence of what was stored on purpose, and of what was called important."""
DIRECT_MS = 5_000
"""Longest wait for the backend, milliseconds; then the memory is kept here and delivered later."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be stored. None of ``category`` and ``sensitivity``: what the text suggests."""

    text: str
    category: str | None = None
    key: str | None = None
    important: bool = False
    ttl_days: float | None = None
    sensitivity: Sensitivity | None = None
    pinned: bool = False
    session: str | None = None
    """Where it was asked for."""
    for_peer: bool = False
    """It belongs to the peer that the caller acts as, where there is one; else to the user."""


@dataclass(frozen=True, slots=True)
class StoreMemory:
    """The use case of `POST /memories`: on disk when it returns, whether the backend is there or not."""

    memories: Memories

    async def run(self, who: Identity, asked: Statement, deadline: Deadline) -> Stored:
        """Store it. Raises `OutboxFull`, `StoreUnavailable`, and `BackendTrouble` for what is refused for good.

        What waits from before goes first, so that of two texts under a key the later one holds. Raises
        `RefusedByPolicy` for what the rules drop; what they mask is stored masked.
        """
        texts = Texts(self.memories.policy)
        masked = await under(
            texts.policy,
            lambda: replace(asked, text=texts.rule(asked.text), key=asked.key and texts.rule(asked.key)),
            asked.text,
        )
        new = self._new(who, masked)
        _refuse_dropped(texts)
        deadline = deadline.within_ms(DIRECT_MS)
        left = await self.memories.delivery.flush(who.tenant, deadline)
        try:
            if left is not None:
                raise left
            stored = await self.memories.store.store(who, new, deadline)
        except BackendError as error:
            if not error.retryable:
                with told_to_the_caller():
                    raise
            stored = await self.memories.waiting.put(who.tenant, replace(new, promised=True))
        await self.memories.changed(who.tenant)
        await self.memories.audit.wrote(who, Action.STORED, (stored.memory.id,))
        await self.memories.audit.wrote(who, Action.CHANGED, stored.superseded)
        return replace(stored, policy=texts.lines())

    def _new(self, who: Identity, asked: Statement) -> NewMemory:
        suggested = self.memories.reads(asked.text)
        now = iso(self.memories.now())
        return NewMemory(
            id=new_memory_id(),
            text=asked.text,
            created_at=now,
            source=MemorySource("api", now, asked.session),
            category=asked.category or suggested.category,
            key=asked.key,
            confidence=IMPORTANT if asked.important else NORMAL,
            ttl_days=asked.ttl_days,
            sensitivity=asked.sensitivity or suggested.sensitivity,
            has_asked_sensitivity=asked.sensitivity is not None,
            pinned=asked.pinned,
            peer=who.actor_peer if asked.for_peer else None,
        )


@dataclass(frozen=True, slots=True)
class Alteration:
    """A change of one memory; ``if_version`` is the version that the caller has seen."""

    memory_id: str
    change: MemoryChange
    if_version: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeMemory:
    """The use case of `PATCH /memories/{id}`."""

    memories: Memories

    async def run(self, who: Identity, asked: Alteration, deadline: Deadline) -> Changed:
        """The changed memory. Raises `NotFound`, `VersionConflict`, `Conflict`, `BackendTrouble`, `RefusedByPolicy`."""
        texts = Texts(self.memories.policy)
        change = asked.change
        if (text := change.text) is not None:
            change = replace(change, text=await under(texts.policy, partial(texts.rule, text), text))
        _refuse_dropped(texts)
        with told_to_the_caller():
            if waits := await self._changed_waiting(who, replace(asked, change=change), deadline):
                return Changed(waits, texts.lines())
            before = await self.memories.store.get(who, asked.memory_id, deadline)
            try:
                changed = await self.memories.store.change(who, asked.memory_id, change, asked.if_version, deadline)
            finally:
                await self.memories.changed(who.tenant)
        if changed is None:
            raise NotFound("there is no such memory")
        if before is None or before.memory.version != changed.version:
            await self.memories.audit.wrote(who, Action.CHANGED, (changed.id,))
        return Changed(changed, texts.lines())

    async def _changed_waiting(self, who: Identity, asked: Alteration, deadline: Deadline) -> Memory | None:
        """The changed memory, where it waits for a backend that is away; it is delivered as it is then."""
        if await self.memories.delivery.flush(who.tenant, deadline) is None:
            return None

        made: list[str] = []

        def change(new: NewMemory) -> NewMemory:
            if asked.if_version is not None and new.version != asked.if_version:
                raise VersionConflict(f"the memory is at version {new.version}")
            after = changed_while_waiting(new, asked.change, iso(self.memories.now()))
            if after is not new:
                made.append(new.id)
            return after

        changed = await self.memories.waiting.change(who.tenant, asked.memory_id, change)
        if changed is None:
            return None
        await self.memories.changed(who.tenant)
        await self.memories.audit.wrote(who, Action.CHANGED, made)
        return waiting(changed)


def _refuse_dropped(texts: Texts) -> None:
    if texts.dropped:
        found = ", ".join(line.kind for line in texts.lines() if line.action == "drop")
        raise RefusedByPolicy(f"the text holds what is not stored here: {found}", texts.lines())
