"""Bodies of `/memories`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from app.api.schemas import Flag, Millis, PolicyLineBody, ScopeBody, Wire
from app.core.cleaning.host_text import storable
from app.core.memories.memory import (
    MAX_KEY_CHARS,
    MAX_TEXT_CHARS,
    MAX_TTL_DAYS,
    Memory,
    MemoryRecord,
    MemorySource,
    MemoryState,
    MemoryVersion,
    Origin,
    Sensitivity,
    SourceKind,
)
from app.core.memories.memory_outcomes import Receipt
from app.text.dates import iso, moment_of

Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS, description="One statement.")]
Category = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_-]{0,63}$",
        description="`profile`, `preferences`, `entities`, `events`, `notes`, `experiences`, or one of your own.",
    ),
]
TtlDays = Annotated[
    float,
    Field(gt=0, le=MAX_TTL_DAYS, allow_inf_nan=False, description="Days for which it holds; may be a fraction."),
]


class StoreMemoryRequest(ScopeBody):
    """`POST /memories`. The scope may be left out."""

    text: Text
    category: Category | None = Field(None, description="Without one the statement itself decides, else `notes`.")
    key: Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS)] | None = Field(
        None, description="What it is about: another text under the same key takes its place."
    )
    importance: Literal["normal", "high"] | None = None
    ttl_days: TtlDays | None = None
    sensitivity: Sensitivity | None = Field(None, description="Without one the text decides.")
    pinned: Flag | None = None
    owner: Literal["user", "peer"] | None = Field(
        None, alias="for", description="`peer`: it belongs to the agent or sender of the scope, as recall routes them."
    )
    deadline_ms: Millis | None = Field(None, description="Longest wait for the backend, milliseconds.")


class ChangeMemoryRequest(Wire):
    """`PATCH /memories/{id}`. What is left out stays as it is; `ttlDays: null` is for good."""

    text: Text | None = None
    category: Category | None = None
    pinned: Flag | None = None
    ttl_days: TtlDays | None = None
    sensitivity: Sensitivity | None = None


class MemorySourceBody(Wire):
    """Where a statement came from."""

    kind: SourceKind
    session: str | None = None
    turn_id: str | None = None
    at: str


class MemoryBody(Wire):
    """One statement."""

    id: str
    uri: str
    category: str
    text: str
    origin: Origin
    peer: str | None
    created_at: str = Field(description="When it was said.")
    updated_at: str = Field(description="When it was written here.")
    last_confirmed_at: str | None
    expires_at: str | None
    confidence: float | None
    sensitivity: Sensitivity
    pinned: bool
    version: int
    state: MemoryState
    sources: list[MemorySourceBody]


class WrittenMemoryBody(MemoryBody):
    """A memory that was stored or changed."""

    policy: list[PolicyLineBody] = Field(description="What the rules took out of its text before it was stored.")


class ListedMemoryBody(MemoryBody):
    """A memory of a list; `score` where there was a query."""

    score: float | None = None


class MemoryPageBody(Wire):
    """A page of memories."""

    memories: list[ListedMemoryBody]
    next_cursor: str | None


class MemoryVersionBody(Wire):
    """An earlier version."""

    version: int
    text: str
    at: str = Field(description="Until when it was so.")
    reason: str


class MemoryRecordBody(MemoryBody):
    """A memory with its earlier versions, oldest first."""

    history: list[MemoryVersionBody]


class SelectedBody(Wire):
    """A memory that was forgotten."""

    id: str
    uri: str
    category: str


class RemovedBody(Wire):
    """How much was removed."""

    memories: int
    turns: int
    archives: int
    notes: int
    traces: int
    outbox: int


class KeptBody(Wire):
    """What was not reached, and why."""

    what: str
    why: str


class ReceiptBody(Wire):
    """What a forgetting did."""

    receipt_id: str
    at: str
    dry_run: bool
    selected: list[SelectedBody]
    removed: RemovedBody
    kept: list[KeptBody]


class RejectedLineBody(Wire):
    """A line that was not taken in."""

    line: int
    detail: str


class ImportBody(Wire):
    """What became of an import."""

    imported: int
    skipped: int
    rejected: list[RejectedLineBody]


def utc(given: str) -> str:
    """A moment in the form in which moments are kept. Raises `ValueError` for what is none."""
    moment = moment_of(given)
    if moment is None:
        raise ValueError("give a moment in ISO 8601, such as 2026-03-04T09:00:00Z")
    return iso(moment)


def _said(given: str) -> str:
    text = storable(given).strip()
    if not text:
        raise ValueError("must say something")
    return text


_Name = Annotated[str, Field(max_length=1024), AfterValidator(storable)]
_Moment = Annotated[str, Field(max_length=40), AfterValidator(utc)]


class _ImportedSource(MemorySourceBody):
    session: _Name | None = None
    turn_id: _Name | None = None
    at: _Moment


class _ImportedVersion(MemoryVersionBody):
    version: Annotated[int, Field(ge=1, le=1_000_000_000)]
    text: Annotated[str, Field(max_length=MAX_TEXT_CHARS), AfterValidator(storable)]
    at: _Moment
    reason: Annotated[str, Field(max_length=64), AfterValidator(storable)]


class ImportedLine(Wire):
    """A line of an export."""

    model_config = ConfigDict(strict=True)

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
    uri: _Name = ""
    category: Category
    text: Annotated[Text, AfterValidator(_said)]
    origin: Annotated[Origin, Field(strict=False)] = Origin.SELF
    peer: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.@-]{1,128}$")] | None = None
    created_at: _Moment
    updated_at: _Moment
    last_confirmed_at: _Moment | None = None
    expires_at: _Moment | None = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    sensitivity: Annotated[Sensitivity, Field(strict=False)] = Sensitivity.LOW
    pinned: bool = False
    version: Annotated[int, Field(ge=1, le=1_000_000_000)] = 1
    state: Annotated[MemoryState, Field(strict=False)] = MemoryState.LIVE
    sources: Annotated[list[_ImportedSource], Field(max_length=50)] = Field(default_factory=list)
    key: Annotated[_Name, Field(max_length=MAX_KEY_CHARS)] | None = None
    history: Annotated[list[_ImportedVersion], Field(max_length=200)] = Field(default_factory=list)


def shown(memory: Memory) -> dict[str, Any]:
    """A memory as its JSON."""
    return {
        "id": memory.id,
        "uri": memory.uri,
        "category": memory.category,
        "text": memory.text,
        "origin": memory.origin,
        "peer": memory.peer,
        "createdAt": memory.created_at,
        "updatedAt": memory.updated_at,
        "lastConfirmedAt": memory.last_confirmed_at,
        "expiresAt": memory.expires_at,
        "confidence": memory.confidence,
        "sensitivity": memory.sensitivity,
        "pinned": memory.pinned,
        "version": memory.version,
        "state": memory.state,
        "sources": [
            {"kind": source.kind, "session": source.session, "turnId": source.turn_id, "at": source.at}
            for source in memory.sources
        ],
    }


def shown_record(record: MemoryRecord) -> dict[str, Any]:
    """A memory with its earlier versions as its JSON."""
    history = [{"version": one.version, "text": one.text, "at": one.at, "reason": one.reason} for one in record.history]
    return {**shown(record.memory), "history": history}


def exported(record: MemoryRecord) -> dict[str, Any]:
    """A line of the export: what an import needs to make the same memory again."""
    return {**shown_record(record), "key": record.memory.key}


def shown_receipt(receipt: Receipt) -> dict[str, Any]:
    """A receipt as its JSON."""
    counts: Mapping[str, int] = receipt.removed
    return {
        "receiptId": receipt.receipt_id,
        "at": receipt.at,
        "dryRun": receipt.dry_run,
        "selected": [{"id": one.id, "uri": one.uri, "category": one.category} for one in receipt.selected],
        "removed": {name: counts.get(name, 0) for name in RemovedBody.model_fields},
        "kept": [{"what": one.what, "why": one.why} for one in receipt.kept],
    }


def record_in(line: ImportedLine) -> MemoryRecord:
    """The memory that a line of an export holds."""
    memory = Memory(
        id=line.id,
        uri=line.uri,
        category=line.category,
        text=line.text,
        created_at=line.created_at,
        updated_at=line.updated_at,
        peer=line.peer,
        origin=Origin.PEER if line.peer else Origin.SELF,
        last_confirmed_at=line.last_confirmed_at,
        expires_at=line.expires_at,
        confidence=line.confidence,
        sensitivity=line.sensitivity,
        pinned=line.pinned,
        version=line.version,
        state=line.state,
        sources=tuple(MemorySource(one.kind, one.at, one.session, one.turn_id) for one in line.sources),
        key=line.key or None,
    )
    return MemoryRecord(memory, tuple(MemoryVersion(one.version, one.text, one.at, one.reason) for one in line.history))
