"""How often a tenant's memories were changed on purpose: no process answers a search from before a change."""

from typing import Any

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from app.core.identity import Tenant
from app.store.schema import memory_versions

_VERSION = select(memory_versions.c.version).where(
    memory_versions.c.account == bindparam("account"), memory_versions.c.user_name == bindparam("user_name")
)


def version_of(connection: Connection, tenant: Tenant) -> int:
    """How many changes were counted; 0 for a tenant that is not known."""
    return connection.execute(_VERSION, _name(tenant)).scalar() or 0


def locked_version(connection: Connection, tenant: Tenant) -> int:
    """`version_of`, and nobody counts another change before the transaction ends."""
    locked = _VERSION.with_for_update()
    version = connection.execute(locked, _name(tenant)).scalar()
    if version is None:
        _insert(connection, tenant)
        version = connection.execute(locked, _name(tenant)).scalar_one()
    return int(version)


def count_change(connection: Connection, tenant: Tenant) -> None:
    """Count one; who counts within a transaction keeps the tenant's other writers waiting until it ends."""
    mine = and_(*(memory_versions.c[name] == value for name, value in _name(tenant).items()))
    counted = update(memory_versions).where(mine).values(version=memory_versions.c.version + 1)
    if connection.execute(counted).rowcount == 0:
        _insert(connection, tenant)
        connection.execute(counted)


def _insert(connection: Connection, tenant: Tenant) -> None:
    row: dict[str, Any] = {**_name(tenant), "version": 0}
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_or_not

        connection.execute(insert_or_not(memory_versions).values(row).on_conflict_do_nothing())
    else:
        connection.execute(insert(memory_versions).values(row))


def _name(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}
