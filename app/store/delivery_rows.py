"""Looking into the outbox, and deciding about turns that the backend does not have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field, PlainSerializer
from sqlalchemy import BigInteger, Connection, Row, func, literal, or_, select, update

from app.core.identity import Tenant
from app.core.json.answers import answer
from app.errors import Conflict, NotFound
from app.store import session_rows
from app.store.backlog import bytes_by_tenant
from app.store.connections import Database
from app.store.schema import commits, sessions, turns
from app.store.session_rows import SessionRow
from app.store.work import OPEN_TURNS, UNDELIVERED, CommitPhase, Lane, TurnState

MAX_PAGE = 500

_Row = Row[*tuple[Any, ...]]


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


Moment = Annotated[float, PlainSerializer(_iso, return_type=str)]
"""Seconds since the epoch; ISO 8601 in answers."""


@answer
@dataclass(frozen=True, slots=True)
class Delivery:
    """A turn on its way to the backend, as an operator sees it: no text."""

    turn_id: str
    session: str
    account: str | None
    user: str | None
    state: str
    reason: str
    captured: int
    sent: int
    bytes: int
    attempts: int
    error: str
    created_at: Moment
    delivered_at: Moment | None
    next_attempt_at: Moment | None


@answer
@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """A page of turns, newest first; ``cursor`` fetches the next one, None at the end."""

    items: Annotated[tuple[Delivery, ...], Field(serialization_alias="deliveries")]
    cursor: Annotated[str | None, Field(serialization_alias="nextCursor")]


@dataclass(frozen=True, slots=True)
class OutboxGauges:
    """The state of the outbox as numbers, for metrics."""

    depth: int
    """Turns not yet delivered, dead letters not counted."""
    bytes: int
    fullest_tenant_bytes: int
    """Those of the tenant that has the most."""
    oldest_seconds: float
    """Age of the oldest undelivered turn."""
    retrying: int
    """Undelivered turns that failed at least once."""
    dead: int
    commits_running: int
    commits_failed: int


class SqlDeliveries:
    """Turns on their way to the backend. ``on_work`` is called after a decision that a worker should look at.

    A tenant of None stands for all of them.
    """

    def __init__(self, database: Database, clock: Callable[[], float], on_work: Callable[[], None]) -> None:
        self._database = database
        self._clock = clock
        self._on_work = on_work

    async def page(
        self,
        tenant: Tenant | None,
        *,
        states: Sequence[str] = (),
        session: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> DeliveryPage:
        """Turns, newest first, by state and session."""
        return await self._database.read(_page, tenant, states, session, limit, cursor)

    async def get(self, tenant: Tenant | None, turn_id: str) -> Delivery:
        """One turn. Raises `NotFound`."""
        return await self._database.read(_get, tenant, turn_id)

    async def retry(self, tenant: Tenant | None, turn_id: str) -> Delivery:
        """Send an undelivered turn now, a dead letter again. Raises `NotFound`, `Conflict`."""
        return await self._decided(_retry, tenant, turn_id)

    async def discard(self, tenant: Tenant | None, turn_id: str) -> Delivery:
        """Give an undelivered turn up. Raises `NotFound`, `Conflict`."""
        return await self._decided(_discard, tenant, turn_id)

    async def _decided(
        self, decide: Callable[[Connection, Tenant | None, str, float], Delivery], tenant: Tenant | None, turn_id: str
    ) -> Delivery:
        decided = await self._database.write(decide, tenant, turn_id, self._clock())
        self._on_work()
        return decided


def _page(
    connection: Connection,
    tenant: Tenant | None,
    states: Sequence[str],
    session: str | None,
    limit: int,
    cursor: str | None,
) -> DeliveryPage:
    """Turns of a tenant (None: of all), in any of ``states`` (none: all), of one session or of all."""
    query = _joined(tenant)
    if states:
        query = query.where(turns.c.state.in_(states))
    if session is not None:
        query = query.where(sessions.c.session == session)
    if cursor is not None:
        query = query.where(turns.c.id < literal(_position(cursor), BigInteger))
    limit = max(1, min(limit, MAX_PAGE))
    rows = connection.execute(query.order_by(turns.c.id.desc()).limit(limit + 1)).all()
    more = str(rows[limit - 1].id) if len(rows) > limit else None
    return DeliveryPage(tuple(_delivery(row) for row in rows[:limit]), more)


def _get(connection: Connection, tenant: Tenant | None, turn_id: str) -> Delivery:
    """One turn. Raises `NotFound`, also for another tenant's."""
    return _delivery(_one(connection, tenant, turn_id))


def _retry(connection: Connection, tenant: Tenant | None, turn_id: str, now: float) -> Delivery:
    """Send an undelivered turn now, whatever it waits for. Raises `NotFound`, `Conflict`.

    A write that may still arrive is waited for all the same. A dead letter goes back to its place in the session, or,
    when the backend has something that was said after it, behind that and all that waits.
    """
    row, session = _undelivered(connection, tenant, turn_id)
    if row.state == TurnState.DEAD:
        _revive(connection, row, session)
    session_rows.change(connection, session.id, retry_at=0.0, due_at=now, lane=Lane.RETRY)
    return _get(connection, tenant, turn_id)


