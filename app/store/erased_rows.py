"""Forgetting in the turn store: texts of turns, tool outputs, what waits for the backend, summaries; and a look after.

Turns keep their rows, without text: a host that sends one again is recognised. What is under way for the tenant loses
its lease, so that nothing that was read before is written down afterwards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection, and_, delete, func, or_, select, update

from app.atrest.residue import Needles
from app.core.identity import Tenant
from app.core.memories.forget_selection import Erased, Forgetting, Redactor
from app.core.memories.memory_outcomes import Kept, kept_memory, kept_session
from app.core.memories.not_delivered import waiting
from app.store import erased_outputs, forgetting_rows, layouts, session_rows, session_starts, use_rows
from app.store.codec import dump_messages, dump_strings, load_messages, load_strings
from app.store.connections import Database
from app.store.forgotten_outputs import note as note_outputs
from app.store.memory_versions import count_change
from app.store.said_still import sessions_saying, waiting_saying
from app.store.schema import commits, sessions, turns, waiting_memories
from app.store.waiting_memories import load_waiting
from app.store.work import UNDELIVERED, TurnState
from app.text.dates import moment_of

_AT_ONCE = 20
"""Turns that are read at once: each may be megabytes."""


@dataclass(frozen=True, slots=True)
class StoreErased:
    """What the store has erased, or would: ``turns`` by their ids; ``undelivered`` are those no backend has."""

    turns: frozenset[str] = frozenset()
    undelivered: frozenset[str] = frozenset()
    selected: frozenset[str] = frozenset()
    """The turns that go as a whole."""
    sessions: frozenset[str] = frozenset()
    memories: int = 0
    """Memories that waited for the backend."""
    removed: tuple[str, ...] = ()
    """Texts that must stand nowhere any more."""


@dataclass(frozen=True, slots=True)
class _Touched:
    """A turn that loses something."""

    id: int
    turn_id: str
    session: str
    is_selected: bool
    is_undelivered: bool


class SqlErasing:
    """Erases what the turn store has of a tenant, and keeps the forgettings that are not done yet."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def look(self, tenant: Tenant, forgetting: Forgetting) -> StoreErased:
        """What would be erased."""
        redactor = Redactor(forgetting)
        touched = await self._touched(tenant, redactor)
        waiting_ones = await self._database.read(_waiting, tenant, redactor, _selected(touched))
        return _erased(touched, len(waiting_ones))

    async def erase(self, tenant: Tenant, forgetting: Forgetting, there: Erased) -> StoreErased:
        """Erase it; safe to repeat. ``there`` is what the backend has erased, with what it has left of summaries."""
        redactor = Redactor(forgetting)
        touched = await self._touched(tenant, redactor)
        await self._database.write_in_slices(partial(_erase_turn, redactor), touched)
        there = replace(there, sessions=there.sessions | {one.session for one in touched if one.is_selected})
        await self._database.write(note_outputs, tenant, forgetting, _sessions_of(forgetting, there))
        outputs = await self._outputs(tenant, redactor, _sessions_of(forgetting, there))
        erase = partial(erased_outputs.erase, redactor, _sessions_of(forgetting, there))
        await self._database.write_in_slices(erase, outputs)
        gone = await self._database.write(_erase_waiting, tenant, redactor, _selected(touched))
        await self._database.write(_erase_sessions, tenant, redactor, there)
        everywhere = replace(there, sessions=there.sessions | {one.session for one in touched})
        await self._database.write(_erase_starts, tenant, redactor, everywhere)
        return replace(_erased(touched, gone), removed=redactor.needles())

    async def sessions_in(self, tenant: Tenant, forgetting: Forgetting) -> frozenset[str]:
        """The sessions in which there may be turns to forget whose messages are not here any more: those of the period,
        and all where a person is meant."""
        return await self._database.read(_sessions_in, tenant, forgetting)

    async def _touched(self, tenant: Tenant, redactor: Redactor) -> list[_Touched]:
        touched: list[_Touched] = []
        place = 0
        while True:
            found, last = await self._database.read(_look_at_turns, tenant, redactor, place)
            touched += found
            if last is None:
                return touched
            place = last

    async def _outputs(self, tenant: Tenant, redactor: Redactor, selected: frozenset[str] | None) -> list[int]:
        touched: list[int] = []
        place: int | None = 0
        while place is not None:
            found, place = await self._database.read(erased_outputs.look, tenant, redactor, selected, place)
            touched += found
        return touched

    async def look_again(self, tenant: Tenant, forgetting: Forgetting, there: Erased) -> Sequence[Kept]:
        """What is left of the rows, by reading them again; what the database's own files may hold is in `clean`."""
        left = await self.look(tenant, forgetting)
        told = await self._database.read(_sessions_left, tenant, Redactor(forgetting), there)
        shown = await self._database.read(session_starts.left_to_erase, tenant, Redactor(forgetting), there)
        used = await self._database.read(use_rows.left_to_erase, tenant, Redactor(forgetting))
        outputs = await self._outputs(tenant, Redactor(forgetting), _sessions_of(forgetting, there))
        rows = left.turns or left.memories or told or used or outputs
        kept = await self._said_still(tenant, Redactor(forgetting))
        if rows or (shown and not forgetting.takes_turns):
            kept.append(Kept("the sidecar's store", "it was written to meanwhile; forget it again"))
        return kept

    async def _said_still(self, tenant: Tenant, redactor: Redactor) -> list[Kept]:
        """What says the forgotten texts although it is not forgotten: sessions, and memories that wait."""
        sessions: set[str] = set()
        place: int | None = 0 if redactor.looks_for_texts else None
        while place is not None:
            found, place = await self._database.read(sessions_saying, tenant, redactor, place)
            sessions |= found
        memories = await self._database.read(waiting_saying, tenant, redactor) if redactor.looks_for_texts else []
        return [*map(kept_session, sorted(sessions)), *map(kept_memory, memories)]

    async def clean(self, needles: Needles) -> Sequence[Kept]:
        """Leave nothing of what was deleted in the database's files, as far as that can be seen from here."""
        why = await self._database.clean(needles)
        return [Kept("the sidecar's store", why)] if why else []

    # forgettings that are not done yet

    async def begin(self, forgetting_id: str, tenant: Tenant, forgetting: Forgetting) -> None:
        """Note that this is to be forgotten, until `end`: a start after a crash goes on with it."""
        await self._database.write(forgetting_rows.begin, forgetting_id, tenant, forgetting, self._clock())

    async def nearly_done(self, forgetting_id: str) -> None:
        """Drop what was noted of it but its name: only the files are to be cleaned."""
        await self._database.write(forgetting_rows.nearly_done, forgetting_id)

    async def end(self, forgetting_id: str) -> None:
        """It is done."""
        await self._database.write(forgetting_rows.end, forgetting_id)

    async def unfinished(self) -> Sequence[tuple[str, Tenant, Forgetting | None]]:
        """Those that were begun and not ended, oldest first; None: only the files are to be cleaned."""
        return await self._database.read_known(forgetting_rows.unfinished)


