"""What becomes of a ledger's entry: pure functions from an entry to the next one, and from what is new to an entry."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from app.core.memories.freshness import Revision
from app.core.memories.memory import (
    MemoryChange,
    MemoryRecord,
    MemorySource,
    MemoryState,
    NewMemory,
    expiry,
    highest,
)
from app.core.memories.withholding import Withholding
from app.openviking.ledger_entries import (
    FORGOTTEN,
    LIVE,
    SUPERSEDED,
    UPDATED,
    Step,
    file_of,
    hash_of,
    id_of,
    is_own,
    old_hashes,
    steps_of,
    text_of,
)
from app.ports import LedgerEntry
from app.text.dates import iso, moment_of
from app.text.items import tidy

MAX_HISTORY = 200
MAX_SOURCES = 50
_KEPT = frozenset({"own", "piece", "category", "peer"})
"""What is known of a memory that was forgotten: where it stood."""
CERTAIN = 1.0
"""Confidence of what was written on purpose in place of something else."""


# changing


def added(new: NewMemory, now: str, withholding: Withholding) -> LedgerEntry:
    """The entry of a memory that is stored on purpose, with a file to be written."""
    text = tidy(new.text)
    fields = {
        "own": True,
        "text": text,
        "category": new.category,
        "peer": new.peer,
        "updated_at": now,
        "last_confirmed_at": new.confirmed_at,
        "ttl_days": new.ttl_days,
        "expires_at": expiry(new.confirmed_at, new.ttl_days),
        "confidence": new.confidence,
        "sensitivity": new.sensitivity.value,
        "pinned": new.pinned,
        "sources": [asdict(new.source)],
    }
    if old := [one for one in new.earlier if hash_of(one.text) != hash_of(text)]:
        fields["withheld"] = [_withheld(one.text, one.at, withholding, text) for one in old]
    uri = file_of(new.id, new.category, new.peer)
    entry = LedgerEntry(
        new.id,
        uri,
        hash_of(text),
        LIVE,
        new.created_at,
        key=new.key,
        fields=fields,
        history=tuple(asdict(one) for one in new.earlier),
        version=new.version,
    )
    return sealed(entry, [Step(uri, text)])


def confirmed(entry: LedgerEntry, new: NewMemory) -> LedgerEntry:
    """The entry once its text was stored again."""
    fields = dict(entry.fields)
    at = max(fields.get("last_confirmed_at") or "", new.created_at)
    days = new.ttl_days if new.ttl_days is not None else fields.get("ttl_days")
    fields |= {"last_confirmed_at": at, "updated_at": new.created_at, "ttl_days": days}
    fields["expires_at"] = expiry(at, days) if days is not None else fields.get("expires_at")
    fields["pinned"] = fields.get("pinned", False) or new.pinned
    fields["confidence"] = max(fields.get("confidence") or 0.0, new.confidence)
    if new.has_asked_sensitivity:
        fields["sensitivity"] = highest(fields.get("sensitivity", ""), new.sensitivity).value
    fields["sources"] = [*fields.get("sources", ()), asdict(new.source)][-MAX_SOURCES:]
    return sealed(replace(entry, fields=fields, key=entry.key if new.key is None else new.key))


def superseded(entry: LedgerEntry, at: str, still: str, withholding: Withholding) -> LedgerEntry:
    """The entry once another text, ``still``, stands in its place: its own is found no more."""
    fields = {**entry.fields, "updated_at": at}
    withheld = [] if hash_of(still) == entry.text_hash else [_withheld(text_of(entry), at, withholding, still)]
    fields["withheld"] = [*fields.get("withheld", ()), *withheld]
    return sealed(replace(entry, fields=fields, state=SUPERSEDED), _taken_out(entry))


def changed(entry: LedgerEntry, change: MemoryChange, now: str, withholding: Withholding) -> LedgerEntry:
    """The next version of an entry; the same one when nothing changes."""
    fields, steps, uri, text = dict(entry.fields), [], entry.uri, text_of(entry)
    fields |= _plain_changes(entry, change, now)
    new_text = text if change.text is None else tidy(change.text)
    if change.category is not None and change.category != fields["category"]:
        fields["category"] = change.category
        uri = file_of(entry.memory_id, change.category, fields.get("peer")) if is_own(entry) else uri
    if fields == entry.fields and new_text == text:
        return entry
    if new_text != text:
        fields |= {"text": new_text, "confidence": CERTAIN}
        fields["withheld"] = [*fields.get("withheld", ()), _withheld(text, now, withholding, new_text)]
    if uri != entry.uri:
        steps.append(Step(entry.uri, None))
    if uri != entry.uri or new_text != text:
        steps.append(Step(uri, new_text, "" if is_own(entry) else entry.text_hash))
    reason = "changed" if new_text != text else UPDATED
    version = {"version": entry.version, "text": text, "at": now, "reason": reason}
    fields |= {"updated_at": now, "last_confirmed_at": now}
    if new_text != text:  # only then it is the caller who says it
        fields["sources"] = [*fields.get("sources", ()), asdict(MemorySource("api", now))][-MAX_SOURCES:]
    return sealed(
        replace(
            entry,
            uri=uri,
            text_hash=hash_of(new_text),
            fields=fields,
            history=(*entry.history, version)[-MAX_HISTORY:],
            version=entry.version + 1,
        ),
        steps,
    )


def forgotten(entry: LedgerEntry, now: str, withholding: Withholding) -> LedgerEntry:
    """What is left of a memory that is forgotten: nothing of what it says."""
    texts = [text_of(entry), *(one["text"] for one in entry.history)]
    withheld = list(entry.fields.get("withheld", ()))
    withheld += [_withheld(text, now, withholding) for text in dict.fromkeys(texts)]
    pending = [asdict(step) for step in steps_of(entry) if step.text is None]
    fields: dict[str, Any] = {"updated_at": now, "withheld": withheld, "steps": pending}
    fields |= {key: value for key, value in entry.fields.items() if key in _KEPT}
    bare = replace(entry, state=FORGOTTEN, key=None, fields=fields, history=(), version=entry.version + 1)
    return sealed(bare, _taken_out(entry))


def revised(
    entry: LedgerEntry, revision: Revision, now: str, withholding: Withholding, into: LedgerEntry | None
) -> LedgerEntry:
    """The entry as a check of what still holds leaves it; ``into`` takes its place, or its sources."""
    version = {"version": entry.version, "text": text_of(entry), "at": now, "reason": revision.kind.value}
    noted = replace(entry, version=entry.version + 1, history=(*entry.history, version))
    if into is not None:
        return superseded(noted, now, text_of(into), withholding)
    fields: dict[str, Any] = {**entry.fields, "updated_at": now}
    if revision.at is not None:
        fields["expires_at"] = revision.at
    if revision.confidence is not None:
        fields["confidence"] = revision.confidence
    return sealed(replace(noted, fields=fields))


def joined(entry: LedgerEntry, other: LedgerEntry, now: str) -> LedgerEntry:
    """The entry with the sources of another one that says the same."""
    version = {"version": entry.version, "text": text_of(entry), "at": now, "reason": "merged"}
    sources = [*entry.fields.get("sources", ()), *other.fields.get("sources", ())][-MAX_SOURCES:]
    fields = {**entry.fields, "sources": sources, "updated_at": now}
    return sealed(replace(entry, fields=fields, version=entry.version + 1, history=(*entry.history, version)))


def imported(record: MemoryRecord) -> LedgerEntry:
    """The entry of an exported memory, with its id, times and history."""
    memory = record.memory
    text, confirmed_at = tidy(memory.text), memory.last_confirmed_at
    since, until = moment_of(confirmed_at or memory.created_at), moment_of(memory.expires_at or "")
    fields = {
        "own": True,
        "text": text,
        "category": memory.category,
        "peer": memory.peer,
        "updated_at": memory.updated_at,
        "last_confirmed_at": confirmed_at,
        "ttl_days": (until - since).total_seconds() / 86_400 if since and until else None,
        "expires_at": memory.expires_at,
        "confidence": memory.confidence,
        "sensitivity": memory.sensitivity.value,
        "pinned": memory.pinned,
        "sources": [asdict(one) for one in memory.sources],
    }
    uri = file_of(memory.id, memory.category, memory.peer)
    old = memory.state is MemoryState.SUPERSEDED
    entry = LedgerEntry(
        memory.id,
        uri,
        hash_of(text),
        SUPERSEDED if old else LIVE,
        memory.created_at,
        key=memory.key,
        fields=fields,
        history=tuple(asdict(one) for one in record.history),
        version=memory.version,
    )
    return sealed(entry, [] if old else [Step(uri, text)])


def found_in_file(uri: str, text: str, category: str, peer: str | None, at: str, said_at: str) -> LedgerEntry:
    """The entry of a statement that OpenViking has written, seen for the first time; ``at``: its file's time."""
    modified = moment_of(at)
    written = iso(modified) if modified else said_at
    fields = {
        "text": text,
        "category": category,
        "peer": peer,
        "updated_at": written,
        "sources": [asdict(MemorySource("file", written))],
    }
    return sealed(LedgerEntry(id_of(uri, text), uri, hash_of(text), LIVE, said_at or written, fields=fields))


