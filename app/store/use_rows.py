"""What is remembered of tool calls and of skills: a record for each session and name, written with the turn it counts.

It is counted in the transaction that takes the turn in, so a turn that is sent again is not counted again; what a turn
adds to each record was counted before, so that a turn of many calls delays no other. Records of one agent add up over
its sessions. Those of a tenant are bounded: the sessions that were quiet longest go first.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import Connection, Table, and_, bindparam, delete, func, insert, select, update

from app.core.capture import skill_uses as skills
from app.core.capture import tool_records as tools
from app.core.capture.skill_uses import SkillRecord
from app.core.capture.tool_records import ToolRecord, ToolTally
from app.core.capture.tool_uses import ToolUse
from app.core.identity import Identity, Tenant
from app.core.memories.forget_selection import Erased, Redactor
from app.store.connections import Database
from app.store.schema import skill_uses, tool_uses

MAX_ROWS = 5_000
"""Records of a kind that are kept of a tenant."""
MAX_NAMES = tools.MAX_TOOLS
"""Records of a kind that are told apart in one session."""


class Record(Protocol):
    """What is remembered under one name."""

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON."""
        ...


class Named(Protocol):
    """What a turn adds to a record."""

    @property
    def name(self) -> str:
        """The record's name."""
        ...


R = TypeVar("R", bound=Record)
N = TypeVar("N", bound=Named)


@dataclass(frozen=True, slots=True)
class Kind(Generic[R, N]):
    """A kind of record, and its table. ``joined`` adds what a turn counted; ``others`` is the record of what finds no
    place of its own any more, None where that is not counted."""

    table: Table
    empty: Callable[[str], R]
    load: Callable[[Mapping[str, Any]], R]
    joined: Callable[[R, N], R]
    texts: Callable[[R], Sequence[str]]
    without: Callable[[R, frozenset[str]], R]
    others: str | None = None

    def read(self, body: str) -> R:
        """A record from its row."""
        return self.load(json.loads(body))


TOOLS: Kind[ToolRecord, ToolTally] = Kind(
    tool_uses, ToolRecord, ToolRecord.from_json, tools.joined, tools.texts_of, tools.without, tools.OTHERS
)
SKILLS: Kind[SkillRecord, SkillRecord] = Kind(
    skill_uses, SkillRecord, SkillRecord.from_json, skills.skill_joined, skills.skill_texts, skills.skill_without
)
_KINDS: tuple[Kind[Any, Any], ...] = (TOOLS, SKILLS)


class SqlUses:
    """Reading what `count` has written."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tools(self, who: Identity) -> Sequence[ToolRecord]:
        """The agent's tools, one record each, those that are called most first."""
        return tools.together(await self._database.read(_records, TOOLS, who.tenant, who.agent, None))

    async def skill(self, who: Identity, name: str) -> SkillRecord | None:
        """What is remembered of a skill that the agent has used; None for one that it has not."""
        records = await self._database.read(_records, SKILLS, who.tenant, who.agent, name)
        return reduce(skills.skill_joined, records) if records else None

    async def trim(self) -> None:
        """Take out what is more than `MAX_ROWS` of a tenant."""
        for kind in _KINDS:
            tenants = await self._database.read(_tenants_with_too_many, kind.table)
            await self._database.write_in_slices(_trim, [(kind.table, *tenant) for tenant in tenants])


def count_tools(
    connection: Connection, who: Identity, added: Sequence[ToolTally], late: Sequence[ToolUse], now: float
) -> None:
    """Add the tool calls of a turn, and what came of calls of earlier ones; see `count`."""
    if late:
        mine = _of_session(tool_uses, who)
        held = select(tool_uses.c.body).where(mine).order_by(tool_uses.c.used_at).with_for_update()
        changed, late = tools.settled(map(TOOLS.read, connection.execute(held).scalars()), late)
        rows = {name: json.dumps(record.to_json()) for name, record in changed.items()}
        _put(connection, tool_uses, mine, rows, now)
    count(connection, TOOLS, who, [*tools.tallied(late), *added], now)


