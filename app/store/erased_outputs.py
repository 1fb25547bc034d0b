"""Forgetting in the originals of tool outputs. A row stays without its original, so that a host's prompt, which still
has the output, does not bring it back."""

from typing import Any

from sqlalchemy import Connection, and_, select, update

from app.core.history.guards.packing import pack, unpack
from app.core.identity import Tenant
from app.core.memories.forget_selection import Redactor
from app.core.memories.said_texts import Near
from app.core.messages.timestamps import moment_from
from app.store.schema import tool_outputs
from app.text.dates import iso, moment_of

_AT_ONCE = 20
"""Originals that are read at once: each may be megabytes."""


def look(
    connection: Connection, tenant: Tenant, redactor: Redactor, selected: frozenset[str] | None, after: int
) -> tuple[list[int], int | None]:
    """The rows among the next few that lose something, and where to go on; None at the end. ``selected``: the sessions
    of which turns go as a whole; None where that is not known."""
    mine = and_(tool_outputs.c.account == (tenant.account or ""), tool_outputs.c.user_name == (tenant.user or ""))
    held = select(tool_outputs).where(mine, tool_outputs.c.body.is_not(None), tool_outputs.c.id > after)
    rows = connection.execute(held.order_by(tool_outputs.c.id).limit(_AT_ONCE)).all()
    until = moment_of(redactor.forgetting.at)
    touched = [
        int(row.id)
        for row in rows
        if (until is None or row.at <= until.timestamp()) and _left(redactor, row, selected) != row.body
    ]
    return touched, int(rows[-1].id) if len(rows) == _AT_ONCE else None


def erase(redactor: Redactor, selected: frozenset[str] | None, connection: Connection, row_id: int) -> bool:
    """Leave of one row what may be left."""
    row = connection.execute(select(tool_outputs).where(tool_outputs.c.id == row_id).with_for_update()).one_or_none()
    if row is not None and row.body is not None:
        left = _left(redactor, row, selected)
        values: dict[str, Any] = {"body": left, "bytes": len(left or b"")}
        connection.execute(update(tool_outputs).where(tool_outputs.c.id == row_id).values(values))
    return True


def _left(redactor: Redactor, row: Any, selected: frozenset[str] | None) -> bytes | None:
    """What is left of an original. It can not tell who spoke in its turn, so it goes when one of its session's goes."""
    asked = redactor.forgetting
    spoke = asked.person and (selected is None or row.session in selected)
    if asked.everything or row.session == asked.session or spoke:
        return None
    if (asked.since or asked.until) and asked.is_in_time(_said_at(row)):
        return None
    body: bytes = row.body
    if not asked.statements:
        return body
    text = unpack(body)
    left = redactor.derived(text, near=Near.TURN)
    return body if left == text else pack(left)


def _said_at(row: Any) -> str:
    moment = moment_from(row.said_at if row.said_at is not None else row.at)
    return iso(moment) if moment else ""
