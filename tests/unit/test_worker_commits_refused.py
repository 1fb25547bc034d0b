"""Commits that go nowhere: refused for good, of a session that vanished, or asked of another backend."""

import pytest

from app.core.reasons import Reason
from app.ports import BackendError, CommitState
from tests.unit.desk import Desk
from tests.unit.memory_backend import MemoryBackend, rejected
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio

MONTH_S = 31 * 86_400.0


def gone() -> BackendError:
    return BackendError(Reason.SESSION_NOT_FOUND, "404 no such session", retryable=False, not_found=True)


def commits_asked(desk: Desk) -> int:
    return sum(call.startswith("commit ") for call in desk.backend.calls)


async def refuse_commits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object, **__: object) -> object:
        desk.backend.calls.append("commit refused")
        assert commits_asked(desk) < 500
        raise rejected()

    monkeypatch.setattr(desk.backend, "commit", refuse)


@pytest.mark.parametrize("remember", [False, True])
async def test_an_idle_commit_that_is_refused_is_tried_ever_more_seldom(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, remember: bool
) -> None:
    await desk.say("q0", "a0", remember=remember)
    with monkeypatch.context() as patched:
        await refuse_commits(desk, patched)
        await desk.work(610)
        assert 1 <= commits_asked(desk) <= 12
        asked = commits_asked(desk)
        await desk.work(86_400)
        assert commits_asked(desk) - asked <= 24 * 12
        assert len(await desk.store.commits(range(1, 1000))) <= 8
    await desk.work(1200)
    assert len(desk.backend.session(somebody()).archives) == 1


async def test_turns_do_not_shorten_the_wait_after_a_refusal(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await refuse_commits(desk, monkeypatch)
    for number in range(60):
        await desk.say(f"q{number}", tokens=100)
        await desk.work(1)
    assert commits_asked(desk) <= 8
    assert len(desk.backend.texts(somebody())) == 60


async def test_whoever_asks_does_not_wait_for_the_end_of_a_back_off(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.say("q0", "a0", remember=True)
    with monkeypatch.context() as patched:
        await refuse_commits(desk, patched)
        await desk.work(3600)
    assert (await desk.compacted()).reason == "commit_completed"


@pytest.mark.parametrize("keeps_tasks", [True, False])
async def test_the_commit_of_a_session_that_vanished_is_closed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, keeps_tasks: bool
) -> None:
    desk.backend.instant = False
    desk.backend.keeps_tasks = keeps_tasks
    await desk.say("q0", "a0")
    await desk.store.end(somebody(), 1000)
    await desk.work(1)

    async def vanished(*_: object) -> object:
        desk.backend.calls.append("looked")
        raise gone()

    monkeypatch.setattr(desk.backend, "history", vanished)
    if keeps_tasks:
        monkeypatch.setattr(desk.backend, "commit_status", vanished)
    answer = await desk.compacted()
    assert (answer.ok, answer.reason) == (True, "session_not_found")
    looked = desk.backend.calls.count("looked")
    await desk.work(86_400)
    assert desk.backend.calls.count("looked") == looked
    desk.clock.now += MONTH_S
    while await desk.store.forget_old():
        pass
    assert not (await desk.store.local_history(somebody())).known


async def test_a_failed_archive_of_a_session_that_vanished_is_given_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.backend.extraction_works = False
    await desk.say("q0", "a0")
    await desk.compacted()

    async def vanished(*_: object) -> object:
        desk.backend.calls.append("asked again")
        raise gone()

    monkeypatch.setattr(desk.backend, "re_extract", vanished)
    await desk.work(86_400)
    assert desk.backend.calls.count("asked again") == 1
    assert (await desk.store.gauges()).commits_failed == 0


async def moved(desk: Desk) -> MemoryBackend:
    """The desk with another backend, which has nothing of the sessions yet."""
    other = MemoryBackend()
    other.place = "memory elsewhere"
    desk.work_with(other)
    return other


async def test_a_task_of_another_backend_is_not_asked_for(desk: Desk) -> None:
    desk.backend.instant = False
    await desk.say("q0", "a0")
    await desk.store.end(somebody(), 1000)
    await desk.work(1)
    other = await moved(desk)
    await desk.say("q1", "a1")
    await desk.work(5)
    assert "commit_status" not in other.calls
    answer = await desk.compacted(keep=2)
    assert (answer.ok, answer.reason) == (True, "commit_no_archive")
    assert "another backend" in answer.result.details.error
    assert len((await desk.store.local_history(somebody())).unsummarised) == 2


async def test_a_backend_that_only_changed_its_address_is_recognised_by_the_session(desk: Desk) -> None:
    await desk.say("q0", "a0")
    desk.backend.instant = False
    await desk.store.end(somebody(), 1000)
    await desk.work(1)
    desk.backend.place = "memory under another name"
    desk.work_with(desk.backend)
    await desk.work(20)
    assert (await desk.store.gauges()).commits_running == 1
    desk.backend.finish()
    await desk.work(20)
    assert (await desk.store.local_history(somebody())).summary == "summary of archive_001"


async def test_a_failed_archive_of_another_backend_is_not_made_from_what_has_its_name(desk: Desk) -> None:
    desk.backend.extraction_works = False
    await desk.say("q0", "a0")
    await desk.compacted()
    other = await moved(desk)
    await desk.say("q1", "a1")
    await desk.work(86_400)
    assert "re_extract" not in other.calls
    assert (await desk.store.gauges()).commits_failed == 0


async def test_a_failed_archive_is_tried_again_under_another_address(desk: Desk) -> None:
    desk.backend.extraction_works = False
    await desk.say("q0", "a0")
    await desk.compacted()
    desk.backend.place = "memory under another name"
    desk.work_with(desk.backend)
    desk.backend.extraction_works = True
    await desk.work(3600)
    assert desk.backend.session(somebody()).archives[0].state is CommitState.COMPLETED
