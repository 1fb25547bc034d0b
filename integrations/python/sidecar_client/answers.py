"""What the sidecar answers, field by field, as ``openapi/openapi.json`` has it. Names are those on the wire."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

Message = Mapping[str, Any]
"""A message as your host has it: at least ``role`` and ``content``; OpenAI's, Anthropic's or OpenClaw's style."""
Sensitivity = Literal["low", "medium", "high"]
State = Literal["live", "superseded", "expired"]

PolicyLine = TypedDict("PolicyLine", {"class": str, "action": Literal["mask", "drop"], "count": int})
"""How often a class of text was found that must not be kept, and what was done."""


class Gate(TypedDict):
    """What the experience gate decided."""

    recall: bool
    trigger: str | None
    score: float
    reason: str


class RecalledItem(TypedDict):
    """One item of the injected block."""

    uri: str
    section: str
    category: str
    score: float
    chars: int


class RecallReport(TypedDict):
    """How a recall came about; `Sidecar.recall` has the whole story."""

    traceId: str
    query: str
    gate: Gate
    items: list[RecalledItem]
    timingsMs: dict[str, float]
    degraded: list[str]


class Flush(TypedDict):
    """A silent turn that the host may run, in which the model stores what must last."""

    due: bool
    prompt: str
    systemPrompt: str


class GuardNote(TypedDict):
    """A tool output, or with no ``callId`` a turn, of which ``chars`` characters were cut so that the messages fit."""

    kind: Literal["truncated", "trimmed", "cleared", "dropped"]
    callId: str | None
    chars: int


class Assembled(TypedDict):
    """What to send to the model. ``recall`` is missing where the sidecar was away."""

    messages: list[Message]
    estimatedTokens: int
    status: Literal["assembled", "passthrough"]
    reason: str
    systemPromptAddition: NotRequired[str]
    contextBlock: NotRequired[str]
    recall: NotRequired[RecallReport | None]
    flush: NotRequired[Flush]
    guards: NotRequired[list[GuardNote]]


class MessageRange(TypedDict):
    """Messages of a session by their running number, both ends included."""

    start: int
    end: int


class Compaction(TypedDict):
    """The background upload of a long session; ``clear`` is what the host may drop."""

    state: Literal["idle", "uploading", "uploaded", "forced"]
    uploadId: str | None
    messageRange: MessageRange | None
    clear: MessageRange | None


class Committed(TypedDict):
    """What became of a turn; it is on disk unless it was ``skipped``."""

    status: Literal["committed", "duplicate", "skipped"]
    reason: str
    turnId: str
    captured: int
    delivery: Literal["queued", "delivered"]
    pendingTokens: int
    compaction: Compaction
    policy: list[PolicyLine]
    flush: NotRequired[Flush]


class CompactDetails(TypedDict):
    """Which of archive and extraction succeeded."""

    archived: bool
    extracted: bool
    error: str
    instructionsUsed: bool


class CompactedSession(TypedDict):
    """The archive, its summary, and the size of the prompt's part before and after."""

    summary: str
    firstKeptEntryId: str
    tokensBefore: int
    tokensAfter: int
    details: CompactDetails


class Compacted(TypedDict):
    """What became of a compaction; the next `Sidecar.assemble` is shorter when ``compacted`` is true."""

    ok: bool
    compacted: bool
    reason: str
    result: CompactedSession
    taskId: str | None


class SessionStarted(TypedDict):
    """What a session begins with."""

    reason: str
    estimatedTokens: int
    systemPromptAddition: NotRequired[str]
    """Only when there is one; the same bytes until the session's epoch ends."""


class SessionEnded(TypedDict):
    """What became of a session that ended or started over."""

    ok: bool
    reason: str
    taskId: str | None


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


class TextBlock(TypedDict):
    """A text for the model."""

    type: Literal["text"]
    text: str


class ToolAnswer(TypedDict):
    """What a tool says: ``content`` to the model, ``details`` the same to programs; ``policy`` is what was masked."""

    ok: bool
    reason: str
    content: list[TextBlock]
    details: dict[str, Any]
    policy: list[PolicyLine]


class Delivery(TypedDict):
    """A turn on its way to the backend."""

    turnId: str
    session: str
    account: str | None
    user: str | None
    state: Literal["pending", "sending", "delivered", "dead", "discarded", "skipped"]
    reason: str
    captured: int
    sent: int
    bytes: int
    attempts: int
    error: str
    createdAt: str
    deliveredAt: str | None
    nextAttemptAt: str | None


class DeliveryPage(TypedDict):
    """Turns, newest first."""

    deliveries: list[Delivery]
    nextCursor: str | None


class RecallLine(TypedDict):
    """One recall in a list."""

    traceId: str
    at: str
    session: str
    sessionKey: str | None
    agent: str
    reason: str
    inject: str
    kept: int
    candidates: int
    experiences: bool
    totalMs: float
    degraded: list[str]


class RecallList(TypedDict):
    """Recalls, newest first."""

    recalls: list[RecallLine]
    nextCursor: str | None


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
