"""Searches shared and remembered for a moment: one request to the backend per equal question of a session.

Hosts call `/assemble` several times in a turn, and a turn that is retried asks again. An answer serves for ``cache_ms``
as long as the tenant's memories did not change by this process' doing; equal questions that are under way share one
request; and while the backend is late or down, the last good answer may serve for ``stale_ms``, marked as such. Empty
answers are not kept: what was just told should be found as soon as the backend knows it.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import REJECTED, Reason
from app.core.recall.hits import Hit
from app.ports import BackendError, ContextBackend, Target

MAX_ENTRIES = 512
MAX_CHARS = 16 * 1024 * 1024
"""Text held by all kept answers together, in characters."""
SETTLE_S = 2.0
"""After a change an answer is not kept as good: OpenViking finds new memories up to a second late."""
_NEVER_GOOD = -1


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, and how they came: ``fresh``, ``cached``, ``joined`` or ``stale``."""

    hits: tuple[Hit, ...]
    how: str


@dataclass(frozen=True, slots=True)
class _Question:
    """Everything that an answer depends on, so that none can reach another tenant, peer or session."""

    account: str | None
    user: str | None
    session: str
    agent: str
    actor_peer: str | None
    target: Target
    limit: int
    query: str


@dataclass(frozen=True, slots=True)
class _Answer:
    hits: tuple[Hit, ...]
    at: float
    version: int
    chars: int


class Searches:
    """The backend's `find`, with equal questions answered once."""

    def __init__(
        self,
        backend: ContextBackend,
        *,
        cache_ms: int = 0,
        stale_ms: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._cache_s = cache_ms / 1000
        self._stale_s = stale_ms / 1000
        self._clock = clock
        self._answers: OrderedDict[_Question, _Answer] = OrderedDict()
        self._chars = 0
        self._flights: dict[tuple[_Question, int], asyncio.Task[tuple[Hit, ...]]] = {}
        self._versions: dict[str, tuple[int, float]] = {}
        """By tenant: how often its memories changed, and when last."""

    async def find(self, who: Identity, query: str, target: Target, limit: int, deadline: Deadline) -> Found:
        """The hits for ``query``, best first. Raises `BackendError`; its reason is ``deadline_exceeded`` when late."""
        question = _Question(
            who.tenant.account, who.tenant.user, who.session, who.agent, who.actor_peer, target, limit, query
        )
        kept = self._answers.get(question)
        age = self._clock() - kept.at if kept else 0.0
        if kept and age < self._cache_s and kept.version == self._version(who):
            self._answers.move_to_end(question)
            return Found(kept.hits, "cached")
        try:
            return await self._shared(question, who, deadline)
        except BackendError as error:
            if kept and age < self._stale_s and error.reason not in REJECTED:
                return Found(kept.hits, "stale")
            raise

    def memories_changed(self, who: Identity) -> None:
        """What was found for this tenant may be out of date: a turn was stored, or a commit has finished."""
        if len(self._versions) > 10 * MAX_ENTRIES:
            self._answers.clear()
            self._versions.clear()
            self._chars = 0
        self._versions[who.account_key] = (self._version(who) + 1, self._clock())

    async def aclose(self) -> None:
        """Stop what is under way."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    async def _shared(self, question: _Question, who: Identity, deadline: Deadline) -> Found:
        key = (question, self._version(who))
        flight = self._flights.get(key)
        if flight:
            try:
                return Found(await _within(deadline, flight), "joined")
            except BackendError as error:
                if error.reason is not Reason.DEADLINE_EXCEEDED or deadline.expired:
                    raise
        flight = self._flights.get(key) or self._take_off(key, who, deadline)
        return Found(await _within(deadline, flight), "fresh")

    def _take_off(
        self, key: tuple[_Question, int], who: Identity, deadline: Deadline
    ) -> "asyncio.Task[tuple[Hit, ...]]":
        flight = asyncio.create_task(self._ask(*key, who, deadline))
        self._flights[key] = flight

        def landed(task: "asyncio.Task[tuple[Hit, ...]]") -> None:
            if self._flights.get(key) is task:
                del self._flights[key]
            if not task.cancelled():
                task.exception()

        flight.add_done_callback(landed)
        return flight

    async def _ask(self, question: _Question, version: int, who: Identity, deadline: Deadline) -> tuple[Hit, ...]:
        hits = tuple(await self._backend.find(who, question.query, question.target, question.limit, deadline))
        if hits and (self._cache_s or self._stale_s):
            version = version if self._settled(who) else _NEVER_GOOD
            self._keep(question, _Answer(hits, self._clock(), version, sum(len(hit.text) for hit in hits)))
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


async def _within(deadline: Deadline, flight: "asyncio.Task[tuple[Hit, ...]]") -> tuple[Hit, ...]:
    """The flight's result. Giving up, or being cancelled, leaves the flight to its other passengers."""
    done, _ = await asyncio.wait({flight}, timeout=deadline.remaining)
    if not done or flight.cancelled():
        raise BackendError(Reason.DEADLINE_EXCEEDED, "the search is late", retryable=True)
    return flight.result()
