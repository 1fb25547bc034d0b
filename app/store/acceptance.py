"""Taking a turn in, exactly once: the transaction that stands behind an acknowledged `/after-turn`."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, insert, select

from app.core.capture import with_ids
from app.core.commit_policy import CommitRules
from app.core.prints import is_timed
from app.errors import KeyReused, OutboxFull
from app.ports import Acceptance, NewTurn
from app.store import commits
from app.store import sessions as session_rows
from app.store.codec import dump_identity, dump_messages, dump_strings, hashed, new_id
from app.store.schema import turns
from app.store.sessions import SessionRow
from app.store.work import TurnState

Status = Literal["committed", "duplicate", "skipped"]

UNDELIVERED = (TurnState.PENDING, TurnState.SENDING, TurnState.DEAD)
"""States whose payload is nowhere but here."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn made ready outside the transaction: its id and its messages as they will be stored."""

    turn: NewTurn
    turn_id: str
    payload: str


def prepare(turn: NewTurn) -> Prepared:
    """Give the turn its id and its messages theirs; nothing is written."""
    turn_id = new_id("t")
    return Prepared(turn, turn_id, dump_messages(with_ids(turn.messages, turn_id)))


def accept(
    connection: Connection, prepared: Prepared, rules: CommitRules, now: float, max_pending_bytes: int | None
) -> Acceptance:
    """Record the turn, or recognise it. ``max_pending_bytes`` None: the caller knows that there is room."""
    turn = prepared.turn
    session = session_rows.lock(connection, turn.who, now, turn.token_budget)
    known = _known(connection, session, turn)
    if known is not None:
        return _answer(connection, session, "duplicate", known.turn_id, known.captured, known.state)
    if turn.skipped is not None and turn.key is None and not turn.prints:
        return _answer(connection, session, "skipped", "", 0, TurnState.SKIPPED)
    state = TurnState.PENDING if turn.skipped is None else TurnState.SKIPPED
    if state is TurnState.PENDING and max_pending_bytes is not None:
        _check_room(connection, len(prepared.payload), max_pending_bytes)
    _insert(connection, session, prepared, state, now)
    _advance(connection, session, turn, now, captured=state is TurnState.PENDING)
    session = session_rows.lock_id(connection, session.id)
    if state is TurnState.PENDING:
        if commits.review(connection, session, rules, now, remember=turn.remember):
            session = session_rows.lock_id(connection, session.id)
        session_rows.wake(connection, session, now)
    status: Status = "committed" if state is TurnState.PENDING else "skipped"
    return _answer(connection, session, status, prepared.turn_id, _captured(turn), state)


def pending_bytes(connection: Connection) -> int:
    """The bytes of all turns that the backend does not have."""
    return connection.execute(select(func.sum(turns.c.bytes)).where(turns.c.state.in_(UNDELIVERED))).scalar() or 0


def pending_tokens(connection: Connection, session: SessionRow) -> int:
    """The tokens of the session's turns that no commit holds yet."""
    live = select(func.sum(turns.c.tokens)).where(
        turns.c.session_id == session.id,
        turns.c.position > session.archived_through,
        turns.c.state.in_(commits.SEEN_STATES),
    )
    return connection.execute(live).scalar() or 0


def _known(connection: Connection, session: SessionRow, turn: NewTurn) -> Row[*tuple[Any, ...]] | None:
    """The turn that this one repeats. Raises `KeyReused` when its key belongs to another."""
    columns = select(turns.c.turn_id, turns.c.captured, turns.c.state, turns.c.fingerprint)
    if turn.key is not None:
        mine = (turns.c.session_id == session.id, turns.c.key_hash == hashed(turn.key))
        row = connection.execute(columns.where(*mine)).one_or_none()
        if row is not None and row.fingerprint != turn.fingerprint:
            raise KeyReused("this key was used for another turn of the session")
        return row
    if not turn.repeatable:
        return None
    same = columns.where(turns.c.session_id == session.id, turns.c.fingerprint == turn.fingerprint)
    if not any(is_timed(print_) for print_ in turn.prints):
        # A position alone proves nothing across a reset: the host counts from the start again.
        same = same.where(turns.c.epoch == session.epoch)
    return connection.execute(same.order_by(turns.c.id.desc()).limit(1)).one_or_none()


def _check_room(connection: Connection, size: int, limit: int) -> None:
    if pending_bytes(connection) + size > limit:
        raise OutboxFull("the outbox holds as much undelivered text as it may; nothing of this turn was accepted")


def _insert(connection: Connection, session: SessionRow, prepared: Prepared, state: TurnState, now: float) -> None:
    turn = prepared.turn
    pending = state is TurnState.PENDING
    row = {
        "turn_id": prepared.turn_id,
        "session_id": session.id,
        "epoch": session.epoch,
        "position": session.next_position,
        "key_hash": hashed(turn.key) if turn.key is not None else None,
        "fingerprint": turn.fingerprint,
        "repeatable": turn.repeatable,
        "prints": dump_strings(turn.prints),
        "first_message": session.next_message,
        "host_messages": len(turn.prints),
        "payload": prepared.payload if pending else None,
        "bytes": len(prepared.payload) if pending else 0,
        "captured": _captured(turn),
        "tokens": turn.tokens if pending else 0,
        "remember": turn.remember,
        "state": state,
        "reason": turn.skipped or "",
        "created_at": now,
    }
    connection.execute(insert(turns).values(row))


def _advance(connection: Connection, session: SessionRow, turn: NewTurn, now: float, *, captured: bool) -> None:
    values: dict[str, Any] = {
        "next_position": session.next_position + 1,
        "next_message": session.next_message + len(turn.prints),
        "identity": dump_identity(turn.who),
        "token_budget": turn.token_budget,
    }
    if captured:
        values["last_turn_at"] = now
    session_rows.change(connection, session.id, **values)


def _captured(turn: NewTurn) -> int:
    return 0 if turn.skipped is not None else len(turn.messages)


def _answer(
    connection: Connection, session: SessionRow, status: Status, turn_id: str, captured: int, state: str
) -> Acceptance:
    return Acceptance(
        status=status,
        turn_id=turn_id,
        captured=captured,
        delivered=state == TurnState.DELIVERED,
        pending_tokens=pending_tokens(connection, session),
        compaction=commits.compaction_of(connection, session),
    )