def sealed(entry: LedgerEntry, steps: Sequence[Step] = ()) -> LedgerEntry:
    """The entry with more to be done on the server, and what recall has to know of it."""
    fields = dict(entry.fields)
    replaced = {step.uri for step in steps if not step.was}
    before = [step for step in steps_of(entry) if step.uri not in replaced]
    fields["steps"] = [asdict(step) for step in (*before, *steps)]
    settled = not fields["steps"]
    notable = fields.get("withheld") or fields.get("expires_at") or fields.get("refused") or entry.history
    stamp = "" if steps else entry.stamp
    plain = settled and entry.state == LIVE and not notable
    return replace(entry, fields=fields, settled=settled, plain=plain, stamp=stamp)


def settled_by(entry: LedgerEntry, done: Sequence[Step]) -> LedgerEntry:
    """The entry once these steps were taken; ones that were added meanwhile are left."""
    left = [asdict(step) for step in steps_of(entry) if step not in done]
    fields = {name: value for name, value in entry.fields.items() if name != "refused"}
    return sealed(replace(entry, fields={**fields, "steps": left}))


def refused(entry: LedgerEntry, why: str) -> LedgerEntry:
    """The entry once the server has said that it never takes it: it is recalled from here."""
    return sealed(replace(entry, fields={**entry.fields, "steps": [], "refused": why or "refused"}))


