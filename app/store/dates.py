"""Mending dates after the machine's clock was set back: what was put off by a minute would else wait for years."""

from typing import Any

from sqlalchemy import Connection, select, update

from app.store.schema import commits, sessions
from app.store.work import UNSENT_COMMITS, CommitPhase

RETRY_AHEAD_S = 900.0
"""Further ahead than any delivery is put off: a backend's Retry-After counts for ten minutes at most."""
TASK_AHEAD_S = 86_400.0
"""Further ahead than an extraction is put off."""


def mend(connection: Connection, now: float, lease_s: float) -> None:
    """Bring back what no rule can have put so far ahead: dates to ``now``, leases to the end of a new one."""
    going = (*UNSENT_COMMITS, CommitPhase.RUNNING, CommitPhase.FAILED)
    late = (commits.c.state.in_(going), commits.c.next_at > now + TASK_AHEAD_S)
    of_late = sessions.c.id.in_(select(commits.c.session_id).where(*late))
    _change(connection, of_late, due_at=now)
    connection.execute(update(commits).where(*late).values(next_at=now))
    _change(connection, sessions.c.retry_at > now + RETRY_AHEAD_S, retry_at=now, due_at=now)
    _change(connection, sessions.c.last_turn_at > now + lease_s, last_turn_at=now, due_at=now)
    _change(connection, sessions.c.remembered_at > now + lease_s, remembered_at=now, due_at=now)
    _change(connection, sessions.c.lease_until > now + 2 * lease_s, lease_until=now + lease_s)


def _change(connection: Connection, which: Any, **values: Any) -> None:
    connection.execute(update(sessions).where(which).values(**values))
