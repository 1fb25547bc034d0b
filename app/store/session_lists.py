"""Looking at sessions: which there are, what was said in one, and how its archives are getting on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, and_, case, func, literal, or_, select

from app.core.capture.captured_message import CapturedMessage
from app.core.history.commit_policy import Cause
from app.core.identity import Tenant
from app.errors import NotFound
from app.store import session_rows
from app.store.codec import load_messages
from app.store.connections import Database
from app.store.schema import commits, sessions, turns
from app.store.work import OPEN_TURNS, CommitPhase, TurnState

MAX_TURN_BYTES = 1024 * 1024
"""Turns that are larger are listed without what they say."""
COMMITS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session: who spoke in it last, when, and how many of its turns are where. Times are seconds since the epoch."""

    session: str
    session_key: str | None
    agent: str
    kind: str
    last_turn_at: float
    turns: int = 0
    waiting: int = 0
    dead: int = 0
    summary: str = ""
    """What the backend made of its archives when it last did; empty in a list."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Sessions, the latest first; ``cursor`` fetches the next ones, None at the end."""

    sessions: tuple[SessionLine, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A turn. ``messages`` is None where they are kept no more, or are too many to be shown."""

    turn_id: str
    state: str
    reason: str
    created_at: float
    captured: int
    messages: tuple[CapturedMessage, ...] | None


@dataclass(frozen=True, slots=True)
class TurnPage:
    """Turns of a session, newest first."""

    turns: tuple[TurnLine, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class CommitLine:
    """An archive that was asked for."""

    cause: Cause
    phase: CommitPhase
    archive_id: str | None
    attempts: int
    error: str
    created_at: float
    finished_at: float | None


class SqlSessionLists:
    """The sessions of tenants, to be looked at."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, tenant: Tenant, search: str, *, limit: int, cursor: str | None) -> SessionPage:
        """A tenant's sessions, the latest first; with ``search`` those whose name, key, agent or sender contains it."""
        return await self._database.read(_page, tenant, search, limit, cursor)

    async def get(self, tenant: Tenant, session: str) -> SessionLine:
        """One session of a tenant. Raises `NotFound`."""
        return await self._database.read(_get, tenant, session)

    async def turns(self, tenant: Tenant, session: str, *, limit: int, cursor: str | None) -> TurnPage:
        """The turns of a session with what they say, newest first. Raises `NotFound`."""
        return await self._database.read(_turns_of, tenant, session, limit, cursor)

    async def commits(self, tenant: Tenant, session: str) -> tuple[CommitLine, ...]:
        """The newest archives that were asked for of a session, newest first. Raises `NotFound`."""
        return await self._database.read(_commits_of, tenant, session)


def _page(connection: Connection, tenant: Tenant, search: str, limit: int, cursor: str | None) -> SessionPage:
    """A tenant's sessions; with ``search`` those whose name, key, agent or sender contains it, whatever the case."""
    query = select(sessions).where(session_rows.of_tenant(tenant))
    if search:
        written = json.dumps(search)[1:-1]  # as it stands in the identity
        named = sessions.c.session.icontains(search.replace("\0", ""), autoescape=True)
        query = query.where(or_(named, sessions.c.identity.icontains(written, autoescape=True)))
    if cursor is not None:
        at, number = _place(cursor)
        same = and_(sessions.c.last_turn_at == literal(at), sessions.c.id < literal(number, BigInteger))
        query = query.where(or_(sessions.c.last_turn_at < literal(at), same))
    order = sessions.c.last_turn_at.desc(), sessions.c.id.desc()
    rows = connection.execute(query.order_by(*order).limit(limit + 1)).all()
    counted = _counted(connection, [row.id for row in rows[:limit]])
    last = rows[limit - 1] if len(rows) > limit else None
    lines = tuple(replace(_line(row, counted.get(row.id, {})), summary="") for row in rows[:limit])
    return SessionPage(lines, f"{last.last_turn_at!r}_{last.id}" if last else None)


def _get(connection: Connection, tenant: Tenant, session: str) -> SessionLine:
    """One session. Raises `NotFound`, also for another tenant's."""
    row = _one(connection, tenant, session)
    return _line(row, _counted(connection, [row.id]).get(row.id, {}))


def _turns_of(connection: Connection, tenant: Tenant, session: str, limit: int, cursor: str | None) -> TurnPage:
    """A session's turns with what they say, as far as that is kept here. Raises `NotFound`."""
    of = _one(connection, tenant, session).id
    said = case((turns.c.bytes <= MAX_TURN_BYTES, turns.c.payload), else_=None).label("said")
    columns = turns.c.id, turns.c.turn_id, turns.c.state, turns.c.reason, turns.c.created_at, turns.c.captured, said
    query = select(*columns).where(turns.c.session_id == of)
    if cursor is not None:
        query = query.where(turns.c.id < literal(_number(cursor), BigInteger))
    rows = connection.execute(query.order_by(turns.c.id.desc()).limit(limit + 1)).all()
    more = str(rows[limit - 1].id) if len(rows) > limit else None
    return TurnPage(tuple(_turn(row) for row in rows[:limit]), more)


def _commits_of(connection: Connection, tenant: Tenant, session: str) -> tuple[CommitLine, ...]:
    """The newest archives that were asked for of a session, newest first. Raises `NotFound`."""
    of = _one(connection, tenant, session).id
    query = select(commits).where(commits.c.session_id == of).order_by(commits.c.id.desc()).limit(COMMITS_SHOWN)
    return tuple(
        CommitLine(
            Cause(row.cause),
            CommitPhase(row.state),
            row.archive_id,
            row.attempts,
            row.error,
            row.created_at,
            row.finished_at,
        )
        for row in connection.execute(query)
    )


def _one(connection: Connection, tenant: Tenant, session: str) -> session_rows.SessionRow:
    row = session_rows.find(connection, tenant, session)
    if row is None:
        raise NotFound("there is no such session")
    return row


def _line(row: session_rows.SessionRow, counted: dict[str, int]) -> SessionLine:
    who = session_rows.identity_of(row)
    return SessionLine(
        session=who.session,
        session_key=who.session_key,
        agent=who.agent,
        kind=who.kind,
        last_turn_at=row.last_turn_at,
        turns=sum(counted.values()),
        waiting=sum(counted.get(state, 0) for state in OPEN_TURNS),
        dead=counted.get(TurnState.DEAD, 0),
        summary=row.summary,
    )


def _counted(connection: Connection, ids: Sequence[int]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    query = select(turns.c.session_id, turns.c.state, func.count()).where(turns.c.session_id.in_(ids))
    for of, state, count in connection.execute(query.group_by(turns.c.session_id, turns.c.state)):
        found.setdefault(of, {})[state] = count
    return found


def _turn(row: Row[*tuple[Any, ...]]) -> TurnLine:
    messages = load_messages(row.said) if row.said is not None else None
    return TurnLine(row.turn_id, row.state, row.reason, row.created_at, row.captured, messages)


def _place(cursor: str) -> tuple[float, int]:
    """The place that a cursor names; the end for what is none."""
    at, _, number = cursor.partition("_")
    try:
        return float(at), _number(number)
    except ValueError:
        return 0.0, 0


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
