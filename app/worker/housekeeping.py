"""What a worker does beside its steps: dates that a clock spoiled, leases of dead processes, and what is too old."""

import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import structlog

from app.core.deadline import Clock
from app.errors import StoreUnavailable
from app.local import processes
from app.store.turns import SqlTurnStore
from app.worker.duplicates import Duplicates

log = structlog.get_logger(__name__)

T = TypeVar("T")

LOOK_FOR_DEAD_S = 3.0
"""Between two looks for dead processes that hold leases."""
CLOCK_SLACK_S = 1.0
"""A wall clock that falls behind the monotonic one by more than this was set back; drift and scheduling stay below."""
TIDY_EVERY = 20
"""Of these looks, every how many-th also mends what a clock left behind; what is too old is forgotten as often."""


class Housekeeping:
    """The chores of one worker, which ``wake`` tells that there may be something to do."""

    def __init__(self, store: SqlTurnStore, duplicates: Duplicates, monotonic: Clock, wake: Callable[[], None]) -> None:
        self._store = store
        self._duplicates = duplicates
        self._monotonic = monotonic
        self._wake = wake
        self._made_at = store.clock()
        self._ahead = self._made_at - monotonic()

    async def look(self) -> None:
        """Mend dates that a clock spoiled, and free the sessions of dead processes, until cancelled."""
        await guarded(self._store.mend_dates)
        for round_ in itertools.count(1):
            await anyio.sleep(LOOK_FOR_DEAD_S)
            await guarded(self.compare_clocks)
            if await guarded(lambda: self._store.queue.expire_leases(processes.is_gone)):
                self._wake()
            if round_ % TIDY_EVERY == 0:
                await guarded(self._store.mend_dates)

    async def clean(self) -> None:
        """Commit what a former process left; then forget what is old and look for duplicates, until cancelled."""
        await guarded(lambda: self._store.queue.sweep(processes.is_gone, self._made_at))
        self._wake()
        while True:
            await anyio.sleep(LOOK_FOR_DEAD_S * TIDY_EVERY)
            await guarded(self._store.forget_old)
            await self._duplicates.look_at_all()

    async def compare_clocks(self) -> None:
        """Mend the dates in the store if the wall clock was set back since the last look, and have it all looked at."""
        ahead, before = self._store.clock() - self._monotonic(), self._ahead
        self._ahead = ahead
        if ahead < before - CLOCK_SLACK_S:
            log.warning("clock_set_back", seconds=round(before - ahead, 1))
            await self._store.mend_dates(set_back=True)
            self._wake()


async def guarded(work: Callable[[], Awaitable[T]]) -> T | None:
    """``work``; None while the store is away."""
    try:
        return await work()
    except StoreUnavailable as error:
        log.error("store_unavailable", detail=error.detail)
        return None
