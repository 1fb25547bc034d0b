"""Commits that are asked for: the end of a session, a reset, `/compact`; and how they are getting on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from app.core.capture.captured_message import CapturedMessage
from app.core.cleaning.host_text import storable
from app.core.history import commit_policy
from app.core.history.commit_policy import Boundary, Cause, CommitRules
from app.core.identity import Identity
from app.store import commit_rows, layouts, session_rows, steps, tool_outputs, window_rows
from app.store.codec import load_messages
from app.store.commit_rows import CommitRow
from app.store.memory_versions import locked_version, version_of
from app.store.schema import commits, turns
from app.store.session_rows import SessionRow
from app.store.work import UNSENT_COMMITS, CommitPhase, Lane


@dataclass(frozen=True, slots=True)
class CommitView:
    """How far a commit is. ``phase`` is a `CommitPhase`; ``attempts`` grows with every failed extraction."""

    id: int
    upload_id: str
    phase: CommitPhase
    task_id: str | None
    archive_id: str | None
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class SessionSize:
    """What the prompt shows of a session: the tokens of its turns, and its summary."""

    tokens: int
    summary: str
    failures: int
    """Attempts at the oldest undelivered turn, when they failed; 0 when nothing is stuck."""


def size_of(connection: Connection, who: Identity) -> SessionSize | None:
    """The session's present size, or None for a session the store never saw."""
    session = session_rows.find(connection, who.tenant, who.session)
    if session is None:
        return None
    shown = commit_rows.shown_turns(connection, session)
    stuck = steps.open_turn(connection, session.id)
    summary = session.summary if session.cleared_message >= 0 else ""
    return SessionSize(sum(turn.tokens for turn in shown), summary, stuck.attempts if stuck and stuck.error else 0)


def archivable(connection: Connection, who: Identity) -> tuple[tuple[CapturedMessage, ...], str, int]:
    """The messages that the prompt shows, as far as they are kept here; the session's focus; and how often something of
    the tenant was changed."""
    changes = version_of(connection, who.tenant)
    session = session_rows.find(connection, who.tenant, who.session)
    if session is None:
        return (), "", changes
    shown = select(turns.c.payload).where(
        turns.c.session_id == session.id,
        turns.c.position > session.cleared_through,
        turns.c.state.in_(commit_rows.SEEN_STATES),
        turns.c.payload.is_not(None),
    )
    payloads = connection.execute(shown.order_by(turns.c.position)).scalars()
    return tuple(message for payload in payloads for message in load_messages(payload)), session.focus, changes


def keep_focus(connection: Connection, who: Identity, focus: str, changes: int) -> bool:
    """Keep what a compaction was asked to keep, unless something of the tenant was forgotten since; whether it is."""
    if locked_version(connection, who.tenant) != changes:
        return False
    session = session_rows.find(connection, who.tenant, who.session)
    if session is not None:
        session_rows.change(connection, session.id, focus=storable(focus))
        layouts.drop(connection, who.tenant, who.session)
    return session is not None


def views(connection: Connection, ids: Sequence[int]) -> list[CommitView]:
    """The commits with these ids, oldest first."""
    rows = connection.execute(select(commits).where(commits.c.id.in_(ids)).order_by(commits.c.id))
    return [_view(row) for row in rows]


def end(connection: Connection, who: Identity, now: float, token_budget: int, rules: CommitRules) -> CommitView | None:
    """Archive what is live of the session; None when there is nothing, or when it must not become memory."""
    session = session_rows.lock(connection, who, now, token_budget)
    if not _as_memory(session, rules):
        return None
    if _is_unheard_of(session):
        return _view(_row(connection, _ask_backend(connection, session, Cause.END, now)))
    joined = _join_or_plan(connection, session, 0, Cause.END, now, rules)
    return _view(_row(connection, joined)) if joined is not None else None


def reset(
    connection: Connection, who: Identity, now: float, token_budget: int, rules: CommitRules
) -> CommitView | None:
    """Begin a new epoch. What was live is archived first, and nothing of the new epoch is sent before that is done."""
    session = session_rows.lock(connection, who, now, token_budget)
    last = session.next_position - 1
    repeated = _row_of_reset(connection, session, last)
    if repeated is not None:
        return _view(repeated)
    view = None
    if _as_memory(session, rules):
        planned = commit_rows.plan(connection, session, Boundary(last, last), Cause.RESET, now, new_epoch=True)
        view = _view(_row(connection, planned))
    session_rows.change(
        connection,
        session.id,
        epoch=session.epoch + 1,
        archived_through=last,
        cleared_through=last,
        next_message=0,
        cleared_message=-1,
        summary="",
        opening="[]",
        focus="",
        **window_rows.compacted(session),
        assembled_at=0.0,
    )
    tool_outputs.forget_session(connection, who)
    layouts.drop(connection, who.tenant, who.session)
    return view


