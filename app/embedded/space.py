"""All of one user, opened: session files, index, vectors, and the commits that run. Synchronous; called in threads."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import structlog

from app.atrest import durable
from app.atrest.vault import PLAIN, Vault
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import NO_NOTES, TASK_KINDS, SessionKind, SessionNotes, Tenant
from app.core.injection.session_start.section import Workspace
from app.core.memories.audit import Written
from app.core.memories.forget_selection import with_texts
from app.embedded.classifying import judge_of
from app.embedded.erasure import Eraser
from app.embedded.extraction import distil
from app.embedded.index.embedders import Embedder
from app.embedded.index.live_index import LiveIndex
from app.embedded.memory_desk import MemoryDesk
from app.embedded.memory_updates import MemoryUpdates
from app.embedded.resources.shelf import Shelf
from app.embedded.storage import layout, session_file, session_index
from app.embedded.storage.entries import message_tokens
from app.embedded.storage.session_file import Archive, SessionFile
from app.embedded.storage.sharing import move_shared
from app.embedded.storage.withheld import FILE, Withheld
from app.embedded.storage.workspace import read_workspace
from app.embedded.workspace_upkeep import WorkspaceUpkeep
from app.settings import EmbeddedSettings
from app.text.dates import iso

MAX_OPEN_SESSIONS = 64
_UNHURRIED_MS = 30_000

log = structlog.get_logger(__name__)


InBackground = Callable[[Hashable, Callable[["UserSpace"], None]], Future[None] | None]
"""Run work under a name in the background, on the user as it is open by then, unless work of that name waits or runs;
None when everything is being closed. See `app.embedded.users`."""


class SessionUnknown(Exception):
    """There is no such session, or no such archive in it."""


@dataclass(frozen=True, slots=True)
class Learning:
    """What is learnt of sessions that no person began."""

    automation_memory: bool = False
    automation_experiences: bool = False

    def remembers(self, kind: str) -> bool:
        """Whether sessions of this kind become long-term memory."""
        return self.automation_memory or kind == SessionKind.CHAT

    def teaches(self, kind: str) -> bool:
        """Whether sessions of this kind teach experiences, if nothing else."""
        return self.automation_experiences and kind in TASK_KINDS


NOTHING_OF_AUTOMATION = Learning()


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
        self._chat = settings.chat
        self._in_background = in_background
        self._learning = learning
        self._on_written = on_written
        self._vault = vault
        self._session_files: OrderedDict[str, SessionFile] = OrderedDict()
        with layout.locked(self.root, Deadline.after_ms(_UNHURRIED_MS)):
            durable.sweep_temporaries(self.root)
            session_index.take_apart(self.root, vault)
            move_shared(self.root, vault)
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
        self._updates = MemoryUpdates(self.root, self.index, withheld, judge_of(embedder))

    def stop(self) -> None:
        """Leave what runs in the background as soon as it can be left."""
        self.index.stop()
        self.shelf.stop()

    def close(self) -> None:
        """Close the indexes. Nobody may use the user any more."""
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
        with self._opened(session, deadline) as stored:
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
        with self._opened(session, deadline) as stored:
            return frozenset(source_id for source_id in stored.source_ids if turn_id in source_id)

    def history(self, session: str, deadline: Deadline) -> tuple[list[Archive], list[CapturedMessage]]:
        """The archives of the session's present epoch and its live messages."""
        with self._opened(session, deadline) as stored:
            if stored.size == 0:
                raise SessionUnknown(session)
            ended = [a for a in stored.archives if a.epoch < stored.epoch]
            live = stored.live[max(0, (ended[-1].end if ended else 0) - stored.base) :]
            return stored.in_epoch(), [message for message in live if message.parts]

    def archived(self, session: str, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """The messages of an archive."""
        with self._opened(session, deadline) as stored:
            archive = stored.archive(archive_id)
            if archive is None:
                raise SessionUnknown(f"{session}/{archive_id}")
        messages = session_file.read_messages(stored, archive.start, archive.end)
        return [message for message in messages if message.parts]

    # commits

    def commit(
        self,
        session: str,
        keep_recent: int,
        now: datetime,
        deadline: Deadline,
        *,
        new_epoch: bool,
        instructions: str = "",
    ) -> Archive | str:
        """Begin an archive of all but the newest messages; a word why not where there is nothing to archive.

        The instructions are written nowhere: an archive that is taken up after a crash is summed up without them.
        """
        with self._opened(session, deadline) as stored:
            if stored.size == 0:
                raise SessionUnknown(session)
            waiting = len(stored.waiting())
            if waiting <= keep_recent:
                if new_epoch:
                    session_file.write(stored, [session_file.reset_entry(now.isoformat())], session, now.isoformat())
                return "all_within_keep_window" if waiting else "no_messages"
            entry = session_file.commit_entry(stored, keep_recent, now.isoformat(), new_epoch=new_epoch)
            session_file.write(stored, [entry], session, now.isoformat())
            archive = stored.archives[-1]
        self._begin(session, archive.id, now, instructions)
        return archive

    def commit_state(self, session: str, archive_id: str, now: datetime, deadline: Deadline) -> Archive | None:
        """The archive; one that a crash left running is taken up again."""
        with self._opened(session, deadline) as stored:
            archive = stored.archive(archive_id)
        if archive and archive.state == "running":
            self._begin(session, archive_id, now)
        return archive

    def re_extract(self, session: str, archive_id: str, now: datetime, deadline: Deadline) -> Archive:
        """Run the commit of a failed archive again."""
        with self._opened(session, deadline) as stored:
            archive = stored.archive(archive_id)
            if archive is None:
                raise SessionUnknown(f"{session}/{archive_id}")
            if archive.state == "failed":
                session_file.write(
                    stored, [session_file.retry_entry(archive, now.isoformat())], session, now.isoformat()
                )
        self._begin(session, archive_id, now)
        return archive

    def _begin(self, session: str, archive_id: str, now: datetime, instructions: str = "") -> None:
        """Run the commit in the background; at shutdown the next start takes it up."""
        self._in_background(
            (session, archive_id), lambda space: space.run_commit(session, archive_id, now, instructions)
        )

    def run_commit(self, session: str, archive_id: str, now: datetime, instructions: str = "") -> None:
        """Distil an archive that waits for it, and close its commit, well or badly.

        What is forgotten meanwhile must not come back with what was read before, or with the instructions: then it is
        distilled again, without them.
        """
        try:
            while not self._distilled(session, archive_id, now, instructions):
                instructions = ""
            self._upkeep.run(iso(now), Deadline.after_ms(_UNHURRIED_MS))
            self.index.embed()
        except Exception as error:  # the archive must end in a state that says so, whatever it was
            log.warning("commit_failed", archive=archive_id, error=repr(error))
            why = f"{type(error).__name__}: {error}"
            unhurried = Deadline.after_ms(_UNHURRIED_MS)
            with suppress(OSError, layout.LockTimeout), self._opened(session, unhurried) as stored:
                self._close(stored, session, archive_id, ("failed", "", "", why), now)

    def _distilled(self, session: str, archive_id: str, now: datetime, instructions: str) -> bool:
        """Distil an archive; False when its session was rewritten meanwhile: what was read is not to be used then."""
        with self._opened(session, Deadline.after_ms(_UNHURRIED_MS)) as stored:
            archive = stored.archive(archive_id)
            if archive is None or archive.state != "running":
                return True
            earlier = [a for a in stored.in_epoch() if a.end <= archive.start and a.state == "completed"]
            inode, kind, stamp = stored.inode, stored.kind, iso(now)
        messages = session_file.read_messages(stored, archive.start, archive.end)
        said = [message for message in messages if message.parts]
        outcome = distil.distil(said, earlier[-1].summary if earlier else "", self._chat, instructions)
        remembers = self._learning.remembers(kind)
        if not remembers:
            taught = outcome.experiences if self._learning.teaches(kind) else ()
            outcome = replace(outcome, memories=(), mentions=(), note="", experiences=taught)
        stated = outcome.memories
        if remembers or outcome.experiences:
            with self._opened(session, Deadline.after_ms(_UNHURRIED_MS)) as stored:
                if stored.inode != inode:
                    return False
                new = [one for one in outcome.memories if not self.memories.learn(one, stamp)]
                outcome = replace(outcome, memories=tuple(new))
                paths, written = distil.write_memories(self.root, session, archive_id, outcome, now, self._vault)
                self.index.take_in(paths)
                self._on_written(written)
        replaced = self._updates.decide(session, stated, outcome.mentions, stamp) if remembers else []
        with self._opened(session, Deadline.after_ms(_UNHURRIED_MS)) as stored:
            if stored.inode != inode:
                return False
            self._on_written(Written(changed=self._updates.write(replaced), session=session))
            self._close(stored, session, archive_id, ("completed", outcome.summary, outcome.abstract, ""), now)
        return True

    def _close(
        self,
        stored: SessionFile,
        session: str,
        archive_id: str,
        told: tuple[session_file.ArchiveState, str, str, str],
        now: datetime,
    ) -> None:
        """Close a commit with its state, summary, abstract and error."""
        archive = stored.archive(archive_id)
        if archive is None or archive.state != "running":
            return
        entry = session_file.compaction_entry(archive, *told, now.isoformat())
        session_file.write(stored, [entry], session, now.isoformat())
        session_index.write_glance(self.root, session, stored, now)

    def workspace(self, days: Sequence[str], now: str, deadline: Deadline) -> Workspace:
        """The files that a person reads and writes, with the notes of these days; edits are taken in first."""
        self._upkeep.run(now, deadline)
        return read_workspace(self.root, days, self._vault)

    # session files

    @contextmanager
    def _opened(self, session: str, deadline: Deadline) -> Iterator[SessionFile]:
        """The session file, up to date, with the user's lock held."""
        with layout.locked(self.root, deadline):
            stored = self._session_files.pop(session, None) or SessionFile(
                layout.session_path(self.root, session), vault=self._vault
            )
            stored = session_file.refresh(stored)
            try:
                yield stored
            except OSError:
                stored = session_file.anew(stored)  # what was written is not sure: read it again
                raise
            finally:
                self._session_files[session] = stored
                while len(self._session_files) > MAX_OPEN_SESSIONS:
                    self._session_files.popitem(last=False)
