"""Keeping the store bounded: what is old enough, or more than may be kept, is forgotten.

Each chore finds what may go by reading, and forgets it piece by piece in transactions of its own, which look again:
what is to be forgotten may be a lot, and no request waits for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select, update

from app.store import layouts, tool_outputs
from app.store.schema import commits, sessions, turns
from app.store.work import UNDELIVERED, UNSENT_COMMITS, TurnState

_BATCH = 500
_PIECE = 50
"""Turns that are forgotten at once: well under the time that one transaction may take."""

Piece = tuple[int, ...]
"""Ids of rows that are forgotten together."""


@dataclass(frozen=True, slots=True)
class Chore:
    """A kind of thing to forget. ``find`` gives the next pieces behind an id; ``forget`` says whether one is done."""

    find: Callable[[Connection, int], Sequence[Piece]]
    forget: Callable[[Connection, Piece], bool]


def chores(cutoff: float, max_kept_bytes: int) -> Sequence[Chore]:
    """What is to be forgotten. Nothing undelivered is ever touched.

    A session in which nothing was said since ``cutoff`` goes as a whole: its keys, fingerprints and commits. Of others,
    turns of earlier epochs go. Delivered text waits here for its archive's extraction, but neither from before
    ``cutoff`` nor beyond ``max_kept_bytes``: the backend has it. Originals of tool outputs go with their session.
    """
    return (
        Chore(partial(_quiet_sessions, cutoff), partial(_forget_session, cutoff)),
        Chore(partial(_former_turns, cutoff), _forget_turns),
        Chore(partial(_aged_texts, cutoff), _drop_texts),
        Chore(partial(_texts_beyond, max_kept_bytes), _drop_texts),
        Chore(partial(tool_outputs.orphans, cutoff), tool_outputs.drop),
        Chore(partial(layouts.orphans, cutoff), layouts.forget),
        Chore(partial(tool_outputs.beyond, max_kept_bytes), tool_outputs.empty),
    )


def _is_quiet(cutoff: float) -> Any:
    waiting_turn = select(turns.c.id).where(turns.c.session_id == sessions.c.id, turns.c.state.in_(UNDELIVERED))
    # An archive that is being made is the backend's affair; one that was not asked for yet is all that will be kept.
    unsent = commits.c.state.in_(UNSENT_COMMITS)
    waiting_commit = select(commits.c.id).where(commits.c.session_id == sessions.c.id, unsent)
    return and_(sessions.c.last_turn_at < cutoff, ~waiting_turn.exists(), ~waiting_commit.exists())


def _quiet_sessions(cutoff: float, connection: Connection, after: int) -> Sequence[Piece]:
    quiet = select(sessions.c.id).where(sessions.c.id > after, _is_quiet(cutoff))
    return [(id_,) for id_ in connection.execute(quiet.order_by(sessions.c.id).limit(_BATCH)).scalars()]


def _forget_session(cutoff: float, connection: Connection, piece: Piece) -> bool:
    """Forget some of the session's turns, or all that is left of it.

    It gives up its name first, so that a turn that comes in meanwhile begins a new session instead of going with this
    one. No host can give a session a name with a slash.
    """
    (id_,) = piece
    quiet = select(sessions.c.id).where(sessions.c.id == id_, _is_quiet(cutoff))
    if connection.execute(quiet.with_for_update(of=sessions, skip_locked=True)).scalar() is None:
        return True
    some = list(connection.execute(select(turns.c.id).where(turns.c.session_id == id_).limit(_PIECE)).scalars())
    connection.execute(delete(turns).where(turns.c.id.in_(some)))
    if len(some) == _PIECE:
        connection.execute(update(sessions).where(sessions.c.id == id_).values(session=f"forgotten/{id_}", due_at=None))
        return False
    connection.execute(delete(commits).where(commits.c.session_id == id_))
    connection.execute(delete(sessions).where(sessions.c.id == id_))
    return True


def _former_turns(cutoff: float, connection: Connection, after: int) -> Sequence[Piece]:
    reset = select(sessions.c.id).where(sessions.c.epoch > 0)  # few, and without them every turn would be looked at
    present = select(sessions.c.epoch).where(sessions.c.id == turns.c.session_id).scalar_subquery()
    former = select(turns.c.id).where(turns.c.session_id.in_(reset), turns.c.epoch < present, turns.c.id > after)
    old = former.where(turns.c.created_at < cutoff, turns.c.state.not_in(UNDELIVERED))
    return _pieces(connection.execute(old.order_by(turns.c.id).limit(_BATCH)).scalars().all())


def _forget_turns(connection: Connection, piece: Piece) -> bool:
    connection.execute(delete(turns).where(turns.c.id.in_(piece), turns.c.state.not_in(UNDELIVERED)))
    return True


def _aged_texts(cutoff: float, connection: Connection, _after: int) -> Sequence[Piece]:
    delivered = turns.c.state == TurnState.DELIVERED
    aged = select(turns.c.id).where(delivered, turns.c.created_at < cutoff, turns.c.bytes > 0)
    return _pieces(connection.execute(aged.order_by(turns.c.created_at).limit(_BATCH)).scalars().all())


def _texts_beyond(max_kept_bytes: int, connection: Connection, _after: int) -> Sequence[Piece]:
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
    return _pieces(ids)


def _drop_texts(connection: Connection, piece: Piece) -> bool:
    delivered = update(turns).where(turns.c.id.in_(piece), turns.c.state == TurnState.DELIVERED)
    connection.execute(delivered.values(payload=None, bytes=0))
    return True


def _pieces(ids: Sequence[int]) -> Sequence[Piece]:
    return [tuple(ids[start : start + _PIECE]) for start in range(0, len(ids), _PIECE)]
