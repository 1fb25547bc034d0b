"""What a backend's package hands over when it is opened: its ports, and the server that it needs."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from app.core.memories.audit import OnWritten
from app.core.recall.text_pairs import ReadPairs
from app.ports.backend_port import ContextBackend
from app.ports.catalogue_port import ResourceCatalogue
from app.ports.ledger_port import MemoryLedger
from app.ports.memory_port import MemoryStore
from app.ports.resource_port import ResourceStore


class BackendServer(Protocol):
    """A server that this service runs for its backend."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep it running until the block ends. Raises `CanNotStart` when it never could run."""
        ...

    def look(self) -> dict[str, str]:
        """What `doctor` tells of it, and of the one that ``serve`` runs. Raises `CanNotStart` when none can run."""
        ...


@dataclass(frozen=True, slots=True)
class OpenedBackend:
    """What a backend's package hands over when it is opened; see `app.backends`."""

    backend: ContextBackend
    server: BackendServer | None = None
    memories: Callable[[MemoryLedger], MemoryStore] | None = None
    """Opens its memories one by one, given a place for what the backend has none for; None while it keeps none."""
    resources: Callable[[ResourceCatalogue], ResourceStore] | None = None
    """Opens its documents and skills, given a catalogue for what it has no place for; None where it keeps none."""
    tell: Callable[[OnWritten], None] | None = None
    """Has somebody told of the memories that it writes by itself; None where it does not know them."""
    read_pairs: ReadPairs | None = None
    """Reads pairs of texts together, where it has a model for that."""
    unnamed: str | None = None
    """What it calls the account and the user that a request does not name; None where a server decides that."""
