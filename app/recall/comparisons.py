"""Pairs of texts that a model reads together, for recalls that want to know whether a memory helps with the question,
or one statement replaces another.

A choice of what to show is made at once, and tells which pairs it would like to have read. Those are read in a thread,
and the choice is made again with what came of it. What is late serves the next recall. Kept in memory by the hash of
the texts, bounded.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog

from app.core.deadline import Deadline
from app.core.recall.text_pairs import TASKS, KnownPair, ReadPairs, Task, Texts

log = structlog.get_logger(__name__)

WAIT_S = 2.0
"""Longest wait in all: 35 ms a pair, half a second more where the process starts, and the recalls before."""
SHARE_OF_DEADLINE = 0.5
MAX_KEPT = 4096
MAX_UNDER_WAY = 4
"""Recalls that wait for their pairs at once. One is read after the other, so that more would wait in vain."""
MAX_CHOICES = 2 + len(TASKS)
"""One after the hits are read, one after statements of the chosen ones, and one after what may replace them."""

T = TypeVar("T")


class Comparisons:
    """Reads pairs and keeps what came of it; one for the process."""

    def __init__(self, read: ReadPairs, wait_s: float = WAIT_S) -> None:
        self._read_pairs = read
        self._wait_s = wait_s
        self._kept: OrderedDict[bytes, float] = OrderedDict()
        self._under_way: set[asyncio.Task[bool]] = set()
        self._one = asyncio.Lock()
        """There is one process that reads, and the threads that would wait for it are few."""

    async def helping(self, choose: Callable[[KnownPair], Awaitable[T]], deadline: Deadline) -> T:
        """What ``choose`` makes of the pairs that were read; again, as long as those that it missed are read in time.

        Raises what ``choose`` raises: where nothing can be read, words and vectors decide.
        """
        missing: dict[tuple[Task, Texts], None] = {}

        def known(task: Task, texts: Texts) -> float | None:
            odds = self._kept.get(_digest(task, texts))
            if odds is None:
                missing[task, texts] = None
            return odds

        kept_back = deadline.remaining - min(self._wait_s, deadline.remaining * SHARE_OF_DEADLINE)
        chosen = await choose(known)
        for _ in range(1, MAX_CHOICES):
            task = min((of for of, _ in missing), key=TASKS.index, default=TASKS[0])
            wanted = [texts for of, texts in missing if of == task]
            missing.clear()
            if not await self._have_read(task, wanted, deadline.remaining - kept_back):
                break
            chosen = await choose(known)
        return chosen

    async def _have_read(self, task: Task, wanted: Sequence[Texts], within_s: float) -> bool:
        """Whether the pairs were read in time."""
        if not wanted or len(self._under_way) >= MAX_UNDER_WAY:
            return False
        reading = asyncio.create_task(self._read(task, wanted))
        self._under_way.add(reading)
        reading.add_done_callback(self._under_way.discard)
        done, _ = await asyncio.wait({reading}, timeout=max(0.0, within_s))
        return bool(done) and reading.result()

    async def aclose(self) -> None:
        """Wait for what is under way: a thread can not be stopped."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _read(self, task: Task, pairs: Sequence[Texts]) -> bool:
        try:
            async with self._one:
                found = await asyncio.to_thread(self._read_pairs, task, pairs)
        except Exception as error:
            log.warning("comparing_failed", error=type(error).__name__)
            return False
        self._kept.update(zip((_digest(task, texts) for texts in pairs), found, strict=True))
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return True


def _digest(task: Task, texts: Texts) -> bytes:
    both = "\0".join((task, *texts)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(both, digest_size=16).digest()
