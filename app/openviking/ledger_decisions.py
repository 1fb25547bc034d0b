"""What a request changes in the ledger. Each function runs in a transaction, and these come one after the other.

How a single entry changes is in `app.openviking.ledger_changes`.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.core.memories.freshness import Revision, RevisionKind
from app.core.memories.memory import MemoryChange, MemoryRecord, NewMemory
from app.core.memories.withholding import Withholding
from app.core.reasons import Reason
from app.errors import Conflict, VersionConflict
from app.openviking import ledger_changes
from app.openviking.ledger_entries import FORGOTTEN, LIVE, SHOWN, SUPERSEDED, hash_of, id_after, is_live, is_own
from app.ports import BackendError, LedgerEntry, LedgerRows


def store(
    rows: LedgerRows, new: NewMemory, now: str, withholding: Withholding
) -> tuple[LedgerEntry, bool, tuple[str, ...]]:
    """Store a memory: its entry, whether it is new, and the ids of all entries that changed, its own first."""
    there = rows.by_id(new.id)
    if there and there.state not in SHOWN:
        raise BackendError(Reason.OPENVIKING_REJECTED, "it was forgotten", retryable=False, not_found=True)
    same = [one for one in rows.saying(hash_of(new.text)) if _is_holding(one, new, now)]
    known = there or (None if new.promised else next(iter(same), None))
    if known is None:
        kept = ledger_changes.added(new, now, withholding)
    else:
        kept = known if known.memory_id == new.id else ledger_changes.confirmed(known, new)
    rows.put(kept)
    named = [one for one in rows.named(new.key) if _is_holding(one, new, now)] if new.key else []
    others = {one.memory_id: one for one in [*(same if new.promised else ()), *named]}
    others.pop(kept.memory_id, None)
    for other in others.values():
        rows.put(ledger_changes.superseded(other, new.created_at, new.text, withholding))
    return kept, known is None, (kept.memory_id, *others)


def change(
    rows: LedgerRows, memory_id: str, wanted: MemoryChange, if_version: int | None, now: str, withholding: Withholding
) -> LedgerEntry | None:
    """Change a memory: its entry afterwards; None for none. Raises `VersionConflict`, `Conflict`."""
    if (entry := _shown(rows, memory_id)) is None:
        return None
    if if_version is not None and entry.version != if_version:
        raise VersionConflict(f"the memory is at version {entry.version}")
    if entry.state == SUPERSEDED:
        raise Conflict("another memory stands in the place of this one")
    after = ledger_changes.changed(entry, wanted, now, withholding)
    if after is not entry:
        _replace(rows, entry, after, now, withholding)
    return after


def forget(rows: LedgerRows, memory_id: str, now: str, withholding: Withholding) -> LedgerEntry | None:
    """Forget a memory: its entry as it was before; None for none."""
    if (entry := _shown(rows, memory_id)) is not None:
        _replace(rows, entry, ledger_changes.forgotten(entry, now, withholding), now, withholding)
    return entry


def revise(rows: LedgerRows, revisions: Sequence[Revision], now: str, withholding: Withholding) -> list[str]:
    """Carry out the revisions of memories that are still at the version they were decided for: the ids that changed."""
    changed: list[str] = []
    for one in revisions:
        entry, into = rows.by_id(one.id), rows.by_id(one.into) if one.into else None
        if entry is None or entry.state != LIVE or entry.version != one.version or (one.into and into is None):
            continue
        rows.put(ledger_changes.revised(entry, one, now, withholding, into))
        if into and one.kind is RevisionKind.MERGE:
            rows.put(ledger_changes.joined(into, entry, now))
        changed += [one.id, *([into.memory_id] if into else [])]
    return list(dict.fromkeys(changed))


def take_in(rows: LedgerRows, records: Sequence[MemoryRecord]) -> list[str]:
    """Import exported memories: the ids of those that were not there. One that was forgotten is a new memory."""
    new: list[str] = []
    for one in records:
        memory_id = _on_purpose(rows, one.memory.id)
        if _shown(rows, memory_id) is None:
            rows.put(ledger_changes.imported(replace(one, memory=replace(one.memory, id=memory_id))))
            new.append(memory_id)
    return new


def _on_purpose(rows: LedgerRows, memory_id: str) -> str:
    """The id under which a memory may be stored on purpose: another one where this was forgotten."""
    while (entry := rows.by_id(memory_id)) is not None and entry.state == FORGOTTEN:
        memory_id = id_after(memory_id)
    return memory_id


def _shown(rows: LedgerRows, memory_id: str) -> LedgerEntry | None:
    entry = rows.by_id(memory_id)
    return entry if entry is not None and entry.state in SHOWN else None


def _is_holding(entry: LedgerEntry, new: NewMemory, now: str) -> bool:
    return is_live(entry, now) and entry.fields.get("peer") == new.peer


def _replace(rows: LedgerRows, entry: LedgerEntry, after: LedgerEntry, now: str, withholding: Withholding) -> None:
    """Put ``after`` in the entry's place, and withdraw what other files say the same: OpenViking writes some twice."""
    rows.put(after)
    if after.text_hash == entry.text_hash and after.state != FORGOTTEN:
        return
    for other in rows.saying(entry.text_hash):
        if other.memory_id == entry.memory_id or other.state != LIVE or is_own(other):
            continue
        copy = ledger_changes.forgotten(other, now, withholding)
        rows.put(replace(copy, fields={**copy.fields, "copy_of": entry.memory_id}))
