"""How sessions' prompts are laid out: one row per session, so that every process shows the same beginning of a prompt.

A row goes when its prompt is to be laid out anew: with a reset, with an archive that a host asked for or that a pause
brought, and with every forgetting of the tenant, for its summary may tell what is forgotten.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, and_, bindparam, delete, exists, insert, select

from app.core.cleaning.host_text import storable
from app.core.history.prompt_layout import Layout
from app.core.identity import Identity, Tenant
from app.store.memory_versions import locked_version
from app.store.schema import layouts, sessions
from app.store.session_rows import name_of

_AT_ONCE = 500
_OF_SESSION = and_(
    layouts.c.account == bindparam("account"),
    layouts.c.user_name == bindparam("user_name"),
    layouts.c.session == bindparam("session"),
)
_COLUMNS = ("edge", "before", "archived", "last_archived", "body", "of_cut", "of_archives", "budget", "uncut")
_LAYOUT = select(*(layouts.c[name] for name in _COLUMNS)).where(_OF_SESSION)


def layout_of(connection: Connection, who: Identity) -> Layout | None:
    """How the session's last prompt was laid out."""
    row = connection.execute(_LAYOUT, name_of(who.tenant, who.session)).one_or_none()
    return Layout(**row._mapping) if row else None


def keep(connection: Connection, who: Identity, layout: Layout, changes: int, now: float) -> None:
    """Write it down, unless something of the tenant was forgotten since ``changes`` was read.

    The lock on the tenant's changes comes first: a forgetting holds it while it takes rows out.
    """
    if locked_version(connection, who.tenant) != changes:
        return
    drop(connection, who.tenant, who.session)
    values = {name: getattr(layout, name) for name in _COLUMNS} | {"body": storable(layout.body), "at": now}
    connection.execute(insert(layouts).values(**name_of(who.tenant, who.session), **values))


def drop(connection: Connection, tenant: Tenant, session: str) -> None:
    """Have the session's next prompt laid out anew."""
    connection.execute(delete(layouts).where(_OF_SESSION), name_of(tenant, session))


def erase(connection: Connection, tenant: Tenant) -> None:
    """Drop all of a tenant's."""
    mine = and_(layouts.c.account == (tenant.account or ""), layouts.c.user_name == (tenant.user or ""))
    connection.execute(delete(layouts).where(mine))


def orphans(cutoff: float, connection: Connection, after: int) -> Sequence[tuple[int, ...]]:
    """Rows from before ``cutoff`` whose session is gone, for `app.store.retention`."""
    of_it = exists().where(
        sessions.c.account == layouts.c.account,
        sessions.c.user_name == layouts.c.user_name,
        sessions.c.session == layouts.c.session,
    )
    old = select(layouts.c.id).where(layouts.c.id > after, layouts.c.at < cutoff, ~of_it)
    return [(id_,) for id_ in connection.execute(old.order_by(layouts.c.id).limit(_AT_ONCE)).scalars()]


def forget(connection: Connection, piece: tuple[int, ...]) -> bool:
    """Delete rows."""
    connection.execute(delete(layouts).where(layouts.c.id.in_(piece)))
    return True
