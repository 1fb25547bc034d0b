"""One user's memories at work: files, index and what is withheld brought in step. Synchronous; called in threads."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from app.core.deadline import Deadline
from app.core.memories.forget_selection import Erased, Forgetting, Statement, turn_of
from app.core.memories.freshness import Revision
from app.core.memories.memory import Memory, MemoryChange, MemoryFilter, MemoryRecord, MemoryState, NewMemory, state_at
from app.core.memories.memory_outcomes import Receipt, Selected, Stored
from app.core.memories.naming import was_said
from app.core.memories.paging import Place, place_of
from app.embedded.erasure import Eraser
from app.embedded.extraction.extract import Memory as Learned
from app.embedded.index.documents import file_entries
from app.embedded.index.live_index import LiveIndex
from app.embedded.index.memory_rows import Found
from app.embedded.memory_revisions import MemoryRevisions
from app.embedded.storage import layout
from app.embedded.storage.memory_files import MemoryFiles
from app.embedded.storage.record_memories import confirmed, id_after, record_of, record_of_line
from app.embedded.storage.record_versions import edited, merge
from app.embedded.storage.records import PARAPHRASED, QUOTED, Record, Source
from app.embedded.storage.withheld import Withheld
from app.errors import Conflict, VersionConflict
from app.text.items import tidy


class Forgotten(Exception):
    """The memory was forgotten, and does not come back under its id."""


class MemoryDesk:
    """The memories of the user at ``root``. ``now`` is ISO 8601 in UTC throughout."""

    def __init__(self, root: Path, uri_root: str, index: LiveIndex, withheld: Withheld, eraser: Eraser) -> None:
        self._root = root
        self._uri_root = uri_root
        self._index = index
        self._withheld = withheld
        self._eraser = eraser
        self._files = MemoryFiles(root, withheld.vault)
        self._revisions = MemoryRevisions(root, index, self._files, self._withhold)

    # reading

    def newest(self, wanted: MemoryFilter, after: Place | None, limit: int, now: str) -> list[Memory]:
        """See `app.ports.MemoryStore.newest`.

        Edited files are looked for before the first page: to look at thousands before each costs more than the pages.
        """
        turns = wanted.category == "events"
        found: list[Memory] = []
        while len(found) < limit:  # what is withheld leaves no gap
            page = self._index.memories(
                lambda rows: rows.page(wanted, after, limit, now, turns=turns),  # noqa: B023
                look=after is None,
            )
            found += [_with_text(memory, text) for memory in page if (text := self._readable(memory))]
            if len(page) < limit:
                break
            after = place_of(page[-1])
        return found[:limit]

    def at(self, uris: Sequence[str], now: str) -> dict[str, Memory]:
        """The memories at these URIs; pieces of a long turn stand for the turn."""
        whole = {uri: uri.partition("#")[0] for uri in uris}
        found = self._index.memories(lambda rows: rows.at(sorted({*uris, *whole.values()}), now))
        return {uri: memory for uri in uris if (memory := found.get(uri) or found.get(whole[uri]))}

    def realms(self) -> list[str]:
        """Whose documents there are."""
        return self._index.memories(lambda rows: rows.realms())

    def get(self, memory_id: str, now: str) -> MemoryRecord | None:
        """One memory with its history."""
        found = self._one(memory_id, now)
        if found is None or not (text := self._readable(found.memory)):
            return None
        history = self._index.memories(lambda rows: rows.histories([memory_id]))
        return MemoryRecord(_with_text(found.memory, text), history.get(memory_id, ()))

    def export(self, after: Place | None, limit: int, now: str) -> list[MemoryRecord]:
        """See `app.ports.MemoryStore.export`."""
        everything = MemoryFilter(state=None)
        page = self._index.memories(lambda rows: rows.page(everything, after, limit, now), look=after is None)
        history = self._index.memories(lambda rows: rows.histories([memory.id for memory in page]), look=False)
        return [MemoryRecord(memory, history.get(memory.id, ())) for memory in page]

    def _readable(self, memory: Memory) -> str:
        """The text without what is withheld; what was said may say it still."""
        if not was_said(memory):
            return memory.text
        if self._withheld.is_forgotten(memory.id):
            return ""
        return self._withheld.left_of(memory.text, memory.created_at)

    def _one(self, memory_id: str, now: str) -> Found | None:
        return self._index.memories(lambda rows: rows.one(memory_id, now))

    # writing

    def store(self, new: NewMemory, now: str, deadline: Deadline) -> Stored:
        """See `app.ports.MemoryStore.store`. Raises `Forgotten`.

        The new one is written first: a crash leaves both, and storing it again ends what was begun.
        """
        with layout.locked(self._root, deadline):
            if self._withheld.is_forgotten(new.id, new.created_at):
                raise Forgotten(new.id)
            same = self._saying(new.text, new.peer, now)
            there = self._one(new.id, now) or (None if new.promised else _confirmed_by(new, same))
            path, memory_id = self._confirm(there, new) if there else self._add(new)
            others = list(same) if new.promised else []
            if new.key:
                others += self._index.memories(lambda rows: rows.named(new.key or "", new.peer, now))
            replaced = {one.memory.id: one for one in others if one.memory.id != memory_id}
            for other in replaced.values():
                self._supersede(other, new)
            return Stored(self._read_back(path, memory_id, now), created=there is None, superseded=tuple(replaced))

    def _add(self, new: NewMemory) -> tuple[str, str]:
        for earlier in new.earlier:  # what it was while it waited may stand in the turn that it comes from
            texts = [line for line in earlier.text.split("\n") if line not in new.text]
            self._withheld.add(new.id, texts, earlier.at, turns={new.message_id.rpartition(".")[0]})
        path, _ = self._files.room_for(new.category, new.peer)
        self._index.take_in([self._files.put(path, [record_of(new)])])
        return path, new.id

    def _confirm(self, there: Found, new: NewMemory) -> tuple[str, str]:
        if there.memory.id != new.id:
            self._rewrite(there, partial(confirmed, new))
        return there.path, there.memory.id

    def _supersede(self, old: Found, new: NewMemory) -> None:
        if tidy(old.memory.text) != tidy(new.text):
            self._withhold(old, new.created_at, (new.text,))
        self._rewrite(old, lambda record: replace(record, superseded_at=new.created_at, updated_at=new.created_at))

    def change(
        self, memory_id: str, change: MemoryChange, if_version: int | None, now: str, deadline: Deadline
    ) -> Memory | None:
        """See `app.ports.MemoryStore.change`."""
        with layout.locked(self._root, deadline):
            found = self._one(memory_id, now)
            if found is None:
                return None
            if if_version is not None and found.memory.version != if_version:
                raise VersionConflict(f"the memory is at version {found.memory.version}")
            self._refuse_fixed(found)
            changes = _changes(found.memory, change)
            if changes:
                if "value" in changes:
                    self._withhold(found, now, (changes["value"],))
                self._rewrite(found, lambda record: edited(record, Source("api", "", now), **changes))
            return self._read_back(found.path, memory_id, now)

    def revise(self, revisions: Sequence[Revision], now: str, deadline: Deadline) -> list[str]:
        """See `app.ports.MemoryStore.revise`."""
        return self._revisions.take(revisions, now, deadline)

    def statement(self, memory_id: str, now: str) -> Statement | None:
        """See `app.ports.MemoryStore.statement`. Raises `Conflict` for a piece of a longer text."""
        found = self._one(memory_id, now)
        if found is None:
            return None
        memory = found.memory
        if was_said(memory):
            messages = tuple(self._index.sources_at([memory.uri]))
            turns = tuple(dict.fromkeys(map(turn_of, messages)))
            return Statement(memory_id, memory.uri, memory.category, (memory.text,), turns, messages, is_message=True)
        self._refuse_pieces(found)
        record = self._files.record(found.path, memory_id)
        sources = [record.source, *record.also] if record else []
        history = [str(one.get("value") or "") for one in record.history] if record else []

        def is_quoted(source: Source) -> bool:
            """Whether the message has the words of the record, so that what else it says is something else."""
            return record is not None and source == record.source and source.kind == QUOTED

        return Statement(
            memory_id,
            memory.uri,
            memory.category,
            texts=tuple(filter(None, dict.fromkeys((memory.text, *history)))),
            turns=tuple(dict.fromkeys(turn_of(source.ref) for source in sources if source.ref)),
            said_in=tuple(dict.fromkeys(source.ref for source in sources if source.ref and not is_quoted(source))),
            messages=tuple(source.ref for source in sources if source.kind == PARAPHRASED),
        )

    def forget(self, memory_id: str, now: str, deadline: Deadline) -> Receipt | None:
        """See `app.ports.MemoryStore.forget`."""
        statement = self.statement(memory_id, now)
        if statement is None:
            return None
        erased = self._eraser.run(Forgetting(now, (statement,)), deadline, dry_run=False)
        removed = {"memories": erased.memories, "turns": len(erased.turns)}
        selected = (Selected(statement.id, statement.uri, statement.category),)
        return Receipt(f"f_{memory_id.removeprefix('m_')}", now, selected, removed, erased.kept)

    def erase(self, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """See `app.ports.MemoryStore.erase`."""
        return self._eraser.run(forgetting, deadline, dry_run=dry_run)

    def take_in(self, stored: Sequence[MemoryRecord], deadline: Deadline) -> list[str]:
        """See `app.ports.MemoryStore.take_in`."""
        with layout.locked(self._root, deadline):
            by_id = {one.memory.id: one for one in reversed(stored)}
            there = self._index.memories(lambda rows: rows.known(list(by_id)))
            wanted = [self._on_purpose(one) for memory_id, one in reversed(by_id.items()) if memory_id not in there]
            again = self._index.memories(lambda rows: rows.known([one.memory.id for one in wanted]))
            new = [one for one in wanted if one.memory.id not in again]
            self._index.take_in(self._files.take_in(new, self._uri_root))
            return [one.memory.id for one in new]

    def _on_purpose(self, record: MemoryRecord) -> MemoryRecord:
        """An exported memory as it is stored: one that was forgotten is another one, always the same until that is
        forgotten, too."""
        memory = record.memory
        if not self._withheld.is_forgotten(memory.id, memory.created_at):
            return record
        another = id_after(memory.id, self._withheld.all_before)
        while self._withheld.is_forgotten(another):
            another = id_after(another)
        return replace(record, memory=replace(memory, id=another))

    def learn(self, learned: Learned, now: str) -> bool:
        """Whether what a message states is known or withheld, so that nothing is to be written for it.

        What was stored on purpose in the same words is confirmed. Call it with the lock held.
        """
        record = learned.record
        if not self._withheld.left_of(record.value, record.source.observed_at, record.source.ref):
            return True
        owners = dict.fromkeys((learned.peer, None))
        same = [one for peer in owners for one in self._saying(record.value, peer, now)]
        there = next((one for one in same if "stored-" in one.path), None)
        if there is None:
            return False
        self._rewrite(there, lambda old: merge([old], replace(record, key=old.key, updated_at=now))[0])
        return True

    def _saying(self, text: str, peer: str | None, now: str) -> list[Found]:
        return self._index.memories(lambda rows: rows.saying(text, peer, now))

    def _rewrite(self, found: Found, change: Any) -> None:
        """Write another record in place of a memory's; a line that a person wrote becomes one."""
        memory = found.memory

        def changed(records: list[Record]) -> list[Record]:
            if any(one.id == memory.id for one in records):
                return [change(one) if one.id == memory.id else one for one in records]
            return [*records, change(record_of_line(memory))]

        self._index.take_in([self._files.rewrite(found.path, changed, [memory.text])])

    def _withhold(self, found: Found, now: str, still: Iterable[str] = (), *, forgotten: bool = False) -> None:
        """Have the memory's text found no more in turns and notes, but for what ``still`` says."""
        memory = found.memory
        record = self._files.record(found.path, memory.id)
        sources = [record.source, *record.also] if record else []
        texts = [line for line in memory.text.split("\n") if not any(line in text for text in still)]
        messages = [source.ref for source in sources if source.kind == PARAPHRASED]
        if was_said(memory):
            messages += self._index.sources_at([memory.uri])
        self._withheld.add(
            memory.id,
            texts,
            now,
            turns={source.ref.rpartition(".")[0] for source in sources},
            messages=messages,
            forgotten=forgotten,
        )

    def _refuse_fixed(self, found: Found) -> None:
        if was_said(found.memory):
            raise Conflict("what was said can not be changed, only forgotten")
        if found.memory.state is MemoryState.SUPERSEDED:
            raise Conflict("another memory stands in the place of this one")
        self._refuse_pieces(found)

    def _refuse_pieces(self, found: Found) -> None:
        if not self._files.read(found.path).can_replace(found.memory):
            raise Conflict("this is a piece of a text that a person wrote; edit its file")

    def _read_back(self, path: str, memory_id: str, now: str) -> Memory:
        """The memory as its file has it now."""
        place = self._root / path
        text, modified = self._withheld.vault.read_text(place), place.stat().st_mtime
        memories = (entry.memory for entry in file_entries(path, text, modified, self._uri_root))
        memory = next(one for one in memories if one.id == memory_id)
        superseded = memory.state is MemoryState.SUPERSEDED
        return replace(memory, state=state_at(now, memory.expires_at, superseded=superseded))


def _confirmed_by(new: NewMemory, same: Sequence[Found]) -> Found | None:
    """Which of those that say the same is stored again: the one that has the key, where one was given."""
    return next((one for one in same if new.key and one.memory.key == new.key), next(iter(same), None))


def _with_text(memory: Memory, text: str) -> Memory:
    """The memory with this text."""
    return memory if memory.text == text else replace(memory, text=text)


def _changes(memory: Memory, change: MemoryChange) -> dict[str, Any]:
    """What a change makes of the record's fields; nothing where it changes nothing."""
    changes: dict[str, Any] = {}
    if change.text is not None and tidy(change.text) != memory.text:
        changes |= {"value": tidy(change.text), "confidence": 1.0}
    if change.category is not None and change.category != memory.category:
        changes["category"] = change.category
    if change.pinned is not None and change.pinned != memory.pinned:
        changes["pinned"] = change.pinned
    if change.sensitivity is not None and change.sensitivity != memory.sensitivity:
        changes["sensitivity"] = change.sensitivity.value
    if change.ttl_days is not None or (change.ends_ttl and memory.expires_at):
        changes["ttl"] = None if change.ends_ttl else change.ttl_days
    return changes
