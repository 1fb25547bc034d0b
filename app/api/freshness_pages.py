"""``/ui/freshness``: which memories are over, old, unconfirmed, said twice, or said otherwise since."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response

from app.api.document import problems
from app.api.forms import FormDep, proof_for
from app.api.freshness_calls import CHECK_MS
from app.api.pages import page, see_other
from app.api.routers import Router
from app.api.scope import ServicesDep, TenantDep
from app.core.deadline import Deadline
from app.core.memories.freshness import Finding
from app.core.memories.memory import Memory
from app.engine.memories.collaborators import operator_of
from app.errors import NotFound

router = Router(tags=["pages"], include_in_schema=False, responses=problems())

SHOWN = 20
"""Findings of a kind that are shown with their texts, the others are counted; and memories of one finding."""
_KINDS = (
    ("expired", "Over", "Their time is over, so they are recalled no more."),
    (
        "stale",
        "Not confirmed for long",
        "Nobody has said them again for a long time. Correct or forget what is not so any more.",
    ),
    (
        "unconfirmed",
        "To be confirmed",
        "Inferred and said once, or about money, health or access: look whether they are right.",
    ),
    ("duplicates", "Said twice", "They say the same, and became one memory with the sources of all."),
    ("conflicts", "Contradictions", "They say different things about one thing."),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A finding with its memories; one that was forgotten since is missing."""

    reason: str
    memories: Sequence[Memory]


@dataclass(frozen=True, slots=True)
class Section:
    """The findings of a kind; ``more`` are not shown."""

    title: str
    meaning: str
    rows: Sequence[Row]
    more: int


@router.get("/ui/freshness")
async def freshness_page(request: Request, services: ServicesDep, tenant: TenantDep) -> Response:
    """What the last check found, with what the memories say now."""
    report = await services.check_freshness.last(operator_of(tenant))
    sections = []
    if report and services.keeps_memories:
        deadline = Deadline.after_ms(services.settings.limits.wait_ms or 1)
        for name, title, meaning in _KINDS:
            found: tuple[Finding, ...] = getattr(report, name)
            rows = [Row(one.reason, await _memories(services, tenant, one.ids, deadline)) for one in found[:SHOWN]]
            if found:
                sections.append(Section(title, meaning, rows, len(found) - len(rows)))
    return page(
        "freshness.html",
        tenant=tenant,
        report=report,
        sections=sections,
        keeps_memories=services.keeps_memories,
        backend=services.backend.name,
        proof=proof_for(request, tenant),
        here="/ui/freshness",
    )


@router.post("/ui/freshness")
async def check(services: ServicesDep, tenant: TenantDep, _form: FormDep) -> Response:
    """Check now; what it changes stands in the history of each memory."""
    await services.check_freshness.run(operator_of(tenant), Deadline.after_ms(CHECK_MS))
    return see_other("/ui/freshness")


async def _memories(services: ServicesDep, tenant: TenantDep, ids: Sequence[str], deadline: Deadline) -> list[Memory]:
    found = []
    for memory_id in ids[:SHOWN]:
        try:
            found.append((await services.read_memory.run(operator_of(tenant), memory_id, deadline)).memory)
        except NotFound:
            continue
    return found
