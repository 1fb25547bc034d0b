"""How much undelivered text there is stays known while it is being counted and while turns are being written."""

import asyncio
from collections.abc import Mapping

import pytest

from app.core.identity import Tenant
from app.store.backlog import Backlog, Bounds

pytestmark = pytest.mark.anyio

ALICE, BOB = Tenant("acme", "alice"), Tenant("acme", "bob")


class Store:
    """What is on disk; a count reads it when it begins, and answers when it is let go."""

    def __init__(self) -> None:
        self.bytes: dict[Tenant, int] = {}
        self.goes_on = asyncio.Event()
        self.counting = asyncio.Event()
        self.goes_on.set()

    async def count(self) -> Mapping[Tenant, int]:
        read = dict(self.bytes)
        self.counting.set()
        await self.goes_on.wait()
        return read


async def test_a_turn_that_is_being_written_is_counted_although_the_store_does_not_have_it_yet() -> None:
    store = Store()
    backlog = Backlog(Bounds(100, 100), store.count)
    assert await backlog.take(ALICE, 60) is None
    assert await backlog.take(BOB, 60) is not None, "what does not fit is counted again, and the first is on its way"
    backlog.done(ALICE, 60, kept=True)
    store.bytes = {ALICE: 60}
    assert await backlog.take(BOB, 60) is not None
    assert await backlog.take(BOB, 40) is None


@pytest.mark.parametrize("kept", [True, False])
async def test_a_turn_that_is_written_during_a_count_is_not_forgotten(kept: bool) -> None:
    store = Store()
    backlog = Backlog(Bounds(100, 100), store.count)
    assert await backlog.take(ALICE, 60) is None
    store.goes_on.clear()
    store.counting.clear()
    asking = asyncio.create_task(backlog.take(BOB, 60))
    await store.counting.wait()
    backlog.done(ALICE, 60, kept=kept)
    store.goes_on.set()
    assert (await asking is None) is not kept


async def test_a_count_that_is_under_way_ends_before_the_store_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.backlog.TRUSTED_S", -1.0)
    store = Store()
    backlog = Backlog(Bounds(100, 100), store.count)
    await backlog.take(ALICE, 1)
    store.goes_on.clear()
    store.counting.clear()
    await backlog.take(ALICE, 1)
    await store.counting.wait()
    closing = asyncio.create_task(backlog.aclose())
    await asyncio.sleep(0)
    assert not closing.done(), "the database must not be closed under it"
    store.goes_on.set()
    await closing
