"""Telling a turn that the backend can not take from a backend that is away: by what else it takes meanwhile."""

from dataclasses import dataclass

from app.core.deadline import Clock
from app.core.identity import Tenant
from app.store.work import Lease

MAX_TURNS = 10_000
"""Turns in trouble that are remembered, and tenants."""


@dataclass(slots=True)
class _Trouble:
    """``tries`` that failed although others were delivered since the one before; the times of the first and last."""

    tries: int
    since: float
    last: float
    error: str


class PoisonTurns:
    """Counts the failures of each turn that do not look like an outage.

    One counts only when another session of the same tenant had a turn delivered since the failure before it: so a
    backend, or a tenant's part of it, that is away or comes back slowly never makes a turn hopeless. This is kept in
    memory: a new process counts anew.
    """

    def __init__(self, tries: int, seconds: float, monotonic: Clock) -> None:
        self._tries = tries
        self._seconds = seconds
        self._monotonic = monotonic
        self._turns: dict[str, _Trouble] = {}
        self._delivered: dict[Tenant, dict[int, float]] = {}

    def delivered(self, lease: Lease, turn_id: str) -> None:
        """The backend has the turn."""
        self._turns.pop(turn_id, None)
        # The last two sessions are enough to know of one that is not the session in question.
        sessions = self._delivered.pop(lease.who.tenant, {})
        sessions.pop(lease.session_id, None)
        self._delivered[lease.who.tenant] = dict([*sessions.items(), (lease.session_id, self._monotonic())][-2:])
        if len(self._delivered) > MAX_TURNS:
            del self._delivered[next(iter(self._delivered))]

    def failed(self, lease: Lease, turn_id: str, error: str) -> None:
        """A try of the turn has failed in a way that may lie in the turn itself."""
        now = self._monotonic()
        trouble = self._turns.pop(turn_id, None) or _Trouble(0, now, now, error)
        others = self._delivered.get(lease.who.tenant, {})
        if any(at >= trouble.last for session_id, at in others.items() if session_id != lease.session_id):
            trouble.tries += 1
        trouble.last, trouble.error = now, error
        self._turns[turn_id] = trouble
        if len(self._turns) > MAX_TURNS:
            del self._turns[next(iter(self._turns))]

    def hopeless(self, turn_id: str) -> str | None:
        """Why the turn becomes a dead letter, or None while it is worth another try. Says it once."""
        trouble = self._turns.get(turn_id)
        if trouble is None or trouble.tries < self._tries or self._monotonic() - trouble.since < self._seconds:
            return None
        del self._turns[turn_id]
        return f"given up after {trouble.tries} tries that failed while others were delivered: {trouble.error}"
