"""A session file without what is to be forgotten: emptied messages, and archives summed up anew from what is left.

The messages keep their places, so that numbers, archives and what is known of their delivery stay as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from app.core.capture.captured_message import CapturedMessage
from app.core.memories.forget_selection import Redactor, turn_of
from app.embedded.storage.entries import Entry, entries_in, line_of, message_entry, message_of


class Summed(NamedTuple):
    """What is told of an archive."""

    summary: str
    abstract: str
    note: str


SumUp = Callable[[Sequence[CapturedMessage], str], Summed]
"""Summary, abstract and note of messages, given the summary before."""


@dataclass(frozen=True, slots=True)
class ArchiveLeft:
    """An archive that is told anew; ``day_of`` is the time of its last message, ``is_empty``: nothing of it is left."""

    id: str
    told: Summed
    last_at: str
    is_empty: bool


@dataclass(slots=True)
class SessionLeft:
    """What is left of a session file: ``data`` is the whole file, ``turns`` those that lost something."""

    session: str
    data: bytes
    turns: set[str] = field(default_factory=set)
    archives: list[ArchiveLeft] = field(default_factory=list)
    summary: str | None = None
    """The one that stands for the session now, where it is another than before."""
    is_holding: bool = False
    """It says so still, in a message that is not to be forgotten."""


@dataclass(slots=True)
class _Span:
    """A commit: the numbers of its messages, and the epoch that it belongs to."""

    start: int
    end: int
    epoch: int


def session_of(entries: Sequence[Entry], fallback: str) -> str:
    """The name of a session, as its header has it."""
    header = entries[0] if entries else {}
    return str(header.get("id") or fallback) if header.get("type") == "session" else fallback


def without_forgotten(data: bytes, fallback: str, redactor: Redactor, selected: set[str], sum_up: SumUp) -> SessionLeft:
    """The file without what is to be forgotten. ``selected`` turns go as a whole."""
    entries = list(entries_in(data))
    session = session_of(entries, fallback)
    messages: list[CapturedMessage] = []
    touched: set[int] = set()
    left = SessionLeft(session, data)
    redactor.meet(message_of(entry) for entry in entries if entry.get("type") == "message")
    for place, entry in enumerate(entries):
        if entry.get("type") != "message":
            continue
        before = message_of(entry)
        message = redactor.message(before, selected=turn_of(before.source_id) in selected)
        if message != before:
            touched.add(len(messages))
            left.turns.add(turn_of(before.source_id))
            entries[place] = _with_content(entry, message)
        messages.append(message)
    if touched:
        _tell_anew(entries, messages, touched, left, sum_up)
        left.data = b"".join(map(line_of, entries))
    left.is_holding = any(map(redactor.is_held_by, messages))
    return left


def _with_content(entry: Entry, message: CapturedMessage) -> Entry:
    place, size = entry["batch"] if isinstance(entry.get("batch"), list) and len(entry["batch"]) == 2 else (1, 1)
    written = message_entry(message, str(entry.get("id") or ""), str(entry.get("parentId") or ""), place, size)
    return {**{name: value for name, value in entry.items() if name != "senderId"}, **written}


def _tell_anew(
    entries: list[Entry], messages: Sequence[CapturedMessage], touched: set[int], left: SessionLeft, sum_up: SumUp
) -> None:
    """Sum up each archive that lost something, and those whose summary carries on the one before.

    One that is not closed yet may have left its note already; it is summed up when it is closed.
    """
    spans, present = _spans(entries)
    closed = {str(e.get("id")): place for place, e in enumerate(entries) if e.get("type") == "compaction"}
    summaries: dict[int, str] = {}
    changed_epochs: set[int] = set()
    for archive_id, span in spans.items():
        held = messages[span.start : span.end]
        lost = any(span.start <= number < span.end for number in touched)
        entry = entries[closed[archive_id]] if archive_id in closed else {}
        completed = entry.get("state") == "completed"
        if lost or (completed and span.epoch in changed_epochs):
            told = sum_up(held, summaries.get(span.epoch, ""))
            last_at = held[-1].created_at if held else ""
            left.archives.append(ArchiveLeft(archive_id, told, last_at, not any(one.parts for one in held)))
            if completed:
                entry = {**entry, "summary": told.summary, "abstract": told.abstract}
                changed_epochs.add(span.epoch)
                left.summary = told.summary if span.epoch == present else left.summary
            if archive_id in closed:  # an error may quote what was said
                entries[closed[archive_id]] = {**entry, "error": ""}
        if completed:
            summaries[span.epoch] = str(entry.get("summary") or "")


def _spans(entries: Sequence[Entry]) -> tuple[dict[str, _Span], int]:
    """The commits by their archives' ids, and the present epoch."""
    spans: dict[str, _Span] = {}
    end = epoch = written = 0
    for entry in entries:
        match entry.get("type"):
            case "message":
                written += 1
            case "reset":
                epoch += 1
            case "commit":
                start, going = end, entry.get("messages")
                end = min(written, start + (going if isinstance(going, int) else 0))
                spans[str(entry.get("id"))] = _Span(start, end, epoch)
                epoch += bool(entry.get("newEpoch"))
    return spans, epoch
