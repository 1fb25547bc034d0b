"""All of one user, opened: sessions, index, vectors, memories, documents. Synchronous; called in threads."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import structlog

from app.atrest import durable
from app.atrest.vault import PLAIN, Vault
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import NO_NOTES, SessionKind, SessionNotes, Tenant
from app.core.injection.session_start.section import Workspace
from app.core.memories.audit import Written
from app.core.memories.forget_selection import with_texts
from app.embedded.classifying import judge_of
from app.embedded.erasure import Eraser
from app.embedded.index.embedders import Embedder
from app.embedded.index.live_index import LiveIndex
from app.embedded.memory_desk import MemoryDesk
from app.embedded.memory_updates import MemoryUpdates
from app.embedded.open_sessions import OpenSessions, SessionUnknown
from app.embedded.resources.shelf import Shelf
from app.embedded.session_commits import NOTHING_OF_AUTOMATION, InBackground, Learning, SessionCommits
from app.embedded.storage import layout, session_file, session_index
from app.embedded.storage.entries import message_tokens
from app.embedded.storage.session_file import Archive
from app.embedded.storage.sharing import move_shared_once
from app.embedded.storage.withheld import FILE, Withheld
from app.embedded.storage.workspace import read_workspace
from app.embedded.workspace_upkeep import WorkspaceUpkeep
from app.settings import EmbeddedSettings

_UNHURRIED_MS = 30_000

log = structlog.get_logger(__name__)


class UserSpace:
    """One user's memory. Every method may be called from any thread; several processes may share the files."""

    def __init__(
        self,
        data_dir: Path,
        tenant: Tenant,
        settings: EmbeddedSettings,
        embedder: Embedder | None,
        in_background: InBackground,
        *,
        learning: Learning = NOTHING_OF_AUTOMATION,
        on_written: Callable[[Written], None] = lambda _written: None,
        vault: Vault = PLAIN,
    ) -> None:
        self.root = layout.user_dir(data_dir, tenant)
        self._vault = vault
        self._sessions = OpenSessions(self.root, vault)
        with layout.locked(self.root, Deadline.after_ms(_UNHURRIED_MS)):
            durable.sweep_temporaries(self.root)
            session_index.take_apart(self.root, vault)
            move_shared_once(self.root, vault)
        withheld = Withheld(self.root / FILE, vault)
        self.index = LiveIndex(
            self.root,
            layout.uri_root(tenant),
            settings.search,
            embedder,
            lambda: in_background("embed", lambda space: space.index.embed_all()),
            learning.remembers,
            withheld,
        )
        self.shelf = Shelf(
            self.root,
            embedder,
            lambda: in_background("embed documents", lambda space: space.shelf.embed_all()),
            vault,
        )
        self.eraser = Eraser(self.root, layout.uri_root(tenant), self.index, withheld)
        self.memories = MemoryDesk(self.root, layout.uri_root(tenant), self.index, withheld, self.eraser)
        self._upkeep = WorkspaceUpkeep(self.root, self.memories, on_written, vault)
        self._withheld = withheld
        self.commits = SessionCommits(
            self.root,
            self._sessions,
            self.index,
            self.memories,
            MemoryUpdates(self.root, self.index, withheld, judge_of(embedder)),
            self._upkeep,
            in_background,
            chat=settings.chat,
            learning=learning,
            on_written=on_written,
            vault=vault,
        )

    def stop(self) -> None:
        """Have what runs in the background end as soon as it can."""
        self.index.stop()
        self.shelf.stop()

    def close(self) -> None:
        """Close the indexes. The user is not to be used after that."""
        self.shelf.close()
        self.index.close()

    # sessions

    def append(
        self,
        session: str,
        kind: SessionKind,
        messages: Sequence[CapturedMessage],
        now: str,
        deadline: Deadline,
        notes: SessionNotes = NO_NOTES,
    ) -> tuple[int, int]:
        """Store messages and make them searchable: how many wait for a commit now, and their tokens."""
        with self._sessions.opened(session, deadline) as stored:
            if stored.size == 0:
                stored.kind, stored.notes = kind.value, notes
            new = [m for m in messages if not (m.source_id and m.source_id in stored.source_ids)]
            new = [self._admitted(message) for message in new]
            if new:
                entries = session_file.message_entries(stored, new)
                session_file.write(stored, [*session_file.notes_entry(stored, notes, now), *entries], session, now)
            waiting = stored.waiting()
            counts = len(waiting), sum(map(message_tokens, waiting))
        if new:
            self.index.take_in([stored.path])
            self.index.embed()
        return counts

    def _admitted(self, message: CapturedMessage) -> CapturedMessage:
        """The message without what was forgotten while it was on its way."""
        if self._withheld.takes(message.source_id):
            return replace(message, parts=(), sender=None)

        def left(text: str) -> str:
            return self._withheld.not_forgotten(text, message.created_at, message.source_id)

        parts = tuple(part for one in message.parts if (part := with_texts(one, left)))
        return message if parts == message.parts else replace(message, parts=parts)

    def arrived(self, session: str, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """The stored source ids that contain ``turn_id``."""
        with self._sessions.opened(session, deadline) as stored:
            return frozenset(source_id for source_id in stored.source_ids if turn_id in source_id)

    def history(self, session: str, deadline: Deadline) -> tuple[list[Archive], list[CapturedMessage]]:
        """The archives of the session's present epoch and its live messages."""
        with self._sessions.opened(session, deadline) as stored:
            if stored.size == 0:
                raise SessionUnknown(session)
            ended = [a for a in stored.archives if a.epoch < stored.epoch]
            live = stored.live[max(0, (ended[-1].end if ended else 0) - stored.base) :]
            return stored.in_epoch(), [message for message in live if message.parts]

    def archived(self, session: str, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """The messages of an archive."""
        with self._sessions.opened(session, deadline) as stored:
            archive = stored.archive(archive_id)
            if archive is None:
                raise SessionUnknown(f"{session}/{archive_id}")
        messages = session_file.read_messages(stored, archive.start, archive.end)
        return [message for message in messages if message.parts]

    def workspace(self, days: Sequence[str], now: str, deadline: Deadline) -> Workspace:
        """The files that a person reads and writes, with the notes of these days; edits are taken in first."""
        self._upkeep.run(now, deadline)
        return read_workspace(self.root, days, self._vault)