def _taken_out(entry: LedgerEntry) -> list[Step]:
    """The steps that take it out of its file; of a statement, whatever it says there by now."""
    if is_own(entry):
        return [Step(entry.uri, None)]
    return [Step(entry.uri, None, was) for was in (entry.text_hash, *sorted(old_hashes(entry)))]


def _plain_changes(entry: LedgerEntry, change: MemoryChange, now: str) -> Mapping[str, Any]:
    fields: dict[str, Any] = {}
    if change.pinned is not None and change.pinned != bool(entry.fields.get("pinned")):
        fields["pinned"] = change.pinned
    if change.sensitivity is not None and change.sensitivity != entry.fields.get("sensitivity", "low"):
        fields["sensitivity"] = change.sensitivity.value
    if change.ends_ttl and entry.fields.get("expires_at"):
        fields |= {"ttl_days": None, "expires_at": None}
    elif change.ttl_days is not None and not change.ends_ttl:
        fields |= {"ttl_days": change.ttl_days, "expires_at": expiry(now, change.ttl_days)}
    return fields


def _withheld(text: str, at: str, withholding: Withholding, still: str = "") -> dict[str, Any]:
    """What tells the lines of ``text`` that ``still`` does not say."""
    lines = [line for line in text.split("\n") if not (still and line in still)]
    return {"at": at, "sentences": [words for line in lines for words in withholding.hashed(line)]}
