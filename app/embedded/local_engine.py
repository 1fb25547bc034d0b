"""The users' files, worked on in threads: the event loop never waits for a disk, for SQLite or for an embedder."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from app.atrest.vault import Vault
from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.audit import OnWritten
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.embedded.index.embedders import Embedder, EmbedderError, make_embedder
from app.embedded.index.live_index import Admits, admits_all
from app.embedded.index.similar import NOTHING_SIMILAR, Similar
from app.embedded.index.sqlite import SqliteError
from app.embedded.memory_desk import Forgotten
from app.embedded.open_sessions import SessionUnknown
from app.embedded.search.best_hits import MAX_CANDIDATES
from app.embedded.session_commits import InBackground, Learning
from app.embedded.space import UserSpace
from app.embedded.storage.layout import LockTimeout, user_dir
from app.embedded.users import OpenUsers, most_open_users
from app.ports import BackendError
from app.settings import EmbeddedSettings

THREADS = 16
_VECTORS_SHARE = 0.7
"""The part of a search's time that vectors may take; then the words' hits go alone."""

Answer = TypeVar("Answer")
SomeIndex = TypeVar("SomeIndex")
WallClock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class LocalEngine:
    """What the parts of the embedded backend share: its users, its embedder, its threads and its clock."""

    def __init__(
        self,
        data_dir: Path,
        settings: EmbeddedSettings,
        clock: WallClock,
        learning: Learning,
        vault: Vault,
        *,
        whole: bool,
    ) -> None:
        self.data_dir = data_dir
        self.clock = clock
        self.embedder: Embedder | None = make_embedder(settings.embedder)
        self.on_written: OnWritten = lambda _tenant, _written: None
        self._settings = settings
        self._learning = learning
        self._vault = vault
        self._whole = whole
        self._limiter = CapacityLimiter(THREADS)
        background = ThreadPoolExecutor(4, thread_name_prefix="embedded")
        self._users = OpenUsers(self._open_space, background, most_open_users())

    def gauges(self) -> Mapping[str, float]:
        """``open_users``: those whose files are open."""
        return {"open_users": float(len(self._users))}

    async def find_in(
        self,
        who: Identity,
        query: str,
        realms: Sequence[str],
        limit: int,
        deadline: Deadline,
        admits: Admits = admits_all,
    ) -> list[Hit]:
        """The best hits among the documents of these realms that ``admits`` takes."""
        wanted = min(limit * self._settings.search.candidates, MAX_CANDIDATES)
        words, similar = await self.both_searches(
            lambda index: index.word_scores(query, realms, wanted),
            lambda index: index.search_vectors(query, realms, wanted, deadline),
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

        if self.embedder is None:
            await by_words()
        else:
            await _both(by_words, by_vectors)
        return scores, similar[0]

    async def reading(self, who: Identity, work: Callable[[UserSpace], Answer], deadline: Deadline) -> Answer:
        """``work`` on a user who has something stored; asking about another leaves no trace on disk."""

        def known() -> Answer:
            if not user_dir(self.data_dir, who.tenant).is_dir():
                raise SessionUnknown(who.session)
            return self._on_user(who, work)

        return await self.call(known, deadline)

    async def changing(self, who: Identity, work: Callable[[UserSpace], Answer], deadline: Deadline) -> Answer:
        """``work`` on a user, who is made if need be."""
        return await self.call(lambda: self._on_user(who, work), deadline, changes=True)

    def _on_user(self, who: Identity, work: Callable[[UserSpace], Answer]) -> Answer:
        with self._users.using(who.tenant) as space:
            return work(space)

    async def call(self, work: Callable[[], Answer], deadline: Deadline, *, changes: bool = False) -> Answer:
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

    def close(self) -> None:
        """Finish the commits that run, and close every file."""
        if self.embedder:
            self.embedder.close()  # what it has not embedded waits in the index
        self._users.close()

    def _open_space(self, tenant: Tenant, in_background: InBackground) -> UserSpace:
        return UserSpace(
            self.data_dir,
            tenant,
            self._settings,
            self.embedder,
            in_background,
            learning=self._learning,
            on_written=lambda written: self.on_written(tenant, written),
            vault=self._vault,
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
