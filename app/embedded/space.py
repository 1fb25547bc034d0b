"""All of one user, opened: transcripts, index, vectors, and the commits that run. Synchronous; called in threads."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import structlog

from app.core.deadline import Deadline
from app.core.hits import Hit
from app.core.identity import SessionKind, Tenant
from app.core.turns import CapturedMessage
from app.embedded import commits, layout, search, transcript
from app.embedded.embedders import Embedder, EmbedderError
from app.embedded.index import Index
from app.embedded.sqlite import Damaged, SqliteError
from app.embedded.transcript import Archive, Transcript
from app.settings import EmbeddedSettings

MAX_OPEN_TRANSCRIPTS = 64
EMBED_WAIT_S = 2.0
"""How long an append waits for its vectors; what takes longer is embedded behind it."""
EMBED_PAUSE_S = 30.0
"""How long a failing embedder is left alone."""
_UNHURRIED_MS = 30_000

Answer = TypeVar("Answer")
log = structlog.get_logger(__name__)


class SessionUnknown(Exception):
    """There is no such session, or no such archive in it."""


class UserSpace:
    """One user's memory. Every method may be called from any thread; several processes may share the files."""

    def __init__(
        self,
        data_dir: Path,
        tenant: Tenant,
        settings: EmbeddedSettings,
        embedder: Embedder | None,
        background: Executor,
        *,
        automation_memory: bool = False,
    ) -> None:
        self.root = layout.user_dir(data_dir, tenant)
        self._uri_root = layout.uri_root(tenant)
        self._settings = settings
        self._embedder = embedder
        self._background = background
        self._automation_memory = automation_memory
        self._transcripts: OrderedDict[str, Transcript] = OrderedDict()
        self._jobs: dict[tuple[str, str], Future[None]] = {}
        self._guard = threading.Lock()
        self._embedding: Future[None] | None = None
        self._embed_after = 0.0
        self._closed = False
        with layout.locked(self.root, Deadline.after_ms(_UNHURRIED_MS)):
            layout.sweep_temporaries(self.root)
        self._index = self._open_index()
        self._index_inode = self._inode()

    def stop(self) -> None:
        """Begin nothing more in the background."""
        self._closed = True

    def close(self) -> None:
        """Close the index; before that, `stop` and wait for the background."""
        self._index.close()

    # sessions

    def append(
        self, session: str, kind: SessionKind, messages: Sequence[CapturedMessage], now: str, deadline: Deadline
    ) -> tuple[int, int]:
        """Store messages and make them searchable: how many wait for a commit now, and their tokens."""
        with self._opened(session, deadline) as script:
            if script.size == 0:
                script.kind = kind.value
            new = [m for m in messages if not (m.source_id and m.source_id in script.source_ids)]
            if new:
                transcript.write(script, transcript.message_entries(script, new), session, now)
            waiting = script.waiting()
            counts = len(waiting), sum(map(transcript.message_tokens, waiting))
        if new:
            self._indexed([script.path])
            self._embed(wait_s=min(EMBED_WAIT_S, deadline.remaining / 2))
        return counts

    def arrived(self, session: str, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """The stored source ids that contain ``turn_id``."""
        with self._opened(session, deadline) as script:
            return frozenset(source_id for source_id in script.source_ids if turn_id in source_id)

    def past(self, session: str, deadline: Deadline) -> tuple[list[Archive], list[CapturedMessage]]:
        """The archives of the session's present epoch and its live messages."""
        with self._opened(session, deadline) as script:
            if script.size == 0:
                raise SessionUnknown(session)
            ended = [a for a in script.archives if a.epoch < script.epoch]
            live = script.live[max(0, (ended[-1].end if ended else 0) - script.base) :]
            return script.in_epoch(), list(live)

    def archived(self, session: str, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """The messages of an archive."""
        with self._opened(session, deadline) as script:
            archive = script.archive(archive_id)
            if archive is None:
                raise SessionUnknown(f"{session}/{archive_id}")
        return transcript.read_messages(script.path, archive.start, archive.end)

    # commits

    def commit(
        self, session: str, keep_recent: int, now: datetime, deadline: Deadline, *, new_epoch: bool
    ) -> Archive | str:
        """Begin an archive of all but the newest messages; a word why not where there is nothing to archive."""
        with self._opened(session, deadline) as script:
            if script.size == 0:
                raise SessionUnknown(session)
            waiting = len(script.waiting())
            if waiting <= keep_recent:
                if new_epoch:
                    transcript.write(script, [transcript.reset_entry(now.isoformat())], session, now.isoformat())
                return "all_within_keep_window" if waiting else "no_messages"
            entry = transcript.commit_entry(script, keep_recent, now.isoformat(), new_epoch=new_epoch)
            transcript.write(script, [entry], session, now.isoformat())
            archive = script.archives[-1]
        self._begin(session, archive.id, now)
        return archive

    def commit_state(self, session: str, archive_id: str, now: datetime, deadline: Deadline) -> Archive | None:
        """The archive; one that a crash left running is taken up again."""
        with self._opened(session, deadline) as script:
            archive = script.archive(archive_id)
        if archive and archive.state == "running":
            self._begin(session, archive_id, now)
        return archive

    def re_extract(self, session: str, archive_id: str, now: datetime, deadline: Deadline) -> Archive:
        """Run the commit of a failed archive again."""
        with self._opened(session, deadline) as script:
            archive = script.archive(archive_id)
            if archive is None:
                raise SessionUnknown(f"{session}/{archive_id}")
            if archive.state == "failed":
                transcript.write(script, [transcript.retry_entry(archive, now.isoformat())], session, now.isoformat())
        self._begin(session, archive_id, now)
        return archive

    def _begin(self, session: str, archive_id: str, now: datetime) -> None:
        if self._closed:
            return  # the next start takes it up
        with self._guard:
            running = self._jobs.get((session, archive_id))
            if running is None or running.done():
                job = self._background.submit(self._run_commit, session, archive_id, now)
                self._jobs[session, archive_id] = job
                job.add_done_callback(lambda _: self._jobs.pop((session, archive_id), None))

    def _run_commit(self, session: str, archive_id: str, now: datetime) -> None:
        deadline = Deadline.after_ms(_UNHURRIED_MS)
        try:
            with self._opened(session, deadline) as script:
                archive = script.archive(archive_id)
                if archive is None or archive.state != "running":
                    return
                earlier = [a for a in script.in_epoch() if a.end <= archive.start and a.state == "completed"]
                remembers = self._remembers(script.kind)
            messages = transcript.read_messages(script.path, archive.start, archive.end)
            outcome = commits.distil(messages, earlier[-1].summary if earlier else "", self._settings.chat)
            written: list[Path] = []
            if remembers:
                with layout.locked(self.root, Deadline.after_ms(_UNHURRIED_MS)):
                    written = commits.write_memories(self.root, session, archive_id, outcome, now)
            self._indexed(written)
            self._close_commit(session, archive_id, "completed", outcome.summary, outcome.abstract, "", now)
            self._embed(wait_s=0)
        except Exception as error:  # the archive must end in a state that says so, whatever it was
            log.warning("commit_failed", archive=archive_id, error=repr(error))
            with suppress(OSError, layout.LockTimeout):
                self._close_commit(session, archive_id, "failed", "", "", f"{type(error).__name__}: {error}", now)

    def _close_commit(
        self,
        session: str,
        archive_id: str,
        state: transcript.ArchiveState,
        summary: str,
        abstract: str,
        error: str,
        now: datetime,
    ) -> None:
        with self._opened(session, Deadline.after_ms(_UNHURRIED_MS)) as script:
            archive = script.archive(archive_id)
            if archive is None or archive.state != "running":
                return
            entry = transcript.compaction_entry(archive, state, summary, abstract, error, now.isoformat())
            transcript.write(script, [entry], session, now.isoformat())
            commits.write_session_index(self.root, session, script, now)

    # search

    def search_words(self, query: str, realms: Sequence[str], limit: int) -> dict[int, float]:
        """BM25 scores by chunk id, after a look for edited files."""
        return self._with_index(lambda index: dict(index.search_words(query, realms, limit)))

    def search_vectors(self, query: str, realms: Sequence[str], limit: int) -> dict[int, float]:
        """Similarities by chunk id; none when there is no embedder, or it fails."""
        if self._embedder is None or time.monotonic() < self._embed_after:
            return {}
        try:
            vector = self._embedder.query(query)
        except EmbedderError as error:
            self._embedder_failed(error)
            return {}
        return dict(self._index.vectors.search(vector, realms, limit))

    def hits(
        self,
        query: str,
        words: dict[int, float],
        vectors: dict[int, float],
        realms: Sequence[str],
        limit: int,
        now: datetime,
    ) -> list[Hit]:
        """The best hits from what both searches found."""
        found = self._index.chunks({**words, **vectors})
        if self._settings.search.merge == "rrf":
            best = {*list(words)[:limit], *list(vectors)[:limit]}
            beside = self._index.turns_at(search.neighbours(found, best))
            found += [chunk for chunk in beside if chunk.document.realm in realms]
        return search.hits(query, words, vectors, found, self._settings.search, now, limit)

    # the index

    def _indexed(self, paths: Sequence[Path]) -> None:
        """Take written files in. The files are safe whatever happens here: the next search repairs the index."""
        try:
            for path in paths:
                self._index.sync_file(path)
        except (SqliteError, OSError) as error:
            log.warning("index_behind", error=repr(error))
            self._index.look_again()

    def _with_index(self, work: Callable[[Index], Answer]) -> Answer:
        """``work`` on an index in step with the files; one that was deleted or is damaged is built anew."""
        try:
            return work(self._fresh_index())
        except Damaged as error:
            log.warning("index_damaged", error=repr(error))
            with self._guard:
                self._reopen(afresh=True)
            return work(self._fresh_index())

    def _fresh_index(self) -> Index:
        with self._guard:
            if self._inode() != self._index_inode:
                self._reopen()
            self._index.sync()
            return self._index

    def _reopen(self, *, afresh: bool = False) -> None:
        self._index.close()
        self._index = self._open_index(afresh=afresh)
        self._index_inode = self._inode()

    def _open_index(self, *, afresh: bool = False) -> Index:
        name = self._embedder.name if self._embedder else ""
        try:
            index = Index(self.root, self._uri_root, embedder=name, is_searchable=self._remembers, afresh=afresh)
            index.sync(at_once=True)
        except Damaged:
            if afresh:
                raise
            return self._open_index(afresh=True)
        return index

    def _inode(self) -> int:
        try:
            return (self.root / "index.db").stat().st_ino
        except FileNotFoundError:
            return 0

    def _remembers(self, kind: str) -> bool:
        """Whether sessions of this kind become long-term memory."""
        return self._automation_memory or kind == SessionKind.CHAT

    # vectors

    def _embed(self, *, wait_s: float) -> None:
        """Embed what has no vector yet in the background, and wait for it a little."""
        if self._embedder is None or self._closed or time.monotonic() < self._embed_after:
            return
        with self._guard:
            if self._embedding is None or self._embedding.done():
                self._embedding = self._background.submit(self._embed_all)
            job = self._embedding
        if wait_s > 0:
            wait([job], wait_s)

    def _embed_all(self) -> None:
        embedder = self._embedder
        try:
            while embedder and not self._closed and (waiting := self._index.vectors.waiting(embedder.batch)):
                texts = list(dict.fromkeys(text for _, text in waiting))
                vectors = self._index.vectors.cached(texts)
                missing = [text for text in texts if text not in vectors]
                vectors.update(zip(missing, embedder.passages(missing), strict=True))
                self._index.vectors.add([(chunk_id, text, vectors[text]) for chunk_id, text in waiting])
        except EmbedderError as error:
            self._embedder_failed(error)
        except SqliteError as error:
            log.warning("vectors_behind", error=repr(error))

    def _embedder_failed(self, error: EmbedderError) -> None:
        self._embed_after = time.monotonic() + EMBED_PAUSE_S
        log.warning("embedder_failed", error=str(error))

    # transcripts

    @contextmanager
    def _opened(self, session: str, deadline: Deadline) -> Iterator[Transcript]:
        """The transcript, up to date, with the user's lock held."""
        with layout.locked(self.root, deadline):
            script = self._transcripts.pop(session, None) or Transcript(layout.transcript_path(self.root, session))
            script = transcript.refresh(script)
            try:
                yield script
            except OSError:
                script = Transcript(script.path)  # what was written is not sure: read it again
                raise
            finally:
                self._transcripts[session] = script
                while len(self._transcripts) > MAX_OPEN_TRANSCRIPTS:
                    self._transcripts.popitem(last=False)
