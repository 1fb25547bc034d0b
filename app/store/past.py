"""What the store knows of a session's past, for `/assemble` and for telling new messages from old."""

from sqlalchemy import Connection, and_, select

from app.core.identity import Identity
from app.core.turns import CapturedMessage
from app.ports import LocalPast
from app.store import sessions as session_rows
from app.store.codec import load_messages, load_strings
from app.store.schema import commits, sessions, turns
from app.store.sessions import SessionRow
from app.store.work import OPEN_TURNS, UNSENT_COMMITS, CommitPhase, TurnState

_SEEN = (
    select(turns.c.prints)
    .join(sessions, and_(sessions.c.id == turns.c.session_id, sessions.c.epoch == turns.c.epoch))
    .where(session_rows.BY_NAME)
    .order_by(turns.c.first_message, turns.c.id)
)
_PAST_STATES = (TurnState.DELIVERED, TurnState.SKIPPED)


def seen_prints(connection: Connection, who: Identity) -> tuple[str, ...]:
    """The prints of all turns of the session's present epoch, oldest first."""
    rows = connection.execute(_SEEN, session_rows.name_of(who.tenant, who.session)).scalars()
    return tuple(print_ for text in rows for print_ in load_strings(text))


def local_past(connection: Connection, who: Identity) -> LocalPast:
    """What the prompt no longer shows of the session, and what stands in its place."""
    session = session_rows.find(connection, who.tenant, who.session)
    if session is None:
        return LocalPast()
    gone = select(turns.c.prints, turns.c.payload).where(
        turns.c.session_id == session.id,
        turns.c.epoch == session.epoch,
        turns.c.position <= session.cleared_through,
        turns.c.state.in_(_PAST_STATES),
    )
    prints: list[str] = []
    unsummarised: list[CapturedMessage] = []
    for row in connection.execute(gone.order_by(turns.c.position)):
        prints += load_strings(row.prints)
        unsummarised += load_messages(row.payload)
    return LocalPast(
        prints=tuple(prints),
        summary=session.summary if prints else "",
        unsummarised=tuple(unsummarised),
        epoch=session.epoch,
        known=True,
        resetting=_resetting(connection, session),
    )


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
