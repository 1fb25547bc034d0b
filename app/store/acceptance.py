"""Taking a turn in, exactly once: the transaction that stands behind an acknowledged `/after-turn`."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, insert, select

from app.core.history.commit_policy import CommitRules
from app.core.history.session_opening import longer_opening
from app.core.identity import SessionKind
from app.core.memories.memory import NewMemory
from app.core.messages.fingerprints import is_timed
from app.errors import KeyReused, OutboxFull
from app.ports import Acceptance, NewTurn, SeenBefore
from app.store import commit_rows, session_history, session_rows, use_rows, waiting_memories, window_rows
from app.store.backlog import Bounds
from app.store.codec import dump_identity, dump_strings, hashed, load_strings
from app.store.prepared import Prepared
from app.store.schema import turns
from app.store.session_rows import SessionRow
from app.store.work import Lane, TurnState

Status = Literal["committed", "duplicate", "skipped"]

_INSERT = insert(turns)
_KNOWN = select(turns.c.turn_id, turns.c.captured, turns.c.state, turns.c.fingerprint)
_BY_KEY = _KNOWN.where(turns.c.session_id == bindparam("session_id"), turns.c.key_hash == bindparam("key_hash"))
_BY_OCCURRENCE = (
    _KNOWN.where(turns.c.session_id == bindparam("session_id"), turns.c.occurrence == bindparam("occurrence"))
    .order_by(turns.c.id.desc())
    .limit(1)
)
_BY_PLACE = _BY_OCCURRENCE.where(turns.c.epoch == bindparam("epoch"))
_OF_ITS_TIMES = (
    select(turns.c.id).where(session_history.within_span(), turns.c.position > bindparam("through")).limit(1)
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer and what else the transaction found out."""

    answer: Acceptance
    wakes: bool = False
    """Whether a worker should be woken: a session that has a date already will be looked at then."""


def accept(
    connection: Connection,
    prepared: Prepared,
    rules: CommitRules,
    now: float,
    full: OutboxFull | None,
    bounds: Bounds,
) -> Accepted:
    """Record the turn, or recognise it. ``full``: why there is no room for a turn that is to be delivered."""
    turn = prepared.turn
    session = session_rows.lock(connection, turn.who, now, turn.token_budget)
    known = _known(connection, session, turn)
    if known is not None:
        return Accepted(_answer(connection, session, "duplicate", known.turn_id, known.captured, known.state))
    if turn.span is not None and _is_to_compare(connection, session, turn):
        raise SeenBefore
    if turn.skipped is not None and turn.key is None and not prepared.host_messages:
        return Accepted(_answer(connection, session, "skipped", "", 0, TurnState.SKIPPED))
    state = TurnState.PENDING if turn.skipped is None else TurnState.SKIPPED
    if state is TurnState.PENDING and full is not None:
        raise full
    _insert(connection, session, prepared, state, now)
    for new in turn.memories:
        waiting_memories.put(connection, turn.who.tenant, _of_turn(new, prepared.turn_id), bounds, now)
    if state is TurnState.PENDING:
        use_rows.count_tools(connection, turn.who, prepared.tools, prepared.late, now)
        use_rows.count(connection, use_rows.SKILLS, turn.who, prepared.skills, now)
    waiting_before = session.due_at, session.lane
    window, flushes = _window(session, turn, state, now)
    session = _advance(connection, session, prepared, now, window, captured=state is TurnState.PENDING)
    tokens = commit_rows.tokens_of(connection, session)
    if state is TurnState.PENDING and commit_rows.review(
        connection, session, tokens, rules, now, remember=turn.remember
    ):
        session = session_rows.lock_id(connection, session.id)
        tokens = commit_rows.tokens_of(connection, session)
    status: Status = "committed" if state is TurnState.PENDING else "skipped"
    answer = _answer(connection, session, status, prepared.turn_id, prepared.captured, state, tokens)
    answer = replace(answer, flushes=flushes)
    return Accepted(answer, wakes=(session.due_at, session.lane) != waiting_before)


