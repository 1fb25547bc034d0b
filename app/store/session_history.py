"""What the store knows of a session's history, for `/assemble` and for telling new messages from old."""

from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, or_, select

from app.core.capture.captured_message import CapturedMessage
from app.core.identity import Identity, Tenant
from app.core.messages.fingerprints import is_timed
from app.ports import LocalHistory, Recorded, StoredTurn
from app.store import layouts, session_rows, tool_outputs
from app.store.codec import load_messages, load_strings
from app.store.memory_versions import version_of
from app.store.schema import commits, sessions, turns
from app.store.session_rows import SessionRow
from app.store.work import OPEN_TURNS, UNSENT_COMMITS, CommitPhase, TurnState

CLOCKS_DIFFER_S = 2.0
SAME_DAY_S = 86_400.0
MAX_TURNS_SINCE = 3
"""A host sends the turn that it asked for right after it; another process's turn may come between."""

_SEEN = (
    select(turns.c.prints)
    .join(sessions, and_(sessions.c.id == turns.c.session_id, sessions.c.epoch == turns.c.epoch))
    .where(session_rows.BY_NAME)
    .order_by(turns.c.first_message, turns.c.id)
)


def within_span() -> ColumnElement[bool]:
    """Picks the turns of a session that hold messages of times from ``first_at`` to ``last_at``."""
    return and_(
        turns.c.session_id == bindparam("session_id"),
        turns.c.last_at >= bindparam("first_at"),
        turns.c.first_at <= bindparam("last_at"),
    )


_RECORDED = select(turns.c.epoch, turns.c.prints).order_by(turns.c.position)
_OF_TIMES = _RECORDED.where(within_span())
_IN_ORDER = _RECORDED.where(
    turns.c.session_id == bindparam("session_id"), or_(turns.c.epoch == bindparam("epoch"), within_span())
)
_HISTORY_STATES = (TurnState.DELIVERED, TurnState.SKIPPED)


def seen_fingerprints(connection: Connection, who: Identity) -> tuple[str, ...]:
    """The fingerprints of all turns of the session's present epoch, oldest first."""
    rows = connection.execute(_SEEN, session_rows.name_of(who.tenant, who.session)).scalars()
    return tuple(fingerprint for text in rows for fingerprint in load_strings(text))


def recorded(connection: Connection, who: Identity, span: tuple[int, int] | None, *, in_order: bool) -> Recorded:
    """The fingerprints of messages that a turn with times within ``span`` may hold again; see `app.ports.TurnStore`."""
    session = session_rows.find(connection, who.tenant, who.session)
    if session is None or (span is None and not in_order):
        return Recorded()
    first_at, last_at = span or (0, -1)
    asked = {"session_id": session.id, "first_at": first_at, "last_at": last_at}
    rows = connection.execute(
        _IN_ORDER if in_order else _OF_TIMES, {**asked, "epoch": session.epoch} if in_order else asked
    )
    fingerprints = tuple(
        fingerprint
        for row in rows
        for fingerprint in load_strings(row.prints)
        if is_timed(fingerprint) or (in_order and row.epoch == session.epoch)
    )
    return Recorded(fingerprints, session.next_position - 1)


def local_history(connection: Connection, who: Identity) -> LocalHistory:
    """What the prompt no longer shows of the session, and what stands in its place."""
    session = session_rows.find(connection, who.tenant, who.session)
    shown = LocalHistory(
        cuts=tool_outputs.cuts_of(connection, who),
        layout=layouts.layout_of(connection, who),
        changes=version_of(connection, who.tenant),
    )
    if session is None:
        return shown
    gone = select(turns.c.prints, turns.c.payload).where(
        turns.c.session_id == session.id,
        turns.c.epoch == session.epoch,
        turns.c.position <= session.cleared_through,
        turns.c.state.in_(_HISTORY_STATES),
    )
    fingerprints: list[str] = []
    unsummarised: list[CapturedMessage] = []
    for row in connection.execute(gone.order_by(turns.c.position)):
        fingerprints += load_strings(row.prints)
        unsummarised += load_messages(row.payload)
    return replace(
        shown,
        fingerprints=tuple(fingerprints),
        summary=session.summary if fingerprints else "",
        unsummarised=tuple(unsummarised),
        opening=_opening(connection, session),
        focus=session.focus if fingerprints else "",
        assemble_budget=session.assemble_budget,
        assembled_at=session.assembled_at,
        epoch=session.epoch,
        known=True,
        resetting=_resetting(connection, session),
    )


def _opening(connection: Connection, session: SessionRow) -> tuple[str, ...]:
    """What the first turns told, of those that the prompt no longer shows; of all while it shows every turn.

    Telling also of turns that are in sight would change the summary with each of them: a provider's cache lives on it.
    """
    opening = load_strings(session.opening)
    gone = select(turns.c.id).where(
        turns.c.session_id == session.id,
        turns.c.epoch == session.epoch,
        turns.c.position <= session.cleared_through,
        turns.c.state != TurnState.SKIPPED,
    )
    return opening[: len(connection.execute(gone.limit(len(opening))).all()) or None]


def undelivered(connection: Connection, who: Identity) -> tuple[CapturedMessage, ...]:
    """The messages of the session's present epoch that the backend does not have yet, oldest first."""
    session = session_rows.find(connection, who.tenant, who.session)
    if session is None:
        return ()
    waiting = select(turns.c.payload).where(
        turns.c.session_id == session.id, turns.c.epoch == session.epoch, turns.c.state.in_(OPEN_TURNS)
    )
    payloads = connection.execute(waiting.order_by(turns.c.position)).scalars()
    return tuple(message for payload in payloads for message in load_messages(payload))


def turns_since(connection: Connection, tenant: Tenant, session: str, moment: float) -> tuple[StoredTurn, ...]:
    """The first few turns of a session that came within a day after the moment, oldest first."""
    holds = and_(
        commits.c.session_id == turns.c.session_id,
        commits.c.after < turns.c.position,
        commits.c.through >= turns.c.position,
        commits.c.archive_id.is_not(None),
    )
    query = (
        select(turns.c.turn_id, turns.c.payload, func.max(commits.c.archive_id).label("archive_id"))
        .join(sessions, sessions.c.id == turns.c.session_id)
        .outerjoin(commits, holds)
        .where(session_rows.BY_NAME, turns.c.created_at.between(moment - CLOCKS_DIFFER_S, moment + SAME_DAY_S))
        .group_by(turns.c.id, turns.c.turn_id, turns.c.payload)
        .order_by(turns.c.id)
        .limit(MAX_TURNS_SINCE)
    )
    rows = connection.execute(query, session_rows.name_of(tenant, session))
    return tuple(StoredTurn(row.turn_id, load_messages(row.payload), row.archive_id) for row in rows)


def _resetting(connection: Connection, session: SessionRow) -> bool:
    """True while the reset that began this epoch has not reached the backend.

    It never does when it was refused, and in an automation session, of which no archive may be made: what the backend
    has of that stays live there.
    """
    if session.epoch == 0:
        return False
    carried_out = select(commits.c.id).where(
        commits.c.session_id == session.id,
        commits.c.new_epoch,
        commits.c.epoch == session.epoch - 1,
        commits.c.state.not_in((*UNSENT_COMMITS, CommitPhase.REJECTED)),
    )
    return connection.execute(carried_out.limit(1)).scalar() is None
