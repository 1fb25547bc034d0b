"""The port to memories one by one: listed, read, stored, changed, forgotten. A backend opens it beside its own port.

One contract suite (``tests/contract/test_memories.py``) runs over every implementation. Whatever goes wrong behind the
port is an `app.ports.BackendError`, as with `app.ports.ContextBackend`.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.injection.session_start.section import Workspace
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.core.memories.freshness import Revision
from app.core.memories.memory import (
    Memory,
    MemoryChange,
    MemoryFilter,
    MemoryRecord,
    NewMemory,
    Receipt,
    ScoredMemory,
    Stored,
)
from app.core.memories.paging import Place

Answer = TypeVar("Answer")


class MemoryStore(Protocol):
    """The memories of many tenants. Of ``who`` the tenant counts; what a peer may see is in the filter.

    An id that the tenant does not have is None, whoever else may have it.
    """

    async def newest(
        self, who: Identity, wanted: MemoryFilter, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[Memory]:
        """At most ``limit`` of those wanted, newest first by (``created_at``, ``id``), from behind ``after`` on.

        What was said (raw turns) is among them only where the filter asks for its category.
        """
        ...

    async def search(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        """At most ``limit`` of those wanted that are about ``query``, best first; raw turns may be among them."""
        ...

    async def get(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord | None:
        """One memory, in whatever state, with its history."""
        ...

    async def store(self, who: Identity, new: NewMemory, deadline: Deadline) -> Stored:
        """Put it on disk; from the next search on it is found, and what it supersedes is not.

        Safe to repeat: an id that is there already is answered with its memory. The text of a live memory of the same
        peer confirms that one; another text under the key of one supersedes it. One that was forgotten is not stored
        again under the same id: that raises `BackendError` with ``not_found``.
        """
        ...

    async def change(
        self, who: Identity, memory_id: str, change: MemoryChange, if_version: int | None, deadline: Deadline
    ) -> Memory | None:
        """Change it; a new text makes a new version, and the old one is found no more, wherever else it stands.

        Raises `app.errors.VersionConflict` when it is not at ``if_version``, `app.errors.Conflict` for what can not be
        changed (what was said).
        """
        ...

    async def forget(self, who: Identity, memory_id: str, deadline: Deadline) -> Receipt | None:
        """Delete it; its text is found no more, wherever else it stands. The receipt names what was not reached."""
        ...

    async def ids(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """The ids of the memories that searches find at these URIs; without those that are gone."""
        ...

    async def revise(self, who: Identity, revisions: Sequence[Revision], deadline: Deadline) -> Sequence[str]:
        """Change what a check has found, each in the memory's history; the ids of those that were changed.

        One that was changed since it was looked at, or is gone, is left alone.
        """
        ...

    async def statement(self, who: Identity, memory_id: str, deadline: Deadline) -> Statement | None:
        """What a forgetting of one memory works with: every text that it ever had, and where those were said.

        Raises `app.errors.Conflict` for what can not be forgotten alone.
        """
        ...

    async def erase(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """Remove what is to be forgotten from wherever the backend keeps it, look again, and say what is left.

        ``dry_run`` only says what would be removed. Safe to repeat. A message that loses everything stays known by its
        id, so that it is not delivered again. Nothing that was on its way (a delivery, an extraction, an index that is
        built) brings it back; whoever says or stores it again afterwards does.
        """
        ...

    async def export(
        self, who: Identity, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[MemoryRecord]:
        """Like `newest`, with the history: memories of every state, raw turns not among them."""
        ...

    async def take_in(self, who: Identity, records: Sequence[MemoryRecord], deadline: Deadline) -> Sequence[str]:
        """Put exported memories on disk with ids, times and history; the ids written. Those there are left alone."""
        ...

    async def workspace(self, who: Identity, days: Sequence[str], deadline: Deadline) -> Workspace:
        """The files that a person reads and writes beside the memories: daily notes are those of ``days``.

        Empty where the backend keeps no such files.
        """
        ...

    async def undelivered(self, tenant: Tenant) -> Sequence[Memory]:
        """The live ones that are on disk here, and that the backend's own search does not know as they are.

        Raises `app.errors.StoreUnavailable`.
        """
        ...

    async def unsettled(self) -> Sequence[Tenant]:
        """Whose memories are on disk here and not, or not as they are, where the backend keeps them.

        Raises `app.errors.StoreUnavailable`.
        """
        ...

    async def settle(self, tenant: Tenant, deadline: Deadline) -> None:
        """Have the backend know what it does not know yet of a tenant's memories."""
        ...


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What the sidecar keeps of a memory for a backend that has no place for it.

    ``uri`` is that of the file; several may stand in one. ``text_hash`` is of the text as the backend is to have it.
    ``fields`` and ``history`` are JSON.
    """

    memory_id: str
    uri: str
    text_hash: str
    state: str
    created_at: str
    key: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    history: tuple[dict[str, Any], ...] = ()
    version: int = 1
    stamp: str = ""
    """Equal as long as the file is as it was last read; empty where that is not known."""
    settled: bool = True
    """The backend has it as it is here."""
    plain: bool = True
    """A search of the backend shows it as it is: nothing about it is withheld, expires, or is not settled."""


class LedgerPlace(NamedTuple):
    """Where an entry stands, and which state of its file is known."""

    uri: str
    memory_id: str
    stamp: str
    settled: bool
    version: int
    state: str


class LedgerRows(Protocol):
    """One tenant's entries within a transaction, alone among those who write them."""

    def by_id(self, memory_id: str) -> LedgerEntry | None:
        """One entry."""
        ...

    def at(self, uri: str) -> list[LedgerEntry]:
        """Those of a file."""
        ...

    def saying(self, text_hash: str) -> list[LedgerEntry]:
        """Those with this hash, oldest first."""
        ...

    def named(self, key: str) -> list[LedgerEntry]:
        """Those under this key, oldest first."""
        ...

    def put(self, entry: LedgerEntry) -> None:
        """Write an entry, in place of the one with its id."""
        ...

    def remove(self, memory_id: str) -> None:
        """Take an entry out."""
        ...