def _window(session: SessionRow, turn: NewTurn, state: TurnState, now: float) -> tuple[dict[str, Any], bool]:
    """The columns of the host's window behind the turn, and whether a flush is due and is told now."""
    if state is not TurnState.PENDING:
        return {}, False
    window = window_rows.window_of(session).after_turn(turn.tokens, turn.reply_tokens, turn.usage)
    columns = window_rows.columns_of(window)
    if turn.flush_at is None or window.tokens < turn.flush_at:
        return columns, False
    told = window_rows.flush_columns(session, now)
    return columns | told, bool(told)


def _of_turn(new: NewMemory, turn_id: str) -> NewMemory:
    source = replace(new.source, turn_id=turn_id)
    return replace(new, source=source, message_id=f"{turn_id}{new.message_id}")


def _known(connection: Connection, session: SessionRow, turn: NewTurn) -> Row[*tuple[Any, ...]] | None:
    """The turn that this one repeats. Raises `KeyReused` when its key belongs to another.

    The same messages at the same times are the same turn under any key, or none. Without times a key of its own makes
    a turn another one, and a count proves nothing across a reset: the host counts from the start again.
    """
    if turn.key is not None:
        name = {"session_id": session.id, "key_hash": hashed(turn.key)}
        row = connection.execute(_BY_KEY, name).one_or_none()
        if row is not None and row.fingerprint != turn.fingerprint:
            raise KeyReused("this key was used for another turn of the session")
        if row is not None:
            return row
    if turn.occurrence is None:
        return None
    it = {"session_id": session.id, "occurrence": turn.occurrence}
    if is_timed(turn.occurrence):
        return connection.execute(_BY_OCCURRENCE, it).one_or_none()
    return connection.execute(_BY_PLACE, {**it, "epoch": session.epoch}).one_or_none() if turn.key is None else None


def _is_to_compare(connection: Connection, session: SessionRow, turn: NewTurn) -> bool:
    """Whether a turn that this one was not compared with has messages of the same times."""
    first_at, last_at = turn.span or (0, 0)
    asked = {"session_id": session.id, "first_at": first_at, "last_at": last_at, "through": turn.compared_through}
    return connection.execute(_OF_ITS_TIMES, asked).first() is not None


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
        "occurrence": turn.occurrence,
        "prints": prepared.fingerprints,
        "first_at": turn.span[0] if turn.span else None,
        "last_at": turn.span[1] if turn.span else None,
        "first_message": session.next_message,
        "host_messages": prepared.host_messages,
        "payload": prepared.payload if pending else None,
        "bytes": len(prepared.payload) if pending else 0,
        "captured": prepared.captured,
        "tokens": turn.tokens if pending else 0,
        "remember": turn.remember,
        "state": state,
        "reason": turn.skipped or "",
        "created_at": now,
    }
    connection.execute(_INSERT, row)


def _advance(
    connection: Connection,
    session: SessionRow,
    prepared: Prepared,
    now: float,
    window: dict[str, Any],
    *,
    captured: bool,
) -> SessionRow:
    """The session behind its newest turn; with something to deliver it is due."""
    turn = prepared.turn
    values: dict[str, Any] = {
        "next_position": session.next_position + 1,
        "next_message": session.next_message + prepared.host_messages,
        "token_budget": turn.token_budget,
        **window,
    }
    if captured:
        # Behind a turn that failed this one waits like it.
        lane = session.lane if session.lane == Lane.RETRY else Lane.TURN
        values |= {"last_turn_at": now, "due_at": session_rows.due_with(session, now), "lane": lane}
        opening = load_strings(session.opening)
        if (longer := longer_opening(opening, prepared.told)) is not opening:
            values["opening"] = dump_strings(longer)
        if turn.who.kind is SessionKind.CHAT or session_rows.identity_of(session).kind is not SessionKind.CHAT:
            # A conversation stays one, whatever automation speaks up in it: it is to be remembered.
            values["identity"] = dump_identity(turn.who)
    return session_rows.changed(connection, session.id, **values)


def _answer(
    connection: Connection,
    session: SessionRow,
    status: Status,
    turn_id: str,
    captured: int,
    state: str,
    tokens: commit_rows.Tokens | None = None,
) -> Acceptance:
    return Acceptance(
        status=status,
        turn_id=turn_id,
        captured=captured,
        delivered=state == TurnState.DELIVERED,
        pending_tokens=(tokens or commit_rows.tokens_of(connection, session)).pending,
        compaction=commit_rows.compaction_of(connection, session),
    )
