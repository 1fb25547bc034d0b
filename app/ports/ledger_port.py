"""The port to the ledger of memories: what the sidecar keeps of them for a backend that has no place for it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from app.core.identity import Tenant
from app.core.memories.paging import Place

Answer = TypeVar("Answer")


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
