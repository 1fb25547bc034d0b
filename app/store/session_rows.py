"""Session rows: finding and locking them, and the leases by which workers share them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, and_, bindparam, case, func, select, update

from app.core.identity import Identity, Tenant
from app.store.codec import dump_identity, load_identity
from app.store.inserting import insert_new
from app.store.schema import sessions
from app.store.work import Lane, Lease, LeaseLost
from app.text.dates import iso

SessionRow = Row[*tuple[Any, ...]]
"""A whole row of `app.store.schema.sessions`."""


class Sighting(NamedTuple):
    """Who spoke in a session, and when."""

    agent: str
    seen_at: float


# Statements on the way of every request are built once: building one costs as much as running it.
BY_NAME = and_(
    sessions.c.account == bindparam("account"),
    sessions.c.user_name == bindparam("user_name"),
    sessions.c.session == bindparam("session"),
)
"""Picks one session of one tenant; its parameters are those of `name_of`."""
_FIND = select(sessions).where(BY_NAME)
_LOCK = _FIND.with_for_update()
_CHANGE = update(sessions).where(sessions.c.id == bindparam("this_id")).returning(sessions)
_LOCK_ID = select(sessions).where(sessions.c.id == bindparam("this_id")).with_for_update()
_MINE = and_(sessions.c.id == bindparam("this_id"), sessions.c.fence == bindparam("this_fence"))
_RELEASE = update(sessions).where(_MINE)
_HOLD = update(sessions).where(_MINE, sessions.c.lease_owner.is_not(None)).returning(sessions)
_FREE, _HELD = sessions.c.lease_owner.is_(None), sessions.c.lease_owner.is_not(None)
_DUE = (
    select(sessions)
    .where(_FREE, sessions.c.lane == bindparam("lane"), sessions.c.due_at <= bindparam("now"))
    .order_by(sessions.c.due_at)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_LATE = select(sessions.c.id).where(_HELD, sessions.c.lease_until <= bindparam("now")).with_for_update(skip_locked=True)
# One search of the index for each lane: one for all of them would read every session that waits.
_FIRST_OF_LANE = select(func.min(sessions.c.due_at)).where(_FREE, sessions.c.due_at.is_not(None))
_FIRST_DUE = select(*(_FIRST_OF_LANE.where(sessions.c.lane == lane).scalar_subquery() for lane in Lane))
_FIRST_FREE = (
    select(
        sessions.c.lane,
        func.min(case((sessions.c.due_at > sessions.c.lease_until, sessions.c.due_at), else_=sessions.c.lease_until)),
    )
    .where(_HELD, sessions.c.due_at.is_not(None))
    .group_by(sessions.c.lane)
)


def name_of(tenant: Tenant, session: str) -> dict[str, str]:
    """The parameters of `BY_NAME`."""
    return {"account": tenant.account or "", "user_name": tenant.user or "", "session": session}


def of_tenant(tenant: Tenant) -> Any:
    """The condition that picks a tenant's sessions."""
    return and_(sessions.c.account == (tenant.account or ""), sessions.c.user_name == (tenant.user or ""))


def find(connection: Connection, tenant: Tenant, session: str) -> SessionRow | None:
    """The session's row, or None."""
    return connection.execute(_FIND, name_of(tenant, session)).one_or_none()


def lock(connection: Connection, who: Identity, now: float, token_budget: int) -> SessionRow:
    """The session's row, made if need be, and locked until the transaction ends: accepts of a session go one by one."""
    name = name_of(who.tenant, who.session)
    row = connection.execute(_LOCK, name).one_or_none()
    if row is not None:
        return row
    values = {
        **name,
        "identity": dump_identity(who),
        "token_budget": token_budget,
        "last_turn_at": now,
    }
    insert_new(connection, sessions, values)
    return connection.execute(_LOCK, name).one()


def lock_id(connection: Connection, session_id: int) -> SessionRow:
    """The row with this id, locked. It is there: the caller holds its lease, or has just found it."""
    return connection.execute(_LOCK_ID, {"this_id": session_id}).one()


def lock_known(connection: Connection, session_id: int) -> SessionRow | None:
    """The row with this id, locked; None when the session was forgotten."""
    return connection.execute(_LOCK_ID, {"this_id": session_id}).one_or_none()


def change(connection: Connection, session_id: int, **values: Any) -> None:
    """Set columns of a session."""
    connection.execute(update(sessions).where(sessions.c.id == session_id).values(**values))


def budget_of(row: SessionRow) -> int:
    """The tokens that commits go by: what a prompt has room for, where that is less than the turns' own budget.

    A host's budget for a turn is the model's whole window; what it gives a prompt is without the system prompt, the
    tools and the reply, and what exceeds that is cut.
    """
    return int(min(row.token_budget, row.assemble_budget or row.token_budget))


def note_budget(connection: Connection, who: Identity, token_budget: int) -> None:
    """Set the prompts' budget of a session; an unknown session is left alone."""
    row = find(connection, who.tenant, who.session)
    if row is not None:
        change(connection, row.id, assemble_budget=token_budget)


