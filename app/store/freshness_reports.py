"""The last report on each tenant's memories; see `app.core.memories.freshness`. It holds ids and reasons, no text."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, and_, delete, insert, select, union

from app.core.identity import Tenant
from app.core.memories.freshness import Finding, FreshnessReport
from app.store.connections import Database
from app.store.schema import freshness_reports, memory_versions, sessions

_LISTS = ("expired", "stale", "unconfirmed", "duplicates", "conflicts")
_AT_ONCE = 100


class SqlFreshnessReports:
    """`app.engine.memories.check_freshness.Reports` in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, tenant: Tenant, report: FreshnessReport) -> None:
        """Keep it in the place of the one before."""
        await self._database.write(_put, tenant, report)

    async def last(self, tenant: Tenant) -> FreshnessReport | None:
        """The last one."""
        return await self._database.read(_last, tenant)

    async def due(self, before: str) -> Sequence[Tenant]:
        """Tenants with sessions or memories who were not checked since that moment; some of them."""
        return await self._database.read(_due, before)


def _put(connection: Connection, tenant: Tenant, report: FreshnessReport) -> None:
    connection.execute(delete(freshness_reports).where(_of(tenant)))
    body = json.dumps(asdict(report))
    row = {"account": tenant.account or "", "user_name": tenant.user or "", "checked_at": report.checked_at}
    connection.execute(insert(freshness_reports).values(**row, body=body))


def _last(connection: Connection, tenant: Tenant) -> FreshnessReport | None:
    body = connection.execute(select(freshness_reports.c.body).where(_of(tenant))).scalar()
    if body is None:
        return None
    fields: dict[str, Any] = json.loads(body)
    lists = {name: tuple(Finding(tuple(one["ids"]), one["reason"]) for one in fields[name]) for name in _LISTS}
    return FreshnessReport(fields["checked_at"], **lists)


def _due(connection: Connection, before: str) -> list[Tenant]:
    named = union(*(select(table.c.account, table.c.user_name) for table in (sessions, memory_versions))).subquery()
    checked = select(freshness_reports.c.account).where(
        freshness_reports.c.account == named.c.account,
        freshness_reports.c.user_name == named.c.user_name,
        freshness_reports.c.checked_at >= before,
    )
    rows = connection.execute(select(named).where(~checked.exists()).limit(_AT_ONCE)).all()
    return [Tenant(account or None, user or None) for account, user in rows]


def _of(tenant: Tenant) -> Any:
    return and_(
        freshness_reports.c.account == (tenant.account or ""), freshness_reports.c.user_name == (tenant.user or "")
    )
