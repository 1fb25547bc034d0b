"""Memories that the backend does not have yet, as they are shown and changed until then."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.core.memories.memory import (
    Memory,
    MemoryChange,
    MemoryRecord,
    MemoryVersion,
    NewMemory,
    Origin,
    expiry,
    state_at,
)


def waiting(new: NewMemory) -> Memory:
    """A memory that the backend does not have yet, as it is shown until then."""
    home = f"viking://~/peers/{new.peer}" if new.peer else "viking://~"
    return Memory(
        id=new.id,
        uri=f"{home}/memories/{new.category}/{new.id}.md",
        category=new.category,
        text=new.text,
        created_at=new.created_at,
        updated_at=new.confirmed_at,
        peer=new.peer,
        origin=Origin.PEER if new.peer else Origin.SELF,
        last_confirmed_at=new.confirmed_at,
        expires_at=expiry(new.confirmed_at, new.ttl_days),
        confidence=new.confidence,
        sensitivity=new.sensitivity,
        pinned=new.pinned,
        version=new.version,
        sources=(new.source,),
        key=new.key,
    )


def changed_while_waiting(new: NewMemory, change: MemoryChange, now: str) -> NewMemory:
    """The memory that is to be stored instead; the same one when nothing changes."""
    asked = {
        "text": change.text,
        "category": change.category,
        "pinned": change.pinned,
        "sensitivity": change.sensitivity,
        "ttl_days": change.ttl_days,
    }
    fields: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if change.ends_ttl:
        fields["ttl_days"] = None
    if all(getattr(new, name) == value for name, value in fields.items()):
        return new
    reason = "changed" if fields.get("text", new.text) != new.text else "updated"
    return replace(new, **fields, earlier=(*new.earlier, MemoryVersion(new.version, new.text, now, reason)))


def all_waiting(waiting_ones: Sequence[NewMemory], now: str) -> list[Memory]:
    """The memories that the backend does not have yet, oldest first: of those with one key the last holds."""
    return [record.memory for record in waiting_records(waiting_ones, now)]


def waiting_records(waiting_ones: Sequence[NewMemory], now: str) -> list[MemoryRecord]:
    """See `all_waiting`; each with its earlier versions."""
    last = {(new.key, new.peer): new.id for new in waiting_ones if new.key is not None}
    found = []
    for new in waiting_ones:
        memory = waiting(new)
        superseded = new.key is not None and last[new.key, new.peer] != new.id
        state = state_at(now, memory.expires_at, superseded=superseded)
        found.append(MemoryRecord(replace(memory, state=state), new.earlier))
    return found