def compact(
    connection: Connection,
    who: Identity,
    keep_messages: int,
    now: float,
    token_budget: int,
    rules: CommitRules,
    instructions: str = "",
) -> list[CommitView]:
    """The commits that stand for `/compact`: those whose extraction failed, tried again now, and one for what is live.

    A commit that already holds what is wanted is joined, so that two calls at once, or a call repeated after a
    time-out, share one archive. ``instructions``: what its summary has to keep, unless it is being made already.
    """
    session = session_rows.lock(connection, who, now, token_budget)
    session_rows.change(connection, session.id, **window_rows.compacted(session))
    layouts.drop(connection, who.tenant, who.session)
    if _is_unheard_of(session):
        return views(connection, [_ask_backend(connection, session, Cause.COMPACT, now)])
    again = _try_again(connection, session, now)
    joined = _join_or_plan(connection, session, keep_messages, Cause.COMPACT, now, rules, instructions)
    return views(connection, [*again, *([joined] if joined is not None and joined not in again else [])])


def _join_or_plan(
    connection: Connection,
    session: SessionRow,
    keep: int,
    cause: Cause,
    now: float,
    rules: CommitRules,
    instructions: str = "",
) -> int | None:
    shown = commit_rows.shown_turns(connection, session)
    through = commit_policy.before_newest(shown, keep)
    if not through:
        return None
    if through > session.archived_through:
        if _as_memory(session, rules):
            reached = Boundary(through, through)
            return commit_rows.plan(connection, session, reached, cause, now, instructions=instructions)
        local = CommitPhase.LOCAL
        planned = commit_rows.plan(connection, session, Boundary(through, through), cause, now, phase=local)
        commit_rows.clear(connection, session, through)
        return planned
    holding = select(commits).where(
        commits.c.session_id == session.id,
        commits.c.epoch == session.epoch,
        commits.c.through >= through,
        commits.c.state != CommitPhase.REJECTED,
    )
    row = connection.execute(holding.order_by(commits.c.id).limit(1)).one_or_none()
    if row is None:
        return None
    if row.state in commit_rows.FINISHED:
        commit_rows.clear(connection, session, through)
        return int(row.id)
    joined: dict[str, Any] = {"clear_through": max(through, row.clear_through), "cause": cause}
    if row.state == CommitPhase.PLANNED:  # the caller does not wait for the end of a back-off
        joined["next_at"] = now
        joined["instructions"] = instructions or row.instructions
    connection.execute(update(commits).where(commits.c.id == row.id).values(joined))
    session_rows.wake(connection, session, now, Lane.ASKED)
    return int(row.id)


def _is_unheard_of(session: SessionRow) -> bool:
    """Whether no turn of it ever came. The backend may still know the session, from another sidecar or an old store."""
    return bool(session.next_position == 1)


def _ask_backend(connection: Connection, session: SessionRow, cause: Cause, now: float) -> int:
    """A commit of whatever the backend holds of the session; the one that is under way, if there is one."""
    open_ = select(commits.c.id).where(
        commits.c.session_id == session.id,
        commits.c.epoch == session.epoch,
        commits.c.state.in_((*UNSENT_COMMITS, CommitPhase.RUNNING)),
    )
    under_way = connection.execute(open_.order_by(commits.c.id.desc()).limit(1)).scalar()
    return int(under_way or commit_rows.plan(connection, session, Boundary(0, 0), cause, now))


def _as_memory(session: SessionRow, rules: CommitRules) -> bool:
    """By what the session is known as: the request that ends it need not say that it was a cron job's."""
    return rules.archives(session_rows.identity_of(session).kind)


def _try_again(connection: Connection, session: SessionRow, now: float) -> list[int]:
    failed = select(commits.c.id).where(
        commits.c.session_id == session.id,
        commits.c.epoch == session.epoch,
        commits.c.state == CommitPhase.FAILED,
    )
    ids = [int(id_) for id_ in connection.execute(failed.order_by(commits.c.id)).scalars()]
    if ids:
        again = update(commits).where(commits.c.id.in_(ids))
        connection.execute(again.values(next_at=now, cause=Cause.COMPACT))
        session_rows.wake(connection, session, now, Lane.ASKED)
    return ids


def _row_of_reset(connection: Connection, session: SessionRow, last: int) -> CommitRow | None:
    """The commit of a reset after which the session has seen nothing: a repeated call must not begin another epoch."""
    query = select(commits).where(
        commits.c.session_id == session.id,
        commits.c.epoch == session.epoch - 1,
        commits.c.new_epoch,
        commits.c.through == last,
    )
    return connection.execute(query.order_by(commits.c.id.desc()).limit(1)).one_or_none()


def _row(connection: Connection, commit_id: int) -> CommitRow:
    return connection.execute(select(commits).where(commits.c.id == commit_id)).one()


def _view(row: CommitRow) -> CommitView:
    return CommitView(
        row.id, row.upload_id, CommitPhase(row.state), row.task_id, row.archive_id, row.attempts, row.error
    )
