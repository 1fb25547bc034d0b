"""The background worker: it leases sessions that are due and takes one step after the other for each.

Everything durable is in the store, so the worker may die at any point. New work wakes it; it also looks from time to
time for retries, for what other processes accepted, and for leases that ran out.
"""

import math
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

import anyio
import structlog
from anyio.abc import TaskGroup

from app.core.deadline import Clock, Deadline
from app.core.identity import Identity
from app.errors import StoreUnavailable
from app.local import processes
from app.ports import ContextBackend
from app.store.turns import SqlTurnStore
from app.store.work import (
    CommitAccepted,
    CommitPostponed,
    CommitProgress,
    DeliveredLost,
    ExtractionFailed,
    FollowCommit,
    Lane,
    Lease,
    LeaseLost,
    Outcome,
    ReExtract,
    Rest,
    SendCommit,
    SendTurn,
    Step,
    TurnDelivered,
    TurnInDoubt,
    TurnRejected,
    WorkStep,
)
from app.worker import commits
from app.worker.backoff import Backoff
from app.worker.commits import Archivist
from app.worker.deliver import Courier, deliver
from app.worker.duplicates import Duplicates
from app.worker.housekeeping import Housekeeping, guarded
from app.worker.outages import Outages
from app.worker.poison import PoisonTurns

log = structlog.get_logger(__name__)

T = TypeVar("T")

CLAIMED_AT_ONCE = 4
"""Sessions that one transaction leases: more would hold the store's lock for longer than a turn should wait for it."""
LOOK_EVERY_S = 1.0
"""Longest sleep: other processes write to the store without waking this one."""
COLLECT_S = 0.005
"""Pause before new work is looked at: what comes together is taken together, and the host gets its answer first."""
FINISH_S = 8.0
"""How long a worker that is stopped lets its steps finish: under the 10 s after which Docker kills by default."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How deliveries are paced; see ``SIDECAR_DELIVERY__*``. Seconds."""

    concurrency: int = 8
    backoff_s: float = 0.25
    longest_backoff_s: float = 5.0
    give_up_tries: int = 5
    give_up_s: float = 120.0


