"""A Markdown file without what is to be forgotten: records and their history, a person's own lines, notes."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from app.core.memories.forget_selection import Redactor, turn_of
from app.core.memories.memory import Memory
from app.embedded.index.documents import EXPERIENCES, Entry, file_entries
from app.embedded.storage.record_lines import (
    NOTE_BEGIN,
    NOTE_END,
    TRAILER,
    read_records,
    sources_of_experience,
    write_records,
)
from app.embedded.storage.records import Record, identified
from app.text.items import blocks, item


@dataclass(frozen=True, slots=True)
class FileLeft:
    """What is left of a file: ``text`` is None where nothing is. ``dropped`` are the memories that went with it."""

    text: str | None
    dropped: tuple[Memory, ...] = ()
    notes: int = 0


def without_forgotten(
    path: str,
    text: str,
    modified: float,
    uri_root: str,
    title: str,
    redactor: Redactor,
    selected: Collection[str],
    sections: Mapping[str, str | None],
) -> FileLeft | None:
    """The file at ``path`` without what is to be forgotten, None where it stays as it is.

    ``selected`` turns go as a whole; ``sections`` of notes are told anew (None: not at all) by their marks.
    """
    entries = file_entries(path, text, modified, uri_root)
    dropped = tuple(entry.memory for entry in entries if _goes(entry, redactor, selected))
    body, records = read_records(text)
    records = identified(records, path)
    if f"/{EXPERIENCES}/" in path:
        lesson = tuple(entry.memory for entry in file_entries(path, text, modified, uri_root))
        return _experience(text, body, lesson, redactor, is_dropped=bool(dropped) or _is_of(text, selected))
    gone = {memory.id for memory in dropped}
    kept = [_cleaned(record, redactor, selected) for record in records if record.id not in gone]
    notes, told = _with_sections(body, sections)
    own = _own_lines(told, {record.value for record in records}, dropped, redactor)
    if kept == records and own == body:
        return None
    if not records:
        return FileLeft(own if _says_something(own) else None, dropped, notes)
    left = write_records(title, kept, own, [memory.text for memory in dropped])
    return FileLeft(left if kept or _says_something(read_records(left)[0]) else None, dropped, notes)


def still_saying(path: str, text: str, modified: float, uri_root: str, redactor: Redactor) -> list[Memory]:
    """The memories that stay although they say it word for word, as part of a longer statement or of one before."""
    if not redactor.looks_for_texts:
        return []
    entries = file_entries(path, text, modified, uri_root)
    return [entry.memory for entry in entries if any(map(redactor.holds, _texts_of(entry)))]


def _texts_of(entry: Entry) -> list[str]:
    history = entry.record.history if entry.record else ()
    return [entry.memory.text, *(str(one.get("value") or "") for one in history)]


def _goes(entry: Entry, redactor: Redactor, selected: Collection[str]) -> bool:
    """Whether a memory goes: itself, with all that it was learnt from, or as a text with nothing else in it."""
    if redactor.drops(entry.memory, selected):
        return True
    if entry.record:
        sources = (entry.record.source, *entry.record.also)
        return redactor.was_learnt_from([source.ref for source in sources])
    return not _says_something(redactor.left_of_memory(entry.memory.text))


def _experience(
    text: str, body: str, lesson: tuple[Memory, ...], redactor: Redactor, *, is_dropped: bool
) -> FileLeft | None:
    """A lesson goes with its title, where it is not dropped anyway; else it loses the lines that say so."""
    if is_dropped:
        return FileLeft(None, lesson)
    lines = body.rstrip("\n").split("\n")
    left = [line for line in lines if redactor.text(line) == line]
    if left == lines:
        return None
    if lines[0] != left[0] or not _says_something("\n".join(left)):
        return FileLeft(None, lesson)
    trailer = text[text.rfind(TRAILER) :] if TRAILER in text else ""
    return FileLeft("\n".join(left) + f"\n\n{trailer}")


def _is_of(text: str, selected: Collection[str]) -> bool:
    """Whether a lesson was learnt from a turn that goes: of each turn that it was learnt from it tells something."""
    return any(turn_of(source.ref) in selected for source in sources_of_experience(text)[0])


def _cleaned(record: Record, redactor: Redactor, selected: Collection[str]) -> Record:
    """A record that stays, without earlier values and sources that do not."""
    history = tuple(
        one
        for one in record.history
        if not redactor.drops_text(str(one.get("value") or "")) and turn_of(str(one.get("ref") or "")) not in selected
    )
    also = tuple(one for one in record.also if not one.ref or turn_of(one.ref) not in selected)
    return replace(record, history=history, also=also) if (history, also) != (record.history, record.also) else record


def _own_lines(body: str, values: set[str], dropped: Iterable[Memory], redactor: Redactor) -> str:
    """The body with what a person wrote there, as far as it stays; the records' own lines are not looked at."""
    gone = {memory.text for memory in dropped} - values
    whole = {block.text for block in blocks(body)}
    for piece in gone - whole:  # of a text that a person wrote in one piece
        body = body.replace(piece, "", 1)
    lines: list[str] = []
    inside = False
    for block in blocks(body):
        if block.text in gone:
            continue
        inside = (inside or block.text.startswith(NOTE_BEGIN)) and not block.text.startswith(NOTE_END)
        is_own = block.text and block.text not in values and not block.text.startswith((NOTE_BEGIN, NOTE_END))
        left = redactor.left_of_memory(block.text) if is_own and not inside else block.text
        if left == block.text:
            lines += block.lines
        elif left:
            lines.append(item(left) if block.lines[0].lstrip().startswith("- ") else left)
    return "\n".join(lines)


def _with_sections(body: str, sections: Mapping[str, str | None]) -> tuple[int, str]:
    """How many sections of a daily note were told anew, and the note with them."""
    told = 0
    for mark, section in sections.items():
        begin, end = f"{NOTE_BEGIN}{mark} -->", f"{NOTE_END}{mark} -->\n"
        start, stop = body.find(begin), body.find(end)
        if 0 <= start < stop:
            body = body[:start] + (section or "") + body[stop + len(end) :]
            told += 1
    return told, body


def _says_something(body: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in body.split("\n"))
