"""Writes whose outcome nobody heard of: from a process that died, over a connection that broke, of a slow server."""

from pathlib import Path

import anyio
import pytest

from app.core.deadline import Deadline
from app.core.reasons import Reason
from app.ports import Appended, BackendError
from app.worker import supervisor
from app.worker.settling import settles_in
from tests.unit.desk import Desk, open_desk
from tests.unit.memory_backend import MemoryBackend, lost_before
from tests.unit.turning import FakeClock, somebody

pytestmark = pytest.mark.anyio


class Killed(BaseException):
    """SIGKILL: nothing is written down any more."""


async def die_in(desk: Desk) -> None:
    """A process begins the session's next step and is killed in its write, which the backend applies later."""
    ((lease, step),) = await desk.store.queue.claim("the dead", 1)
    desk.backend.faults = [("later", Killed())]  # type: ignore[list-item]
    with pytest.raises(Killed):
        await desk.worker._take(lease, step, desk.worker._monotonic())
    await desk.store.queue.expire_leases(lambda _: True)


async def applied_after(desk: Desk, seconds: float) -> None:
    await desk.work(seconds)
    desk.backend.apply_late()
    await desk.work(60)


@pytest.mark.parametrize("seconds", [0.5, 7.0, 14.5])
async def test_a_slow_append_of_a_process_that_died_is_waited_for(desk: Desk, seconds: float) -> None:
    """It may take as long as the call could have, and as long to settle; both are the dead process's limits."""
    await desk.say("q0")
    await desk.say("q1")
    await die_in(desk)
    await applied_after(desk, seconds)
    assert desk.backend.texts(somebody()) == ["q0", "q1"]


async def test_an_append_that_was_lost_with_its_process_is_sent_again_soon(desk: Desk) -> None:
    await desk.say("q0")
    await die_in(desk)
    await desk.work(15.1)
    assert desk.backend.texts(somebody()) == ["q0"]


async def test_a_reset_that_was_under_way_when_its_process_died_empties_no_new_epoch(desk: Desk) -> None:
    await desk.say("old")
    await desk.work()
    await desk.store.reset(somebody(), 1000)
    await die_in(desk)
    await desk.say("new")
    await applied_after(desk, 7.0)
    session = desk.backend.session(somebody())
    assert [part.text for message in session.live for part in message.parts] == ["new"]  # type: ignore[union-attr]


@pytest.mark.parametrize("reason", [Reason.DEADLINE_EXCEEDED, Reason.OPENVIKING_UNAVAILABLE])
async def test_a_write_that_comes_long_after_its_error_is_waited_for(desk: Desk, reason: Reason) -> None:
    """Seven seconds after a time-out, or after a connection that broke at once: longer than writes settle."""
    error = BackendError(reason, "nothing was heard", retryable=True, uncertain=True)
    desk.backend.faults = [("later", error)]
    await desk.say("q0")
    await desk.say("q1")
    await applied_after(desk, 7.0)
    assert desk.backend.texts(somebody()) == ["q0", "q1"]


def test_how_long_a_write_may_still_happen_depends_on_what_was_heard() -> None:
    clock = FakeClock()
    begun, over = Deadline(clock.now + 10, clock), Deadline(clock.now, clock)
    silent = BackendError(Reason.DEADLINE_EXCEEDED, "", retryable=True, uncertain=True)
    said = BackendError(Reason.OPENVIKING_UNAVAILABLE, "500", retryable=True, uncertain=True, answered=True)
    assert settles_in(said, begun, 5) == 5
    assert settles_in(lost_before(), begun, 5) == 15
    assert settles_in(silent, over, 5) == 15


class SlowBackend(MemoryBackend):
    """Writes wait for ``go``."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = anyio.Event(), anyio.Event()

    async def append(self, *args: object) -> Appended:
        self.begun.set()
        await self.go.wait()
        return await super().append(*args)  # type: ignore[arg-type]


async def test_a_worker_that_is_stopped_lets_a_write_finish(tmp_path: Path) -> None:
    desk = await open_desk(tmp_path)
    backend = SlowBackend()
    desk = Desk(desk.store, backend, desk.clock)
    await desk.say("q0")
    await desk.say("q1")
    async with anyio.create_task_group() as group:
        group.start_soon(desk.worker.run)
        await backend.begun.wait()
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
        backend.go.set()
    assert backend.texts(somebody()) == ["q0"]
    states = [item.state for item in (await desk.store.deliveries.page(None)).items]
    assert states == ["pending", "delivered"]
    assert len(await desk.store.queue.claim("the next process", 1)) == 1
    await desk.store.aclose()


async def test_a_worker_that_is_stopped_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FINISH_S", 0.0)
    desk = await open_desk(tmp_path)
    backend = SlowBackend()
    desk = Desk(desk.store, backend, desk.clock)
    await desk.say("q0")
    async with anyio.create_task_group() as group:
        group.start_soon(desk.worker.run)
        await backend.begun.wait()
        group.cancel_scope.cancel()
    assert (await desk.store.deliveries.page(None)).items[0].state == "sending"
    assert len(await desk.store.queue.claim("the next process", 1)) == 1
    await desk.store.aclose()


async def test_a_failed_look_makes_no_doubt_shorter(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    look, troubles = desk.backend.arrived, [lost_before()]

    async def arrived(*args: object) -> frozenset[str]:
        if troubles:
            raise troubles.pop()
        return await look(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.backend, "arrived", arrived)
    await desk.say("q0")
    await die_in(desk)
    await applied_after(desk, 14.0)
    assert desk.backend.texts(somebody()) == ["q0"]