def _discard(connection: Connection, tenant: Tenant | None, turn_id: str, now: float) -> Delivery:
    """Give an undelivered turn up: its text is deleted, its key stays known. Raises `NotFound`, `Conflict`.

    A write of it that is under way goes on; the rest of the turn is not sent.
    """
    row, session = _undelivered(connection, tenant, turn_id)
    given_up = {"state": TurnState.DISCARDED, "payload": None, "bytes": 0}
    connection.execute(update(turns).where(turns.c.id == row.id).values(given_up))
    session_rows.change(connection, session.id, retry_at=0.0, due_at=now)
    return _get(connection, tenant, turn_id)


def gauges(connection: Connection, now: float) -> OutboxGauges:
    """Count the outbox."""
    waiting = turns.c.state.in_(OPEN_TURNS)
    depth, oldest = connection.execute(select(func.count(), func.min(turns.c.created_at)).where(waiting)).one()
    retrying = select(func.count()).where(waiting, turns.c.error != "")
    dead = select(func.count()).where(turns.c.state == TurnState.DEAD)
    unsettled = commits.c.state.in_((CommitPhase.RUNNING, CommitPhase.FAILED))
    counted = select(commits.c.state, func.count()).where(unsettled).group_by(commits.c.state)
    by_phase: dict[str, int] = {row[0]: row[1] for row in connection.execute(counted)}
    sizes = bytes_by_tenant(connection)
    return OutboxGauges(
        depth=depth,
        bytes=sum(sizes.values()),
        fullest_tenant_bytes=max(sizes.values(), default=0),
        oldest_seconds=max(0.0, now - oldest) if oldest is not None else 0.0,
        retrying=connection.execute(retrying).scalar() or 0,
        dead=connection.execute(dead).scalar() or 0,
        commits_running=by_phase.get(CommitPhase.RUNNING, 0),
        commits_failed=by_phase.get(CommitPhase.FAILED, 0),
    )


def _joined(tenant: Tenant | None) -> Any:
    columns = [column for column in turns.c if column.name not in {"payload", "prints"}]
    query = select(*columns, sessions.c.account, sessions.c.user_name, sessions.c.session, sessions.c.retry_at)
    query = query.join_from(turns, sessions, turns.c.session_id == sessions.c.id)
    return query if tenant is None else query.where(session_rows.of_tenant(tenant))


def _one(connection: Connection, tenant: Tenant | None, turn_id: str) -> _Row:
    row: _Row | None = connection.execute(_joined(tenant).where(turns.c.turn_id == turn_id)).one_or_none()
    if row is None:
        raise NotFound("there is no such turn")
    return row


def _undelivered(connection: Connection, tenant: Tenant | None, turn_id: str) -> tuple[_Row, SessionRow]:
    """The turn and its session, locked, so that two who decide at once decide one after the other."""
    session = session_rows.lock_id(connection, _one(connection, tenant, turn_id).session_id)
    row = _one(connection, tenant, turn_id)
    if row.state not in UNDELIVERED:
        raise Conflict(f"only what is not delivered can be retried or discarded; this turn is {row.state}")
    return row, session


def _revive(connection: Connection, row: _Row, session: SessionRow) -> None:
    """Have a dead letter sent again. Raises `Conflict` when that would bring it into an epoch that is not its own."""
    position = row.position
    if _is_archived(connection, row) or _is_overtaken(connection, row):
        if row.epoch < session.epoch:
            raise Conflict("the session was reset after this turn, so that it can only be discarded")
        position = session.next_position
        session_rows.change(connection, session.id, next_position=position + 1)
    revived = {"state": TurnState.PENDING, "position": position, "error": ""}
    connection.execute(update(turns).where(turns.c.id == row.id).values(revived))


def _is_archived(connection: Connection, row: _Row) -> bool:
    """Whether the backend was asked for the archive that was to hold the turn."""
    asked = commits.c.state.not_in((CommitPhase.PLANNED, CommitPhase.REJECTED, CommitPhase.LOCAL))
    holding = (commits.c.session_id == row.session_id, commits.c.through >= row.position, asked)
    return connection.execute(select(commits.c.id).where(*holding).limit(1)).scalar() is not None


def _is_overtaken(connection: Connection, row: _Row) -> bool:
    """Whether something that was said after the turn is in the backend, or may be."""
    there = or_(turns.c.state.in_((TurnState.SENDING, TurnState.DELIVERED)), turns.c.sent > 0)
    later = (turns.c.session_id == row.session_id, turns.c.position > row.position, there)
    return connection.execute(select(turns.c.id).where(*later).limit(1)).scalar() is not None


def _delivery(row: _Row) -> Delivery:
    open_ = row.state in OPEN_TURNS
    return Delivery(
        turn_id=row.turn_id,
        session=row.session,
        account=row.account or None,
        user=row.user_name or None,
        state=row.state,
        reason=row.reason,
        captured=row.captured,
        sent=row.sent,
        bytes=row.bytes,
        attempts=row.attempts,
        error=row.error,
        created_at=row.created_at,
        delivered_at=row.delivered_at,
        next_attempt_at=row.retry_at if open_ and row.retry_at else None,
    )


def _position(cursor: str) -> int:
    return int(cursor) if cursor.isascii() and cursor.isdigit() and len(cursor) < 19 else 0
