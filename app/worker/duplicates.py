"""Looking for what a write did that came after its time-out: it can not be undone, but it is counted and said.

A write that is carried out long after its call, when the turn has been sent again, leaves the turn's messages in the
session twice. OpenViking 0.5.2 can not take a single message back: there is no such call, and it refuses to have a
session's files written. Readers leave a second copy out (`session_messages.once`), so that it shows in no prompt.
"""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from app.core.deadline import Clock, Deadline
from app.core.identity import Identity
from app.ports import BackendError, ContextBackend
from app.store.work import Lease

log = structlog.get_logger(__name__)

WATCHED_S = 900.0
"""How long a turn that was sent again is looked for."""
MAX_TURNS = 1_000
EVERY_S = 5.0
"""Between two looks for the same turn."""
SHARE = 0.25
"""The part of a call's time that looking may take of a send."""


@dataclass(slots=True)
class _Resent:
    session_id: int
    who: Identity
    until: float
    next_look: float = 0.0
    copies: int = 0


class Duplicates:
    """The turns that were sent again. Kept in memory only."""

    def __init__(self, backend: ContextBackend, call_s: float, monotonic: Clock, tell: Callable[[int], None]) -> None:
        self._backend = backend
        self._call_s = call_s
        self._monotonic = monotonic
        self._tell = tell
        self._turns: dict[str, _Resent] = {}

    def resent(self, lease: Lease, turn_id: str) -> None:
        """The turn was sent once more after a write of unknown outcome."""
        self._turns.setdefault(turn_id, _Resent(lease.session_id, lease.who, self._monotonic() + WATCHED_S))
        if len(self._turns) > MAX_TURNS:
            del self._turns[next(iter(self._turns))]

    async def look(self, session_id: int) -> None:
        """Look for second copies in a session to which something is about to be sent."""
        now = self._monotonic()
        deadline = Deadline(now + self._call_s * SHARE, self._monotonic)
        turns = [turn_id for turn_id, resent in self._turns.items() if resent.session_id == session_id]
        for turn_id in turns:
            if self._turns[turn_id].next_look <= now and not deadline.expired:
                await self._look(turn_id, deadline)

    async def look_at_all(self) -> None:
        """Look for second copies of the turns that were sent again, for the last time when a turn's time is over.

        It takes as long as one call may: a server that hangs must not hold up other chores. Those that were not looked
        for the longest are first, so the next round goes on where this one ended.
        """
        deadline = Deadline(self._monotonic() + self._call_s, self._monotonic)
        for turn_id in sorted(self._turns, key=lambda turn_id: self._turns[turn_id].next_look):
            if not deadline.expired:
                await self._look(turn_id, deadline)

    async def _look(self, turn_id: str, deadline: Deadline) -> None:
        resent = self._turns.get(turn_id)
        if resent is None:
            return
        now = self._monotonic()
        resent.next_look = now + EVERY_S
        try:
            copies = await self._backend.copies(resent.who, turn_id, deadline)
        except BackendError:
            copies = resent.copies
        if copies > resent.copies:
            log.warning("turn_doubled", session=resent.who.session, turn_id=turn_id, messages=copies - resent.copies)
            self._tell(copies - resent.copies)
            resent.copies = copies
        if now >= resent.until:
            self._turns.pop(turn_id, None)
