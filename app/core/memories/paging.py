"""Pages that stay put while others write: a cursor names the last memory that was shown, not a number of them."""

import base64
import binascii
import heapq
import json
from collections.abc import Iterable
from dataclasses import dataclass

from app.core.cleaning.host_text import storable
from app.core.memories.memory import Memory
from app.text.dates import moment_of

MAX_CURSOR_CHARS = 400


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the list, newest first: what stands before it was shown already."""

    created_at: str
    id: str

    def precedes(self, memory: Memory) -> bool:
        """Whether the memory is still to come."""
        return (memory.created_at, memory.id) < (self.created_at, self.id)


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Memories, newest first; ``after`` is where the next page begins, None at the end."""

    memories: tuple[Memory, ...]
    after: Place | None = None


def place_of(memory: Memory) -> Place:
    """The place of a memory in the list."""
    return Place(memory.created_at, memory.id)


def page_of(memories: Iterable[Memory], limit: int) -> MemoryPage:
    """The first ``limit`` of memories that come newest first; there is a next page when one is left."""
    found = list(memories)
    more = place_of(found[limit - 1]) if len(found) > limit else None
    return MemoryPage(tuple(found[:limit]), more)


def merged(one: Iterable[Memory], other: Iterable[Memory]) -> list[Memory]:
    """Two lists, each newest first, as one; of two with the same id the first counts."""
    order = heapq.merge(one, other, key=lambda memory: (memory.created_at, memory.id), reverse=True)
    return list({memory.id: memory for memory in reversed(list(order))}.values())[::-1]


def cursor_of(place: Place | None) -> str | None:
    """The place as an opaque, URL-safe text."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(json.dumps([place.created_at, place.id]).encode()).decode().rstrip("=")


def place_in(cursor: str) -> Place:
    """The inverse of `cursor_of`. Raises `ValueError` for anything else."""
    try:
        created_at, memory_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError, RecursionError) as error:
        raise ValueError("no cursor") from error
    if not isinstance(created_at, str) or not isinstance(memory_id, str) or moment_of(created_at) is None:
        raise ValueError("no cursor")
    if storable(created_at + memory_id) != created_at + memory_id:  # no database compares with it
        raise ValueError("no cursor")
    return Place(created_at, memory_id)
