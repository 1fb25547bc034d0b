"""Records as the memories that the port speaks of, and back."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.core.memories.freshness import Revision, RevisionKind
from app.core.memories.memory import (
    Memory,
    MemoryRecord,
    MemorySource,
    MemoryState,
    MemoryVersion,
    NewMemory,
    Origin,
    Sensitivity,
    SourceKind,
    highest,
)
from app.embedded.storage.record_versions import NOT_ADOPTED, UPDATED, noted, with_source
from app.embedded.storage.records import Record, Source, days_until, derived_id, holds_until
from app.text.dates import iso, moment_of
from app.text.items import tidy

_FIRST = "1970-01-01T00:00:00.000Z"
_NAMED = "named."
_KINDS: dict[str, SourceKind] = {
    "chat_model": "turn",
    "chat_turn": "turn",
    "api": "api",
    "import": "import",
    "edit": "file",
}
_STORED = {kind: stored for stored, kind in _KINDS.items()}


def utc(text: str) -> str:
    """A moment in the form whose order as text is that in time; the epoch's first for what is none."""
    moment = moment_of(text)
    return iso(moment) if moment else _FIRST


def key_of(name: str | None, memory_id: str) -> str:
    """The key of a record that was stored on purpose: the one that its writer gave, or one that no other has."""
    return f"{_NAMED}{name}" if name else f"memory.{memory_id}"


def id_after(memory_id: str, since: float = 0.0) -> str:
    """The id of a memory that is stored again after it was forgotten under another one; ``since``: until when
    everything was forgotten."""
    return derived_id("again", memory_id, since)


def name_of(record: Record) -> str | None:
    """The key that the writer of a record gave it."""
    return record.key.removeprefix(_NAMED) if record.key.startswith(_NAMED) else None


def memory_of(record: Record, uri: str, category: str, peer: str | None) -> Memory:
    """The memory that a record is. Whether its time is over is for the reader to say."""
    until = holds_until(record)
    said_at = utc(record.said_at or record.source.observed_at)
    return Memory(
        id=record.id,
        uri=uri,
        category=category,
        text=record.value,
        created_at=said_at,
        updated_at=utc(record.updated_at or record.created_at or said_at),
        peer=peer,
        origin=Origin.PEER if peer else Origin.SELF,
        last_confirmed_at=utc(record.last_confirmed_at) if record.last_confirmed_at else None,
        expires_at=iso(until) if until else None,
        confidence=record.confidence,
        sensitivity=Sensitivity(record.sensitivity if record.sensitivity in set(Sensitivity) else "low"),
        pinned=record.pinned,
        version=record.version,
        state=MemoryState.LIVE if record.holds else MemoryState.SUPERSEDED,
        sources=tuple(map(source_of, sources_of(record))),
        key=name_of(record),
    )


def sources_of(record: Record) -> list[Source]:
    """Where the record was said. Earlier versions of the sidecar noted a source for a change of anything else, too."""
    updated = {entry.get("until") for entry in record.history if entry.get("outcome") == UPDATED}
    return [
        one for one in (*record.also, record.source) if one.kind != "api" or one.ref or one.observed_at not in updated
    ]


def history_of(record: Record) -> tuple[MemoryVersion, ...]:
    """The earlier versions of a record. Those of before versions were noted are numbered as they stand."""
    entries = [entry for entry in record.history if entry.get("outcome") != NOT_ADOPTED]
    first = max(1, record.version - len(entries))
    return tuple(
        MemoryVersion(
            version=entry["version"] if isinstance(entry.get("version"), int) else first + place,
            text=str(entry.get("value") or ""),
            at=utc(str(entry.get("until") or entry.get("observed_at") or "")),
            reason=str(entry.get("outcome") or "superseded"),
        )
        for place, entry in enumerate(entries)
    )


