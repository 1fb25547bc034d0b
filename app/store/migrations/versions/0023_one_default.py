"""One tenant for both spellings of the default account and user.

Where no server tells them apart (`app.core.identity.Tenant.without`), rows that name the default are brought to the
spelling that names nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from alembic import context, op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_ROWS: dict[str, tuple[str, ...] | None] = {
    "waiting_memories": ("memory_id",),
    "memory_ledger": ("memory_id",),
    "forgettings": None,
    "audit": None,
    "freshness_reports": (),
    "tool_uses": ("agent", "session", "name"),
    "skill_uses": ("agent", "session", "name"),
    "session_starts": ("session", "chat", "viewer"),
    "memory_versions": (),
    "layouts": ("session",),
    "tool_outputs": ("session", "key"),
    "resource_imports": None,
    "resource_catalogue": ("path",),
    "resource_documents": ("folder",),
}
"""What tells a tenant's rows of a table apart; None where they may be alike."""


class _Name(NamedTuple):
    account: str
    user_name: str


def upgrade() -> None:
    """Move the rows; of two that can not stand beside each other the one that names nothing stays."""
    unnamed = context.config.attributes.get("unnamed")
    if not unnamed:
        return
    connection = op.get_bind()
    for old, new in _spelled(connection, "sessions", unnamed):
        _join_sessions(connection, old, new)
        _move(connection, "sessions", ("session",), old, new)
    for table, key in _ROWS.items():
        for old, new in _spelled(connection, table, unnamed):
            _move(connection, table, key, old, new)


def _table(name: str, *columns: str) -> Any:
    return sa.table(name, *(sa.column(column) for column in ("account", "user_name", *columns)))


def _spelled(connection: sa.Connection, name: str, unnamed: str) -> Iterator[tuple[_Name, _Name]]:
    """The tenants in a table that name the default, and how they are spelled from now on."""
    table = _table(name)
    for row in connection.execute(sa.select(table.c.account, table.c.user_name).distinct()).all():
        old = _Name(row.account, row.user_name)
        new = _Name(*("" if part == unnamed else part for part in old))
        if new != old:
            yield old, new


def _of(table: Any, name: _Name) -> Any:
    return sa.and_(table.c.account == name.account, table.c.user_name == name.user_name)


def _move(connection: sa.Connection, name: str, key: Sequence[str] | None, old: _Name, new: _Name) -> None:
    table = _table(name, *(key or ()))
    if key is not None:
        there = table.alias("there")
        same = (there.c[column] == table.c[column] for column in key)
        connection.execute(
            sa.delete(table).where(_of(table, old), sa.exists().select_from(there).where(_of(there, new), *same))
        )
    connection.execute(sa.update(table).where(_of(table, old)).values(**new._asdict()))


def _join_sessions(connection: sa.Connection, old: _Name, new: _Name) -> None:
    """Make one of two sessions of a name: the turns of the one that was quiet longer stand before the other's first."""
    columns = ("id", "session", "epoch", "next_position", "last_turn_at", "due_at", "lane")
    one = _table("sessions", *columns).alias("one")
    other = _table("sessions", *columns).alias("other")
    pairs = sa.select(one, other).where(_of(one, old), _of(other, new), one.c.session == other.c.session)
    for row in connection.execute(pairs).all():
        first, second = row[: len(row) // 2], row[len(row) // 2 :]
        named = ("account", "user_name", *columns)
        pair = [dict(zip(named, values, strict=True)) for values in (first, second)]
        quiet, kept = sorted(pair, key=lambda session: session["last_turn_at"])
        _take_over(connection, kept, quiet, new)


def _take_over(connection: sa.Connection, kept: dict[str, Any], quiet: dict[str, Any], name: _Name) -> None:
    """Give a session the turns of another, as those of an epoch before its own, and delete the other.

    Those that wait are delivered first. Commits that are under way are the backend's, and go on there.
    """
    sessions = _table("sessions", "id", "due_at", "lane")
    turns = sa.table("turns", *(sa.column(column) for column in ("session_id", "epoch", "position", "key_hash")))
    keys = sa.select(turns.c.key_hash).where(turns.c.session_id == kept["id"], turns.c.key_hash.is_not(None))
    mine = turns.c.session_id == quiet["id"]
    known = set(connection.execute(keys).scalars())
    doubled = [key for key in connection.execute(sa.select(turns.c.key_hash).where(mine)).scalars() if key in known]
    for key in doubled:
        connection.execute(sa.update(turns).where(mine, turns.c.key_hash == key).values(key_hash=None))
    before = {"position": turns.c.position - quiet["next_position"] + 1, "epoch": kept["epoch"] - 1}
    connection.execute(sa.update(turns).where(mine).values(session_id=kept["id"], **before))
    connection.execute(sa.delete(sessions).where(sessions.c.id == quiet["id"]))
    soonest = min((one for one in (kept, quiet) if one["due_at"] is not None), key=_urgency, default=kept)
    due = {"due_at": soonest["due_at"], "lane": soonest["lane"]}
    connection.execute(sa.update(sessions).where(sessions.c.id == kept["id"]).values(**name._asdict(), **due))


def _urgency(session: dict[str, Any]) -> tuple[int, float]:
    return session["lane"], session["due_at"]
