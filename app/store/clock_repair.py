"""Mending dates after the machine's clock was set back: what was put off by a minute would else wait for years."""

from sqlalchemy import ColumnElement, Connection, Table, and_, select, update

from app.store.schema import commits, sessions, turns
from app.store.work import OPEN_TURNS, UNSENT_COMMITS, CommitPhase

RETRY_AHEAD_S = 900.0
"""Further ahead than any delivery is put off: a backend's Retry-After counts for ten minutes at most."""
TASK_AHEAD_S = 86_400.0
"""Further ahead than an extraction is put off."""
_Mend = tuple[Table, ColumnElement[bool], dict[str, float]]
"""A table, which of its rows to change, and to what."""
_GOING = (*UNSENT_COMMITS, CommitPhase.RUNNING, CommitPhase.FAILED)


def mend(connection: Connection, now: float, lease_s: float, *, set_back: bool = False) -> None:
    """Bring back what no rule can have put so far ahead: dates to ``now``, leases to the end of a new one.

    ``set_back``: the clock was certainly set back just now, so that no date is to be trusted. Whatever waits is looked
    at once more, and only what guards a write that may still arrive keeps a wait, of a lease's length at most.
    """
    for table, which, values in _mends(now, lease_s, set_back=set_back):
        connection.execute(update(table).where(which).values(values))


def is_astray(connection: Connection, now: float, lease_s: float) -> bool:
    """Whether `mend` would change anything: to look takes long in a large store, and no lock."""
    mends = _mends(now, lease_s, set_back=False)
    return any(connection.execute(select(table.c.id).where(which).limit(1)).first() for table, which, _ in mends)


def _mends(now: float, lease_s: float, *, set_back: bool) -> list[_Mend]:
    retry_ahead_s, task_ahead_s = (0.0, 0.0) if set_back else (RETRY_AHEAD_S, TASK_AHEAD_S)
    on_their_way = (CommitPhase.PLANNED, CommitPhase.RUNNING, CommitPhase.FAILED)
    in_doubt = and_(turns.c.state.in_(OPEN_TURNS), turns.c.doubt_until > now + max(retry_ahead_s, lease_s))
    return [
        *_of_commits(on_their_way, now, now, task_ahead_s),
        *_of_commits((CommitPhase.SENDING,), now, now + lease_s, max(task_ahead_s, lease_s)),
        (sessions, sessions.c.retry_at > now + retry_ahead_s, {"retry_at": now, "due_at": now}),
        (sessions, sessions.c.last_turn_at > now + lease_s, {"last_turn_at": now, "due_at": now}),
        (sessions, sessions.c.commit_after > now + task_ahead_s, {"commit_after": now}),
        (sessions, sessions.c.remembered_at > now + lease_s, {"remembered_at": now, "due_at": now}),
        (sessions, sessions.c.lease_until > now + 2 * lease_s, {"lease_until": now + lease_s}),
        (turns, in_doubt, {"doubt_until": now + lease_s}),
        (commits, and_(commits.c.attempt_started > now, commits.c.state.in_(_GOING)), {"attempt_started": now}),
    ]


def _of_commits(phases: tuple[CommitPhase, ...], now: float, next_at: float, ahead_s: float) -> list[_Mend]:
    """Bring what is put off by more than ``ahead_s`` back to ``next_at``."""
    late = and_(commits.c.state.in_(phases), commits.c.next_at > now + ahead_s)
    waiting = sessions.c.id.in_(select(commits.c.session_id).where(late))
    return [(sessions, waiting, {"due_at": now}), (commits, late, {"next_at": next_at})]
