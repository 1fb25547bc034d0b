"""Commits as rows: planning them, and what the prompt loses through them."""

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, case, func, insert, select, update

from app.core.history import commit_policy
from app.core.history.commit_policy import Boundary, Cause, CommitRules, LiveTurn, Reached
from app.ports import Compaction, CompactionState, MessageRange
from app.store import session_rows
from app.store.codec import new_id
from app.store.schema import commits, turns
from app.store.session_rows import SessionRow
from app.store.work import UNSENT_COMMITS, CommitPhase, Lane, TurnState

CommitRow = Row[*tuple[Any, ...]]
"""A whole row of `app.store.schema.commits`."""

SEEN_STATES = (TurnState.PENDING, TurnState.SENDING, TurnState.DELIVERED)
"""States of turns that count as part of the conversation: on their way, or there."""
_TOKENS = select(
    func.sum(case((turns.c.position > bindparam("archived"), turns.c.tokens), else_=0)), func.sum(turns.c.tokens)
).where(
    turns.c.session_id == bindparam("id"),
    turns.c.position > bindparam("cleared"),
    turns.c.state.in_(SEEN_STATES),
)
_STORED = (CommitPhase.RUNNING, CommitPhase.COMPLETED, CommitPhase.FAILED, CommitPhase.EMPTY, CommitPhase.LOCAL)
FINISHED = (CommitPhase.COMPLETED, CommitPhase.FAILED, CommitPhase.EMPTY, CommitPhase.LOCAL)


@dataclass(frozen=True, slots=True)
class Tokens:
    """A session's tokens: of turns that no commit holds yet, and of all that the prompt still shows."""

    pending: int
    shown: int


def tokens_of(connection: Connection, session: SessionRow) -> Tokens:
    """Both sums, in one pass over what the prompt shows."""
    reach = {"id": session.id, "archived": session.archived_through, "cleared": session.cleared_through}
    pending, shown = connection.execute(_TOKENS, reach).one()
    return Tokens(pending or 0, shown or 0)


def shown_turns(connection: Connection, session: SessionRow) -> list[LiveTurn]:
    """The turns that the prompt still shows, oldest first."""
    shown = select(turns.c.position, turns.c.captured, turns.c.tokens).where(
        turns.c.session_id == session.id,
        turns.c.position > session.cleared_through,
        turns.c.state.in_(SEEN_STATES),
    )
    return [LiveTurn(*row) for row in connection.execute(shown.order_by(turns.c.position))]


def plan(
    connection: Connection,
    session: SessionRow,
    boundary: Boundary,
    cause: Cause,
    now: float,
    *,
    phase: CommitPhase = CommitPhase.PLANNED,
    new_epoch: bool = False,
    instructions: str = "",
) -> int:
    """Record that the session's turns up to ``boundary`` are to be archived, and have a worker see to it."""
    covered = and_(
        turns.c.session_id == session.id,
        turns.c.position > session.archived_through,
        turns.c.position <= boundary.through,
    )
    last = func.max(turns.c.first_message + turns.c.host_messages - 1)
    numbers = connection.execute(select(func.min(turns.c.first_message), last).where(covered)).one()
    row = {
        "upload_id": new_id("u"),
        "session_id": session.id,
        "epoch": session.epoch,
        "cause": cause,
        "after": session.archived_through,
        "through": boundary.through,
        "clear_through": boundary.clear_through,
        "new_epoch": new_epoch,
        "first_message": 0 if numbers[0] is None else numbers[0],
        "last_message": -1 if numbers[1] is None else numbers[1],
        "state": phase,
        "instructions": instructions,
        "next_at": now,
        "created_at": now,
    }
    inserted = connection.execute(insert(commits).values(row)).inserted_primary_key
    values: dict[str, Any] = {"archived_through": max(session.archived_through, boundary.through)}
    if cause is Cause.REMEMBER:
        values["remembered_at"] = now
    session_rows.change(connection, session.id, **values)
    session_rows.wake(connection, session, now, Lane.ASKED if cause in commit_policy.ASKED_FOR else Lane.REST)
    return int(inserted[0]) if inserted else 0


