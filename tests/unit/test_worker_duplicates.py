"""A write that comes later than anybody waits: it can not be undone, so it is counted, and shows nowhere."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.ports import BackendError
from app.store.work import Lane, Lease
from app.worker.duplicates import Duplicates
from app.worker.supervisor import Worker, WorkerSettings
from tests.unit.desk import Desk, open_desk
from tests.unit.memory_backend import MemoryBackend, lost_before
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio


class DoublingBackend(MemoryBackend):
    """Says how many second copies a session holds."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = True

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:
        self.calls.append("copies")
        if not self.answers:
            raise BackendError(lost_before().reason, "away", retryable=True)
        stored = Counter(message.source_id for message in self.session(who).live if turn_id in message.source_id)
        return sum(stored.values()) - len(stored)


class DoublingDesk(Desk):
    backend: DoublingBackend
    told: list[int]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[DoublingDesk]:
    opened = await open_desk(tmp_path)
    desk = DoublingDesk(opened.store, DoublingBackend(), opened.clock)
    desk.told = []
    desk.worker = Worker(
        desk.store,
        desk.backend,
        WorkerSettings(),
        random=lambda: 1.0,
        monotonic=desk.clock,
        on_doubled=desk.told.append,
    )
    yield desk
    await desk.store.aclose()


async def test_a_turn_that_was_doubled_is_counted_at_the_next_send(desk: DoublingDesk) -> None:
    desk.backend.faults = [("later", lost_before())]
    await desk.say("q0", "a0")
    await desk.work(60)
    await desk.say("q1")
    await desk.work(60)
    assert desk.told == []
    desk.backend.apply_late()
    for text in ("q2", "q3"):
        await desk.say(text)
        await desk.work(60)
    assert desk.told == [2]


async def test_a_turn_that_was_doubled_is_counted_although_nothing_more_is_said(desk: DoublingDesk) -> None:
    desk.backend.faults = [("later", lost_before())]
    await desk.say("q0", "a0")
    await desk.work(60)
    desk.backend.apply_late()
    await desk.worker.housekeeping._duplicates.look_at_all()
    assert desk.told == [2]
    desk.clock.now += 1_000
    await desk.worker.housekeeping._duplicates.look_at_all()
    looks = desk.backend.calls.count("copies")
    await desk.worker.housekeeping._duplicates.look_at_all()
    assert desk.backend.calls.count("copies") == looks


async def test_a_server_that_hangs_holds_up_the_other_chores_no_longer_than_one_call(desk: DoublingDesk) -> None:
    duplicates = Duplicates(desk.backend, 10.0, desk.clock, desk.told.append)
    asked: list[str] = []

    async def hanging(_who: Identity, turn_id: str, deadline: Deadline) -> int:
        asked.append(turn_id)
        desk.clock.now += deadline.remaining
        raise BackendError(Reason.DEADLINE_EXCEEDED, "late", retryable=True)

    desk.backend.copies = hanging  # type: ignore[method-assign]
    lease = Lease(1, 1, somebody(), Lane.TURN)
    for number in range(50):
        duplicates.resent(lease, f"t{number}")
    for _ in range(2):
        began = desk.clock.now
        await duplicates.look_at_all()
        assert desk.clock.now - began <= 10.0
    assert asked == ["t0", "t1"], "the next round goes on with those that were not looked for"


async def test_turns_that_were_sent_once_are_not_looked_for(desk: DoublingDesk) -> None:
    for number in range(3):
        await desk.say(f"{number}")
        await desk.work(60)
    assert "copies" not in desk.backend.calls


async def test_a_look_that_fails_holds_up_no_delivery(desk: DoublingDesk) -> None:
    desk.backend.faults = [("before", lost_before())]
    await desk.say("q0")
    await desk.work(60)
    desk.backend.answers = False
    await desk.say("q1")
    await desk.work(1)
    assert desk.backend.texts(somebody()) == ["q0", "q1"] and desk.told == []
