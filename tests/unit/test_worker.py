"""The worker against a backend in memory: what is delivered, in which order, and what a commit leaves behind."""

import time
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from app.core.capture.captured_message import TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, SessionKind
from app.core.reasons import Reason
from app.engine.preflight import Preflight
from app.engine.results import AssembleInput
from app.engine.session_end import EndSession, ResetSession, SessionInput
from app.ports import BackendError, CompactionState, MessageRange
from tests.unit.desk import Desk, open_desk
from tests.unit.memory_backend import lost_before, refused, rejected
from tests.unit.turning import a_turn, somebody

pytestmark = pytest.mark.anyio


async def test_turns_of_a_session_arrive_in_order_and_once(desk: Desk) -> None:
    for number in range(5):
        await desk.say(f"q{number}", f"a{number}")
    await desk.work()
    assert desk.backend.texts(somebody()) == [f"{c}{n}" for n in range(5) for c in "qa"]
    assert (await desk.store.gauges()).depth == 0


async def test_a_long_turn_goes_in_batches(desk: Desk) -> None:
    await desk.say(*[str(n) for n in range(250)])
    await desk.work()
    assert desk.backend.texts(somebody()) == [str(n) for n in range(250)]
    assert max(desk.backend.appended_batches) <= 100


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_lost_answer_neither_loses_nor_doubles(desk: Desk, when: str) -> None:
    desk.backend.faults = [(when, lost_before())]
    await desk.say("q0", "a0")
    await desk.say("q1", "a1")
    await desk.work(20)
    assert desk.backend.texts(somebody()) == ["q0", "a0", "q1", "a1"]


async def test_a_write_that_is_applied_late_is_waited_for(desk: Desk) -> None:
    desk.backend.faults = [("later", lost_before())]
    await desk.say("q0", "a0")
    await desk.say("q1", "a1")
    await desk.work(4)
    assert desk.backend.texts(somebody()) == []
    desk.backend.apply_late()
    await desk.work(20)
    assert desk.backend.texts(somebody()) == ["q0", "a0", "q1", "a1"]


async def test_a_half_delivered_turn_is_completed(desk: Desk) -> None:
    desk.backend.faults = [("none", None), ("after", lost_before()), ("before", lost_before())]
    await desk.say(*[str(n) for n in range(350)])
    await desk.work(60)
    assert desk.backend.texts(somebody()) == [str(n) for n in range(350)]


async def test_nothing_is_asked_again_before_the_backend_wants_it(desk: Desk) -> None:
    desk.backend.faults = [("before", refused(retry_after_s=40.0))]
    await desk.say("q")
    await desk.work(39)
    assert desk.backend.calls == ["append"]
    await desk.work(2)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_back_off_doubles_up_to_a_limit(desk: Desk) -> None:
    desk.backend.faults = [("before", refused())] * 12
    times: list[float] = []
    desk.backend.on_append = lambda _: times.append(desk.clock.now)
    await desk.say("q")
    await desk.work(300)
    waits = [round(after - before, 2) for before, after in pairwise(times)]
    assert waits[:4] == [0.25, 0.5, 1.0, 2.0] and max(waits) == 5.0
    assert desk.backend.texts(somebody()) == ["q"]


async def test_a_turn_refused_for_good_is_a_dead_letter_and_the_rest_goes_on(desk: Desk) -> None:
    desk.backend.faults = [("before", rejected())]
    await desk.say("bad")
    await desk.say("good")
    await desk.work()
    assert desk.backend.texts(somebody()) == ["good"]
    (dead,) = (await desk.store.deliveries.page(None, states=["dead"])).items
    await desk.store.deliveries.retry(None, dead.turn_id)
    await desk.work()
    assert desk.backend.texts(somebody()) == ["good", "bad"]


async def test_a_bug_in_a_backend_costs_time_and_nothing_else(desk: Desk) -> None:
    desk.backend.faults = [("before", TypeError("oops"))]  # type: ignore[list-item]
    await desk.say("q")
    await desk.work(20)
    assert desk.backend.texts(somebody()) == ["q"]


