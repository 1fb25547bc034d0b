"""What says a forgotten text although it is not forgotten itself: turns of somebody's own, memories that wait."""

from sqlalchemy import Connection, and_, select

from app.core.identity import Tenant
from app.core.memories.forget_selection import Redactor
from app.store import session_rows
from app.store.codec import load_messages
from app.store.schema import sessions, turns, waiting_memories
from app.store.waiting_memories import load_waiting
from app.text.dates import moment_of

_AT_ONCE = 20
"""Turns that are read at once: each may be megabytes."""


def sessions_saying(
    connection: Connection, tenant: Tenant, redactor: Redactor, after: int
) -> tuple[set[str], int | None]:
    """The sessions of those turns among the next few that say a forgotten text, and where to go on; None at the end."""
    query = select(turns.c.id, turns.c.payload, sessions.c.session).join(sessions, sessions.c.id == turns.c.session_id)
    mine = session_rows.of_tenant(tenant), turns.c.id > after, turns.c.payload.is_not(None)
    until = turns.c.created_at <= _until(redactor)
    rows = connection.execute(query.where(*mine, until).order_by(turns.c.id).limit(_AT_ONCE)).all()
    found = {row.session for row in rows if any(map(redactor.is_held_by, load_messages(row.payload)))}
    return found, int(rows[-1].id) if len(rows) == _AT_ONCE else None


def waiting_saying(connection: Connection, tenant: Tenant, redactor: Redactor) -> list[str]:
    """The ids of memories that wait for the backend, and say a forgotten text within another."""
    mine = and_(
        waiting_memories.c.account == (tenant.account or ""), waiting_memories.c.user_name == (tenant.user or "")
    )
    before = waiting_memories.c.created_at <= _until(redactor)
    bodies = connection.execute(select(waiting_memories.c.body).where(mine, before)).scalars()
    return [one.id for one in map(load_waiting, bodies) if redactor.holds(one.text)]


def _until(redactor: Redactor) -> float:
    moment = moment_of(redactor.forgetting.at)
    return moment.timestamp() if moment else 0.0
