"""How often a tenant's memories were changed on purpose: no process answers a search from before a change."""

from sqlalchemy import Connection, and_, bindparam, select, update

from app.core.identity import Tenant
from app.store.inserting import insert_new
from app.store.schema import memory_versions

_VERSION = select(memory_versions.c.version).where(
    memory_versions.c.account == bindparam("account"), memory_versions.c.user_name == bindparam("user_name")
)


def version_of(connection: Connection, tenant: Tenant) -> int:
    """How many changes were counted; 0 for a tenant that is not known."""
    return connection.execute(_VERSION, _name(tenant)).scalar() or 0


def locked_version(connection: Connection, tenant: Tenant) -> int:
    """`version_of`, and no other change is counted before the transaction ends."""
    locked = _VERSION.with_for_update()
    version = connection.execute(locked, _name(tenant)).scalar()
    if version is None:
        insert_new(connection, memory_versions, {**_name(tenant), "version": 0})
        version = connection.execute(locked, _name(tenant)).scalar_one()
    return int(version)


def count_change(connection: Connection, tenant: Tenant) -> None:
    """Count one; who counts within a transaction keeps the tenant's other writers waiting until it ends."""
    mine = and_(*(memory_versions.c[name] == value for name, value in _name(tenant).items()))
    counted = update(memory_versions).where(mine).values(version=memory_versions.c.version + 1)
    if connection.execute(counted).rowcount == 0:
        insert_new(connection, memory_versions, {**_name(tenant), "version": 0})
        connection.execute(counted)


def _name(tenant: Tenant) -> dict[str, str]:
    return {"account": tenant.account or "", "user_name": tenant.user or ""}