def note_request(connection: Connection, who: Identity, now: float) -> None:
    """Set when a prompt of a session was last asked for; an unknown session is left alone."""
    row = find(connection, who.tenant, who.session)
    if row is not None:
        change(connection, row.id, assembled_at=now)


def identity_of(row: SessionRow) -> Identity:
    """Who last spoke in the session."""
    who = load_identity(row.account, row.user_name, row.session, row.identity)
    if row.flushed_at is None:
        return who
    at = iso(datetime.fromtimestamp(row.flushed_at, UTC))
    return replace(who, notes=replace(who.notes, flushed_at=at, flushed_compaction=row.flushed_compaction))


def last_agent(connection: Connection, tenant: Tenant, session: str) -> Sighting | None:
    """The agent of the session's last turn."""
    row = find(connection, tenant, session)
    return Sighting(identity_of(row).agent, row.last_turn_at) if row else None


def changed(connection: Connection, session_id: int, **values: Any) -> SessionRow:
    """The row after setting columns of it."""
    return connection.execute(_CHANGE, {"this_id": session_id, **values}).one()


def due_with(row: SessionRow, at: float) -> float:
    """When the session is due if it is to be looked at by ``at``: then or sooner, never before a back-off is over."""
    due: float = max(at, row.retry_at)
    return due if row.due_at is None else min(due, row.due_at)


def wake(connection: Connection, row: SessionRow, at: float, lane: Lane = Lane.REST) -> None:
    """Have a worker look at the session at ``at``, and no later than ``lane`` says; see `due_with`."""
    due, lane = due_with(row, at), min(lane, row.lane)
    if (due, lane) != (row.due_at, row.lane):
        change(connection, row.id, due_at=due, lane=lane)


def claim(
    connection: Connection, owner: str, now: float, lease_s: float, limit: int, lanes: Iterable[Lane]
) -> list[Lease]:
    """Lease up to ``limit`` sessions that are due and free: lane by lane, in each the longest due first."""
    late = connection.execute(_LATE, {"now": now}).scalars().all()
    if late:
        connection.execute(update(sessions).where(sessions.c.id.in_(late)).values(lease_owner=None, lease_until=0))
    rows: list[SessionRow] = []
    for lane in lanes:
        rows += connection.execute(_DUE, {"lane": lane, "now": now, "limit": limit - len(rows)})
        if len(rows) == limit:
            break
    if rows:
        held = update(sessions).where(sessions.c.id.in_([row.id for row in rows]))
        connection.execute(held.values(lease_owner=owner, lease_until=now + lease_s, fence=sessions.c.fence + 1))
    return [Lease(row.id, row.fence + 1, identity_of(row), Lane(row.lane)) for row in rows]


def first_due(connection: Connection) -> dict[Lane, float]:
    """For each lane when its next session is due or its lease runs out; without those in which none waits."""
    free = dict(zip(Lane, connection.execute(_FIRST_DUE).one(), strict=True))
    dates = {lane: due for lane, due in free.items() if due is not None}
    for lane, free_at in connection.execute(_FIRST_FREE):
        dates[Lane(lane)] = min(free_at, dates.get(Lane(lane), free_at))
    return dates


def hold(connection: Connection, lease: Lease, until: float) -> SessionRow:
    """The leased session's row, locked, with the lease prolonged. Raises `LeaseLost` if another worker has it."""
    row = connection.execute(_HOLD, {**_mine(lease), "lease_until": until}).one_or_none()
    if row is None:
        raise LeaseLost(f"session {lease.session_id} was taken over")
    return row


def release(connection: Connection, lease: Lease, due_at: float | None, lane: Lane) -> None:
    """Give the session back; a worker that took it over meanwhile keeps it."""
    free = {"lease_owner": None, "lease_until": 0, "due_at": due_at, "lane": lane}
    connection.execute(_RELEASE, {**_mine(lease), **free})


def _mine(lease: Lease) -> dict[str, int]:
    """The parameters of `_MINE`."""
    return {"this_id": lease.session_id, "this_fence": lease.fence}


def lease_owners(connection: Connection) -> Sequence[str]:
    """Who holds leases, or died with them."""
    held = select(sessions.c.lease_owner).where(sessions.c.lease_owner.is_not(None)).distinct()
    return connection.execute(held).scalars().all()


def expire_leases(connection: Connection, owners: Sequence[str]) -> int:
    """End the leases of these owners, who are dead; how many sessions that freed."""
    freed = update(sessions).where(sessions.c.lease_owner.in_(owners))
    return connection.execute(freed.values(lease_owner=None, lease_until=0, fence=sessions.c.fence + 1)).rowcount


def put_off(connection: Connection, now: float) -> Sequence[int]:
    """The sessions with a turn that failed and is not to be tried yet, the next one first."""
    query = select(sessions.c.id).where(_FREE, sessions.c.lane == Lane.RETRY, sessions.c.due_at > now)
    return connection.execute(query.order_by(sessions.c.due_at)).scalars().all()


def hurry(now: float, connection: Connection, session_id: int) -> bool:
    """Have one of them tried now, unless a worker has leased it."""
    wanted = and_(_FREE, sessions.c.id == session_id, sessions.c.lane == Lane.RETRY)
    connection.execute(update(sessions).where(wanted).values(retry_at=0.0, due_at=now))
    return True
