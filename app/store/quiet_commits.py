"""Commits of sessions that have gone quiet: after the idle time, for a "remember this" that had to wait, and of what a
former process left uncommitted.
"""

from sqlalchemy import Connection, Integer, bindparam, cast, func, select

from app.core.history import commit_policy
from app.core.history.commit_policy import Cause, CommitRules
from app.store import commit_rows, session_rows
from app.store.schema import sessions, turns
from app.store.session_rows import SessionRow
from app.store.work import TurnState

SWEEP_BATCH = 500

_LIVE = select(func.count(), func.max(cast(turns.c.remember, Integer))).where(
    turns.c.session_id == bindparam("session_id"),
    turns.c.position > bindparam("archived_through"),
    turns.c.state == TurnState.DELIVERED,
)


def plan(connection: Connection, session: SessionRow, rules: CommitRules, now: float) -> bool:
    """Plan the commit of a session that has been quiet long enough, or whose "remember this" had to wait."""
    when = due(connection, session, rules)
    if when is None or when[0] > now:
        return False
    shown = commit_rows.shown_turns(connection, session)
    _, cause = when
    if cause is Cause.REMEMBER:
        boundary = commit_policy.on_remember(shown, session.archived_through)
    else:
        boundary = commit_policy.on_idle(shown, session.archived_through, rules)
    if boundary is None:
        return False
    commit_rows.plan(connection, session, boundary, cause, now)
    return True


def due(connection: Connection, session: SessionRow, rules: CommitRules) -> tuple[float, Cause] | None:
    """When the session's live turns are to be committed without another turn, and why."""
    if not rules.archives(session_rows.identity_of(session).kind):
        return None
    since = {"session_id": session.id, "archived_through": session.archived_through}
    count, remember = connection.execute(_LIVE, since).one()
    if not count:
        return None
    dates = []
    if rules.idle_seconds:
        dates.append((session.last_turn_at + rules.idle_seconds, Cause.IDLE))
    if remember:
        dates.append((session.remembered_at + rules.remember_interval_seconds, Cause.REMEMBER))
    date, cause = min(dates, default=(0.0, None))
    return (max(date, session.commit_after), cause) if cause else None


def left_uncommitted(connection: Connection, before: float, after: int) -> list[int]:
    """The next sessions after the id ``after`` that a former process left uncommitted.

    ``before`` is when this process began: what was said since then is not left.
    """
    live = select(turns.c.id).where(
        turns.c.session_id == sessions.c.id,
        turns.c.position > sessions.c.archived_through,
        turns.c.state.in_(commit_rows.SEEN_STATES),
    )
    left = select(sessions.c.id).where(sessions.c.id > after, sessions.c.last_turn_at <= before, live.exists())
    return list(connection.execute(left.order_by(sessions.c.id).limit(SWEEP_BATCH)).scalars())


def commit_left(rules: CommitRules, now: float, before: float, connection: Connection, session_id: int) -> bool:
    """Plan the commit of a session that was left uncommitted; True: nothing more is to be done.

    One that a worker has leased is left alone, and no prompt changes by this: see `commit_policy.on_remember`.
    """
    still = select(sessions).where(
        sessions.c.id == session_id,
        sessions.c.lease_until <= now,
        sessions.c.last_turn_at <= before,
        sessions.c.commit_after <= now,
    )
    session = connection.execute(still.with_for_update(skip_locked=True)).one_or_none()
    if session is not None and rules.archives(session_rows.identity_of(session).kind):
        boundary = commit_policy.on_remember(commit_rows.shown_turns(connection, session), session.archived_through)
        if boundary is not None:
            commit_rows.plan(connection, session, boundary, Cause.SWEEP, now)
    return True
