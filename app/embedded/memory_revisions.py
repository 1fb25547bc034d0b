"""What a check of memories changes, taken into their files. Synchronous; called in threads."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from app.core.deadline import Deadline
from app.core.memories.freshness import Revision, RevisionKind
from app.core.memories.naming import was_said
from app.embedded.index.live_index import LiveIndex
from app.embedded.index.memory_rows import Found
from app.embedded.storage import layout
from app.embedded.storage.memory_files import MemoryFiles
from app.embedded.storage.record_memories import name_of, record_of_line, revised
from app.embedded.storage.record_versions import joined
from app.embedded.storage.records import Record

Withhold = Callable[[Found, str, Iterable[str]], None]
"""Has a memory's text found no more in turns and notes from a moment on, but for what others still say."""


@dataclass(slots=True)
class _Steps:
    """The changes of one memory, in order."""

    found: Found
    changes: list[Callable[[Record], Record]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MemoryRevisions:
    """Changes memories of the user at ``root``."""

    root: Path
    index: LiveIndex
    files: MemoryFiles
    withhold: Withhold

    def take(self, revisions: Sequence[Revision], now: str, deadline: Deadline) -> list[str]:
        """See `app.ports.MemoryStore.revise`. Each file is written once, and the lock is free between two."""
        read = cache(self.files.read)
        steps: dict[str, dict[str, _Steps]] = defaultdict(dict)
        for revision in revisions:
            found = self._one(revision.id, now)
            into = self._one(revision.into, now) if revision.into else None
            if found is None or found.memory.version != revision.version or (revision.into and into is None):
                continue
            if was_said(found.memory) or not read(found.path).can_replace(found.memory):
                continue
            if into and revision.kind is RevisionKind.MERGE:
                other = read(found.path).record(revision.id) or record_of_line(found.memory)
                join = partial(self._joined, other, into.memory.peer, now)
                steps[into.path].setdefault(into.memory.id, _Steps(into)).changes.append(join)
            elif into:
                with layout.locked(self.root, deadline):
                    self.withhold(found, now, (into.memory.text,))
            steps[found.path].setdefault(revision.id, _Steps(found)).changes.append(partial(revised, revision, now))
        changed: list[str] = []
        for path, of_file in steps.items():
            with layout.locked(self.root, deadline):
                changed += self._take_steps(path, of_file)
        return changed

    def _take_steps(self, path: str, steps: Mapping[str, _Steps]) -> list[str]:
        """Change the records of one file, but for those that were changed since; the ids of the others."""
        changed: list[str] = []

        def rewritten(records: list[Record]) -> list[Record]:
            known = {one.id for one in records}
            lines = [record_of_line(one.found.memory) for memory_id, one in steps.items() if memory_id not in known]
            return [stepped(record) for record in (*records, *lines)]

        def stepped(record: Record) -> Record:
            one = steps.get(record.id)
            if one is None or record.version != one.found.memory.version:
                return record
            changed.append(record.id)
            for change in one.changes:
                record = change(record)
            return record

        lines = [one.found.memory.text for one in steps.values()]
        self.index.take_in([self.files.rewrite(path, rewritten, lines)])
        return changed

    def _joined(self, other: Record, peer: str | None, now: str, record: Record) -> Record:
        """See `joined`. A record without a key takes the other's, unless a third one holds under it by now."""
        name = name_of(other)
        if name is None or name_of(record):
            return joined(other, now, record)
        holding = self.index.memories(lambda rows: rows.named(name, peer, now), look=False)
        return joined(other, now, record, None if any(one.memory.id != other.id for one in holding) else other.key)

    def _one(self, memory_id: str, now: str) -> Found | None:
        return self.index.memories(lambda rows: rows.one(memory_id, now), look=False)  # their files are read themselves
