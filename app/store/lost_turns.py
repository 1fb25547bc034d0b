"""Turns that a backend had taken and has lost since: finding out, and having them sent again.

OpenViking 0.5.2 writes all live messages of a session anew with each batch and each commit, in place. Where its process
is killed meanwhile, the file is left empty or cut short, and with it goes what was delivered long before (observed). So
after a write of unknown outcome the worker looks for the turn before it, too, and when that is gone, every turn since
the last archive becomes one of unknown outcome itself: each is looked for, and what is missing is sent.
"""

from sqlalchemy import ColumnElement, Connection, select, update

from app.store.schema import commits, turns
from app.store.session_rows import SessionRow
from app.store.work import UNSENT_COMMITS, DeliveredLost, SendTurn, Sent, TurnState

LOST = "the backend has lost it; it is sent again"


def last_before(connection: Connection, session: SessionRow, began: float | None) -> Sent | None:
    """The last turn that was delivered before a write that ``began`` then, of those that may be live.

    A write may begin in the moment in which the turn before was noted as delivered. One that was sent again since does
    not count: a backend that never finds what it has must not get it for ever.
    """
    if began is None:
        return None
    query = select(turns.c.turn_id, turns.c.sent).where(*_live(connection, session), turns.c.delivered_at <= began)
    row = connection.execute(query.order_by(turns.c.position.desc()).limit(1)).one_or_none()
    return None if row is None else Sent(row.turn_id, row.sent)


def send_again(connection: Connection, session: SessionRow, outcome: DeliveredLost, now: float) -> None:
    """Have each turn that may be live looked for, and sent if it is not there."""
    asked = {"state": TurnState.PENDING, "sent": 0, "doubt_until": now, "delivered_at": None, "error": LOST}
    connection.execute(update(turns).where(*_live(connection, session)).values(asked))
    if isinstance(outcome.step, SendTurn):  # what was sent of it before is as likely lost
        connection.execute(update(turns).where(turns.c.id == outcome.step.id).values(sent=0))


def _live(connection: Connection, session: SessionRow) -> tuple[ColumnElement[bool], ...]:
    """Delivered turns of which the store knows what they say, after the last archive that was certainly made."""
    unsent = select(commits.c.after).where(commits.c.session_id == session.id, commits.c.state.in_(UNSENT_COMMITS))
    after = connection.execute(unsent.order_by(commits.c.id).limit(1)).scalar()
    return (
        turns.c.session_id == session.id,
        turns.c.state == TurnState.DELIVERED,
        turns.c.position > (session.archived_through if after is None else after),
        turns.c.payload.is_not(None),
        turns.c.sent > 0,
    )
