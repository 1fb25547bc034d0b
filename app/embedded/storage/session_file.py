"""Session files: JSONL files of a header, messages, commits and compactions.

A session file only grows. A commit is two entries: ``commit`` (which messages go, written before anything is extracted)
and ``compaction`` (the summary, once it is there), so that a crash in between leaves a task that is simply run again.
A batch of messages that a crash cut short is taken back as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from app.atrest.cipher import Tail
from app.atrest.durable import make_private_dir
from app.atrest.vault import PLAIN, Vault
from app.core.capture.captured_message import CapturedMessage
from app.core.identity import SessionNotes
from app.embedded.storage.entries import (
    Entry,
    entries_in,
    line_of,
    message_entry,
    message_of,
    message_tokens,
    parse_entry,
    whole_batches,
)

ArchiveState = Literal["running", "completed", "failed"]


_NOTES = {
    "parentSession": "parent",
    "chatType": "chat_type",
    "memoryFlushAt": "flushed_at",
    "memoryFlushCompactionCount": "flushed_compaction",
}
"""What is noted of a session: its name in the file, and in `SessionNotes`."""


@dataclass(slots=True)
class Archive:
    """A commit and what became of it; ``start`` and ``end`` (exclusive) number the session's messages."""

    id: str
    start: int
    end: int
    epoch: int
    tokens: int
    first_kept: str | None = None
    """The entry that the live messages begin with; None when none was kept."""
    state: ArchiveState = "running"
    summary: str = ""
    abstract: str = ""
    error: str = ""


@dataclass(slots=True)
class SessionFile:
    """What a session file says so far. Archived messages are not kept in memory; `read_messages` gets them."""

    path: Path
    size: int = 0
    """Up to where it was read; the file is longer when another process wrote."""
    inode: int = 0
    kind: str = "chat"
    notes: SessionNotes = field(default_factory=SessionNotes)
    input_tokens: int = 0
    """What models were given for its replies, and gave, as far as hosts told."""
    output_tokens: int = 0
    context_tokens: int = 0
    """What the window held behind the last reply of which that is known; 0 where it is not."""
    source_ids: dict[str, None] = field(default_factory=dict)
    base: int = 0
    """Number of the first message in ``live``."""
    live: list[CapturedMessage] = field(default_factory=list)
    archives: list[Archive] = field(default_factory=list)
    epoch: int = 0
    last_id: str = ""
    vault: Vault = PLAIN

    @property
    def count(self) -> int:
        """Messages ever written."""
        return self.base + len(self.live)

    @property
    def committed(self) -> int:
        """Number of the first message that no commit has taken."""
        return self.archives[-1].end if self.archives else 0

    def waiting(self) -> list[CapturedMessage]:
        """The messages that no commit has taken."""
        return self.live[max(0, self.committed - self.base) :]

    def archive(self, archive_id: str) -> Archive | None:
        """The archive of this id."""
        return next((archive for archive in self.archives if archive.id == archive_id), None)

    def in_epoch(self) -> list[Archive]:
        """The archives since the last reset, oldest first."""
        return [archive for archive in self.archives if archive.epoch == self.epoch]


def refresh(stored: SessionFile) -> SessionFile:
    """The session file brought up to date with its file; a torn end is cut off. Call it with the user's lock held."""
    try:
        status = stored.path.stat()
    except FileNotFoundError:
        return stored if stored.size == 0 else anew(stored)
    if (status.st_ino, status.st_size) == (stored.inode, stored.size):
        return stored
    if status.st_size < stored.size or stored.inode not in (0, status.st_ino):
        stored = anew(stored)
    stored.inode = status.st_ino
    tail = stored.vault.read_from(stored.path, stored.size)
    whole = whole_batches(tail.data)
    if whole < len(tail.data) or tail.end < status.st_size:
        tail = Tail(tail.data[:whole], stored.vault.cut(stored.path, stored.size, whole))
        stored.inode = stored.path.stat().st_ino
    for entry in entries_in(tail.data):
        _fold(stored, entry)
    stored.size = tail.end
    return stored


def anew(stored: SessionFile) -> SessionFile:
    """The same file, with nothing read of it."""
    return SessionFile(stored.path, vault=stored.vault)


def write(stored: SessionFile, entries: Sequence[Entry], session: str, now: str) -> None:
    """Append entries durably, all or none, the header first where the file is new. Call `refresh` before, lock held."""
    if stored.size == 0:
        make_private_dir(stored.path.parent)
        header = {"type": "session", "id": session, "timestamp": now, "kind": stored.kind, **_told(stored.notes)}
        entries = [header, *entries]
    data = b"".join(line_of(entry) for entry in entries)
    end = stored.vault.append(stored.path, data, stored.size)
    for entry in entries:
        _fold(stored, entry)
    stored.size = end
    stored.inode = stored.path.stat().st_ino


def message_entries(stored: SessionFile, messages: Sequence[CapturedMessage]) -> list[Entry]:
    """The entries for one batch of messages."""
    entries = []
    parent = stored.last_id
    for index, message in enumerate(messages):
        entry_id = message.source_id or f"message_{stored.count + index}"
        entries.append(message_entry(message, entry_id, parent, index + 1, len(messages)))
        parent = entry_id
    return entries


