"""Commits of one user's sessions: an archive is begun at once and distilled in the background.

Synchronous; called in threads.
"""

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from app.atrest.vault import Vault
from app.core.deadline import Deadline
from app.core.identity import TASK_KINDS, SessionKind
from app.core.memories.audit import Written
from app.embedded.extraction import distil
from app.embedded.index.live_index import LiveIndex
from app.embedded.memory_desk import MemoryDesk
from app.embedded.memory_updates import MemoryUpdates
from app.embedded.open_sessions import OpenSessions, SessionUnknown
from app.embedded.storage import layout, session_file, session_index
from app.embedded.storage.session_file import Archive, SessionFile
from app.embedded.workspace_upkeep import WorkspaceUpkeep
from app.settings import ChatSettings
from app.text.dates import iso

if TYPE_CHECKING:
    from app.embedded.space import UserSpace

_UNHURRIED_MS = 30_000

log = structlog.get_logger(__name__)

InBackground = Callable[[Hashable, Callable[["UserSpace"], None]], Future[None] | None]
"""Run work under a name in the background, on the user as it is open by then, unless work of that name waits or runs;
None when everything is being closed. See `app.embedded.users`."""


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


class SessionCommits:
    """The commits of the user at ``root``. Every method may be called from any thread."""

    def __init__(
        self,
        root: Path,
        sessions: OpenSessions,
        index: LiveIndex,
        memories: MemoryDesk,
        updates: MemoryUpdates,
        upkeep: WorkspaceUpkeep,
        in_background: InBackground,
        *,
        chat: ChatSettings,
        learning: Learning,
        on_written: Callable[[Written], None],
        vault: Vault,
    ) -> None:
        self._root = root
        self._sessions = sessions
        self._index = index
        self._memories = memories
        self._updates = updates
        self._upkeep = upkeep
        self._in_background = in_background
        self._chat = chat
        self._learning = learning
        self._on_written = on_written
        self._vault = vault

    def begin(
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
        with self._sessions.opened(session, deadline) as stored:
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
        self._start(session, archive.id, now, instructions)
        return archive

    def state(self, session: str, archive_id: str, now: datetime, deadline: Deadline) -> Archive | None:
        """The archive; one that a crash left running is taken up again."""
        with self._sessions.opened(session, deadline) as stored:
            archive = stored.archive(archive_id)
        if archive and archive.state == "running":
            self._start(session, archive_id, now)
        return archive

    def re_extract(self, session: str, archive_id: str, now: datetime, deadline: Deadline) -> Archive:
        """Run the commit of a failed archive again."""
        with self._sessions.opened(session, deadline) as stored:
            archive = stored.archive(archive_id)
            if archive is None:
                raise SessionUnknown(f"{session}/{archive_id}")
            if archive.state == "failed":
                session_file.write(
                    stored, [session_file.retry_entry(archive, now.isoformat())], session, now.isoformat()
                )
        self._start(session, archive_id, now)
        return archive

    def _start(self, session: str, archive_id: str, now: datetime, instructions: str = "") -> None:
        """Run the commit in the background; at shutdown the next start takes it up."""
        self._in_background(
            (session, archive_id), lambda space: space.commits.run(session, archive_id, now, instructions)
        )

    def run(self, session: str, archive_id: str, now: datetime, instructions: str = "") -> None:
        """Distil an archive that waits for it, and close its commit, well or badly.

        What is forgotten meanwhile must not come back with what was read before, or with the instructions: then it is
        distilled again, without them.
        """
        try:
            while not self._distilled(session, archive_id, now, instructions):
                instructions = ""
            self._upkeep.run(iso(now), Deadline.after_ms(_UNHURRIED_MS))
            self._index.embed()
        except Exception as error:  # the archive must end in a state that says so, whatever it was
            log.warning("commit_failed", archive=archive_id, error=repr(error))
            why = f"{type(error).__name__}: {error}"
            unhurried = Deadline.after_ms(_UNHURRIED_MS)
            with suppress(OSError, layout.LockTimeout), self._sessions.opened(session, unhurried) as stored:
                self._close(stored, session, archive_id, ("failed", "", "", why), now)

    def _distilled(self, session: str, archive_id: str, now: datetime, instructions: str) -> bool:
        """Distil an archive; False when its session was rewritten meanwhile: what was read is not to be used then."""
        with self._sessions.opened(session, Deadline.after_ms(_UNHURRIED_MS)) as stored:
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
            with self._sessions.opened(session, Deadline.after_ms(_UNHURRIED_MS)) as stored:
                if stored.inode != inode:
                    return False
                new = [one for one in outcome.memories if not self._memories.learn(one, stamp)]
                outcome = replace(outcome, memories=tuple(new))
                paths, written = distil.write_memories(self._root, session, archive_id, outcome, now, self._vault)
                self._index.take_in(paths)
                self._on_written(written)
        replaced = self._updates.decide(session, stated, outcome.mentions, stamp) if remembers else []
        with self._sessions.opened(session, Deadline.after_ms(_UNHURRIED_MS)) as stored:
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
        session_index.write_glance(self._root, session, stored, now)
