"""The worker's half of the turn store: sessions that are due, leased one by one, and how their steps went."""

import math
from collections.abc import Callable, Collection, Iterable
from functools import partial

from app.store import quiet_commits, session_rows, steps
from app.store.connections import Database
from app.store.steps import WorkRules
from app.store.work import Lane, Lease, Outcome, SendTurn, Step, WorkStep


class SqlWorkQueue:
    """What is to be brought to the backend. ``clock`` is wall-clock seconds, see `SqlTurnStore`."""

    def __init__(self, database: Database, rules: WorkRules, clock: Callable[[], float]) -> None:
        self._database = database
        self._rules = rules
        self._clock = clock

    async def claim(self, owner: str, limit: int, lanes: Iterable[Lane] = Lane) -> list[tuple[Lease, WorkStep]]:
        """Lease up to ``limit`` sessions that are due, each with its first step; those of the first lane first."""
        return await self._database.write_behind(steps.claim, owner, self._rules, self._clock(), limit, lanes)

    async def first_due(self) -> dict[Lane, float]:
        """When the next session without a lease is due, for each lane in which one waits."""
        return await self._database.read_known(session_rows.first_due)

    async def next_step(self, lease: Lease, outcome: Outcome | None = None) -> Step:
        """Write down how the last step went and get the next; `Rest` ends the lease. Raises `LeaseLost`."""
        return await self._database.write_behind(steps.next_step, lease, self._rules, self._clock(), outcome)

    async def mark_attempt(self, lease: Lease, step: SendTurn, sent: int) -> bool:
        """Write down that another write of this turn begins; False if it was given up. Raises `LeaseLost`."""
        return await self._database.write_behind(steps.mark_attempt, lease, self._rules, step, sent, self._clock())

    async def release(self, lease: Lease, outcome: Outcome | None = None) -> float | None:
        """Write down how the last step went and give the session back; when it is due again. Raises `LeaseLost`."""
        return await self._database.write_behind(steps.release, lease, self._rules, self._clock(), outcome)

    async def sweep(self, is_gone: Callable[[str], bool], before: float = math.inf) -> None:
        """At start: end the leases of dead processes, and have committed what was left before then."""
        await self.expire_leases(is_gone)
        place = 0
        while left := await self._database.read(quiet_commits.left_uncommitted, before, place):
            place = left[-1]
            commit_left = partial(quiet_commits.commit_left, self._rules.commit, self._clock(), before)
            await self._database.write_in_slices(commit_left, left)

    async def expire_leases(self, is_gone: Callable[[str], bool]) -> int:
        """End the leases of dead processes; how many sessions that freed."""
        gone = [owner for owner in await self._database.read_known(session_rows.lease_owners) if is_gone(owner)]
        return await self._database.write_behind(session_rows.expire_leases, gone) if gone else 0

    async def hurry(self, sessions: Collection[int] | None = None) -> None:
        """Have these sessions looked at now that wait because a turn failed; None for all of them."""
        now = self._clock()
        waiting = await self._database.read(session_rows.put_off, now)
        wanted = [id_ for id_ in waiting if sessions is None or id_ in sessions]
        await self._database.write_in_slices(partial(session_rows.hurry, now), wanted)
