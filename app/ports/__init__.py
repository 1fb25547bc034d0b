"""The ports, a file for each: what the service asks of a backend, of the turn store, of memories and of documents.

One contract suite (``tests/contract``) runs over every implementation of a port.
"""

from app.ports.backend_port import (
    Appended,
    BackendError,
    BackendHealth,
    CommitReceipt,
    CommitState,
    CommitStatus,
    ContextBackend,
    SessionHistory,
    Target,
)
from app.ports.catalogue_port import CataloguedDocument, DocumentPlace, DocumentState, ResourceCatalogue
from app.ports.import_port import Forgotten, ResourceTasks
from app.ports.ledger_port import LedgerEntry, LedgerPlace, LedgerRows, MemoryLedger
from app.ports.memory_port import MemoryStore
from app.ports.opened_backend import BackendServer, OpenedBackend
from app.ports.resource_port import NewResource, ReadResource, ResourceStore
from app.ports.turn_port import (
    Acceptance,
    Compaction,
    CompactionState,
    LocalHistory,
    MessageRange,
    NewTurn,
    Recorded,
    SeenBefore,
    StoredTurn,
    TurnStore,
)
from app.ports.waiting_port import MemoryNews, WaitingMemories

__all__ = [
    "Acceptance",
    "Appended",
    "BackendError",
    "BackendHealth",
    "BackendServer",
    "CataloguedDocument",
    "CommitReceipt",
    "CommitState",
    "CommitStatus",
    "Compaction",
    "CompactionState",
    "ContextBackend",
    "DocumentPlace",
    "DocumentState",
    "Forgotten",
    "LedgerEntry",
    "LedgerPlace",
    "LedgerRows",
    "LocalHistory",
    "MemoryLedger",
    "MemoryNews",
    "MemoryStore",
    "MessageRange",
    "NewResource",
    "NewTurn",
    "OpenedBackend",
    "ReadResource",
    "Recorded",
    "ResourceCatalogue",
    "ResourceStore",
    "ResourceTasks",
    "SeenBefore",
    "SessionHistory",
    "StoredTurn",
    "Target",
    "TurnStore",
    "WaitingMemories",
]