def count(connection: Connection, kind: Kind[R, N], who: Identity, added: Iterable[N], now: float) -> None:
    """Add what a turn counted, within the transaction that takes it in, whose lock on the session is held.

    However many calls that were, it reads and writes `MAX_NAMES` records at most.
    """
    new = list(added)
    if not new:
        return
    table = kind.table
    mine = _of_session(table, who)
    taken = connection.execute(select(func.count()).select_from(table).where(mine)).scalar_one()
    names = {one.name for one in new} | {kind.others or ""}
    # Locked: what is read here must not be forgotten before it is written.
    held = select(table.c.name, table.c.body).where(mine, table.c.name.in_(names)).with_for_update()
    known = {row.name: row.body for row in connection.execute(held)}
    records: dict[str, R] = {name: kind.read(body) for name, body in known.items()}
    changed: dict[str, R] = {}
    for one in new:
        has_place = one.name in records or taken < MAX_NAMES
        name = one.name if has_place else kind.others
        if name is None:
            continue
        taken += name not in records
        records[name] = changed[name] = kind.joined(records.get(name) or kind.empty(name), one)
    rows = {name: json.dumps(record.to_json()) for name, record in sorted(changed.items())}
    _put(connection, table, mine, {name: body for name, body in rows.items() if name in known}, now)
    if first := {name: body for name, body in rows.items() if name not in known}:
        key = {**_name(who.tenant), "agent": who.agent, "session": who.session}
        values = [{**key, "name": name, "body": body, "used_at": now} for name, body in first.items()]
        connection.execute(insert(table), values)


def _put(connection: Connection, table: Table, mine: Any, bodies: Mapping[str, str], now: float) -> None:
    """Write records that are there by their names."""
    if bodies:
        put = update(table).where(mine, table.c.name == bindparam("named"))
        rows = [{"named": name, "new": body} for name, body in bodies.items()]
        connection.execute(put.values({"body": bindparam("new"), "used_at": now}), rows)


def erase(connection: Connection, tenant: Tenant, redactor: Redactor, there: Erased) -> None:
    """Take out the records of sessions that lose turns, and of others the texts that are forgotten.

    A backend that keeps sessions can not tell who spoke in archived ones: with a person all records of the tenant go.
    """
    asked = redactor.forgetting
    for kind in _KINDS:
        table = kind.table
        mine = _of_tenant(table, tenant)
        if asked.everything or (asked.person and there.keeps_sessions):
            connection.execute(delete(table).where(mine))
        elif asked.takes_turns:
            gone = {*there.sessions, *([asked.session] if asked.session else [])}
            connection.execute(delete(table).where(mine, table.c.session.in_(gone)))
        for name, left in _left_to_erase(connection, kind, tenant, redactor):
            row = and_(mine, *(table.c[key] == value for key, value in name.items()))
            connection.execute(update(table).where(row).values(body=json.dumps(left.to_json())))


def left_to_erase(connection: Connection, tenant: Tenant, redactor: Redactor) -> bool:
    """Whether a record tells something forgotten."""
    return any(_left_to_erase(connection, kind, tenant, redactor) for kind in _KINDS)


def _left_to_erase(
    connection: Connection, kind: Kind[R, N], tenant: Tenant, redactor: Redactor
) -> list[tuple[dict[str, str], R]]:
    """The records that tell something forgotten, by their names, as they are to be."""
    found = []
    for row in connection.execute(select(kind.table).where(_of_tenant(kind.table, tenant))).all():
        record = kind.read(row.body)
        gone = frozenset(text for text in kind.texts(record) if text and redactor.derived(text) != text)
        if gone:
            found.append(({key: getattr(row, key) for key in ("agent", "session", "name")}, kind.without(record, gone)))
    return found


def _records(connection: Connection, kind: Kind[R, N], tenant: Tenant, agent: str, name: str | None) -> list[R]:
    """The agent's records, those of the sessions that were quiet longest first; of one name or of all."""
    table = kind.table
    newest = select(table.c.body).where(_of_tenant(table, tenant), table.c.agent == agent)
    if name is not None:
        newest = newest.where(table.c.name == name)
    bodies = connection.execute(newest.order_by(table.c.used_at.desc(), table.c.name).limit(MAX_ROWS)).scalars()
    return [kind.read(body) for body in bodies][::-1]


def _tenants_with_too_many(connection: Connection, table: Table) -> list[tuple[str, str]]:
    name = table.c.account, table.c.user_name
    rows = connection.execute(select(*name).group_by(*name).having(func.count() > MAX_ROWS))
    return [(row.account, row.user_name) for row in rows]


def _trim(connection: Connection, piece: tuple[Table, str, str]) -> bool:
    table, account, user = piece
    mine = _of_tenant(table, Tenant(account, user))
    kept = select(table.c.used_at).where(mine).order_by(table.c.used_at.desc()).offset(MAX_ROWS).limit(1)
    oldest = connection.execute(kept).scalar()
    if oldest is not None:
        connection.execute(delete(table).where(mine, table.c.used_at <= oldest))
    return True


def _name(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}


def _of_session(table: Table, who: Identity) -> Any:
    return and_(_of_tenant(table, who.tenant), table.c.agent == who.agent, table.c.session == who.session)


def _of_tenant(table: Table, tenant: Tenant) -> Any:
    return and_(*(table.c[key] == value for key, value in _name(tenant).items()))
