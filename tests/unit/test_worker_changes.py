"""The worker says whose memories may have changed, so that no kept search outlives what it found."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.identity import Identity
from app.worker.supervisor import Worker, WorkerSettings
from tests.unit.desk import Desk, open_desk
from tests.unit.memory_backend import MemoryBackend, lost_before, rejected
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio

ALICE, BOB = somebody(), somebody("s2", user="bob")


class Listening(Desk):
    """A desk that notes whose memories changed."""

    changed: list[Identity]

    def work_with(self, backend: MemoryBackend) -> None:
        self.backend = backend
        self.changed = []
        self.worker = Worker(
            self.store, backend, WorkerSettings(), memories_changed=self.changed.append, random=lambda: 1.0
        )

    def users(self) -> list[str | None]:
        """Whose memories changed since the last look."""
        users = [who.tenant.user for who in self.changed]
        self.changed.clear()
        return users


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Listening]:
    plain = await open_desk(tmp_path)
    yield Listening(plain.store, MemoryBackend(), plain.clock)
    await plain.store.aclose()


async def test_a_turn_that_was_written_is_told_of_its_user(desk: Listening) -> None:
    await desk.say("one", "two", who=ALICE)
    await desk.work()
    assert desk.users() == ["alice"]
    await desk.say("three", "four", who=BOB)
    await desk.work()
    assert desk.users() == ["bob"]
    await desk.work(1.0)
    assert desk.users() == []


@pytest.mark.parametrize("error", [lost_before(), rejected()])
async def test_a_write_that_failed_may_have_happened(desk: Listening, error: Exception) -> None:
    desk.backend.faults = [("after", error)]  # type: ignore[list-item]
    await desk.say("one", "two", who=ALICE)
    await desk.worker.drain()
    assert desk.users() == ["alice"]


@pytest.mark.parametrize("works", [True, False])
async def test_an_extraction_is_told_of_when_it_has_ended(desk: Listening, works: bool) -> None:
    desk.backend.instant = False
    desk.backend.extraction_works = works
    await desk.say("one", "two", who=ALICE)
    await desk.work()
    await desk.store.compact(ALICE, 0, 1000)
    desk.users()
    await desk.work(30.0)
    assert "commit_status" in desk.backend.calls
    assert desk.users() == [], "it still runs"
    desk.backend.finish()
    await desk.work(30.0)
    assert desk.users()[:1] == ["alice"]
