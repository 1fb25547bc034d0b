"""The port to memories that wait for the backend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.identity import Tenant
from app.core.memories.memory import Memory, NewMemory
from app.core.memories.memory_outcomes import Stored


@dataclass(frozen=True, slots=True)
class MemoryNews:
    """What a search of the backend may not know: what waits for it, oldest first, and how often memories changed."""

    version: int = 0
    waiting: tuple[NewMemory, ...] = ()
    undelivered: tuple[Memory, ...] = ()
    """What `MemoryStore.undelivered` has."""


class WaitingMemories(Protocol):
    """Memories that are on disk here and not yet in the backend: the outbox of `MemoryStore.store`."""

    async def put(self, tenant: Tenant, new: NewMemory) -> Stored:
        """Put it on disk, behind those that wait. The text of one that waits, without a key, is that one.

        Raises `OutboxFull`, `StoreUnavailable`.
        """
        ...

    async def news(self, tenant: Tenant) -> MemoryNews:
        """What waits, and how often the tenant's memories changed."""
        ...

    async def changed(self, tenant: Tenant) -> None:
        """Count a change of the tenant's memories, for every process."""
        ...

    async def of(self, tenant: Tenant) -> Sequence[NewMemory]:
        """Those that wait, oldest first."""
        ...

    async def change(
        self, tenant: Tenant, memory_id: str, change: Callable[[NewMemory], NewMemory]
    ) -> NewMemory | None:
        """Have another one wait in its place; None when it does not wait. What ``change`` raises leaves it as it is."""
        ...

    async def remove(self, tenant: Tenant, memory_id: str) -> bool:
        """Take it out: it was forgotten; whether it was there."""
        ...
