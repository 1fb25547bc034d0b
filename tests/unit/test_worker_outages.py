"""A backend that is away: how often it is asked by how many, and that nobody waits once it is back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.capture.captured_message import CapturedMessage
from app.core.reasons import Reason
from app.ports import BackendError
from tests.unit.desk import Desk, open_desk
from tests.unit.memory_backend import MemoryBackend
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio

SESSIONS = 60


class AbsentBackend(MemoryBackend):
    """A backend that can be away: then it takes no connections."""

    def __init__(self) -> None:
        super().__init__()
        self.away = True
        self.asked = 0

    async def append(self, who: object, messages: object, deadline: object) -> object:  # type: ignore[override]
        self.asked += 1
        if self.away:
            raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "no connection", retryable=True)
        return await super().append(who, messages, deadline)  # type: ignore[arg-type]

    def arrived_of(self, number: int) -> list[str]:
        return self.texts(somebody(f"s{number}"))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = await open_desk(tmp_path)
    desk.work_with(AbsentBackend())
    for number in range(SESSIONS):
        await desk.say(f"q{number}", who=somebody(f"s{number}"))
    yield desk
    await desk.store.aclose()


def backend_of(desk: Desk) -> AbsentBackend:
    assert isinstance(desk.backend, AbsentBackend)
    return desk.backend


async def test_all_sessions_together_ask_as_seldom_as_a_few(desk: Desk) -> None:
    await desk.work(60)
    backend_of(desk).asked = 0
    await desk.work(60)
    assert 40 <= backend_of(desk).asked <= 90


async def test_an_open_breaker_is_asked_no_more_often_than_it_lets_anybody_through(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> CapturedMessage:
        backend_of(desk).asked += 1
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "breaker", retryable=True, retry_after_s=4.0)

    monkeypatch.setattr(desk.backend, "append", refuse)
    await desk.work(300)
    backend_of(desk).asked = 0
    await desk.work(60)
    assert 10 <= backend_of(desk).asked <= 22
    monkeypatch.undo()
    backend_of(desk).away = False
    await desk.work(6)
    assert [number for number in range(SESSIONS) if not backend_of(desk).arrived_of(number)] == []


async def test_when_one_gets_through_all_go_on(desk: Desk) -> None:
    await desk.work(120)
    backend_of(desk).away = False
    await desk.work(2)
    assert [number for number in range(SESSIONS) if not backend_of(desk).arrived_of(number)] == []


async def test_a_process_that_starts_behind_an_outage_waits_for_nobody(desk: Desk) -> None:
    await desk.work(120)
    present = AbsentBackend()
    present.away = False
    desk.work_with(present)
    await desk.work(2)
    assert [number for number in range(SESSIONS) if not present.arrived_of(number)] == []


async def test_one_session_is_tried_as_soon_as_ever(tmp_path: Path) -> None:
    desk = await open_desk(tmp_path)
    desk.work_with(AbsentBackend())
    await desk.say("q")
    await desk.work(60)
    assert backend_of(desk).asked >= 12
    await desk.store.aclose()


async def test_an_answer_is_no_outage(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> CapturedMessage:
        backend_of(desk).asked += 1
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "503", retryable=True, answered=True)

    monkeypatch.setattr(desk.backend, "append", refuse)
    await desk.work(20)
    assert backend_of(desk).asked >= SESSIONS * 5


async def test_a_doubt_from_an_outage_ends_soon_after_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lose(*_: object) -> CapturedMessage:
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "connection lost", retryable=True, uncertain=True)

    async def refuse(*_: object) -> frozenset[str]:
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "breaker", retryable=True, retry_after_s=4.0)

    monkeypatch.setattr(desk.backend, "append", lose)
    monkeypatch.setattr(desk.backend, "arrived", refuse)
    await desk.work(300)
    monkeypatch.undo()
    backend_of(desk).away = False
    await desk.work(2 * desk.store.rules.doubt_s)
    assert [number for number in range(SESSIONS) if not backend_of(desk).arrived_of(number)] == []
