"""The worker in trouble: a server that hangs, a process that is stopped and wakes up late, words no database takes."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import update

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.ports import Appended, BackendError, CommitStatus
from app.store import codec
from app.store.schema import turns
from app.store.turns import open_store
from app.store.work import Lease, LeaseLost, Outcome, Step
from app.worker.supervisor import Worker, WorkerSettings
from tests.unit.desk import Desk
from tests.unit.memory_backend import MemoryBackend, lost_before, refused, rejected
from tests.unit.turning import FakeClock, a_turn, somebody, work_rules

pytestmark = pytest.mark.anyio


def timed_out() -> BackendError:
    return BackendError(Reason.DEADLINE_EXCEEDED, "no answer", retryable=True)


async def test_a_write_that_a_hanging_server_still_holds_is_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server hangs for two minutes, and applies what it was sent a second after it answers again."""
    awake_at = desk.clock.now + 120
    look = desk.backend.arrived

    async def arrived(*args: object) -> frozenset[str]:
        if desk.clock.now < awake_at:
            raise timed_out()
        return await look(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.backend, "arrived", arrived)
    desk.backend.faults = [("later", lost_before())]
    await desk.say("q0", "a0")
    await desk.say("q1", "a1")
    await desk.work(121)
    desk.backend.apply_late()
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["q0", "a0", "q1", "a1"]


async def test_a_worker_that_was_stopped_sends_nothing_under_a_lease_that_is_over(tmp_path: Path) -> None:
    """SIGSTOP between marking a turn and sending it, SIGCONT after another worker has taken over."""
    clock = FakeClock()
    stores = [await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules(), clock=clock) for _ in range(2)]
    backend = MemoryBackend()
    stopped, other = (Worker(store, backend, WorkerSettings(), random=lambda: 1.0, monotonic=clock) for store in stores)
    desk = Desk(stores[0], backend, clock)
    await desk.say("q")
    begun = clock.now
    ((lease, step),) = await stores[0].queue.claim("stopped", 1)
    clock.now += 31
    await other.drain()
    clock.now += 6
    await other.drain()
    assert backend.texts(somebody()) == ["q"]
    with pytest.raises(LeaseLost):
        await stores[0].queue.next_step(lease, await stopped._take(lease, step, begun))
    assert backend.texts(somebody()) == ["q"]
    for store in stores:
        await store.aclose()


