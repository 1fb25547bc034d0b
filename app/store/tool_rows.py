"""What is remembered of tool calls: a record for each session and tool, written with the turn that it counts.

It is counted in the transaction that takes the turn in, so a turn that is sent again is not counted again. Records of
one agent add up over its sessions. The counts of a tenant are bounded: the sessions that were quiet longest go first.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from app.core.capture.tool_uses import ToolRecord, ToolUse, counted, texts_of, together, without
from app.core.identity import Identity, Tenant
from app.core.memories.forget_selection import Erased, Redactor
from app.store.connections import Database
from app.store.schema import tool_uses

MAX_ROWS = 5_000
"""Records that are kept of a tenant."""
MAX_TOOLS = 200
"""Tools that are told apart in one session; a host that makes up names without end fills no more."""
OTHERS = "other tools"


class SqlToolUses:
    """Reading what `count` has written."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, who: Identity) -> Sequence[ToolRecord]:
        """The agent's records, one for each tool, those that are called most first."""
        return together(await self._database.read(_records, who.tenant, who.agent))

    async def trim(self) -> None:
        """Take out what is more than `MAX_ROWS` of a tenant."""
        tenants = await self._database.read(_tenants_with_too_many)
        await self._database.write_in_slices(_trim, tenants)


def count(connection: Connection, who: Identity, uses: Iterable[ToolUse], now: float) -> None:
    """Count the calls of a turn that is taken in, within its transaction, whose lock on the session is held."""
    mine = and_(_of_tenant(who.tenant), tool_uses.c.agent == who.agent, tool_uses.c.session == who.session)
    uses = list(uses)
    if not uses:
        return
    held = select(tool_uses.c.tool, tool_uses.c.body).where(mine).with_for_update()  # not while texts are forgotten
    known = {row.tool: row.body for row in connection.execute(held)}
    records = {tool: ToolRecord.from_json(json.loads(body)) for tool, body in known.items()}
    changed: set[str] = set()
    for use in uses:
        tool = use.tool if use.tool in records or len(records) < MAX_TOOLS else OTHERS
        records[tool] = counted(records.get(tool, ToolRecord(tool)), use)
        changed.add(tool)
    for tool in sorted(changed):
        values = {"body": json.dumps(records[tool].to_json()), "used_at": now}
        if tool in known:
            connection.execute(update(tool_uses).where(mine, tool_uses.c.tool == tool).values(values))
        else:
            name = {**_name(who.tenant), "agent": who.agent, "session": who.session, "tool": tool}
            connection.execute(insert(tool_uses).values(**name, **values))


def erase(connection: Connection, tenant: Tenant, redactor: Redactor, there: Erased) -> None:
    """Take out the records of sessions that lose turns, and of others the texts that are forgotten.

    A backend that keeps sessions can not tell who spoke in archived ones: with a person all records of the tenant go.
    """
    asked = redactor.forgetting
    if asked.everything or (asked.person and there.kept):
        connection.execute(delete(tool_uses).where(_of_tenant(tenant)))
    elif asked.takes_turns:
        gone = {*there.sessions, *([asked.session] if asked.session else [])}
        connection.execute(delete(tool_uses).where(_of_tenant(tenant), tool_uses.c.session.in_(gone)))
    for name, left in left_to_erase(connection, tenant, redactor):
        row = and_(_of_tenant(tenant), *(tool_uses.c[key] == value for key, value in name.items()))
        connection.execute(update(tool_uses).where(row).values(body=json.dumps(left.to_json())))


def left_to_erase(
    connection: Connection, tenant: Tenant, redactor: Redactor
) -> list[tuple[dict[str, str], ToolRecord]]:
    """The records that tell something forgotten, by their names, as they are to be."""
    found = []
    for row in connection.execute(select(tool_uses).where(_of_tenant(tenant))).all():
        record = ToolRecord.from_json(json.loads(row.body))
        gone = frozenset(text for text in texts_of(record) if text and redactor.derived(text) != text)
        if gone:
            found.append(({key: getattr(row, key) for key in ("agent", "session", "tool")}, without(record, gone)))
    return found


def _records(connection: Connection, tenant: Tenant, agent: str) -> list[ToolRecord]:
    newest = select(tool_uses.c.body).where(_of_tenant(tenant), tool_uses.c.agent == agent)
    bodies = connection.execute(newest.order_by(tool_uses.c.used_at.desc(), tool_uses.c.tool).limit(MAX_ROWS)).scalars()
    return [ToolRecord.from_json(json.loads(body)) for body in bodies]


def _tenants_with_too_many(connection: Connection) -> list[tuple[str, str]]:
    name = tool_uses.c.account, tool_uses.c.user_name
    rows = connection.execute(select(*name).group_by(*name).having(func.count() > MAX_ROWS))
    return [(row.account, row.user_name) for row in rows]


def _trim(connection: Connection, tenant: tuple[str, str]) -> bool:
    mine = _of_tenant(Tenant(*tenant))
    kept = select(tool_uses.c.used_at).where(mine).order_by(tool_uses.c.used_at.desc()).offset(MAX_ROWS).limit(1)
    oldest = connection.execute(kept).scalar()
    if oldest is not None:
        connection.execute(delete(tool_uses).where(mine, tool_uses.c.used_at <= oldest))
    return True


def _name(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}


def _of_tenant(tenant: Tenant) -> Any:
    return and_(*(tool_uses.c[key] == value for key, value in _name(tenant).items()))
