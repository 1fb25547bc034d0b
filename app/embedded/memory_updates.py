"""What a commit's messages say of memories that are there: some hold no more. Synchronous; called in threads."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.classify.replaces import Judge
from app.core.memories.memory import Memory, MemoryFilter, said_the_same
from app.embedded.extraction.extract import Memory as Learned
from app.embedded.extraction.extract import Mention
from app.embedded.extraction.updates import replaced_by, replacement
from app.embedded.index.live_index import LiveIndex
from app.embedded.index.memory_rows import Found
from app.embedded.storage.memory_files import MemoryFiles
from app.embedded.storage.records import Record
from app.embedded.storage.sharing import keeper
from app.embedded.storage.withheld import Withheld

MAX_KNOWN = 200
"""Memories, the newest, that a commit's statements are compared with."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A memory that a later statement replaces: its record as it was when that was decided, and what becomes of it."""

    found: Found
    before: Record
    after: Record


class MemoryUpdates:
    """The memories of the user at ``root``, as later statements change them."""

    def __init__(self, root: Path, index: LiveIndex, withheld: Withheld, judge: Judge) -> None:
        self._files = MemoryFiles(root, withheld.vault)
        self._index = index
        self._withheld = withheld
        self._judge = judge

    def decide(self, session: str, learned: Sequence[Learned], mentions: Sequence[Mention], now: str) -> list[Replaced]:
        """What was said put in the place of what it says holds no more; nothing is written. What was ``learned`` is
        stored by then, or was on purpose before; of the ``mentions`` those become memories that replace one.

        The judge takes a while (it may embed some dozen statements), so the user's lock is not held meanwhile: a
        prompt's history is read under it.
        """
        known = self._known(now)
        before = {memory_id: record for memory_id, (_, record) in known.items()}
        said: list[Learned | Mention] = [*learned, *mentions]
        for one in sorted(said, key=lambda one: one.record.source.observed_at):
            new = self._stated(one, [record for _, record in known.values()])
            owned = [record for found, record in known.values() if _owns(one, found.memory)]
            old = replaced_by(new, owned, self._judge) if new else None
            if new and old:
                known[old.id] = known[old.id][0], replacement(old, new, now, session)
        changed = (one for memory_id, one in known.items() if one[1] is not before[memory_id])
        return [Replaced(found, before[after.id], after) for found, after in changed]

    def write(self, replaced: Sequence[Replaced]) -> list[str]:
        """Write what was decided, but for memories that somebody has changed or forgotten since; the ids of the others.
        Call it with the user's lock held. May be repeated.
        """
        written: list[str] = []
        for one in replaced:

            def changed(records: list[Record], one: Replaced = one) -> list[Record]:
                return [one.after if record == one.before else record for record in records]

            if self._files.record(one.found.path, one.before.id) == one.before:
                self._index.take_in([self._files.rewrite(one.found.path, changed, [one.found.memory.text])])
                written.append(one.before.id)
        return written

    def _known(self, now: str) -> dict[str, tuple[Found, Record]]:
        newest = self._index.memories(lambda rows: rows.page(MemoryFilter(), None, MAX_KNOWN, now))
        paths = self._index.memories(lambda rows: rows.paths([one.id for one in newest])) if newest else {}
        records = self._files.records(set(paths.values()))
        return {one.id: (Found(one, paths[one.id]), records[one.id]) for one in newest if one.id in records}

    def _stated(self, said: Learned | Mention, known: Sequence[Record]) -> Record | None:
        """The record that a statement became or confirmed; of a mention its own, unless that is known or withheld."""
        new, words = said.record, said_the_same(said.record.value)
        same = [one for one in known if _is_from(one, new.source.ref) and said_the_same(one.value) == words]
        if isinstance(said, Learned):
            return next(iter(same), None)
        left = self._withheld.left_of(new.value, new.source.observed_at, new.source.ref)
        return new if left and not same else None


def _is_from(record: Record, ref: str) -> bool:
    return record.source.ref == ref or any(source.ref == ref for source in record.also)


def _owns(said: Learned | Mention, memory: Memory) -> bool:
    """Whether a memory is kept where such memories of the one who said it are kept."""
    if isinstance(said, Learned):
        return memory.peer == said.peer
    return memory.peer == keeper(memory.category, said.peer, of_person=said.of_person)
