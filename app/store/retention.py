"""Keeping the store bounded: what is old enough, or more than may be kept, is forgotten."""

from sqlalchemy import Connection, delete, func, select, update

from app.store.schema import commits, sessions, turns
from app.store.work import UNDELIVERED, UNSENT_COMMITS, TurnState

_BATCH = 500


def sweep_old(connection: Connection, now: float, keep_s: float, max_kept_bytes: int) -> int:
    """Forget what may be forgotten, a batch at a time; how much was. Nothing undelivered is ever touched.

    A session that was quiet for ``keep_s`` goes as a whole: its keys, prints and commits. Of others, turns of earlier
    epochs go. Delivered text waits here for its archive's extraction, but neither longer than
    ``keep_s`` nor beyond ``max_kept_bytes``: the backend has it.
    """
    cutoff = now - keep_s
    forgotten = _forget_sessions(connection, cutoff)
    forgotten += _forget_epochs(connection, cutoff)
    aged = select(turns.c.id).where(
        turns.c.state == TurnState.DELIVERED, turns.c.created_at < cutoff, turns.c.bytes > 0
    )
    forgotten += _drop_text(connection, list(connection.execute(aged.limit(_BATCH)).scalars()))
    return forgotten + _drop_text(connection, _beyond(connection, max_kept_bytes))


def _forget_sessions(connection: Connection, cutoff: float) -> int:
    waiting_turn = select(turns.c.id).where(turns.c.session_id == sessions.c.id, turns.c.state.in_(UNDELIVERED))
    # An archive that is being made is the backend's affair; one that was not asked for yet is all that will be kept.
    unsent = commits.c.state.in_(UNSENT_COMMITS)
    waiting_commit = select(commits.c.id).where(commits.c.session_id == sessions.c.id, unsent)
    quiet = select(sessions.c.id).where(
        sessions.c.last_turn_at < cutoff, ~waiting_turn.exists(), ~waiting_commit.exists()
    )
    # Locked, so that a turn that comes in just now finds no session and makes a new one, instead of going with the old.
    locked = quiet.limit(_BATCH).with_for_update(of=sessions, skip_locked=True)
    ids = list(connection.execute(locked).scalars())
    for table in (turns, commits):
        connection.execute(delete(table).where(table.c.session_id.in_(ids)))
    connection.execute(delete(sessions).where(sessions.c.id.in_(ids)))
    return len(ids)


def _forget_epochs(connection: Connection, cutoff: float) -> int:
    reset = select(sessions.c.id).where(sessions.c.epoch > 0)  # few, and without them every turn would be looked at
    present = select(sessions.c.epoch).where(sessions.c.id == turns.c.session_id).scalar_subquery()
    former = select(turns.c.id).where(turns.c.session_id.in_(reset), turns.c.epoch < present)
    old = former.where(turns.c.created_at < cutoff, turns.c.state.not_in(UNDELIVERED))
    ids = list(connection.execute(old.limit(_BATCH)).scalars())
    connection.execute(delete(turns).where(turns.c.id.in_(ids)))
    return len(ids)


def _beyond(connection: Connection, max_kept_bytes: int) -> list[int]:
    """The oldest delivered texts that make up what is kept beyond the bound."""
    delivered = turns.c.state == TurnState.DELIVERED
    excess = (connection.execute(select(func.sum(turns.c.bytes)).where(delivered)).scalar() or 0) - max_kept_bytes
    ids: list[int] = []
    if excess > 0:
        oldest = select(turns.c.id, turns.c.bytes).where(delivered, turns.c.bytes > 0).order_by(turns.c.created_at)
        for id_, size in connection.execute(oldest.limit(_BATCH)):
            if excess <= 0:
                break
            ids.append(id_)
            excess -= size
    return ids


def _drop_text(connection: Connection, ids: list[int]) -> int:
    connection.execute(update(turns).where(turns.c.id.in_(ids)).values(payload=None, bytes=0))
    return len(ids)
