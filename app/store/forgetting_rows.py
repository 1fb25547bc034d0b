"""Forgettings that were begun and are not done yet: a start after a crash goes on with them."""

import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from app.core.identity import Tenant
from app.core.memories.forget_selection import Forgetting, Statement
from app.store.schema import forgettings


def begin(connection: Connection, forgetting_id: str, tenant: Tenant, forgetting: Forgetting, now: float) -> None:
    """Note it until it is done."""
    told = {"turns": sorted(forgetting.turns), "sessions": sorted(forgetting.sessions)}
    body = json.dumps({**asdict(forgetting), **told})
    name = {"account": tenant.account or "", "user_name": tenant.user or ""}
    row = {"id": forgetting_id, **name, "body": body, "created_at": now}
    connection.execute(insert(forgettings).values(row))


def nearly_done(connection: Connection, forgetting_id: str) -> None:
    """Drop what was noted of it but its name."""
    connection.execute(update(forgettings).where(forgettings.c.id == forgetting_id).values(body=""))


def end(connection: Connection, forgetting_id: str) -> None:
    """Drop it."""
    connection.execute(delete(forgettings).where(forgettings.c.id == forgetting_id))


def unfinished(connection: Connection) -> list[tuple[str, Tenant, Forgetting | None]]:
    """Those that are not done, oldest first; None: only the files are to be cleaned."""
    rows = connection.execute(select(forgettings).order_by(forgettings.c.created_at)).all()
    return [
        (row.id, Tenant(row.account or None, row.user_name or None), _forgetting(row.body) if row.body else None)
        for row in rows
    ]


def _forgetting(body: str) -> Forgetting:
    fields: dict[str, Any] = json.loads(body)
    statements = tuple(_statement(one) for one in fields.pop("statements"))
    told = {key: frozenset(fields.get(key, ())) for key in ("turns", "sessions")}
    return Forgetting(**{**fields, **told, "resumed": True}, statements=statements)


def _statement(fields: dict[str, Any]) -> Statement:
    lists = {name: tuple(fields[name]) for name in ("texts", "turns", "said_in", "messages")}
    return Statement(**{**fields, **lists})