async def test_of_a_large_turn_only_a_batch_is_decoded_at_a_time_and_none_on_the_event_loop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn of 31 MB has 800,000 messages: to make and weigh them all took 0.9 s in which nobody was answered."""
    threads: list[threading.Thread] = []
    decoded: list[int] = []
    decode, append = codec._captured, desk.backend.append

    def counted(item: dict[str, Any]) -> CapturedMessage:
        threads.append(threading.current_thread())
        return decode(item)

    async def appended(who: Identity, batch: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        decoded.append(len(threads))
        return await append(who, batch, deadline)

    monkeypatch.setattr(codec, "_captured", counted)
    monkeypatch.setattr(desk.backend, "append", appended)
    texts = [f"{number} {'x' * 300}" for number in range(250)]
    await desk.say(*texts)
    await desk.worker.drain()
    assert desk.backend.texts(somebody()) == texts
    assert decoded == [101, 201, 250]
    assert threading.main_thread() not in threads


async def test_a_worker_that_was_stopped_between_two_batches_sends_no_more(desk: Desk) -> None:
    desk.worker = Worker(desk.store, desk.backend, WorkerSettings(), random=lambda: 1.0, monotonic=desk.clock)
    await desk.say(*[str(number) for number in range(150)])
    mark = desk.store.queue.mark_attempt

    async def stopped_after(*args: object) -> None:
        await mark(*args)  # type: ignore[arg-type]
        desk.clock.now += 31

    desk.worker._courier = desk.worker._courier.__class__(
        **{
            name: getattr(desk.worker._courier, name)
            for name in desk.worker._courier.__slots__
            if name != "mark_attempt"
        },
        mark_attempt=stopped_after,
    )
    ((lease, step),) = await desk.store.queue.claim("me", 1)
    await desk.worker._take(lease, step, desk.clock.now)
    assert desk.backend.appended_batches == [100]


async def test_words_that_no_database_takes_do_not_stop_a_delivery(desk: Desk) -> None:
    odd = BackendError(Reason.OPENVIKING_UNAVAILABLE, "half \ud83e and \x00 nothing", retryable=True)
    desk.backend.faults = [("before", odd)]
    await desk.say("q")
    await desk.work(10)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_a_session_that_can_not_be_worked_on_does_not_stop_the_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_step = desk.store.queue.next_step

    async def broken(lease: Lease, outcome: Outcome | None = None) -> Step:
        if lease.who.session == "bad":
            raise ZeroDivisionError
        return await next_step(lease, outcome)

    monkeypatch.setattr(desk.store.queue, "next_step", broken)
    await desk.say("q", who=somebody("bad"))
    await desk.say("q", who=somebody("good"))
    async with anyio.create_task_group() as group:
        group.start_soon(desk.worker.run)

        async def done() -> bool:
            return (await desk.store.deliveries.page(None, session="good")).items[0].state == "delivered"

        assert await desk.worker.wait_until(done, Deadline.after_ms(20_000))
        group.cancel_scope.cancel()


async def test_the_return_of_a_backend_is_noticed_within_seconds_however_long_it_was_away(desk: Desk) -> None:
    gone = True

    def away(_who: object) -> None:
        if gone:
            raise refused()

    desk.backend.on_append = away
    await desk.say("q")
    await desk.work(30)
    await desk.store._database.write(lambda connection: connection.execute(update(turns).values(attempts=10**6)))
    await desk.work(30)
    gone = False
    await desk.work(5)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_a_backend_that_says_when_is_asked_then_and_not_much_later(desk: Desk) -> None:
    desk.backend.faults = [("before", refused(retry_after_s=2.0))] * 30
    await desk.say("q")
    await desk.work(30 * 2.5)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_a_backend_that_is_overloaded_is_left_alone_although_the_write_is_in_doubt(desk: Desk) -> None:
    busy = BackendError(Reason.OPENVIKING_UNAVAILABLE, "503", retryable=True, uncertain=True, retry_after_s=40.0)
    desk.backend.faults = [("before", busy), ("none", None), ("before", busy)]
    await desk.say("q")
    await desk.work(39)
    assert desk.backend.calls == ["append"]
    await desk.work(10)
    assert desk.backend.texts(somebody()) == ["q"]
    await desk.store.end(somebody(), 1000)
    await desk.work(39)
    commits = [call for call in desk.backend.calls if call.startswith("commit")]
    assert commits == ["commit keep=0"]


@pytest.mark.parametrize("jump", [-7 * 86_400.0, 7 * 86_400.0])
async def test_deliveries_go_on_when_the_clock_is_set(desk: Desk, jump: float) -> None:
    desk.backend.faults = [("before", refused(retry_after_s=30.0))]
    await desk.say("q")
    await desk.work(1)
    desk.clock.now += jump
    await desk.store.mend_dates()
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_a_lease_from_before_the_clock_was_set_back_runs_out(desk: Desk) -> None:
    await desk.say("q")
    assert len(await desk.store.queue.claim("stopped for ever", 1)) == 1
    desk.clock.now -= 86_400
    await desk.store.mend_dates()
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_a_clock_set_back_during_an_extraction_polls_no_more_often_than_before(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.backend.instant = False
    await desk.say("q0")
    await desk.store.end(somebody(), 1000)
    await desk.work(1)
    polls = 0
    ask = desk.backend.commit_status

    async def counted(*args: object) -> CommitStatus:
        nonlocal polls
        polls += 1
        assert polls < 200  # a poll that is due at once would go on for ever here
        return await ask(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.backend, "commit_status", counted)
    desk.clock.now -= 2 * 86_400
    await desk.store.mend_dates()
    await desk.say("q1")
    await desk.work(60)
    assert 10 <= polls <= 30
    assert desk.backend.texts(somebody()) == ["q0", "q1"]


async def test_a_clock_set_back_by_minutes_puts_no_try_off_by_them(desk: Desk) -> None:
    """Too little to show in the date itself: the worker compares the two clocks."""
    mono = FakeClock()
    desk.worker = Worker(desk.store, desk.backend, WorkerSettings(), random=lambda: 1.0, monotonic=mono)
    desk.backend.faults = [("before", refused(retry_after_s=5.0)), ("later", lost_before())]
    await desk.say("q")
    await desk.work(1)
    desk.clock.now -= 600
    mono.now += 1
    await desk.worker.housekeeping.compare_clocks()
    await desk.work(4)
    assert desk.backend.calls.count("append") == 2
    desk.clock.now -= 600
    await desk.worker.housekeeping.compare_clocks()
    await desk.work(2)
    desk.backend.apply_late()
    await desk.work(30)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_turns_wait_in_order_while_the_key_is_not_the_right_one(desk: Desk) -> None:
    await desk.say("1")
    await desk.work()
    wrong = True

    def refuse(_who: object) -> None:
        if wrong:
            raise BackendError(Reason.OPENVIKING_REJECTED, "403 PERMISSION_DENIED", retryable=True)

    desk.backend.on_append = refuse
    for text in "234":
        await desk.say(text)
        await desk.work(200)
    assert (await desk.store.gauges()).dead == 0
    wrong = False
    await desk.work(10)
    assert desk.backend.texts(somebody()) == list("1234")


async def test_a_dead_letter_that_is_retried_goes_back_to_its_place(desk: Desk) -> None:
    desk.backend.faults = [("none", None), ("before", rejected()), ("before", rejected())]
    for text in "123":
        await desk.say(text)
    await desk.work()
    two, three = (await desk.store.deliveries.page(None, states=["dead"])).items[::-1]
    desk.backend.faults = [("before", refused(retry_after_s=60.0))]
    await desk.say("4")
    await desk.work(1)
    await desk.store.deliveries.retry(None, three.turn_id)
    await desk.store.deliveries.retry(None, two.turn_id)
    await desk.work(90)
    assert desk.backend.texts(somebody()) == list("1234")


async def test_commits_and_tasks_leave_room_for_turns(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every archive that is asked for hangs, as many as there are places."""
    for number in range(20):
        await desk.say("left", who=somebody(f"old{number}"))
    await desk.work()
    hanging = anyio.Event()

    async def hang(*_: object, **__: object) -> object:
        await hanging.wait()
        raise refused()

    monkeypatch.setattr(desk.backend, "commit", hang)
    await desk.store.queue.sweep(lambda _: False)
    async with anyio.create_task_group() as group:
        group.start_soon(desk.worker.run)
        while desk.worker._busy.total() < 6:
            await anyio.lowlevel.checkpoint()
        accepted = await desk.store.accept(a_turn("new", who=somebody("new")))

        async def done() -> bool:
            return (await desk.store.deliveries.get(None, accepted.turn_id)).state == "delivered"

        assert await desk.worker.wait_until(done, Deadline.after_ms(20_000))
        hanging.set()  # a worker that stops waits for what is under way
        group.cancel_scope.cancel()
