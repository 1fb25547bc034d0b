"""Who has memories delivered waits no longer for another delivery than for the backend itself."""

from dataclasses import replace
from typing import Any

import anyio
import pytest

from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.core.memories.memory import MemorySource, NewMemory
from app.core.memories.memory_outcomes import Stored
from app.core.memories.not_delivered import waiting
from app.core.reasons import Reason
from app.ports import BackendError
from app.worker.backoff import Backoff
from app.worker.memory_delivery import MemoryCourier

pytestmark = pytest.mark.anyio

MIA = Tenant("acme", "mia")
NOW = "2026-03-01T00:00:00Z"
TEA = NewMemory("m_1", "Tea at five.", NOW, MemorySource("api", NOW, None), "notes")


class Waiting:
    """The memories that wait."""

    def __init__(self, *memories: NewMemory) -> None:
        self.all = list(memories)

    async def to_deliver(self, tenant: Tenant) -> list[NewMemory]:
        return list(self.all)

    async def one(self, tenant: Tenant, memory_id: str) -> NewMemory | None:
        return next((new for new in self.all if new.id == memory_id), None)

    async def delivered(self, tenant: Tenant, new: NewMemory) -> None:
        self.all.remove(new)


class Hanging:
    """A backend that stores nothing until it may."""

    def __init__(self) -> None:
        self.asked, self.may = anyio.Event(), anyio.Event()
        self.told: list[str] = []

    async def store(self, who: object, new: NewMemory, deadline: Deadline) -> Stored:
        self.asked.set()
        await self.may.wait()
        self.told.append(new.text)
        return Stored(waiting(new), created=True)


async def ignore(_: Tenant) -> None:
    pass


def courier_of(backend: Hanging, memories: Waiting) -> MemoryCourier:
    stores: Any = backend, memories
    return MemoryCourier(*stores, ignore, Backoff(0.01, 0.01, lambda: 1.0), 60.0, anyio.current_time)


async def test_a_caller_waits_for_the_delivery_of_another_until_its_own_deadline() -> None:
    backend, memories = Hanging(), Waiting(TEA)
    courier = courier_of(backend, memories)
    answers: list[BackendError | None] = []

    async def patient() -> None:
        answers.append(await courier.flush(MIA, Deadline.after_ms(60_000)))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(patient)
            await backend.asked.wait()
            late = await courier.flush(MIA, Deadline.after_ms(1))
            assert late is not None and (late.reason, late.retryable) == (Reason.DEADLINE_EXCEEDED, True)
            backend.may.set()
    assert answers == [None] and memories.all == []
    assert await courier.flush(MIA, Deadline.after_ms(60_000)) is None


async def test_what_is_forgotten_or_changed_meanwhile_is_not_delivered_as_it_was() -> None:
    backend = Hanging()
    code = replace(TEA, id="m_2", text="The cellar code is 4711.")
    lamp = replace(TEA, id="m_3", text="The lamp is green.")
    memories = Waiting(TEA, code, lamp)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(courier_of(backend, memories).flush, MIA, Deadline.after_ms(60_000))
            await backend.asked.wait()
            memories.all[1:] = [replace(lamp, text="The lamp is red.")]
            backend.may.set()
    assert backend.told == ["Tea at five.", "The lamp is red."]
