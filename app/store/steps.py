"""A worker's view of a session: what to do next, and writing down how the last step went. One transaction for both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, Row, and_, bindparam, cast, func, select, update

from app.core.history.commit_policy import ASKED_FOR, CommitRules
from app.store import lost_turns, quiet_commits, session_rows
from app.store.codec import NO_MESSAGES, StoredMessages
from app.store.commit_rows import CommitRow
from app.store.outcomes import record
from app.store.schema import commits as commit_table
from app.store.schema import turns
from app.store.session_rows import SessionRow
from app.store.work import (
    OPEN_TURNS,
    UNSENT_COMMITS,
    CommitPhase,
    FollowCommit,
    Lane,
    Lease,
    Outcome,
    ReExtract,
    Rest,
    SendCommit,
    SendTurn,
    Step,
    TurnState,
    WorkStep,
)

TurnRow = Row[*tuple[Any, ...]]
_ASKED = and_(commit_table.c.cause.in_(ASKED_FOR), commit_table.c.state == CommitPhase.RUNNING)
_TURN = turns.c.id, turns.c.turn_id, turns.c.position, turns.c.state
_ATTEMPTS = (
    turns.c.captured,
    turns.c.sent,
    turns.c.attempts,
    turns.c.attempt_started,
    turns.c.doubt_until,
    turns.c.error,
)
_OLDEST = (
    select(*_TURN, *_ATTEMPTS)
    .where(turns.c.session_id == bindparam("session_id"), turns.c.state == bindparam("state"))
    .order_by(turns.c.position)
    .limit(1)
)
_OF_SESSION = commit_table.c.session_id == bindparam("session_id")
_FOLLOWED = commit_table.c.state.in_((CommitPhase.RUNNING, CommitPhase.FAILED))
_UNSENT = select(commit_table).where(_OF_SESSION, commit_table.c.state.in_(UNSENT_COMMITS)).order_by(commit_table.c.id)
_DUE_TASK = (
    select(commit_table)
    .where(_OF_SESSION, _FOLLOWED, commit_table.c.next_at <= bindparam("now"))
    .order_by(commit_table.c.next_at)
    .limit(1)
)
_NEXT_LOOK = select(func.min(commit_table.c.next_at), func.max(cast(_ASKED, Integer))).where(_OF_SESSION, _FOLLOWED)
_PAYLOAD = select(turns.c.payload).where(turns.c.id == bindparam("id"))


@dataclass(frozen=True, slots=True)
class WorkRules:
    """How long things take, and when commits are due. Seconds.

    ``call_s`` is the longest time from a write's mark to its end, less than a lease lasts; for ``settle_s`` after that
    the backend may still carry it out.
    """

    lease_s: float
    settle_s: float
    call_s: float
    commit: CommitRules

    @property
    def doubt_s(self) -> float:
        """How long after its mark a write can happen of which nothing more is heard: the process may die behind it."""
        return self.call_s + self.settle_s


def next_step(
    connection: Connection, lease: Lease, rules: WorkRules, now: float, outcome: Outcome | None = None
) -> Step:
    """Write down ``outcome`` and choose what is next; a turn or commit to send is marked as being sent.

    With nothing to do now the lease ends. Raises `LeaseLost`, and writes nothing, when another worker has the session.
    """
    session = session_rows.hold(connection, lease, now + rules.lease_s)
    if outcome is not None:
        record(connection, session, outcome, now)
        session = session_rows.lock_id(connection, session.id)
    step = _choose(connection, session, lease.lane, rules, now)
    if step is None:
        return Rest(_give_back(connection, session, lease, rules.commit, now))
    return step


def claim(
    connection: Connection, owner: str, rules: WorkRules, now: float, limit: int, lanes: Iterable[Lane] = Lane
) -> list[tuple[Lease, WorkStep]]:
    """Lease up to ``limit`` sessions of these lanes that are due, each with its first step."""
    leases = session_rows.claim(connection, owner, now, rules.lease_s, limit, lanes)
    steps = [(lease, next_step(connection, lease, rules, now)) for lease in leases]
    return [(lease, step) for lease, step in steps if not isinstance(step, Rest)]


def _choose(connection: Connection, session: SessionRow, lane: Lane, rules: WorkRules, now: float) -> WorkStep | None:
    """What to do now, None for nothing. A look at a task waits for a new turn, but not for one that fails each time."""
    if session.retry_at > now:
        return None
    turn, unsent = open_turn(connection, session.id), _unsent_commits(connection, session)
    if turn is None and lane is Lane.TURN:  # it was leased for its turns, in a place that is kept free for turns
        return None
    held = turn is not None and _hold_back(unsent, turn)
    hurried = turn is not None and not turn.error and not held
    if not hurried and (following := _due_task(connection, session, now)) is not None:
        return following
    if not unsent and turn is None and quiet_commits.plan(connection, session, rules.commit, now):
        unsent = _unsent_commits(connection, session)
    if unsent and unsent[0].next_at <= now and (held or _is_next(unsent[0], turn)):
        return _begin_commit(connection, session, unsent[0], now, rules.doubt_s)
    if turn is not None and not held:
        return begin_turn(connection, session, turn, rules, now)
    return None


def begin_turn(connection: Connection, session: SessionRow, turn: TurnRow, rules: WorkRules, now: float) -> SendTurn:
    """Mark a turn as being sent; one in doubt is not sent before it was looked for, so that its doubt stays."""
    if turn.doubt_until is None:
        _mark(connection, turn.id, rules, now, turn.sent)
    payload = connection.execute(_PAYLOAD, {"id": turn.id}).scalar()
    messages = StoredMessages(payload, turn.captured) if payload else NO_MESSAGES
    before = None if turn.doubt_until is None else lost_turns.last_before(connection, session, turn.attempt_started)
    return SendTurn(turn.id, turn.turn_id, messages, turn.sent, turn.attempts, turn.doubt_until, before)


def mark_attempt(connection: Connection, lease: Lease, rules: WorkRules, step: SendTurn, sent: int, now: float) -> bool:
    """Write down that ``sent`` messages are there and that a write of the next ones begins now. Raises `LeaseLost`.

    False when the turn was given up meanwhile, so that no more of it may be sent.
    """
    session_rows.hold(connection, lease, now + rules.lease_s)
    return _mark(connection, step.id, rules, now, sent)


def _mark(connection: Connection, id_: int, rules: WorkRules, now: float, sent: int) -> bool:
    values = {"state": TurnState.SENDING, "attempts": turns.c.attempts + 1, "sent": sent}
    values |= {"attempt_started": now, "doubt_until": now + rules.doubt_s}
    marked = update(turns).where(turns.c.id == id_, turns.c.state.in_(OPEN_TURNS))
    return connection.execute(marked.values(values)).rowcount > 0


def release(
    connection: Connection, lease: Lease, rules: WorkRules, now: float, outcome: Outcome | None = None
) -> float | None:
    """Write down ``outcome`` if it is known, give the session back, and say when it is due again.

    A session that was forgotten meanwhile is never due. Raises `LeaseLost`, and writes nothing, when there is an
    outcome and another worker has the session.
    """
    if outcome is not None:
        record(connection, session_rows.hold(connection, lease, now + rules.lease_s), outcome, now)
    session = session_rows.lock_known(connection, lease.session_id)
    return _give_back(connection, session, lease, rules.commit, now) if session is not None else None


def _is_next(commit: CommitRow, turn: TurnRow | None) -> bool:
    """Whether everything that the commit is to hold has been delivered (or will never be), and nothing is in doubt.

    A write in doubt may have happened: then the backend has more to keep live than is known.
    """
    if turn is None:
        return True
    doubt = turn.state == TurnState.SENDING and commit.state == CommitPhase.PLANNED and not commit.new_epoch
    return turn.position > commit.through and not doubt


def _hold_back(unsent: Sequence[CommitRow], turn: TurnRow) -> bool:
    """What follows a reset, or a commit that may have been made and may yet be, must not slip into its archive.

    A reset holds back from the moment it is asked for, whatever commits are before it.
    """
    return any(
        turn.position > commit.through and (commit.new_epoch or commit.state == CommitPhase.SENDING)
        for commit in unsent
    )


def open_turn(connection: Connection, session_id: int) -> TurnRow | None:
    """The session's oldest undelivered turn, without what it says: that may be tens of megabytes, and few want it.

    One search a state: one for both would walk over all delivered turns.
    """
    oldest = [connection.execute(_OLDEST, {"session_id": session_id, "state": state}).first() for state in OPEN_TURNS]
    return min((turn for turn in oldest if turn is not None), key=lambda turn: turn.position, default=None)


def _unsent_commits(connection: Connection, session: SessionRow) -> list[CommitRow]:
    return list(connection.execute(_UNSENT, {"session_id": session.id}))


def _due_task(connection: Connection, session: SessionRow, now: float) -> WorkStep | None:
    row = connection.execute(_DUE_TASK, {"session_id": session.id, "now": now}).one_or_none()
    if row is None:
        return None
    if row.state == CommitPhase.FAILED:
        return ReExtract(row.id, row.archive_id, row.attempts, row.backend)
    return FollowCommit(
        id=row.id,
        task_id=row.task_id,
        archive_id=row.archive_id,
        attempts=row.attempts,
        age_s=max(0.0, now - (row.attempt_started or row.created_at)),  # the clock may have been set back
        new_epoch=row.new_epoch,
        last_turn_id=_last_turn_id(connection, row),
        known_failed=_known_failed(connection, session),
        backend=row.backend,
    )


def _last_turn_id(connection: Connection, commit: CommitRow) -> str | None:
    held = select(turns.c.turn_id).where(
        turns.c.session_id == commit.session_id,
        turns.c.position > commit.after,
        turns.c.position <= commit.through,
        turns.c.sent > 0,
    )
    return connection.execute(held.order_by(turns.c.position.desc()).limit(1)).scalar()


def _known_failed(connection: Connection, session: SessionRow) -> tuple[str, ...]:
    failed = select(commit_table.c.archive_id).where(
        commit_table.c.session_id == session.id,
        commit_table.c.state == CommitPhase.FAILED,
        commit_table.c.archive_id.is_not(None),
    )
    return tuple(connection.execute(failed).scalars())


def _begin_commit(
    connection: Connection, session: SessionRow, commit: CommitRow, now: float, doubt_s: float
) -> SendCommit:
    """Mark a commit as being sent. What stays live is counted now: turns may have gone out since it was planned."""
    later = and_(turns.c.session_id == session.id, turns.c.position > commit.through)
    keep = connection.execute(select(func.sum(turns.c.sent)).where(later)).scalar() or 0
    # Should this process die now, nothing else of the session is sent before the commit has settled: see `next_step`.
    started = {"state": CommitPhase.SENDING, "attempt_started": now, "next_at": now + doubt_s}
    marked = update(commit_table).where(commit_table.c.id == commit.id)
    connection.execute(marked.values(started | {"attempts": commit.attempts + 1}))
    in_doubt = commit.state == CommitPhase.SENDING
    return SendCommit(
        id=commit.id,
        keep_recent=keep,
        new_epoch=commit.new_epoch,
        attempts=commit.attempts,
        in_doubt=in_doubt,
        refusals=session.commit_refusals,
        instructions=commit.instructions,
        before=lost_turns.last_before(connection, session, commit.attempt_started) if in_doubt else None,
    )


def _give_back(
    connection: Connection, session: SessionRow, lease: Lease, rules: CommitRules, now: float
) -> float | None:
    """End the lease; when the session is due again, and in its lane for what it waits for then."""
    next_look, asked = connection.execute(_NEXT_LOOK, {"session_id": session.id}).one()
    dates: list[float | None] = [next_look]
    unsent = _unsent_commits(connection, session)
    if unsent:
        dates.append(unsent[0].next_at)
        asked = asked or unsent[0].cause in ASKED_FOR
    lane = Lane.ASKED if asked else Lane.REST
    if (turn := open_turn(connection, session.id)) is not None:
        lane = Lane.RETRY if turn.error else Lane.TURN
        dates.append(unsent[0].next_at if _hold_back(unsent, turn) else now)
    elif quiet := quiet_commits.due(connection, session, rules):
        dates.append(quiet[0])
    due = min((date for date in dates if date is not None), default=None)
    due_at = None if due is None else max(due, session.retry_at)
    session_rows.release(connection, lease, due_at, lane)
    return due_at