async def test_a_worker_that_dies_in_a_write_is_continued_by_the_next(desk: Desk) -> None:
    class Killed(BaseException):
        pass

    desk.backend.faults = [("after", Killed())]  # type: ignore[list-item]
    await desk.say("q0")
    await desk.say("q1")
    ((lease, step),) = await desk.store.queue.claim("the dead", 1)
    with pytest.raises(Killed):
        await desk.worker._take(lease, step, time.monotonic())
    await desk.work(29)
    assert desk.backend.texts(somebody()) == ["q0"]
    await desk.work(10)
    assert desk.backend.texts(somebody()) == ["q0", "q1"]


async def test_a_broken_session_does_not_hold_up_others(tmp_path: Path) -> None:
    desk = await open_desk(tmp_path)

    def hang(who: Identity) -> None:
        if who.session == "bad":
            raise refused()

    desk.backend.on_append = hang
    for number in range(20):
        await desk.say(f"{number}", who=somebody("bad" if number % 2 else f"good{number}"))
    await desk.work(5)
    assert (await desk.store.gauges()).depth == 10
    await desk.store.aclose()


async def test_run_is_woken_by_new_work_and_ends_when_cancelled(desk: Desk) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(desk.worker.run)
        await anyio.lowlevel.checkpoint()
        accepted = await desk.store.accept(a_turn("q"))

        async def done() -> bool:
            return (await desk.store.deliveries.get(None, accepted.turn_id)).state == "delivered"

        assert await desk.worker.wait_until(done, Deadline.after_ms(20_000))
        group.cancel_scope.cancel()
    assert desk.backend.texts(somebody()) == ["q"]


# Commits


async def test_the_threshold_starts_a_commit_and_the_archive_clears_its_range(desk: Desk) -> None:
    desk.backend.instant = False
    for number in range(5):
        accepted = await desk.store.accept(a_turn(f"q{number}", f"a{number}", tokens=100))
    assert accepted.compaction.state is CompactionState.UPLOADING
    assert accepted.compaction.upload_id and accepted.compaction.message_range == MessageRange(0, 5)
    assert accepted.compaction.clear is None
    await desk.work(1)
    assert "commit keep=0" in desk.backend.calls
    assert (await desk.store.local_history(somebody())).fingerprints == ()
    desk.backend.finish()
    await desk.work(10)
    history = await desk.store.local_history(somebody())
    assert history.fingerprints == ("q0", "a0", "q1", "a1", "q2", "a2")
    assert (history.summary, history.unsummarised) == ("summary of archive_001", ())
    after = await desk.store.accept(a_turn("q5", tokens=10))
    assert after.compaction.state is CompactionState.UPLOADED and after.compaction.clear == MessageRange(0, 5)
    assert after.pending_tokens == 210


async def test_at_the_second_threshold_the_range_is_cleared_while_extraction_runs(desk: Desk) -> None:
    desk.backend.instant = False
    for number in range(5):
        await desk.say(f"q{number}", f"a{number}", tokens=100)
    await desk.work(1)
    await desk.say("q5", tokens=100)
    accepted = await desk.store.accept(a_turn("q6", tokens=100))
    assert accepted.compaction.state is CompactionState.FORCED and accepted.compaction.clear == MessageRange(0, 5)
    history = await desk.store.local_history(somebody())
    assert history.fingerprints == ("q0", "a0", "q1", "a1", "q2", "a2")
    assert [
        part.text for message in history.unsummarised for part in message.parts if isinstance(part, TextPart)
    ] == list(history.fingerprints)
    desk.backend.finish()
    await desk.work(10)
    history = await desk.store.local_history(somebody())
    assert history.unsummarised == () and history.summary == "summary of archive_001"


async def test_what_the_backend_does_not_have_is_never_cleared(desk: Desk) -> None:
    for number in range(12):
        await desk.say(f"q{number}", tokens=100)
    assert (await desk.store.local_history(somebody())).fingerprints == ()


async def test_what_stays_live_is_counted_when_the_commit_is_sent(desk: Desk) -> None:
    for number in range(5):
        await desk.say(f"q{number}", f"a{number}", tokens=100)
    desk.backend.faults = [("none", None)] * 3 + [("before", refused(retry_after_s=20))]
    await desk.work(60)
    assert [call for call in desk.backend.calls if "commit " in call] == ["commit keep=0", "commit keep=4"]
    (archive,) = desk.backend.session(somebody()).archives
    assert len(archive.messages) == 6


