"""A turn that the backend answers with an error for ever becomes a dead letter; an outage makes none."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.ports import Appended, BackendError
from app.worker.supervisor import Worker, WorkerSettings
from tests.unit.desk import Desk, open_desk
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio

SERVER_ERROR = BackendError(Reason.OPENVIKING_UNAVAILABLE, "500", retryable=True, uncertain=True, answered=True)
FORBIDDEN = BackendError(Reason.OPENVIKING_REJECTED, "403", retryable=True)
BUSY = BackendError(Reason.OPENVIKING_UNAVAILABLE, "429", retryable=True)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = await open_desk(tmp_path)
    desk.worker = Worker(desk.store, desk.backend, WorkerSettings(), random=lambda: 1.0, monotonic=desk.clock)
    yield desk
    await desk.store.aclose()


def failing(error: BackendError, where: Callable[[Identity], bool]) -> Callable[[Identity], None]:
    def on_append(who: Identity) -> None:
        if where(who):
            raise error

    return on_append


async def minutes_of_talk(desk: Desk, minutes: int, *others: Identity) -> None:
    for number in range(minutes * 4):
        for who in others:
            await desk.say(f"{number}", who=who)
        await desk.work(15)


@pytest.mark.parametrize("error", [SERVER_ERROR, FORBIDDEN])
async def test_a_turn_that_always_fails_becomes_a_dead_letter_while_others_are_delivered(
    desk: Desk, error: BackendError, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = desk.backend.append
    mended = False

    async def append(who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        if "poison" in str(messages) and not mended:
            raise error
        return await works(who, messages, deadline)

    monkeypatch.setattr(desk.backend, "append", append)
    await desk.say("poison")
    await desk.say("behind")
    await minutes_of_talk(desk, 1, somebody("s2"))
    assert (await desk.store.gauges()).dead == 0
    await minutes_of_talk(desk, 3, somebody("s2"))
    (dead,) = (await desk.store.deliveries.page(None, states=["dead"])).items
    assert "given up after" in dead.error and error.detail in dead.error
    assert desk.backend.texts(somebody()) == ["behind"]
    mended = True
    await desk.store.deliveries.retry(None, dead.turn_id)
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["behind", "poison"]


@pytest.mark.parametrize(
    ("error", "others"),
    [
        pytest.param(SERVER_ERROR, (), id="nothing else is said"),
        pytest.param(SERVER_ERROR, (somebody("s1", user="bob"),), id="only another tenant is served"),
        pytest.param(BUSY, (somebody("s2"),), id="the backend is busy"),
    ],
)
async def test_what_may_be_an_outage_makes_no_dead_letter(
    desk: Desk, error: BackendError, others: tuple[Identity, ...]
) -> None:
    await desk.say("patient")
    desk.backend.on_append = failing(error, lambda who: who == somebody())
    await minutes_of_talk(desk, 4, *others)
    assert (await desk.store.gauges()).dead == 0
    desk.backend.on_append = lambda _who: None
    await desk.work(60)
    assert "patient" in desk.backend.texts(somebody())


async def test_a_backend_that_comes_back_slowly_makes_no_dead_letter(desk: Desk) -> None:
    """One session is served again at once, the other gets one more error: failures of the outage do not count."""
    away = True
    desk.backend.on_append = failing(SERVER_ERROR, lambda _who: away)
    for name in ("s1", "s2"):
        await desk.say("q", who=somebody(name))
    await desk.work(300)
    away = False
    await desk.say("new", who=somebody("s3"))
    desk.backend.faults = [("none", None), ("before", SERVER_ERROR), ("before", SERVER_ERROR)]
    await desk.work(60)
    assert (await desk.store.gauges()).dead == 0 and (await desk.store.gauges()).depth == 0


async def test_a_turn_whose_session_can_not_be_read_becomes_a_dead_letter_while_others_are_delivered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its write is in doubt, and where it can not be looked for it would wait, and all that follows, for ever."""
    works = desk.backend.arrived
    mended = False

    async def arrived(who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        if who == somebody() and not mended:
            raise SERVER_ERROR
        return await works(who, turn_id, deadline)

    monkeypatch.setattr(desk.backend, "arrived", arrived)
    desk.backend.faults = [("after", SERVER_ERROR)]
    await desk.say("in doubt")
    await desk.work()
    await desk.say("behind")
    await minutes_of_talk(desk, 1, somebody("s2"))
    assert (await desk.store.gauges()).dead == 0
    await minutes_of_talk(desk, 3, somebody("s2"))
    (dead,) = (await desk.store.deliveries.page(None, states=["dead"])).items
    assert desk.backend.texts(somebody()) == ["in doubt", "behind"]
    mended = True
    await desk.store.deliveries.retry(None, dead.turn_id)
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["in doubt", "behind"]
    assert (await desk.store.deliveries.get(None, dead.turn_id)).state == "delivered"
