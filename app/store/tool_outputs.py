"""Tool outputs that guards have cut: what was decided about each, and its original, by tenant and session.

A prompt may be cut before anything of its session is a turn here, so the rows belong to a session's name. They stay as
long as the session's turns do. Where a tenant's originals are more than its share of the store, the oldest leave; what
was decided stays, and so do the bytes of its prompts.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, exists, func, select, update

from app.core.cleaning.host_text import storable
from app.core.history.guards.cuts import Cut, Kind
from app.core.history.guards.packing import Original, Packed, unpack
from app.core.identity import Identity, Tenant
from app.core.messages.pairs import same_call
from app.store import forgotten_outputs
from app.store.backlog import Bounds
from app.store.inserting import insert_new
from app.store.memory_versions import locked_version
from app.store.schema import sessions, tool_outputs
from app.store.session_rows import name_of

MAX_CUTS = 5_000
"""Decisions that are kept for a session, the newest."""
MAX_NAME_CHARS = 200
"""Of a tool's name."""
_AT_ONCE = 500
_OF_SESSION = and_(
    tool_outputs.c.account == bindparam("account"),
    tool_outputs.c.user_name == bindparam("user_name"),
    tool_outputs.c.session == bindparam("session"),
)
_COLUMNS = ("key", "kind", "room", "ref", "tool", "chars", "shown", "removed")
_CUTS = select(*(tool_outputs.c[name] for name in _COLUMNS)).where(_OF_SESSION).order_by(tool_outputs.c.id)
_BY_CALL = (
    select(tool_outputs.c.ref, tool_outputs.c.tool, tool_outputs.c.body)
    .where(_OF_SESSION, tool_outputs.c.call == bindparam("call"))
    .order_by(tool_outputs.c.id.desc())
    .limit(1)
)
_NEWEST = (
    select(tool_outputs.c.ref)
    .where(_OF_SESSION, tool_outputs.c.body.is_not(None))
    .order_by(tool_outputs.c.id.desc())
    .limit(bindparam("limit"))
)


def cuts_of(connection: Connection, who: Identity) -> tuple[Cut, ...]:
    """What was decided in the session, oldest first."""
    rows = connection.execute(_CUTS, name_of(who.tenant, who.session))
    return tuple(Cut(**{**row._mapping, "kind": Kind(row.kind)}) for row in rows)


def keep(
    connection: Connection, who: Identity, outputs: Sequence[Packed], bounds: Bounds, now: float, through: int
) -> bool:
    """Write down what was decided; an original that is there already, or was forgotten, stays as it is. False where
    something was forgotten since rule ``through``: what may be kept has to be looked at again.

    A tenant's writers come one after the other: each has to see what the others keep of its share.
    """
    locked_version(connection, who.tenant)
    if forgotten_outputs.through(connection, who.tenant) != through:
        return False
    name = name_of(who.tenant, who.session)
    known = {cut.key for cut in cuts_of(connection, who)}
    for one in outputs:
        cut = one.cut
        decided = {"kind": cut.kind, "room": cut.room, "shown": cut.shown, "removed": cut.removed}
        if cut.key in known:
            mine = and_(_of(name), tool_outputs.c.key == cut.key)
            connection.execute(update(tool_outputs).where(mine).values(decided))
            continue
        known.add(cut.key)
        fits = one.body is not None and len(one.body) <= bounds.tenant
        row = {
            **name,
            **decided,
            "key": cut.key,
            "ref": storable(cut.ref),
            "call": same_call(storable(cut.ref)),
            "tool": storable(cut.tool)[:MAX_NAME_CHARS],
            "chars": cut.chars,
            "body": one.body if fits else None,
            "bytes": len(one.body or b"") if fits else 0,
            "said_at": one.at,
            "at": now,
        }
        # Two requests of a session at once, or of two processes, decide alike.
        insert_new(connection, tool_outputs, row)
    _make_room(connection, who.tenant, bounds.tenant)
    too_old = select(tool_outputs.c.id).where(_of(name)).order_by(tool_outputs.c.id.desc()).offset(MAX_CUTS)
    oldest = connection.execute(too_old.limit(1)).scalar()
    if oldest is not None:
        connection.execute(delete(tool_outputs).where(_of(name), tool_outputs.c.id <= oldest))
    return True


def original(connection: Connection, who: Identity, ref: str) -> Original | None:
    """The newest output of the session under this name."""
    row = connection.execute(
        _BY_CALL, {**name_of(who.tenant, who.session), "call": same_call(storable(ref))}
    ).one_or_none()
    return row and Original(row.ref, row.tool, None if row.body is None else unpack(row.body))


def newest_refs(connection: Connection, who: Identity, limit: int) -> tuple[str, ...]:
    """The names of the newest outputs of the session that can be read."""
    return tuple(connection.execute(_NEWEST, {**name_of(who.tenant, who.session), "limit": limit}).scalars())


def forget_session(connection: Connection, who: Identity) -> None:
    """Drop all of the session's."""
    connection.execute(delete(tool_outputs).where(_of(name_of(who.tenant, who.session))))


def orphans(cutoff: float, connection: Connection, after: int) -> Sequence[tuple[int, ...]]:
    """Rows from before ``cutoff`` whose session is gone, for `app.store.retention`."""
    of_it = exists().where(
        sessions.c.account == tool_outputs.c.account,
        sessions.c.user_name == tool_outputs.c.user_name,
        sessions.c.session == tool_outputs.c.session,
    )
    old = select(tool_outputs.c.id).where(tool_outputs.c.id > after, tool_outputs.c.at < cutoff, ~of_it)
    return [(id_,) for id_ in connection.execute(old.order_by(tool_outputs.c.id).limit(_AT_ONCE)).scalars()]


def drop(connection: Connection, piece: tuple[int, ...]) -> bool:
    """Delete rows."""
    connection.execute(delete(tool_outputs).where(tool_outputs.c.id.in_(piece)))
    return True


def beyond(most: int, connection: Connection, _after: int) -> Sequence[tuple[int, ...]]:
    """The rows with the oldest originals that make up what all tenants keep beyond a bound."""
    return [(id_,) for id_ in _oldest(connection, tool_outputs.c.body.is_not(None), most)]


def empty(connection: Connection, piece: tuple[int, ...]) -> bool:
    """Drop originals; what was decided stays."""
    gone = update(tool_outputs).where(tool_outputs.c.id.in_(piece))
    connection.execute(gone.values(body=None, bytes=0))
    return True


def _make_room(connection: Connection, tenant: Tenant, most: int) -> None:
    mine = and_(tool_outputs.c.account == (tenant.account or ""), tool_outputs.c.user_name == (tenant.user or ""))
    while ids := _oldest(connection, and_(mine, tool_outputs.c.body.is_not(None)), most):
        empty(connection, tuple(ids))


def _oldest(connection: Connection, of: Any, most: int) -> list[int]:
    excess = (connection.execute(select(func.sum(tool_outputs.c.bytes)).where(of)).scalar() or 0) - most
    ids: list[int] = []
    if excess > 0:
        rows = select(tool_outputs.c.id, tool_outputs.c.bytes).where(of).order_by(tool_outputs.c.id).limit(_AT_ONCE)
        for id_, size in connection.execute(rows):
            if excess <= 0:
                break
            ids.append(id_)
            excess -= size
    return ids


def _of(name: dict[str, str]) -> Any:
    return and_(*(tool_outputs.c[column] == value for column, value in name.items()))