async def test_a_commit_waits_for_a_write_in_doubt_behind_it(desk: Desk) -> None:
    """Else it would archive messages that it does not know to be there."""
    await desk.say("q0", "a0")
    await desk.work()
    desk.backend.faults = [("after", lost_before())]
    await desk.say("q1", "a1")
    await desk.work()
    await desk.store.compact(somebody(), 2, 1000)
    await desk.work(20)
    (archive,) = desk.backend.session(somebody()).archives
    assert len(archive.messages) == 2
    assert desk.backend.texts(somebody()) == ["q0", "a0", "q1", "a1"]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_commit_of_unknown_outcome_makes_one_archive(desk: Desk, when: str) -> None:
    for number in range(5):
        await desk.say(f"q{number}", f"a{number}", tokens=100)
    desk.backend.faults = [("none", None)] * 3 + [(when, lost_before())]
    await desk.work(60)
    (archive,) = desk.backend.session(somebody()).archives
    assert len(archive.messages) == 6
    assert (await desk.store.local_history(somebody())).summary == "summary of archive_001"
    assert desk.backend.texts(somebody()) == [f"{c}{n}" for n in range(5) for c in "qa"]


async def test_a_commit_applied_late_takes_nothing_that_came_after_it(desk: Desk) -> None:
    for number in range(5):
        await desk.say(f"q{number}", f"a{number}", tokens=100)
    desk.backend.faults = [("none", None)] * 3 + [("later", lost_before())]
    await desk.work(4)
    desk.backend.apply_late()
    await desk.work(60)
    (archive,) = desk.backend.session(somebody()).archives
    assert len(archive.messages) == 6


async def test_a_failed_extraction_is_tried_again_until_it_works(desk: Desk) -> None:
    desk.backend.extraction_works = False
    await desk.say("q0", "a0")
    result = await desk.compacted()
    assert (result.ok, result.compacted, result.reason) == (False, False, "commit_failed")
    assert (result.result.details.archived, result.result.details.extracted) == (True, False)
    history = await desk.store.local_history(somebody())
    assert history.fingerprints == ("q0", "a0") and len(history.unsummarised) == 2
    await desk.work(120)
    desk.backend.extraction_works = True
    await desk.work(60)
    history = await desk.store.local_history(somebody())
    assert history.unsummarised == () and history.summary == "summary of archive_001"
    assert (await desk.store.gauges()).commits_failed == 0


@pytest.mark.parametrize("works", [True, False])
async def test_a_lost_task_is_judged_by_the_session(desk: Desk, works: bool) -> None:
    desk.backend.keeps_tasks = False
    desk.backend.extraction_works = works
    await desk.say("q0", "a0")
    result = await desk.compacted()
    assert result.reason == ("commit_completed" if works else "commit_failed")
    desk.backend.extraction_works = True
    await desk.work(60)
    assert (await desk.store.local_history(somebody())).summary == "summary of archive_001"


async def test_compact_delivers_first_and_keeps_what_it_should(desk: Desk) -> None:
    for number in range(4):
        await desk.say(f"q{number}", f"a{number}", tokens=400)
    result = await desk.compacted(keep=3)
    assert (result.ok, result.compacted, result.reason) == (True, True, "commit_completed")
    assert (result.result.first_kept_entry_id, result.result.summary) == ("archive_001", "summary of archive_001")
    assert result.result.tokens_before == 1600 and 800 < result.result.tokens_after < 1100
    assert len(desk.backend.session(somebody()).live) == 4
    again = await desk.compacted(keep=3)
    assert (again.ok, again.compacted, again.reason) == (True, False, "commit_no_archive")


async def test_a_session_too_short_to_get_shorter_is_archived_and_not_called_compacted(desk: Desk) -> None:
    await desk.say("q0", "a0", tokens=20)
    result = await desk.compacted()
    assert (result.ok, result.compacted, result.reason) == (True, False, "commit_completed")
    assert (result.result.details.archived, result.result.tokens_before, result.result.tokens_after) == (True, 20, 20)


async def test_two_compacts_at_once_share_one_commit(desk: Desk) -> None:
    await desk.say("q", "a")
    first = await desk.store.compact(somebody(), 0, 1000)
    second = await desk.store.compact(somebody(), 0, 1000)
    assert [commit.id for commit in first] == [commit.id for commit in second]
    await desk.work(10)
    assert len(desk.backend.session(somebody()).archives) == 1


