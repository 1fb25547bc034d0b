"""Checking what is remembered: `POST /memories/freshness`, and at intervals in the background."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Protocol

import anyio
import anyio.to_thread
import structlog

from app.classify.replaces import by_words
from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.audit import Action
from app.core.memories.freshness import Check, FreshnessReport, FreshnessRules, Revision
from app.core.memories.memory import Memory, MemoryFilter
from app.core.memories.paging import place_of
from app.engine.memories.collaborators import Memories, operator_of, told_to_the_caller
from app.errors import BackendTrouble, StoreUnavailable

log = structlog.get_logger(__name__)

PAGE = 250
"""Memories read and looked at in one go: some milliseconds, which is what a turn meanwhile may have to wait."""
STEPS = 50
"""Comparisons in one go."""
FILES = 5
"""Files written in one go."""
CALL_MS = 600_000
"""Longest background check: a large one pauses for others most of the time."""
SHARE = 8.0
"""How long a check pauses after each go, as a multiple of what that took: others have most of the time."""
MAX_PAUSE_S = 0.25
LOOK_EVERY_S = 600.0


class Reports(Protocol):
    """Where the last report of each tenant is kept; see `app.store.freshness_reports`."""

    async def put(self, tenant: Tenant, report: FreshnessReport) -> None:
        """Keep it in the place of the one before. Raises `StoreUnavailable`."""

    async def last(self, tenant: Tenant) -> FreshnessReport | None:
        """The last one."""

    async def due(self, before: str) -> Sequence[Tenant]:
        """Tenants with sessions or memories who were not checked since that moment."""


@dataclass(frozen=True, slots=True)
class CheckFreshness:
    """The use case of `POST /memories/freshness`. ``memories.store`` gives texts as they are stored."""

    memories: Memories
    reports: Reports
    rules: FreshnessRules = field(default_factory=FreshnessRules)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def run(self, who: Identity, deadline: Deadline) -> FreshnessReport:
        """Look at every live memory, change what is certain, and report. Raises `BackendTrouble`, `StoreUnavailable`.

        Nothing of it takes the event loop for long, and it leaves others most of the time, until half its own is over.
        """
        judge, pauses = by_words(), _Pauses(deadline)
        check = Check(self.rules, self.now(), lambda earlier, later: judge.of_statements(earlier, later) >= judge.sure)
        after = None
        while True:
            began = time.monotonic()
            with told_to_the_caller():
                page = await self.memories.store.newest(who, MemoryFilter(), after, PAGE, deadline)
            await anyio.to_thread.run_sync(_look_at, check, page)
            await pauses.after(began)
            if len(page) < PAGE:
                break
            after = place_of(page[-1])
        steps, began = check.finish(), time.monotonic()
        while await anyio.to_thread.run_sync(_some_of, steps):
            await pauses.after(began)
            began = time.monotonic()
        await self._revised(who, check, deadline, pauses)
        report = check.report()
        await self.reports.put(who.tenant, report)
        return report

    async def last(self, who: Identity) -> FreshnessReport | None:
        """The report of the last check; None where there was none."""
        return await self.reports.last(who.tenant)

    async def _revised(self, who: Identity, check: Check, deadline: Deadline, pauses: "_Pauses") -> None:
        revisions = check.revisions
        try:
            for some in _slices(revisions):
                began = time.monotonic()
                with told_to_the_caller():
                    changed = await self.memories.store.revise(who, some, deadline)
                await self.memories.audit.wrote(who, Action.CHANGED, changed)
                await pauses.after(began)
        finally:
            if revisions:
                await self.memories.changed(who.tenant)


@dataclass(frozen=True, slots=True)
class FreshnessKeeper:
    """Checks every tenant each ``every_s`` seconds; 0 is never."""

    check: CheckFreshness
    every_s: float

    async def run(self) -> None:
        """Check until cancelled."""
        while self.every_s:
            await anyio.sleep(min(LOOK_EVERY_S, self.every_s))
            before = datetime.fromtimestamp(self.check.now().timestamp() - self.every_s, UTC)
            for tenant in await self.check.reports.due(
                before.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            ):
                try:
                    await self.check.run(operator_of(tenant), Deadline.after_ms(CALL_MS))
                except (BackendTrouble, StoreUnavailable) as error:
                    log.warning("freshness_not_checked", reason=str(error.code))


class _Pauses:
    """Pauses that leave others most of the time, while more than half of the time to ``deadline`` is left."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._patience = deadline.remaining / 2

    async def after(self, began: float) -> None:
        """Pause behind what began at this moment of the monotonic clock."""
        if self._deadline.remaining > self._patience:
            await anyio.sleep(min(MAX_PAUSE_S, SHARE * (time.monotonic() - began)))


def _slices(revisions: Iterable[Revision]) -> Iterator[list[Revision]]:
    """Revisions in slices that change at most about `FILES` files. Those of one memory stay together: each names the
    version that was looked at, which another slice's change would have replaced."""
    by_memory: defaultdict[str, list[Revision]] = defaultdict(list)
    for revision in revisions:
        by_memory[revision.id].append(revision)
    some: list[Revision] = []
    files: set[str] = set()
    for same in by_memory.values():
        touched = {file for one in same for file in one.files}
        if some and len(files | touched) > FILES:
            yield some
            some, files = [], set()
        some += same
        files |= touched
    if some:
        yield some


def _look_at(check: Check, page: Sequence[Memory]) -> None:
    for number, memory in enumerate(page):
        check.add(memory)
        if number % STEPS == 0:
            time.sleep(0)  # lets the event loop's thread go on


def _some_of(steps: Iterator[None]) -> bool:
    """Take some steps; whether there may be more."""
    return sum(1 for _ in islice(steps, STEPS)) == STEPS
