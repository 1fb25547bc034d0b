"""Pairs of statements that a model reads together, for recalls that want to know whether one replaces the other.

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
from app.recall.relevance.outdated import Compared

log = structlog.get_logger(__name__)

WAIT_S = 2.0
"""Longest wait: fifteen milliseconds a pair, half a second more where the process starts, and the recalls before."""
SHARE_OF_DEADLINE = 0.5
MAX_KEPT = 4096
MAX_UNDER_WAY = 16
"""Recalls that wait for their pairs at once. One is read after the other, so that more would wait in vain."""

T = TypeVar("T")
Texts = tuple[str, str]
"""An earlier and a later statement."""
Compare = Callable[[Sequence[Texts]], Sequence[float]]
"""For each pair the log-odds that the later statement replaces the earlier one. Blocks, and may fail."""


class Comparisons:
    """Reads pairs and keeps what came of it; one for the process."""

    def __init__(self, compare: Compare, wait_s: float = WAIT_S) -> None:
        self._compare = compare
        self._wait_s = wait_s
        self._kept: OrderedDict[bytes, float] = OrderedDict()
        self._under_way: set[asyncio.Task[bool]] = set()
        self._one = asyncio.Lock()
        """There is one process that reads, and the threads that would wait for it are few."""

    async def helping(self, choose: Callable[[Compared], Awaitable[T]], deadline: Deadline) -> T:
        """What ``choose`` makes of the comparisons that are known; again, where those that it missed were made in time.

        Raises what ``choose`` raises: where nothing can be read, words and vectors decide.
        """
        missing: list[Texts] = []

        def known(earlier: str, later: str) -> float | None:
            odds = self._kept.get(_digest((earlier, later)))
            if odds is None:
                missing.append((earlier, later))
            return odds

        chosen = await choose(known)
        return await choose(known) if await self._have_read(missing, deadline) else chosen

    async def _have_read(self, pairs: Sequence[Texts], deadline: Deadline) -> bool:
        """Whether the pairs were read in time."""
        if not pairs or len(self._under_way) >= MAX_UNDER_WAY:
            return False
        reading = asyncio.create_task(self._read(list(dict.fromkeys(pairs))))
        self._under_way.add(reading)
        reading.add_done_callback(self._under_way.discard)
        done, _ = await asyncio.wait({reading}, timeout=min(self._wait_s, deadline.remaining * SHARE_OF_DEADLINE))
        return bool(done) and reading.result()

    async def aclose(self) -> None:
        """Wait for what is under way: a thread can not be stopped."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _read(self, pairs: Sequence[Texts]) -> bool:
        try:
            async with self._one:
                found = await asyncio.to_thread(self._compare, pairs)
        except Exception as error:
            log.warning("comparing_failed", error=type(error).__name__)
            return False
        self._kept.update(zip(map(_digest, pairs), found, strict=True))
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return True


def _digest(texts: Texts) -> bytes:
    both = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(both, digest_size=16).digest()
