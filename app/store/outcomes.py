"""Writing down how a step went."""

from typing import Any, assert_never

from sqlalchemy import Connection, delete, select, update

from app.core.cleaning.host_text import storable
from app.core.history import commit_policy
from app.core.history.commit_policy import Cause
from app.store import commit_rows, layouts, lost_turns, session_rows
from app.store.commit_rows import CommitRow
from app.store.schema import commits, turns
from app.store.session_rows import SessionRow
from app.store.work import (
    OPEN_TURNS,
    CommitAccepted,
    CommitEmpty,
    CommitExtracted,
    CommitPhase,
    CommitPostponed,
    CommitProgress,
    CommitRefused,
    DeliveredLost,
    ExtractionFailed,
    Outcome,
    TurnDelivered,
    TurnFailed,
    TurnInDoubt,
    TurnRejected,
    TurnState,
)

MAX_ERROR_CHARS = 500
_SHOWN_AT_ONCE = commit_policy.ASKED_FOR | {Cause.IDLE, Cause.SWEEP}
"""Causes of commits that lay the prompt out anew: it is asked for, or no provider has the prompt cached any more."""
MAX_REFUSED = 5
"""Refused commits of a session that are kept to be looked at, beside the one that was refused just now."""


def record(connection: Connection, session: SessionRow, outcome: Outcome, now: float) -> None:
    """Write ``outcome`` down: the turn's or the commit's new state, and the session's back-off."""
    match outcome:
        case TurnDelivered() | TurnFailed() | TurnInDoubt() | TurnRejected():
            _record_turn(connection, session, outcome, now)
        case DeliveredLost():
            lost_turns.send_again(connection, session, outcome, now)
        case _:
            row = connection.execute(select(commits).where(commits.c.id == outcome.id)).one_or_none()
            if row is not None:
                _record_commit(connection, session, row, outcome, now)


def _record_turn(
    connection: Connection,
    session: SessionRow,
    outcome: TurnDelivered | TurnFailed | TurnInDoubt | TurnRejected,
    now: float,
) -> None:
    values: dict[str, Any]
    retry_at = 0.0
    match outcome:
        case TurnDelivered(step):
            sent = len(step.messages)
            values = {"state": TurnState.DELIVERED, "sent": sent, "delivered_at": now, "error": "", "doubt_until": None}
        case TurnFailed(_, error, retry_at):
            values = {"state": TurnState.PENDING, "error": _kept(error), "doubt_until": None}
        case TurnInDoubt(_, error, until, retry_at):
            values = {"state": TurnState.SENDING, "doubt_until": until, "error": _kept(error)}
        case TurnRejected(_, error):
            # Should it be sent again, the session is searched for it first.
            values = {"state": TurnState.DEAD, "error": _kept(error), "doubt_until": now}
        case _:
            assert_never(outcome)
    this = turns.c.id == outcome.step.id
    if not connection.execute(update(turns).where(this, turns.c.state.in_(OPEN_TURNS)).values(values)).rowcount:
        # Given up meanwhile. What arrived all the same counts for what a commit leaves live.
        connection.execute(update(turns).where(this).values(sent=values.get("sent", turns.c.sent)))
    if session.retry_at != retry_at:
        session_rows.change(connection, session.id, retry_at=retry_at)


def _record_commit(connection: Connection, session: SessionRow, row: CommitRow, outcome: Outcome, now: float) -> None:
    values: dict[str, Any] = {}
    match outcome:
        case CommitAccepted(_, task_id, archive_id, poll_at, backend):
            values = {"state": CommitPhase.RUNNING, "next_at": poll_at, "error": "", "backend": backend}
            values["instructions"] = ""
            _note_no_refusal(connection, session)
            values["task_id"] = storable(task_id) if task_id else None
            values["archive_id"] = archive_id or row.archive_id
        case CommitEmpty(_, error):
            values = {"state": CommitPhase.EMPTY, "finished_at": now, "error": _kept(error), "instructions": ""}
            if not error:
                _note_no_refusal(connection, session)
                _relieve(connection, session, row)
        case CommitRefused(_, error, retry_at):
            _note_refusal(connection, session, retry_at)
            values = {"state": CommitPhase.REJECTED, "finished_at": now, "error": _kept(error), "instructions": ""}
            if session.archived_through == row.through and session.epoch == row.epoch:
                session_rows.change(connection, session.id, archived_through=row.after)
        case CommitPostponed(_, error, retry_at, in_doubt):
            state = CommitPhase.SENDING if in_doubt else _before_attempt(row)
            values = {"state": state, "next_at": retry_at, "error": _kept(error)}
        case CommitProgress(_, poll_at):
            values = {"next_at": poll_at}
        case CommitExtracted(_, overview):
            values = {"state": CommitPhase.COMPLETED, "finished_at": now, "error": ""}
            _summarise(connection, session, row, storable(overview))
            _relieve(connection, session, row)
        case ExtractionFailed(_, error, retry_at, archive_id):
            values = {"state": CommitPhase.FAILED, "next_at": retry_at, "error": _kept(error)}
            values |= {"attempts": row.attempts + 1, "forced": True}
            values["archive_id"] = archive_id or row.archive_id
            _relieve(connection, session, row)
        case _:
            raise TypeError(f"{type(outcome).__name__} is no outcome of a commit")
    connection.execute(update(commits).where(commits.c.id == row.id).values(values))


def _note_refusal(connection: Connection, session: SessionRow, retry_at: float) -> None:
    """Put the session's next commit off, and forget all but the newest of those that were refused."""
    refusals = session.commit_refusals + 1
    session_rows.change(connection, session.id, commit_refusals=refusals, commit_after=retry_at)
    refused = (
        commits.c.session_id == session.id,
        commits.c.state == CommitPhase.REJECTED,
        commits.c.new_epoch.is_(False),  # a reset that is asked for again must find the one before
    )
    newest = select(commits.c.id).where(*refused).order_by(commits.c.id.desc()).limit(MAX_REFUSED)
    kept = list(connection.execute(newest).scalars())
    if len(kept) == MAX_REFUSED:
        connection.execute(delete(commits).where(*refused, commits.c.id < kept[-1]))


def _note_no_refusal(connection: Connection, session: SessionRow) -> None:
    if session.commit_refusals:
        session_rows.change(connection, session.id, commit_refusals=0, commit_after=0.0)


def _kept(error: str) -> str:
    return storable(error[:MAX_ERROR_CHARS])


def _before_attempt(row: CommitRow) -> CommitPhase:
    return CommitPhase.FAILED if row.state == CommitPhase.FAILED else CommitPhase.PLANNED


def _relieve(connection: Connection, session: SessionRow, row: CommitRow) -> None:
    if row.epoch == session.epoch:
        commit_rows.clear(connection, session, row.clear_through)
        if row.cause in _SHOWN_AT_ONCE:
            layouts.drop(connection, session_rows.identity_of(session).tenant, session.session)


def _summarise(connection: Connection, session: SessionRow, row: CommitRow, overview: str) -> None:
    """Keep the backend's summary and drop the messages that it stands for; without one they stay, for a digest."""
    if row.epoch == session.epoch and overview:
        session_rows.change(connection, session.id, summary=overview)
    if overview or row.epoch != session.epoch:
        held = (turns.c.session_id == row.session_id, turns.c.position > row.after, turns.c.position <= row.through)
        extracted = update(turns).where(*held, turns.c.state == TurnState.DELIVERED)
        connection.execute(extracted.values(payload=None, bytes=0))