async def test_compact_of_an_unknown_session_says_so(desk: Desk) -> None:
    result = await desk.compacted(who=somebody("nobody"))
    assert (result.ok, result.compacted, result.reason) == (True, False, "session_not_found")


async def test_compact_does_not_wait_for_a_backend_that_is_away(desk: Desk) -> None:
    desk.backend.faults = [("before", refused())] * 50
    await desk.say("q", "a")
    result = await desk.compacted()
    assert (result.ok, result.compacted, result.reason) == (False, False, "commit_error")
    assert desk.clock.now - 1_000_000.0 < 20
    desk.backend.faults = []
    await desk.work(60)
    assert (await desk.store.local_history(somebody())).summary == "summary of archive_001"


async def test_a_failed_poll_is_no_time_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    works = desk.backend.commit_status
    trouble: list[BackendError] = [refused(), lost_before()]

    async def shaky(*args: object) -> object:
        if trouble:
            raise trouble.pop()
        return await works(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.backend, "commit_status", shaky)
    await desk.say("q", "a")
    assert (await desk.compacted()).reason == "commit_completed"


async def test_an_idle_session_is_archived_and_its_newest_messages_stay_in_sight(tmp_path: Path) -> None:
    desk = await open_desk(tmp_path, idle_seconds=600, keep_recent=2)
    for number in range(3):
        await desk.say(f"q{number}", f"a{number}")
    await desk.work(599)
    assert not [call for call in desk.backend.calls if call.startswith("commit ")]
    await desk.work(10)
    (archive,) = desk.backend.session(somebody()).archives
    assert len(archive.messages) == 6
    assert (await desk.store.local_history(somebody())).fingerprints == ("q0", "a0", "q1", "a1")
    await desk.work(5000)
    assert len(desk.backend.session(somebody()).archives) == 1
    await desk.store.aclose()


async def test_a_wish_to_remember_is_archived_at_once_but_not_too_often(desk: Desk) -> None:
    await desk.say("remember this", "yes", remember=True)
    await desk.work(5)
    assert len(desk.backend.session(somebody()).archives) == 1
    assert (await desk.store.local_history(somebody())).fingerprints == ()
    await desk.say("remember that", "yes", remember=True)
    await desk.work(30)
    assert len(desk.backend.session(somebody()).archives) == 1
    await desk.work(40)
    assert len(desk.backend.session(somebody()).archives) == 2


async def test_what_was_archived_early_is_cleared_under_pressure_without_another_commit(desk: Desk) -> None:
    for number in range(4):
        await desk.say(f"q{number}", tokens=100, remember=number == 3)
    await desk.work(5)
    assert (await desk.store.local_history(somebody())).fingerprints == ()
    await desk.say("q4", tokens=100)
    assert (await desk.store.local_history(somebody())).fingerprints == ("q0", "q1", "q2")


@pytest.mark.parametrize("kind", [SessionKind.CRON, SessionKind.SUBAGENT, SessionKind.HEARTBEAT])
async def test_automation_does_not_become_memory(desk: Desk, kind: SessionKind) -> None:
    who = somebody("job", kind=kind)
    for number in range(9):
        await desk.say(f"q{number}", who=who, tokens=100, remember=True)
    await desk.work(10_000)
    await EndSession(desk.store, desk.worker).run(who, SessionInput(1000), Deadline.after_ms(0))
    result = await desk.compacted(who=who)
    assert not [call for call in desk.backend.calls if call.startswith("commit ")]
    assert (result.compacted, result.result.details.archived) == (True, False)
    history = await desk.store.local_history(who)
    assert len(history.fingerprints) == 9 and len(history.unsummarised) == 9


async def test_a_conversation_is_remembered_although_a_heartbeat_came_last(desk: Desk) -> None:
    await desk.say("q", "a")
    await desk.say("beat", who=somebody(kind=SessionKind.HEARTBEAT))
    await desk.say("skipped", who=somebody(kind=SessionKind.HEARTBEAT), skipped=Reason.HEARTBEAT)
    await desk.work(700)
    assert len(desk.backend.session(somebody()).archives) == 1


async def test_the_end_of_a_cron_session_is_no_memory_whoever_ends_it(desk: Desk) -> None:
    await desk.say("q", who=somebody(kind=SessionKind.CRON))
    await EndSession(desk.store, desk.worker).run(somebody(), SessionInput(1000), Deadline.after_ms(0))
    await desk.work(700)
    assert desk.backend.session(somebody()).archives == []


