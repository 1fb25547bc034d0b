"""``/memories/freshness``: what of the memories is over, old, unconfirmed, said twice, or said otherwise since."""

from typing import Annotated, Any

from fastapi import Body, Request, Response

from app.api.document import problems
from app.api.examples import recorded
from app.api.routers import Router
from app.api.schemas import Millis, Wire
from app.api.scope import ServicesDep, TenantDep
from app.api.strict import StrictRoute, caller_of, deadline_of
from app.api.wire import Json
from app.core.memories.freshness import Finding, FreshnessReport
from app.core.reasons import Reason
from app.engine.memories.collaborators import operator_of
from app.errors import BackendTrouble

router = Router(tags=["memories"])
writing = Router(tags=["memories"], route_class=StrictRoute)

CHECK_MS = 120_000


class FindingBody(Wire):
    """A memory, and why it is worth a look."""

    id: str
    reason: str


class FindingsBody(Wire):
    """Memories that belong together, and why they are worth a look."""

    ids: list[str]
    reason: str


class FreshnessBody(Wire):
    """What the last check found; ``checkedAt`` is null before the first."""

    checked_at: str | None
    expired: list[FindingBody]
    stale: list[FindingBody]
    unconfirmed: list[FindingBody]
    duplicates: list[FindingsBody]
    conflicts: list[FindingsBody]


class CheckRequest(Wire):
    """`POST /memories/freshness`; an empty object will do."""

    deadline_ms: Annotated[Millis | None, Body(description="Longest time to the answer, milliseconds.")] = None


@router.get(
    "/memories/freshness",
    summary="What the last check of the memories found",
    response_model=FreshnessBody,
    responses={200: recorded("memories-freshness"), **problems(503)},
)
async def freshness(services: ServicesDep, tenant: TenantDep) -> Response:
    """Ids and reasons, no texts. Checks run once in `SIDECAR_FRESHNESS__EVERY_HOURS`."""
    return Json(_shown(await services.check_freshness.last(operator_of(tenant))))


@writing.post(
    "/memories/freshness",
    summary="Check the memories now",
    response_model=FreshnessBody,
    responses={200: recorded("memories-check"), **problems(503)},
)
async def check_freshness(request: Request, body: CheckRequest) -> Response:
    """What is over expires, equal statements become one with the sources of both, and of two that contradict each other
    the later one holds, unless it is less certain. Each change stands in the history of its memory.

    A check that is not done by the deadline answers what the last one found: `checkedAt` tells.
    """
    services, tenant = caller_of(request)
    who, deadline = operator_of(tenant), deadline_of(request, body.deadline_ms or CHECK_MS)
    try:
        report: FreshnessReport | None = await services.check_freshness.run(who, deadline)
    except BackendTrouble as trouble:
        if trouble.code is not Reason.DEADLINE_EXCEEDED:
            raise
        report = await services.check_freshness.last(who)
    return Json(_shown(report))


router.routes.extend(writing.routes)


def _shown(report: FreshnessReport | None) -> dict[str, Any]:
    found = report or FreshnessReport("")
    return {
        "checkedAt": found.checked_at or None,
        "expired": _each(found.expired),
        "stale": _each(found.stale),
        "unconfirmed": _each(found.unconfirmed),
        "duplicates": [{"ids": list(one.ids), "reason": one.reason} for one in found.duplicates],
        "conflicts": [{"ids": list(one.ids), "reason": one.reason} for one in found.conflicts],
    }


def _each(found: tuple[Finding, ...]) -> list[dict[str, str]]:
    return [{"id": one.ids[0], "reason": one.reason} for one in found]
