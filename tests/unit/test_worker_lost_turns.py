"""A server that is killed while it writes a session's file anew has lost what it had: that is sent again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.identity import Identity
from app.store.work import TurnState
from tests.unit.desk import Desk, open_desk
from tests.unit.memory_backend import lost_before
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = await open_desk(tmp_path)
    yield desk
    await desk.store.aclose()


def killed_at_the_next_write(desk: Desk, keeps: int = 0) -> None:
    """Of the live messages only the first ``keeps`` survive."""

    def truncate(who: Identity) -> None:
        del desk.backend.session(who).live[keeps:]
        desk.backend.on_append = lambda _who: None

    desk.backend.on_append = truncate
    desk.backend.faults = [("before", lost_before())]


@pytest.mark.parametrize("keeps", [0, 1, 2, 3, 4])
async def test_what_was_delivered_and_is_gone_is_sent_again_in_order(desk: Desk, keeps: int) -> None:
    for number in range(3):
        await desk.say(f"q{number}", f"a{number}")
        await desk.work(1)
    killed_at_the_next_write(desk, keeps)
    await desk.say("q3", "a3")
    await desk.work(60)
    assert desk.backend.texts(somebody()) == [f"{who}{number}" for number in range(4) for who in "qa"]
    deliveries = (await desk.store.deliveries.page(None)).items
    assert {(each.state, each.error) for each in deliveries} == {(TurnState.DELIVERED, "")}


async def test_the_batches_before_of_the_same_turn_are_sent_again(desk: Desk) -> None:
    texts = [str(number) for number in range(250)]
    await desk.say("before")
    await desk.work(1)
    writes = []

    def truncate(who: Identity) -> None:
        writes.append(len(desk.backend.session(who).live))
        if len(writes) == 3:
            desk.backend.session(who).live.clear()
            desk.backend.faults = [("before", lost_before())]

    desk.backend.on_append = truncate
    await desk.say(*texts)
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["before", *texts]


async def test_what_is_archived_already_is_not_sent_again(desk: Desk) -> None:
    for number in range(2):
        await desk.say(f"q{number}", f"a{number}")
        await desk.work(1)
    desk.backend.instant = False  # the archive is not extracted yet, so its turns are still in the store
    await desk.store.compact(somebody(), 1, 1000)
    await desk.work(1)
    killed_at_the_next_write(desk)
    await desk.say("q2", "a2")
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["q0", "a0", "q1", "a1", "q2", "a2"]


async def test_what_a_commit_of_unknown_outcome_has_lost_is_sent_again(desk: Desk) -> None:
    """Killed while the messages that stay live are written anew: the archive stands, they are gone."""
    for number in range(3):
        await desk.say(f"q{number}", f"a{number}")
        await desk.work(1)
    commit = desk.backend.commit

    async def killed(who: Identity, *args: object, **kwargs: object) -> object:
        await commit(who, *args, **kwargs)  # type: ignore[arg-type]
        desk.backend.commit = commit  # type: ignore[method-assign]
        desk.backend.session(who).live.clear()
        raise lost_before()

    desk.backend.commit = killed  # type: ignore[method-assign, assignment]
    await desk.store.compact(somebody(), 2, 1000)
    await desk.work(60)
    assert desk.backend.texts(somebody()) == ["q0", "a0", "q1", "a1", "q2", "a2"]
    await desk.say("q3", "a3")
    await desk.work(60)
    assert desk.backend.texts(somebody())[-4:] == ["q2", "a2", "q3", "a3"]


async def test_a_commit_of_a_file_that_was_torn_holds_all_that_it_is_to_hold(desk: Desk) -> None:
    for number in range(3):
        await desk.say(f"q{number}", f"a{number}")
        await desk.work(1)
    commit = desk.backend.commit

    async def torn(who: Identity, *args: object, **kwargs: object) -> object:
        desk.backend.commit = commit  # type: ignore[method-assign]
        del desk.backend.session(who).live[1:]
        raise lost_before()

    desk.backend.commit = torn  # type: ignore[method-assign, assignment]
    await desk.store.compact(somebody(), 0, 1000)
    await desk.work(60)
    [archive] = desk.backend.session(somebody()).archives
    assert len(archive.messages) == 6 and desk.backend.session(somebody()).live == []


async def test_a_backend_that_does_not_find_what_it_has_doubles_it_once_and_no_more(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> frozenset[str]:
        return frozenset()

    await desk.say("q0")
    await desk.work(1)
    desk.backend.faults = [("before", lost_before())]
    monkeypatch.setattr(desk.backend, "arrived", nothing)
    await desk.say("q1")
    await desk.work(600)
    assert desk.backend.texts(somebody()) == ["q0", "q0", "q1"]