async def test_automation_becomes_memory_where_a_setting_says_so(tmp_path: Path) -> None:
    desk = await open_desk(tmp_path, automation_memory=True)
    await desk.say("q", who=somebody("job", kind=SessionKind.CRON))
    await desk.work(700)
    assert len(desk.backend.session(somebody("job")).archives) == 1
    await desk.store.aclose()


async def test_the_end_of_a_session_archives_all_of_it(desk: Desk) -> None:
    for number in range(3):
        await desk.say(f"q{number}", f"a{number}")
    deadline = Deadline(0.0, lambda: 0.0)
    assert (await EndSession(desk.store, desk.worker).run(somebody(), SessionInput(1000), deadline)).reason == "ok"
    await desk.work(5)
    assert desk.backend.session(somebody()).live == []
    again = await EndSession(desk.store, desk.worker).run(somebody(), SessionInput(1000), deadline)
    assert again.reason == "commit_no_archive"


async def test_after_a_reset_nothing_of_the_old_epoch_shows(desk: Desk) -> None:
    await desk.say("q0", "a0")
    await desk.compacted()
    await desk.say("q1", "a1")
    deadline = Deadline(0.0, lambda: 0.0)
    await ResetSession(desk.store, desk.worker).run(somebody(), SessionInput(1000), deadline)
    fresh = await desk.store.local_history(somebody())
    assert (fresh.fingerprints, fresh.summary, fresh.epoch, fresh.resetting) == ((), "", 1, True)
    assert await desk.store.seen_fingerprints(somebody()) == ()
    await desk.say("q2", "a2")
    desk.backend.faults = [("none", None), ("before", refused(retry_after_s=9))]
    await desk.work(8)
    assert desk.backend.texts(somebody()) == ["q0", "a0", "q1", "a1"]
    await desk.work(10)
    assert [call for call in desk.backend.calls if "reset" in call] == ["commit keep=0 reset"] * 2
    session = desk.backend.session(somebody())
    assert [len(archive.messages) for archive in session.archives] == [2, 2] and len(session.live) == 2
    history = await desk.store.local_history(somebody())
    assert (history.fingerprints, history.summary, history.resetting) == ((), "", False)


@pytest.mark.parametrize("kind", [SessionKind.CHAT, SessionKind.CRON])
async def test_a_prompt_that_is_rebuilt_after_a_reset_holds_nothing_of_the_old_epoch(
    desk: Desk, kind: SessionKind
) -> None:
    """Not even where the backend must not archive what was said: there it stays live."""
    who = somebody(kind=kind)
    await desk.say("old question", "old answer", who=who)
    await desk.work()
    await desk.store.reset(who, 1000)
    await desk.work(600)
    asked = AssembleInput(messages=(), prompt=None, token_budget=1000)
    deadline = Deadline.after_ms(60_000)
    history = await Preflight(desk.backend, desk.store, 0.3).run(who, asked, deadline)
    assert "old" not in str(history.messages)


async def test_a_repeated_reset_begins_one_epoch(desk: Desk) -> None:
    await desk.say("q0")
    deadline = Deadline(0.0, lambda: 0.0)
    for _ in range(2):
        await ResetSession(desk.store, desk.worker).run(somebody(), SessionInput(1000), deadline)
    assert (await desk.store.local_history(somebody())).epoch == 1


async def test_a_session_left_by_a_dead_process_is_swept_at_the_start(desk: Desk) -> None:
    await desk.say("q0", "a0")
    await desk.work()
    await desk.say("job", who=somebody("job", kind=SessionKind.CRON))
    await desk.store.queue.sweep(lambda _: True)
    await desk.store.queue.sweep(lambda _: True)
    await desk.work(5)
    assert len(desk.backend.session(somebody()).archives) == 1
    assert (await desk.store.local_history(somebody())).fingerprints == ()
    assert desk.backend.session(somebody("job")).archives == []


async def test_the_first_turn_of_a_process_is_not_taken_for_one_that_was_left(desk: Desk) -> None:
    """The sweep begins when the worker does, and by then the first request may have been answered."""
    began = desk.clock.now
    await desk.work(1)
    await desk.say("q0", "a0")
    await desk.store.queue.sweep(lambda _: True, before=began)
    await desk.work(5)
    assert desk.backend.session(somebody()).archives == []
