"""What sessions began with: the addition to the system prompt, kept as it was shown, for each epoch of a session.

An epoch ends with a reset, and with every archive that the prompt no longer shows the messages of. A row holds what was
shown last; it is replaced when its epoch is over, so that it still serves while a backend is away. Of a tenant the
newest `MAX_KEPT` are kept: a session whose row made room for others gets its addition anew.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, bindparam, delete, insert, select

from app.core.identity import Identity, Tenant
from app.core.injection.session_start.addition import Addition
from app.core.injection.session_start.section import ChatType
from app.core.memories.forget_selection import Erased, Redactor
from app.store import session_rows
from app.store.connections import Database
from app.store.memory_versions import locked_version, version_of
from app.store.schema import session_starts, sessions

MAX_KEPT = 2_000
"""Additions that are kept of a tenant: each has as many characters as ``SIDECAR_START__MAX_CHARS`` allows."""


class Moment(NamedTuple):
    """Until when an addition holds: the epoch, how much of it is archived, and which changes of memories it knows."""

    epoch: int
    cleared: int
    version: int


class KeptAddition(NamedTuple):
    """The addition that was shown last, and whether it is that of the present epoch."""

    addition: Addition
    holds: bool


class SqlSessionStarts:
    """`app.engine.session_start.begin.KeptAdditions` in SQL."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def look(self, who: Identity, chat: ChatType) -> tuple[Moment, KeptAddition | None]:
        """The session's present moment, and what was kept of it."""
        return await self._database.read_known(_look, who, chat)

    async def keep(self, who: Identity, chat: ChatType, made_at: Moment, addition: Addition) -> Addition | None:
        """Keep what was made at a moment; what another request kept before it wins.

        None when the moment is over: then it may hold what was forgotten meanwhile, and is to be made again.
        """
        return await self._database.write(_keep, who, chat, made_at, addition, self._clock())


_KEPT = select(session_starts).where(
    session_starts.c.account == bindparam("account"),
    session_starts.c.user_name == bindparam("user_name"),
    session_starts.c.session == bindparam("session"),
    session_starts.c.chat == bindparam("chat"),
    session_starts.c.viewer == bindparam("viewer"),
)
_EPOCH = select(sessions.c.epoch, sessions.c.cleared_through).where(session_rows.BY_NAME)


def _look(connection: Connection, who: Identity, chat: ChatType) -> tuple[Moment, KeptAddition | None]:
    now = _moment(connection, who, version_of(connection, who.tenant))
    row = connection.execute(_KEPT, _name(who, chat)).one_or_none()
    return now, _kept(row, now) if row else None


def _keep(
    connection: Connection, who: Identity, chat: ChatType, made_at: Moment, addition: Addition, now: float
) -> Addition | None:
    """The lock on the tenant's changes comes first: a forgetting holds it while it takes rows out."""
    present = _moment(connection, who, locked_version(connection, who.tenant))
    if present != made_at:
        return None
    name = _name(who, chat)
    row = connection.execute(_KEPT, name).one_or_none()
    if row and (kept := _kept(row, present)).holds:
        return kept.addition
    connection.execute(delete(session_starts).where(_is(name)))
    values = {"epoch": present.epoch, "cleared": present.cleared, "created_at": now}
    body, ids = addition.text, json.dumps(addition.memory_ids)
    connection.execute(insert(session_starts).values(**name, **values, body=body, memory_ids=ids))
    _make_room(connection, who.tenant)
    return addition


def _make_room(connection: Connection, tenant: Tenant) -> None:
    mine = _of_tenant(tenant)
    newest = select(session_starts.c.created_at).where(mine).order_by(session_starts.c.created_at.desc())
    last = connection.execute(newest.offset(MAX_KEPT).limit(1)).scalar()
    if last is not None:
        connection.execute(delete(session_starts).where(mine, session_starts.c.created_at <= last))


def erase(connection: Connection, tenant: Tenant, redactor: Redactor, there: Erased) -> None:
    """Take out what tells something that is forgotten; it is made anew when its session goes on."""
    for name in left_to_erase(connection, tenant, redactor, there):
        connection.execute(delete(session_starts).where(_is(name)))


def left_to_erase(
    connection: Connection, tenant: Tenant, redactor: Redactor, there: Erased
) -> Sequence[dict[str, str]]:
    """The rows that tell it. Of turns that go as a whole it is not known which lines came from them: then all go."""
    asked = redactor.forgetting
    gone = {one.id for one in asked.statements} | {one.id for one in there.selected}
    columns = [session_starts.c[key] for key in _KEY]
    query = select(*columns, session_starts.c.body, session_starts.c.memory_ids)
    rows = connection.execute(query.where(_of_tenant(tenant))).all()
    return [
        {key: getattr(row, key) for key in _KEY}
        for row in rows
        if row.body
        and (asked.takes_turns or gone & set(json.loads(row.memory_ids)) or redactor.derived(row.body) != row.body)
    ]


def drop_old(cutoff: float, connection: Connection, tenant: tuple[str, str]) -> bool:
    """Forget a tenant's additions from before ``cutoff`` whose sessions are forgotten, too."""
    account, user = tenant
    known = select(sessions.c.id).where(
        sessions.c.account == session_starts.c.account,
        sessions.c.user_name == session_starts.c.user_name,
        sessions.c.session == session_starts.c.session,
    )
    old = and_(session_starts.c.account == account, session_starts.c.user_name == user)
    connection.execute(delete(session_starts).where(old, session_starts.c.created_at < cutoff, ~known.exists()))
    return True


def tenants_with_old(connection: Connection, cutoff: float) -> list[tuple[str, str]]:
    """Tenants with additions from before ``cutoff``."""
    columns = session_starts.c.account, session_starts.c.user_name
    rows = connection.execute(select(*columns).where(session_starts.c.created_at < cutoff).distinct())
    return [(row.account, row.user_name) for row in rows]


_KEY = ("account", "user_name", "session", "chat", "viewer")


def _name(who: Identity, chat: ChatType) -> dict[str, str]:
    """What a row is known by. An addition is for one reader: what an agent or a peer may see another may not."""
    return {
        **session_rows.name_of(who.tenant, who.session),
        "chat": chat.value,
        "viewer": f"{who.agent}/{who.actor_peer or ''}",
    }


def _moment(connection: Connection, who: Identity, version: int) -> Moment:
    row = connection.execute(_EPOCH, session_rows.name_of(who.tenant, who.session)).one_or_none()
    return Moment(row.epoch, row.cleared_through, version) if row else Moment(0, 0, version)


def _kept(row: Any, now: Moment) -> KeptAddition:
    holds = (row.epoch, row.cleared) == (now.epoch, now.cleared)
    return KeptAddition(Addition(row.body, tuple(json.loads(row.memory_ids))), holds)


def _is(name: dict[str, str]) -> Any:
    return and_(*(session_starts.c[key] == value for key, value in name.items()))


def _of_tenant(tenant: Tenant) -> Any:
    return and_(session_starts.c.account == (tenant.account or ""), session_starts.c.user_name == (tenant.user or ""))