class Worker:
    """Delivers turns and follows commits until `run` is cancelled. ``random`` and both clocks are for tests.

    ``memories_changed`` is called with a user for whom searches may find something else from now on, and ``on_doubled``
    with the number of messages that a late write has left in a session twice.
    """

    def __init__(
        self,
        store: SqlTurnStore,
        backend: ContextBackend,
        settings: WorkerSettings,
        *,
        random: Callable[[], float] = random.random,
        monotonic: Clock = time.monotonic,
        memories_changed: Callable[[Identity], None] = lambda _who: None,
        on_doubled: Callable[[int], None] = lambda _messages: None,
    ) -> None:
        backoff = Backoff(settings.backoff_s, settings.longest_backoff_s, random)
        settle_s, call_s = store.rules.settle_s, store.rules.call_s
        self._store = store
        self._concurrency = settings.concurrency
        poison_turns = PoisonTurns(settings.give_up_tries, settings.give_up_s, monotonic)
        duplicates = Duplicates(backend, call_s, monotonic, on_doubled)
        self.housekeeping = Housekeeping(store, duplicates, monotonic, self.wake)
        self._outages = Outages(random)
        self._courier = Courier(
            backend=backend,
            mark_attempt=store.queue.mark_attempt,
            backoff=backoff,
            poison_turns=poison_turns,
            duplicates=duplicates,
            outages=self._outages,
            settle_s=settle_s,
            call_s=call_s,
            clock=store.clock,
            monotonic=monotonic,
            memories_changed=memories_changed,
        )
        self._archivist = Archivist(
            backend, backoff, self._outages, settle_s, call_s, store.clock, monotonic, memories_changed
        )
        self._monotonic = monotonic
        self._owner = processes.this_process()
        self._busy: Counter[Lane] = Counter()
        self._lanes = deque(lane for lane in Lane if lane is not Lane.TURN)
        self._serving: set[anyio.CancelScope] = set()
        self._stops_at = math.inf
        self._work = anyio.Event()
        self._progress = anyio.Event()
        store.on_work = self.wake

    def wake(self) -> None:
        """There may be something to do."""
        self._work.set()

    async def run(self) -> None:
        """Work until cancelled. A step that is under way then may finish within `FINISH_S`.

        One that is cut short all the same ends in a state from which the next start goes on, after a longer wait.
        """
        self._stops_at = math.inf
        async with anyio.create_task_group() as group:
            try:
                group.start_soon(self.housekeeping.look)
                group.start_soon(self.housekeeping.clean)
                while True:
                    self._work = anyio.Event()
                    until = await guarded(lambda: self._dispatch(group))
                    with anyio.move_on_after(LOOK_EVERY_S if until is None else until):
                        await self._work.wait()
                        await anyio.sleep(COLLECT_S)
            finally:
                self._stop_soon()

    def _stop_soon(self) -> None:
        self._stops_at = anyio.current_time() + FINISH_S
        for scope in self._serving:
            scope.deadline = self._stops_at

    async def drain(self) -> None:
        """Do everything that is due now, in this task, and return (for tests and for a last effort)."""
        while True:
            claimed_at = self._monotonic()
            leases = await self._store.queue.claim(self._owner, self._concurrency)
            if not leases:
                return
            for lease, step in leases:
                await self._serve(lease, step, claimed_at)

    async def wait_until(self, done: Callable[[], Awaitable[bool]], deadline: Deadline) -> bool:
        """Wait until ``done`` says so, asked after each step and from time to time; False at the deadline."""
        while True:
            progress = self._progress
            if await done():
                return True
            if deadline.expired:
                return False
            with anyio.move_on_after(min(deadline.remaining, LOOK_EVERY_S / 4)):
                await progress.wait()

    async def _dispatch(self, group: TaskGroup) -> float | None:
        """Start serving sessions that are due, as many as there is room for; seconds until the next look."""
        room = {lane: free for lane in (Lane.TURN, *self._lanes) if (free := self._room(lane)) > 0}
        due, now = await self._store.queue.first_due() if room else {}, self._store.clock()
        waits = {lane: max(0.0, due[lane] - now) for lane in room if lane in due}
        lane = min(waits, key=waits.__getitem__, default=None)  # of those that are due the first, so turns before all
        if lane is None or waits[lane] > 0:
            return min([LOOK_EVERY_S, *waits.values()])
        if lane is not Lane.TURN:  # the lanes that can wait take turns, so that none of them starves another
            self._lanes.remove(lane)
            self._lanes.append(lane)
        claimed_at = self._monotonic()
        for lease, step in await self._store.queue.claim(self._owner, min(room[lane], CLAIMED_AT_ONCE), (lane,)):
            self._busy[lease.lane] += 1
            group.start_soon(self._serve_in_background, lease, step, claimed_at)
        return 0.0

    def _room(self, lane: Lane) -> int:
        """How many more sessions may be served in this lane; some places are never given to what can wait."""
        free = self._concurrency - self._busy.total()
        if lane is Lane.TURN:
            return free
        kept = self._concurrency // 4
        return min(free, self._concurrency - kept - (self._busy.total() - self._busy[Lane.TURN]))

    async def _serve_in_background(self, lease: Lease, first: WorkStep, claimed_at: float) -> None:
        scope = anyio.CancelScope(shield=True, deadline=self._stops_at)
        self._serving.add(scope)
        try:
            with scope:
                await guarded(lambda: self._serve(lease, first, claimed_at))
        except Exception:  # a bug that one session meets must not end the work on all the others
            log.exception("session_failed", session=lease.who.session)
            await anyio.sleep(LOOK_EVERY_S)
        finally:
            self._busy[lease.lane] -= 1
            self._serving.discard(scope)
            self.wake()

    async def _serve(self, lease: Lease, step: Step, marked_at: float) -> None:
        """Take the session's steps until there is nothing to do now, which ends the lease.

        ``marked_at``: a monotonic time before the first step was written down; so old is each step's right to write.
        """
        try:
            while not isinstance(step, Rest):
                outcome = await self._take(lease, step, marked_at)
                _log(lease, step, outcome)
                if self._stops_at < math.inf:
                    await self._store.queue.release(lease, outcome)
                    return
                marked_at = self._monotonic()
                step = await self._store.queue.next_step(lease, outcome)
                self._tell()
                if isinstance(outcome, TurnDelivered):
                    await self._hurry(self._outages.over(lease))
        except LeaseLost:
            log.warning("lease_lost", session=lease.who.session)
        except BaseException:  # cancelled, or the store failed: the next worker need not wait for the lease to run out
            with anyio.CancelScope(shield=True):
                await guarded(lambda: self._store.queue.release(lease))
            raise

    async def _hurry(self, sessions: Collection[int] | None) -> None:
        """Have these sessions, or all that failed, tried again now: the backend is there."""
        if sessions is None or sessions:
            await self._store.queue.hurry(sessions)
            self.wake()

    async def _take(self, lease: Lease, step: WorkStep, marked_at: float) -> Outcome:
        try:
            return await self._attempt(lease, step, marked_at)
        except (LeaseLost, StoreUnavailable):
            raise
        except Exception as error:  # a bug here or in a backend must cost one step's delay, not the process
            log.exception("step_failed", session=lease.who.session, step=type(step).__name__)
            now = self._store.clock()
            retry_at = now + max(self._courier.settle_s, self._courier.backoff.first_s)
            if isinstance(step, SendTurn):
                return TurnInDoubt(step, repr(error), now + self._store.rules.doubt_s, retry_at)
            if isinstance(step, FollowCommit):
                return CommitProgress(step.id, retry_at)
            return CommitPostponed(step.id, repr(error), retry_at, in_doubt=isinstance(step, SendCommit))

    async def _attempt(self, lease: Lease, step: WorkStep, marked_at: float) -> Outcome:
        match step:
            case SendTurn():
                return await deliver(self._courier, lease, step, marked_at)
            case SendCommit():
                return await commits.send(self._archivist, lease, step, marked_at)
            case FollowCommit():
                return await commits.follow(self._archivist, lease, step)
            case ReExtract():
                return await commits.extract_again(self._archivist, lease, step)

    def _tell(self) -> None:
        self._progress.set()
        self._progress = anyio.Event()


def _log(lease: Lease, step: WorkStep, outcome: Outcome) -> None:
    """One line a step: what was tried and how it went.

    What the backend says of an error may quote what a person said, so it stands in `/deliveries` and not here.
    """
    known = {"session": lease.who.session, "step": type(step).__name__, "outcome": type(outcome).__name__}
    if isinstance(step, SendTurn):
        known["turn_id"] = step.turn_id
    for named in (step, outcome):
        if isinstance(named, CommitAccepted | FollowCommit) and named.task_id:
            known["task_id"] = named.task_id
        if isinstance(named, CommitAccepted | ExtractionFailed | FollowCommit | ReExtract) and named.archive_id:
            known["archive_id"] = named.archive_id
    if isinstance(outcome, TurnDelivered):
        log.debug("worker_step", **known)
    elif isinstance(outcome, TurnRejected):
        log.error("dead_letter", **known)
    elif isinstance(outcome, DeliveredLost):
        log.warning("delivered_lost", **known)
    else:
        log.info("worker_step", **known)
