"""Memories, what becomes of them, and what is noted of that."""

from typing import Literal, NotRequired, TypedDict

from sidecar_client.answers.turns import PolicyLine

Sensitivity = Literal["low", "medium", "high"]
State = Literal["live", "superseded", "expired"]


class MemorySource(TypedDict):
    """Where a statement came from, and when."""

    kind: Literal["turn", "api", "import", "file"]
    session: str | None
    turnId: str | None
    at: str


class Memory(TypedDict):
    """One statement. Times are ISO 8601 in UTC."""

    id: str
    uri: str
    category: str
    text: str
    origin: Literal["self", "peer", "resource"]
    peer: str | None
    createdAt: str
    updatedAt: str
    lastConfirmedAt: str | None
    expiresAt: str | None
    confidence: float | None
    sensitivity: Sensitivity
    pinned: bool
    version: int
    state: State
    sources: list[MemorySource]


class ListedMemory(Memory):
    """A memory of a list; it has a ``score`` where there was a query."""

    score: NotRequired[float | None]


class WrittenMemory(Memory):
    """A memory that was stored or changed, and what the policy took out of its text."""

    policy: list[PolicyLine]


class MemoryVersion(TypedDict):
    """An earlier version, and until when it was so."""

    version: int
    text: str
    at: str
    reason: str


class MemoryRecord(Memory):
    """A memory with its earlier versions, oldest first."""

    history: list[MemoryVersion]


class MemoryPage(TypedDict):
    """A page of memories."""

    memories: list[ListedMemory]
    nextCursor: str | None


class Selected(TypedDict):
    """A memory that a forgetting was about."""

    id: str
    uri: str
    category: str


class Removed(TypedDict):
    """How much was removed."""

    memories: int
    turns: int
    archives: int
    notes: int
    traces: int
    outbox: int


class Kept(TypedDict):
    """What was not reached, and why."""

    what: str
    why: str


class Receipt(TypedDict):
    """What a forgetting did, or would do."""

    receiptId: str
    at: str
    dryRun: bool
    selected: list[Selected]
    removed: Removed
    kept: list[Kept]


class RejectedLine(TypedDict):
    """A line that was not taken in."""

    line: int
    detail: str


class Imported(TypedDict):
    """What became of an import."""

    imported: int
    skipped: int
    rejected: list[RejectedLine]


Action = Literal["recalled", "read", "stored", "changed", "forgotten", "exported", "imported"]


class Actor(TypedDict):
    """Who did something: a token by the first characters of its SHA-256, an agent, a session, as far as known."""

    token: str | None
    agent: str | None
    session: str | None


class AuditEntry(TypedDict):
    """One thing that was done with one memory; never a text."""

    at: str
    action: Action
    memoryId: str
    actor: Actor
    requestId: str | None
    traceId: str | None


class AuditPage(TypedDict):
    """The audit trail, newest first."""

    entries: list[AuditEntry]
    nextCursor: str | None


class Finding(TypedDict):
    """A memory, and why it is worth a look."""

    id: str
    reason: str


class Findings(TypedDict):
    """Memories that belong together, and why they are worth a look."""

    ids: list[str]
    reason: str


class Freshness(TypedDict):
    """What a check found; ``checkedAt`` is None before the first."""

    checkedAt: str | None
    expired: list[Finding]
    stale: list[Finding]
    unconfirmed: list[Finding]
    duplicates: list[Findings]
    conflicts: list[Findings]
