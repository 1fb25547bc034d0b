"""Searches shared and remembered for a moment: one request to the backend per equal question of a session.

Hosts call `/assemble` several times in a turn, and a turn that is retried asks again. An answer serves for ``cache_ms``
as long as the tenant's memories did not change by this process' doing; equal questions that are under way share one
request; and while the backend is late or down, the last good answer may serve for ``stale_ms``, marked as such. Empty
answers are not kept: what was just told should be found as soon as the backend knows it.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.forget_selection import Redactor
from app.core.memories.memory import MemoryState
from app.core.memories.not_delivered import all_waiting
from app.core.memories.relevance import relevance
from app.core.reasons import REJECTED, Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.engine.bounded_waits import in_time
from app.errors import StoreUnavailable
from app.ports import BackendError, ContextBackend, MemoryNews, Target
from app.recall.rerank import Reranker
from app.text.dates import iso

MAX_ENTRIES = 512
MAX_CHARS = 16 * 1024 * 1024
"""Text held by all kept answers together, in characters."""
SETTLE_S = 2.0
"""After a change an answer is not kept as good: OpenViking finds new memories up to a second late."""
NEWS_MS, NEWS_SHARE = 250, 0.25
"""Longest wait for the store to say what waits for the backend: milliseconds, and the part of what is left."""
_NEVER_GOOD = (-1, -1)


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, and how they came: ``fresh``, ``cached``, ``joined``, ``stale``, or ``waiting``: the backend gave none,
    and these are memories that it does not have yet."""

    hits: tuple[Hit, ...]
    how: str


class _Question(NamedTuple):
    """Everything that an answer depends on, so that none can reach another tenant, peer or session."""

    account: str | None
    user: str | None
    session: str
    agent: str
    actor_peer: str | None
    target: Target
    limit: int
    query: str
    only: RecallFilter


class _Answer(NamedTuple):
    hits: tuple[Hit, ...]
    at: float
    version: "_Version"
    chars: int


_Version = tuple[int, int]
"""How often a tenant's memories changed: by this process' doing, and on purpose by any."""
News = Callable[[Tenant], Coroutine[Any, Any, MemoryNews]]


async def no_news(_tenant: Tenant) -> MemoryNews:
    """Where memories are not kept one by one."""
    return MemoryNews()