def _look_at_turns(
    connection: Connection, tenant: Tenant, redactor: Redactor, after: int
) -> tuple[list[_Touched], int | None]:
    """The turns among the next few that lose something, and where to go on; None at the end."""
    columns = turns.c.id, turns.c.turn_id, turns.c.state, turns.c.payload, turns.c.error, turns.c.created_at
    query = select(*columns, sessions.c.session).join(sessions, sessions.c.id == turns.c.session_id)
    held = turns.c.payload.is_not(None) | (turns.c.error != "")
    rows = connection.execute(
        query.where(session_rows.of_tenant(tenant), turns.c.id > after, held).order_by(turns.c.id).limit(_AT_ONCE)
    ).all()
    touched = []
    for row in rows:
        if row.created_at <= _moment(redactor.forgetting.at):
            is_selected, payload, error = _left(redactor, row.turn_id, row.session, row.payload, row.error)
            if (payload, error) != (row.payload, row.error):
                undelivered = row.state in UNDELIVERED
                touched.append(_Touched(row.id, row.turn_id, row.session, is_selected, undelivered))
    return touched, int(rows[-1].id) if len(rows) == _AT_ONCE else None


def _sessions_in(connection: Connection, tenant: Tenant, forgetting: Forgetting) -> frozenset[str]:
    if forgetting.session is not None:
        return frozenset({forgetting.session})
    begins = func.coalesce(turns.c.first_at / 1000.0, turns.c.created_at)
    ends = func.coalesce(turns.c.last_at / 1000.0, turns.c.created_at)
    query = select(sessions.c.session).join(turns, turns.c.session_id == sessions.c.id).distinct()
    query = query.where(session_rows.of_tenant(tenant), turns.c.created_at <= _moment(forgetting.at))
    if forgetting.since:
        query = query.where(ends >= _moment(forgetting.since))
    if forgetting.until:
        query = query.where(begins <= _moment(forgetting.until))
    return frozenset(connection.execute(query).scalars())


def _left(
    redactor: Redactor, turn_id: str, session: str, payload: str | None, error: str
) -> tuple[bool, str | None, str]:
    """Whether a turn goes as a whole, and what is left of its payload and of its error."""
    messages = load_messages(payload)
    asked = redactor.forgetting
    if turn_id in asked.turns or any(asked.selects(message, session) for message in messages):
        redactor.take_note_of(messages)
        return True, None, ""
    redactor.meet(messages)
    left = tuple(redactor.message(message) for message in messages)
    changed = left != messages
    return False, dump_messages(left) if changed else payload, "" if changed else redactor.derived(error)


