"""Mending dates after the machine's clock was set back: what was put off by a minute would else wait for years."""

from typing import Any

from sqlalchemy import Connection, select, update

from app.store.schema import commits, sessions, turns
from app.store.work import OPEN_TURNS, UNSENT_COMMITS, CommitPhase

RETRY_AHEAD_S = 900.0
"""Further ahead than any delivery is put off: a backend's Retry-After counts for ten minutes at most."""
TASK_AHEAD_S = 86_400.0
"""Further ahead than an extraction is put off."""
_GOING = (*UNSENT_COMMITS, CommitPhase.RUNNING, CommitPhase.FAILED)


def mend(connection: Connection, now: float, lease_s: float, *, set_back: bool = False) -> None:
    """Bring back what no rule can have put so far ahead: dates to ``now``, leases to the end of a new one.

    ``set_back``: the clock was certainly set back just now, so that no date is to be trusted. Whatever waits is looked
    at once more, and only what guards a write that may still arrive keeps a wait, of a lease's length at most.
    """
    retry_ahead_s, task_ahead_s = (0.0, 0.0) if set_back else (RETRY_AHEAD_S, TASK_AHEAD_S)
    _mend_commits(connection, (CommitPhase.PLANNED, CommitPhase.RUNNING, CommitPhase.FAILED), now, now, task_ahead_s)
    _mend_commits(connection, (CommitPhase.SENDING,), now, now + lease_s, max(task_ahead_s, lease_s))
    _change(connection, sessions.c.retry_at > now + retry_ahead_s, retry_at=now, due_at=now)
    _change(connection, sessions.c.last_turn_at > now + lease_s, last_turn_at=now, due_at=now)
    _change(connection, sessions.c.commit_after > now + task_ahead_s, commit_after=now)
    _change(connection, sessions.c.remembered_at > now + lease_s, remembered_at=now, due_at=now)
    _change(connection, sessions.c.lease_until > now + 2 * lease_s, lease_until=now + lease_s)
    in_doubt = (turns.c.state.in_(OPEN_TURNS), turns.c.doubt_until > now + max(retry_ahead_s, lease_s))
    connection.execute(update(turns).where(*in_doubt).values(doubt_until=now + lease_s))
    began = update(commits).where(commits.c.attempt_started > now, commits.c.state.in_(_GOING))
    connection.execute(began.values(attempt_started=now))


def _mend_commits(
    connection: Connection, phases: tuple[CommitPhase, ...], now: float, next_at: float, ahead_s: float
) -> None:
    """Bring what is put off by more than ``ahead_s`` back to ``next_at``."""
    late = (commits.c.state.in_(phases), commits.c.next_at > now + ahead_s)
    _change(connection, sessions.c.id.in_(select(commits.c.session_id).where(*late)), due_at=now)
    connection.execute(update(commits).where(*late).values(next_at=next_at))


def _change(connection: Connection, which: Any, **values: Any) -> None:
    connection.execute(update(sessions).where(which).values(**values))