class Searches:
    """The backend's `find`, with equal questions answered once, and what waits for the backend among the memories."""

    def __init__(
        self,
        backend: ContextBackend,
        *,
        cache_ms: int = 0,
        stale_ms: int = 0,
        reranker: Reranker | None = None,
        clock: Callable[[], float] = time.monotonic,
        news: News = no_news,
        changes: Callable[[], int | None] = lambda: None,
    ) -> None:
        """``changes`` counts the changes of what ``news`` reads, at once; None where nobody can tell."""
        self._backend = backend
        self._news = news
        self._changes = changes
        self._no_news: OrderedDict[Tenant, tuple[int, MemoryNews]] = OrderedDict()
        """Tenants of which nothing waits for the backend, and as of which change."""
        self._reranker = reranker
        self._cache_s = cache_ms / 1000
        self._stale_s = stale_ms / 1000
        self._clock = clock
        self._answers: OrderedDict[_Question, _Answer] = OrderedDict()
        self._chars = 0
        self._flights: dict[tuple[_Question, _Version], asyncio.Task[tuple[Hit, ...]]] = {}
        self._versions: dict[str, tuple[int, float]] = {}
        """By tenant: how often its memories changed, and when last."""

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> Found:
        """The hits for ``query`` that ``only`` admits, best first.

        Raises `BackendError`; its reason is ``deadline_exceeded`` when late.
        """
        question = _Question(
            who.tenant.account, who.tenant.user, who.session, who.agent, who.actor_peer, target, limit, query, only
        )
        news = await self._heard(who.tenant, deadline)
        version = self._version(who), news.version
        waiting = _matching(news, who, query, limit, only) if target is Target.MEMORIES else ()
        kept = self._answers.get(question)
        age = self._clock() - kept.at if kept else 0.0
        if kept and age < self._cache_s and kept.version == version:
            self._answers.move_to_end(question)
            return _joined(Found(kept.hits, "cached"), waiting, limit)
        try:
            return _joined(await self._shared(question, version, who, deadline), waiting, limit)
        except BackendError as error:
            if kept and age < self._stale_s and kept.version[1] == news.version and error.reason not in REJECTED:
                return _joined(Found(kept.hits, "stale"), waiting, limit)
            if waiting:
                return Found(waiting, "waiting")
            raise

    async def _heard(self, tenant: Tenant, deadline: Deadline) -> MemoryNews:
        """What the backend may not know. A store that is away must not keep recall from what the backend knows."""
        changes = self._changes()
        if changes is not None and (known := self._no_news.get(tenant)) and known[0] == changes:
            self._no_news.move_to_end(tenant)
            return known[1]
        soon = deadline.within_ms(min(NEWS_MS, deadline.remaining * 1000 * NEWS_SHARE))
        try:
            news = await in_time(self._news(tenant), soon)
        except StoreUnavailable:
            return MemoryNews(version=-1)
        if changes is not None and not news.waiting and not news.undelivered:
            self._no_news[tenant] = changes, news
            if len(self._no_news) > MAX_ENTRIES:
                self._no_news.popitem(last=False)
        return news

    def memories_changed(self, who: Identity) -> None:
        """What was found for this tenant may be out of date: a turn was stored, or a commit has finished."""
        if len(self._versions) > 10 * MAX_ENTRIES:
            self._answers.clear()
            self._versions.clear()
            self._chars = 0
        self._versions[who.account_key] = (self._version(who) + 1, self._clock())

    def forget(self, _redactor: Redactor) -> None:
        """Let go of every answer that is kept: one may hold what was forgotten."""
        self._answers.clear()
        self._chars = 0

    async def aclose(self) -> None:
        """Stop what is under way."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        if self._reranker:
            await self._reranker.aclose()

    async def _shared(self, question: _Question, version: _Version, who: Identity, deadline: Deadline) -> Found:
        key = (question, version)
        flight = self._flights.get(key)
        if flight:
            try:
                return Found(await _within(deadline, flight), "joined")
            except BackendError as error:
                if error.reason is not Reason.DEADLINE_EXCEEDED or deadline.expired:
                    raise
                flight = self._flights.get(key)
        return Found(await _within(deadline, flight or self._take_off(key, who, deadline)), "fresh")

    def _take_off(
        self, key: tuple[_Question, _Version], who: Identity, deadline: Deadline
    ) -> "asyncio.Task[tuple[Hit, ...]]":
        flight = asyncio.create_task(self._ask(*key, who, deadline))
        self._flights[key] = flight

        def landed(task: "asyncio.Task[tuple[Hit, ...]]") -> None:
            del self._flights[key]
            if not task.cancelled():
                task.exception()

        flight.add_done_callback(landed)
        return flight

    async def _ask(self, question: _Question, version: _Version, who: Identity, deadline: Deadline) -> tuple[Hit, ...]:
        hits = tuple(
            await self._backend.find(who, question.query, question.target, question.limit, deadline, question.only)
        )
        if self._reranker and hits:
            of = f"{who.account_key} {question.target} {question.actor_peer}"
            hits = await self._reranker.with_evidence(of, question.query, hits, deadline)
        if hits and (self._cache_s or self._stale_s):
            version = version if self._settled(who) else _NEVER_GOOD
            chars = sum(len(hit.text) + len(hit.whole or "") for hit in hits)
            self._keep(question, _Answer(hits, self._clock(), version, chars))
        return hits

    def _keep(self, question: _Question, answer: _Answer) -> None:
        replaced = self._answers.pop(question, None)
        self._chars += answer.chars - (replaced.chars if replaced else 0)
        self._answers[question] = answer
        while self._answers and (len(self._answers) > MAX_ENTRIES or self._chars > MAX_CHARS):
            _, oldest = self._answers.popitem(last=False)
            self._chars -= oldest.chars

    def _version(self, who: Identity) -> int:
        return self._versions.get(who.account_key, (0, 0.0))[0]

    def _settled(self, who: Identity) -> bool:
        changes, last = self._versions.get(who.account_key, (0, 0.0))
        return not changes or self._clock() - last >= SETTLE_S


def _matching(news: MemoryNews, who: Identity, query: str, limit: int, only: RecallFilter) -> tuple[Hit, ...]:
    """What waits for the backend and is about the query, best first."""
    if not news.waiting and not news.undelivered:
        return ()
    known = {one.id for one in news.undelivered}
    here = [one for one in all_waiting(news.waiting, iso(datetime.now(UTC))) if one.id not in known]
    seen = [one for one in (*news.undelivered, *here) if one.peer is None or one.peer == who.actor_peer]
    hits = [
        Hit(one.uri, one.text, score, category=one.category, peer=one.peer, updated_at=one.created_at)
        for one in seen
        if one.state is MemoryState.LIVE
        and only.admits(one.category, one.created_at)
        and (score := relevance(query, one.text)) > 0
    ]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.uri))[:limit])


def _joined(found: Found, waiting: tuple[Hit, ...], limit: int) -> Found:
    if not waiting:
        return found
    hits = sorted([*waiting, *found.hits], key=lambda hit: -hit.score)
    return Found(tuple(hits[:limit]), found.how)


async def _within(deadline: Deadline, flight: "asyncio.Task[tuple[Hit, ...]]") -> tuple[Hit, ...]:
    """The flight's result. Giving up, or being cancelled, leaves the flight to its other passengers."""
    # What `asyncio.wait` does for any number of tasks, at a third of its CPU time.
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def end(_flight: object = None) -> None:
        if not over.done():
            over.set_result(None)

    flight.add_done_callback(end)
    timer = loop.call_later(deadline.remaining, end)
    try:
        await over
    finally:
        timer.cancel()
        flight.remove_done_callback(end)
    if not flight.done() or flight.cancelled():
        raise BackendError(Reason.DEADLINE_EXCEEDED, "the search is late", retryable=True)
    return flight.result()
