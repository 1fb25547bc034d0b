"""Keeping MEMORY.md: a person's edits of it are taken in, then it is written anew from the memories. Synchronous.

It is done at the start of a session and after a commit. A page that can not be written just now stays as it is: nobody
waits for it, and nothing but the page is older than it could be.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog

from app.atrest.vault import PLAIN, Vault
from app.core.deadline import Deadline
from app.core.memories.audit import Written
from app.core.memories.memory import Memory, MemoryChange, MemoryFilter, MemorySource, NewMemory
from app.embedded.extraction.readings import read_statement
from app.embedded.memory_desk import Forgotten, MemoryDesk
from app.embedded.storage import layout
from app.embedded.storage.long_term_file import NAME, Edits, Page, edits_of, is_for_the_page, page_text, read_page
from app.embedded.storage.records import derived_id
from app.errors import Conflict
from app.text.items import tidy

log = structlog.get_logger(__name__)

MAX_MEMORIES = 1_000
"""The newest that the page is chosen from."""
LONGEST_MS = 2_000
_IMPORTANCE = {"profile": 1, "preferences": 2, "entities": 3, "events": 4}


class WorkspaceUpkeep:
    """The page of the user at ``root``. Every method may be called from any thread."""

    def __init__(
        self, root: Path, memories: MemoryDesk, on_written: Callable[[Written], None], vault: Vault = PLAIN
    ) -> None:
        self._memories = memories
        self._on_written = on_written
        self._path = layout.memories_dir(root, None) / NAME
        self._root = root
        self._vault = vault

    def run(self, now: str, deadline: Deadline) -> None:
        """Take edits in and write the page; ``now`` is ISO 8601 in UTC."""
        within = deadline.within_ms(LONGEST_MS)
        try:
            before = self._text()
            page = read_page(before)
            edits = edits_of(page, self._texts(page, now))
            self._take_in(edits, now, within)
            with layout.locked(self._root, within):  # a forgetting holds it, too: what it took is not written again
                after = page_text(self._memories_for_it(now), edits.left_out, page.own)
                if after != before and self._text() == before:
                    if after:
                        self._vault.write_atomic(self._path, after.encode("utf-8", "replace"))
                    else:
                        self._path.unlink(missing_ok=True)
        except (OSError, layout.LockTimeout) as error:
            log.warning("memory_page_not_written", error=type(error).__name__)

    def _texts(self, page: Page, now: str) -> dict[str, str]:
        """What the memories of a page that was edited say; nothing for one that was not."""
        if edits_of(page, {}) == Edits(left_out=page.left_out):
            return {}
        found = ((id_, self._memories.get(id_, now)) for id_, _ in page.written)
        return {id_: record.memory.text for id_, record in found if record}

    def _take_in(self, edits: Edits, now: str, deadline: Deadline) -> None:
        """Of an edit that is made twice, by two that read it at the same time, the second confirms the first."""
        for memory_id, text in edits.changed.items():
            try:
                changed = self._memories.change(memory_id, MemoryChange(text=text), None, now, deadline)
            except Conflict:
                changed = None
            if changed is None:
                self._store(text, now, deadline)
            else:
                self._on_written(Written(changed=(memory_id,)))
        for text in edits.added:
            self._store(text, now, deadline)

    def _store(self, text: str, now: str, deadline: Deadline) -> None:
        reading = read_statement(text)
        new = NewMemory(
            id=derived_id(NAME, text, now),
            text=tidy(text),
            created_at=now,
            source=MemorySource("file", now),
            category=reading.category,
            confidence=1.0,
            sensitivity=reading.sensitivity,
        )
        with suppress(Forgotten):
            stored = self._memories.store(new, now, deadline)
            self._on_written(Written((stored.memory.id,) if stored.created else (), stored.superseded))

    def _memories_for_it(self, now: str) -> list[Memory]:
        """Those that may stand there, the most important first; of notes that a person keeps by day none."""
        seen = MemoryFilter(visible_to=frozenset())
        newest = self._memories.newest(seen, None, MAX_MEMORIES, now)
        chosen = [one for one in newest if is_for_the_page(one) and "/memory/" not in one.uri]
        return sorted(chosen, key=lambda one: 0 if one.pinned else _IMPORTANCE.get(one.category, 5))

    def _text(self) -> str:
        try:
            return self._vault.read_text(self._path)
        except FileNotFoundError:
            return ""