def record_of(new: NewMemory) -> Record:
    """The record of a memory that is stored on purpose."""
    said = Source(
        _STORED[new.source.kind], new.message_id or new.source.turn_id or "", new.created_at, new.source.session or ""
    )
    return Record(
        type="memory",
        key=key_of(new.key, new.id),
        value=tidy(new.text),
        confidence=new.confidence,
        source=said,
        sensitivity=new.sensitivity.value,
        ttl=new.ttl_days,
        last_confirmed_at=new.confirmed_at,
        version=new.version,
        created_at=new.created_at,
        updated_at=new.confirmed_at,
        id=new.id,
        pinned=new.pinned,
        category=new.category,
        history=_history_of(new.earlier),
    )


def confirmed(new: NewMemory, record: Record) -> Record:
    """The record once its text was stored again on purpose: what is asked for now counts, of two marks the higher."""
    said = Source("api", "", new.created_at, new.source.session or "")
    sensitivity = new.sensitivity.value if new.has_asked_sensitivity else record.sensitivity
    return replace(
        record,
        key=record.key if new.key is None else key_of(new.key, record.id),
        confidence=max(record.confidence, new.confidence),
        sensitivity=highest(record.sensitivity, sensitivity).value,
        ttl=record.ttl if new.ttl_days is None else new.ttl_days,
        last_confirmed_at=max(record.last_confirmed_at, new.created_at),
        updated_at=new.created_at,
        also=with_source(record.also, said),
        pinned=record.pinned or new.pinned,
    )


def record_of_line(memory: Memory) -> Record:
    """The record of a statement that a person wrote into a file."""
    return replace(record_written(memory.id, memory.text, memory.created_at), updated_at=memory.updated_at)


def record_written(memory_id: str, text: str, at: str) -> Record:
    """The record of what a person wrote at this moment."""
    return Record(
        type="memory",
        key=key_of(None, memory_id),
        value=text,
        confidence=1.0,
        source=Source("edit", "", at),
        created_at=at,
        updated_at=at,
        id=memory_id,
    )


def _history_of(versions: Sequence[MemoryVersion]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"value": one.text, "outcome": one.reason, "version": one.version, "until": one.at, "ref": ""}
        for one in versions
    )


def revised(revision: Revision, now: str, record: Record) -> Record:
    """The record as a check of what still holds leaves it."""
    outcome = revision.kind.value
    match revision.kind:
        case RevisionKind.EXPIRE:
            since = record.last_confirmed_at or record.source.observed_at
            return noted(record, outcome, now, ttl=days_until(moment_of(revision.at or ""), since) or 0.0)
        case RevisionKind.WEAKEN:
            return noted(record, outcome, now, confidence=revision.confidence or record.confidence)
        case RevisionKind.MERGE | RevisionKind.SUPERSEDE:
            return noted(record, outcome, now, superseded_at=now)


def imported(stored: MemoryRecord) -> Record:
    """The record of an exported memory, with its id, times and history."""
    memory = stored.memory
    sources = [Source(_STORED[one.kind], one.turn_id or "", one.at, one.session or "") for one in memory.sources]
    confirmed_at = memory.last_confirmed_at or ""
    record = Record(
        type="memory",
        key=key_of(memory.key, memory.id),
        value=tidy(memory.text),
        confidence=memory.confidence if memory.confidence is not None else 0.9,
        source=sources[-1] if sources else Source("import", "", memory.created_at),
        sensitivity=memory.sensitivity.value,
        last_confirmed_at=confirmed_at,
        version=memory.version,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        id=memory.id,
        said_at=memory.created_at,
        also=tuple(sources[:-1]),
        pinned=memory.pinned,
        category=memory.category,
        superseded_at=memory.updated_at if memory.state is MemoryState.SUPERSEDED else "",
        history=_history_of(stored.history),
    )
    return replace(
        record, ttl=days_until(moment_of(memory.expires_at or ""), confirmed_at or record.source.observed_at)
    )


def source_of(source: Source) -> MemorySource:
    """Where a statement came from, as the port says it."""
    return MemorySource(
        kind=_KINDS.get(source.kind, "file"),
        at=utc(source.observed_at),
        session=source.session or None,
        turn_id=source.ref.rpartition(".")[0] or source.ref or None,
    )