class MemoryLedger(Protocol):
    """Where a backend keeps what it has no place for, by tenant: in the sidecar's own store.

    Raises `app.errors.StoreUnavailable`. Writers of one tenant come one after the other, in whichever process, so that
    what is decided within `changing` holds; each counts as a change, see `WaitingMemories.changed`.
    """

    async def entries(
        self, tenant: Tenant, after: Place | None = None, limit: int = -1, states: Collection[str] = ()
    ) -> Sequence[LedgerEntry]:
        """A tenant's in these states (none: in any), newest first by (``created_at``, ``memory_id``), from behind
        ``after`` on; -1 is all."""
        ...

    async def by_id(self, tenant: Tenant, memory_id: str) -> LedgerEntry | None:
        """One entry."""
        ...

    async def by_uri(self, tenant: Tenant, uris: Collection[str]) -> dict[str, list[LedgerEntry]]:
        """The entries of these files."""
        ...

    async def places(self, tenant: Tenant) -> Sequence[LedgerPlace]:
        """Where all of a tenant's entries stand."""
        ...

    async def notable(self, tenant: Tenant) -> Sequence[LedgerEntry]:
        """Those that are not plain."""
        ...

    async def version(self, tenant: Tenant) -> int:
        """How often the tenant's memories changed; see `WaitingMemories.changed`."""
        ...

    async def unsettled(self) -> Sequence[Tenant]:
        """Whose entries are not all settled."""
        ...

    async def changing(self, tenant: Tenant, work: Callable[[LedgerRows], Answer]) -> Answer:
        """What ``work`` returns, once what it wrote is on disk; nothing is written when it raises."""
        ...


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
