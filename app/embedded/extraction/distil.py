"""What a commit makes of archived messages: a summary, memories, experiences, a line in the daily note.

Everything here may be run again after a crash: a record knows the message that it came from, a note the archive.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from app.atrest.vault import Vault
from app.core.capture.captured_message import CapturedMessage
from app.core.history.digest import digest
from app.core.history.summary_message import cut_to_tokens
from app.core.memories.audit import Written
from app.core.messages.tokens import estimate_tokens
from app.embedded.extraction.experience_rules import Experience, experiences_in
from app.embedded.extraction.extract import Memory, Mention, memories_in, mentions_in
from app.embedded.storage import layout
from app.embedded.storage.record_lines import NOTE_BEGIN, NOTE_END, read_records, write_records
from app.embedded.storage.record_versions import merge
from app.embedded.storage.records import derived_id, identified
from app.settings import ChatSettings
from app.text.dates import day_of

SUMMARY_TOKENS = 1500
"""Longest archive summary, what it carries on from the one before included."""
CARRIED_TOKENS = 600
"""How much of the summary before goes into the next one."""
NOTE_TOKENS = 200
MAX_STATED = 20
FACT, EXPERIENCE, OPINION = "W", "B", "O"
"""Types of a line in a daily note: a fact of the world, something that was lived through, what somebody holds."""
_TYPES = {"preferences": OPINION, "events": EXPERIENCE}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was distilled from an archive."""

    summary: str
    abstract: str
    memories: tuple[Memory, ...]
    experiences: tuple[Experience, ...]
    note: str
    day: str
    mentions: tuple[Mention, ...] = ()
    """What else was said: it may say that something known holds no more."""


def distil(messages: Sequence[CapturedMessage], earlier: str, chat: ChatSettings, instructions: str = "") -> Outcome:
    """Summary and memories of ``messages``: by the chat model where one is configured and answers, else by rules.

    ``instructions``: what the summary has to keep. Rules do not read them; lines that they ask for are kept elsewhere
    (`app.core.history.focus`).
    """
    told = told_by(messages, earlier)
    ruled = Outcome(
        summary=told.summary,
        abstract=told.abstract,
        memories=tuple(memories_in(messages)),
        experiences=tuple(experiences_in(messages)),
        note=told.note,
        day=day_of(messages[-1].created_at) if messages else "1970-01-01",
        mentions=tuple(mentions_in(messages)),
    )
    if not chat.url:
        return ruled
    from app.embedded.extraction.chat_model import (
        distil_with_model,  # httpx costs the default install's start a tenth of a second
    )

    by_model = distil_with_model(messages, earlier, chat, instructions)
    if by_model is None:
        return ruled
    return replace(
        ruled,
        summary=by_model.summary,
        abstract=by_model.abstract or ruled.abstract,
        memories=by_model.memories or ruled.memories,
        experiences=by_model.experiences or ruled.experiences,
        mentions=(),
    )


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of an archive without a model."""

    summary: str
    abstract: str
    note: str


def told_by(messages: Sequence[CapturedMessage], earlier: str) -> Told:
    """Summary, abstract and note of ``messages`` by rules; ``earlier`` is the summary of the archive before."""
    summary = digest(messages, SUMMARY_TOKENS)
    if earlier:
        summary = f"{cut_to_tokens(earlier, CARRIED_TOKENS)}\n\n{digest(messages, SUMMARY_TOKENS - CARRIED_TOKENS)}"
    abstract = next((line.removeprefix("# ") for line in digest(messages, 60).splitlines()), "")
    return Told(summary, abstract, _note_of(messages))


def _note_of(messages: Sequence[CapturedMessage]) -> str:
    """What was stated, each with the letter of its type, and what else went on; the notes are for all to read, so
    there is none of persons who are kept apart."""
    if any(message.of_person for message in messages):
        return ""
    stated = islice(memories_in(messages), MAX_STATED)
    typed = "\n".join(f"- {_TYPES.get(one.file.partition('/')[0], FACT)}: {one.record.value}" for one in stated)
    typed = cut_to_tokens(typed, NOTE_TOKENS // 2)
    told = digest(messages, NOTE_TOKENS - estimate_tokens(typed))
    return "\n".join(part for part in (typed, told) if part)


def write_memories(
    root: Path, session: str, archive_id: str, outcome: Outcome, now: datetime, vault: Vault
) -> tuple[list[Path], Written]:
    """Write what was distilled: the paths that changed, and the memories. Call it with the user's lock held."""
    of_each = [one for memory in outcome.memories if (one := _write_memory(root, memory, session, now, vault))]
    paths = [path for path, _ in of_each]
    stored = [memory_id for _, one in of_each for memory_id in one.stored]
    changed = [memory_id for _, one in of_each for memory_id in one.changed]
    for experience in outcome.experiences:
        path = layout.memories_dir(root, None) / "experiences" / f"{layout.segment(experience.name)}.md"
        if not path.exists():
            vault.write_atomic(path, experience.learnt_in(session).text.encode("utf-8", "replace"))
            paths.append(path)
            stored.append(derived_id(str(path.relative_to(root))))
    if outcome.note:
        _write_note(root, note_mark(session, archive_id), outcome, now, vault)
    return list(dict.fromkeys(paths)), Written(stored, changed, session)


def _write_memory(root: Path, memory: Memory, session: str, now: datetime, vault: Vault) -> tuple[Path, Written] | None:
    path = layout.memories_dir(root, memory.peer) / memory.file
    try:
        before = vault.read_text(path)
    except FileNotFoundError:
        before = ""
    body, records = read_records(before)
    stamp = now.isoformat()
    record = replace(memory.record, created_at=stamp, updated_at=stamp)
    record = replace(record, source=replace(record.source, session=session))
    records = identified(records, str(path.relative_to(root)))
    merged = merge(records, record, memory.claim)
    merged = identified(merged, str(path.relative_to(root)))
    after = write_records(memory.title, merged, body)
    if merged == records or after == before:
        return None
    vault.write_atomic(path, after.encode("utf-8", "replace"))
    values = {one.id: one.value for one in records}
    stored = [one.id for one in merged if one.id not in values]
    changed = [one.id for one in merged if values.get(one.id, one.value) != one.value]
    return path, Written(stored, changed, session)


def _write_note(root: Path, mark: str, outcome: Outcome, now: datetime, vault: Vault) -> None:
    """Append the archive's note to the day's file, once."""
    path = layout.note_path(root, outcome.day)
    try:
        before = vault.read(path)
    except FileNotFoundError:
        before = f"# {outcome.day}\n".encode()
    begin = f"{NOTE_BEGIN}{mark} -->"
    if begin.encode() in before:
        return
    section = note_section(mark, f"{now:%H:%M}", outcome.abstract, outcome.note)
    vault.write_atomic(path, before + f"\n{section}".encode("utf-8", "replace"))


def note_mark(session: str, archive_id: str) -> str:
    """What an archive's section of a daily note is known by."""
    return f"{layout.segment(session)} {archive_id}"


def note_section(mark: str, time: str, abstract: str, note: str) -> str:
    """The section itself."""
    lines = "\n".join(line for line in note.splitlines() if not line.startswith((NOTE_BEGIN, NOTE_END)))
    return f"{NOTE_BEGIN}{mark} -->\n## {time} {abstract}\n{lines}\n{NOTE_END}{mark} -->\n"