def clear(connection: Connection, session: SessionRow, through: int) -> None:
    """Take the turns up to position ``through`` out of the prompt, for good."""
    if through <= session.cleared_through:
        return
    gone = (turns.c.session_id == session.id, turns.c.epoch == session.epoch, turns.c.position <= through)
    last = connection.execute(select(func.max(turns.c.first_message + turns.c.host_messages - 1)).where(*gone)).scalar()
    number = session.cleared_message if last is None else max(last, session.cleared_message)
    session_rows.change(connection, session.id, cleared_through=through, cleared_message=number)


def review(
    connection: Connection, session: SessionRow, tokens: Tokens, rules: CommitRules, now: float, *, remember: bool
) -> bool:
    """What a new turn sets off: a commit at the threshold or on request, and relief of the prompt. True if anything."""
    budget = session_rows.budget_of(session)
    if tokens.shown < min(rules.threshold_ratio, rules.clear_ratio) * budget and not remember:
        return False
    changed = _relieve(connection, session, rules)
    if not rules.archives(session_rows.identity_of(session).kind):
        return changed
    if now < session.commit_after:
        return changed
    reached = tokens.pending >= rules.threshold_ratio * budget and not _unfinished(connection, session)
    asked = remember and now - session.remembered_at >= rules.remember_interval_seconds
    if not reached and not asked:
        return changed
    shown = shown_turns(connection, session)
    if reached and (boundary := commit_policy.at_threshold(shown, session.archived_through, budget, rules)):
        plan(connection, session, boundary, Cause.THRESHOLD, now)
        return True
    if asked and (boundary := commit_policy.on_remember(shown, session.archived_through)):
        plan(connection, session, boundary, Cause.REMEMBER, now)
        return True
    return changed


def compaction_of(connection: Connection, session: SessionRow) -> Compaction:
    """What `/after-turn` shows: the newest upload of the epoch, and the range that the host may drop by now."""
    rows = _of_epoch(connection, session) if session.archived_through else []
    if not rows:
        return Compaction()
    newest = rows[-1]
    relieved = [row for row in rows if row.first_message <= min(session.cleared_message, row.last_message)]
    clearable = None
    if relieved:
        row = relieved[-1]
        clearable = MessageRange(row.first_message, min(row.last_message, session.cleared_message))
    covered = MessageRange(newest.first_message, newest.last_message) if newest.last_message >= 0 else None
    return Compaction(_state_of(newest), newest.upload_id, covered, clearable)


def _state_of(row: CommitRow) -> CompactionState:
    if row.state in (CommitPhase.COMPLETED, CommitPhase.EMPTY):
        return CompactionState.UPLOADED
    # A failed extraction shows as forced: the range is cleared although the archive has no summary yet.
    forced = row.forced or row.state in (CommitPhase.FAILED, CommitPhase.LOCAL)
    return CompactionState.FORCED if forced else CompactionState.UPLOADING


def _relieve(connection: Connection, session: SessionRow, rules: CommitRules) -> bool:
    rows = _of_epoch(connection, session)
    reached = Reached(stored=_through(rows, _STORED), finished=_through(rows, FINISHED))
    if reached.stored <= session.cleared_through:  # nothing may go: with a backend that is away, what waits is not read
        return False
    through = commit_policy.cleared(shown_turns(connection, session), reached, session_rows.budget_of(session), rules)
    if through <= session.cleared_through:
        return False
    clear(connection, session, through)
    running = [row.id for row in rows if row.state == CommitPhase.RUNNING and row.after < through]
    connection.execute(update(commits).where(commits.c.id.in_(running)).values(forced=True))
    return True


def _through(rows: list[CommitRow], phases: tuple[CommitPhase, ...]) -> int:
    """How far the archives reach without a gap when only those in these phases count."""
    return max((row.through for row in takewhile(lambda row: row.state in phases, rows)), default=0)


def _unfinished(connection: Connection, session: SessionRow) -> bool:
    going = (*UNSENT_COMMITS, CommitPhase.RUNNING)
    query = select(commits.c.id).where(commits.c.session_id == session.id, commits.c.state.in_(going))
    return connection.execute(query.limit(1)).scalar() is not None


def _of_epoch(connection: Connection, session: SessionRow) -> list[CommitRow]:
    query = select(commits).where(
        commits.c.session_id == session.id,
        commits.c.epoch == session.epoch,
        commits.c.state != CommitPhase.REJECTED,
    )
    return list(connection.execute(query.order_by(commits.c.id)))