def notes_entry(stored: SessionFile, notes: SessionNotes, now: str) -> list[Entry]:
    """The entry that notes what is new of a session; none where all of it is known. The header has it of a new file."""
    told = {name: value for name, value in _told(notes).items() if _told(stored.notes).get(name) != value}
    return [{"type": "session_info", "timestamp": now, **told}] if told and stored.size else []


def commit_entry(stored: SessionFile, keep_recent: int, now: str, *, new_epoch: bool) -> Entry:
    """The entry that archives all waiting messages but the newest ``keep_recent``."""
    waiting = stored.waiting()
    going = len(waiting) - keep_recent
    kept = waiting[going] if going < len(waiting) else None
    return {
        "type": "commit",
        "id": f"archive_{len(stored.archives) + 1:03d}",
        "firstKeptEntryId": (kept.source_id or f"message_{stored.committed + going}") if kept else None,
        "tokensBefore": sum(map(message_tokens, waiting)),
        "messages": going,
        "newEpoch": new_epoch,
        "timestamp": now,
    }


def compaction_entry(archive: Archive, state: ArchiveState, summary: str, abstract: str, error: str, now: str) -> Entry:
    """The entry that closes a commit, well or badly."""
    return {
        "type": "compaction",
        "id": archive.id,
        "firstKeptEntryId": archive.first_kept,
        "tokensBefore": archive.tokens,
        "summary": summary,
        "abstract": abstract,
        "state": state,
        "error": error,
        "timestamp": now,
    }


def retry_entry(archive: Archive, now: str) -> Entry:
    """The entry that opens a failed commit again."""
    return {"type": "retry", "id": archive.id, "timestamp": now}


def reset_entry(now: str) -> Entry:
    """The entry that begins a new epoch when there is nothing to archive."""
    return {"type": "reset", "timestamp": now}


def read_messages(stored: SessionFile, start: int, end: int) -> list[CapturedMessage]:
    """The session's messages number ``start`` to ``end`` (exclusive)."""
    messages: list[CapturedMessage] = []
    number = 0
    with stored.vault.open(stored.path) as file:
        for line in file:
            entry = parse_entry(line)
            if entry is None or entry.get("type") != "message":
                continue
            if number >= end:
                break
            if number >= start:
                messages.append(message_of(entry))
            number += 1
    return messages


def _fold(stored: SessionFile, entry: Entry) -> None:
    stored.last_id = str(entry.get("id") or stored.last_id)
    match entry.get("type"):
        case "session":
            stored.kind = str(entry.get("kind") or "chat")
            stored.notes = _noted(stored.notes, entry)
        case "session_info":
            stored.notes = _noted(stored.notes, entry)
        case "message":
            message = message_of(entry)
            stored.live.append(message)
            if message.usage:
                stored.input_tokens += message.usage.prompt
                stored.output_tokens += message.usage.output
                stored.context_tokens = message.usage.total
            if message.source_id:
                stored.source_ids[message.source_id] = None
        case "commit":
            _fold_commit(stored, entry)
        case "compaction":
            _fold_compaction(stored, entry)
        case "retry":
            archive = stored.archive(str(entry.get("id")))
            if archive:
                archive.state = "running"
        case "reset":
            stored.epoch += 1


def _told(notes: SessionNotes) -> Entry:
    """What is known of a session, by the names of its entries."""
    told = {name: getattr(notes, of) for name, of in _NOTES.items()}
    return {name: value for name, value in told.items() if value is not None}


def _noted(notes: SessionNotes, entry: Entry) -> SessionNotes:
    """The notes with what an entry says: a person may have written anything there."""
    kinds = {"flushed_compaction": int}
    said = {of: entry.get(name) for name, of in _NOTES.items()}
    fit: dict[str, Any] = {of: value for of, value in said.items() if isinstance(value, kinds.get(of, str))}
    return replace(notes, **fit)


def _fold_commit(stored: SessionFile, entry: Entry) -> None:
    start = stored.committed
    count = entry.get("messages")
    end = min(stored.count, start + (count if isinstance(count, int) else 0))
    tokens = entry.get("tokensBefore")
    stored.epoch += bool(entry.get("newEpoch"))
    # an archive made by a reset belongs to the epoch that it ends
    epoch = stored.epoch - bool(entry.get("newEpoch"))
    before = tokens if isinstance(tokens, int) else 0
    archive = Archive(str(entry.get("id")), start, end, epoch, before, entry.get("firstKeptEntryId"))
    stored.archives.append(archive)


def _fold_compaction(stored: SessionFile, entry: Entry) -> None:
    archive = stored.archive(str(entry.get("id")))
    if archive is None:
        return
    archive.state = "completed" if entry.get("state") == "completed" else "failed"
    archive.summary = str(entry.get("summary") or "")
    archive.abstract = str(entry.get("abstract") or "")
    archive.error = str(entry.get("error") or "")
    # Commits may end in another order than they began: what goes is all before the first that still runs.
    ended = takewhile(lambda other: other.state != "running", stored.archives)
    end = max((other.end for other in ended), default=0)
    if end > stored.base:
        del stored.live[: end - stored.base]
        stored.base = end