def _erase_turn(redactor: Redactor, connection: Connection, one: _Touched) -> bool:
    locked = select(turns).where(turns.c.id == one.id).with_for_update()
    row = connection.execute(locked).one_or_none()
    if row is None:
        return True
    is_selected, payload, error = _left(redactor, row.turn_id, one.session, row.payload, row.error)
    values: dict[str, Any] = {"payload": payload, "bytes": len(payload or ""), "error": error}
    if is_selected and row.state in UNDELIVERED:
        values["state"] = TurnState.DISCARDED
        session_rows.change(connection, row.session_id, retry_at=0.0)
    connection.execute(update(turns).where(turns.c.id == row.id).values(values))
    return True


def _sessions_of(forgetting: Forgetting, there: Erased) -> frozenset[str] | None:
    """The sessions that lose turns; None where the backend keeps sessions, and can not tell in which a person spoke."""
    return None if forgetting.person and there.keeps_sessions else there.sessions


def _sessions_left(connection: Connection, tenant: Tenant, redactor: Redactor, there: Erased) -> dict[int, Any]:
    """By the ids of sessions: the summary, the opening and the focus that are left where they are to be others.

    An opening can not tell its turns apart, so it goes when one of the session's goes as a whole.
    """
    asked = redactor.forgetting
    columns = sessions.c.id, sessions.c.session, sessions.c.summary, sessions.c.opening, sessions.c.focus
    changes: dict[int, Any] = {}
    for row in connection.execute(select(*columns).where(session_rows.of_tenant(tenant))).all():
        goes = asked.everything or (asked.takes_turns and row.session in there.sessions | {asked.session})
        summary = there.summaries.get(row.session, "" if goes else redactor.derived(row.summary))
        told = load_strings(row.opening)
        left = () if goes else tuple(text for one in told if (text := redactor.derived(one)))
        focus = "" if goes else redactor.derived(row.focus)
        if (summary, left, focus) != (row.summary, told, row.focus):
            changes[row.id] = {"summary": summary, "opening": dump_strings(left), "focus": focus}
    return changes


def _erase_sessions(connection: Connection, tenant: Tenant, redactor: Redactor, there: Erased) -> None:
    """Summaries and openings, and the leases of the tenant's sessions: what was read under one is not written any
    more."""
    held = and_(session_rows.of_tenant(tenant), sessions.c.lease_owner.is_not(None))
    connection.execute(update(sessions).where(held).values(lease_owner=None, lease_until=0, fence=sessions.c.fence + 1))
    for id_, values in _sessions_left(connection, tenant, redactor, there).items():
        session_rows.change(connection, id_, **values)
    columns = commits.c.error, commits.c.instructions
    quoted = select(commits.c.id, *columns).join(sessions, sessions.c.id == commits.c.session_id)
    said = or_(*(column != "" for column in columns))
    for id_, *texts in connection.execute(quoted.where(session_rows.of_tenant(tenant), said)).all():
        if redactor.forgetting.takes_turns or any(redactor.derived(text) != text for text in texts):
            connection.execute(update(commits).where(commits.c.id == id_).values(error="", instructions=""))


def _erase_starts(connection: Connection, tenant: Tenant, redactor: Redactor, there: Erased) -> None:
    """What sessions began with, how their prompts are laid out, and what is remembered of tools and skills.

    A change is counted first: what is being made of the memories of before is not kept.
    """
    count_change(connection, tenant)
    session_starts.erase(connection, tenant, redactor, there)
    layouts.erase(connection, tenant)
    use_rows.erase(connection, tenant, redactor, there)


def _waiting(connection: Connection, tenant: Tenant, redactor: Redactor, selected: frozenset[str]) -> list[int]:
    """The memories that wait for the backend and are to be forgotten, by their rows."""
    mine = and_(
        waiting_memories.c.account == (tenant.account or ""), waiting_memories.c.user_name == (tenant.user or "")
    )
    rows = connection.execute(select(waiting_memories).where(mine)).all()
    until = _moment(redactor.forgetting.at)
    return [
        row.id for row in rows if row.created_at <= until and redactor.drops(waiting(load_waiting(row.body)), selected)
    ]


def _erase_waiting(connection: Connection, tenant: Tenant, redactor: Redactor, selected: frozenset[str]) -> int:
    gone = _waiting(connection, tenant, redactor, selected)
    connection.execute(delete(waiting_memories).where(waiting_memories.c.id.in_(gone)))
    return len(gone)


def _selected(touched: Sequence[_Touched]) -> frozenset[str]:
    return frozenset(one.turn_id for one in touched if one.is_selected)


def _erased(touched: Sequence[_Touched], memories: int) -> StoreErased:
    return StoreErased(
        turns=frozenset(one.turn_id for one in touched),
        undelivered=frozenset(one.turn_id for one in touched if one.is_undelivered),
        selected=_selected(touched),
        sessions=frozenset(one.session for one in touched),
        memories=memories,
    )


def _moment(at: str) -> float:
    moment = moment_of(at)
    return moment.timestamp() if moment else 0.0
