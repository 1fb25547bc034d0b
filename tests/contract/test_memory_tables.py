"""What the store keeps of memories, on both databases: those that wait for the backend, and the ledger."""

from dataclasses import replace

import anyio
import pytest

from app.core.identity import Tenant
from app.core.memories.memory import MemorySource, NewMemory
from app.core.memories.paging import Place
from app.errors import OutboxFull
from app.memory_ports import LedgerEntry
from app.store.turns import SqlTurnStore
from tests.contract.conftest import OpenStore

pytestmark = pytest.mark.anyio

ALICE, BOB = Tenant("acme", "alice"), Tenant("acme", "bob")


def new(number: int, text: str = "", **fields: object) -> NewMemory:
    at = f"2026-03-04T09:00:{number:02}.000Z"
    made = NewMemory(f"m_{number}", text or f"Fact {number}.", at, MemorySource("api", at), "notes")
    return replace(made, **fields)  # type: ignore[arg-type]


def entry(number: int, **fields: object) -> LedgerEntry:
    made = LedgerEntry(f"m_{number}", f"viking://x/{number}", "h", "live", f"2026-03-04T09:00:{number:02}.000Z")
    return replace(made, **fields)  # type: ignore[arg-type]


async def test_what_waits_comes_back_in_order_and_by_tenant(store: SqlTurnStore) -> None:
    waiting = store.waiting
    first, second = new(1, "发布 😀 in \u2028 lines", key="k", peer="bot"), new(2, ttl_days=0.5, pinned=True)
    for one in (first, second):
        assert (await waiting.put(ALICE, one)).created
    await waiting.put(BOB, replace(first, text="Bob's."))
    assert tuple(await waiting.of(ALICE)) == (first, second)
    assert set(await waiting.tenants()) == {ALICE, BOB}
    assert await waiting.remove(ALICE, first.id) and not await waiting.remove(ALICE, first.id)
    assert [one.text for one in await waiting.of(BOB)] == ["Bob's."]


async def test_the_same_text_waits_once(store: SqlTurnStore) -> None:
    stored = await store.waiting.put(ALICE, new(1, "Tea at four."))
    again = await store.waiting.put(ALICE, new(2, "tea  at four"))
    assert not again.created and again.memory.id == stored.memory.id
    assert (await store.waiting.put(ALICE, new(3, "Tea at four.", peer="bot"))).created
    assert len(await store.waiting.of(ALICE)) == 2


async def test_what_the_backend_refuses_stays_and_is_not_sent_again(store: SqlTurnStore) -> None:
    await store.waiting.put(ALICE, new(1))
    await store.waiting.refuse(ALICE, "m_1", "400 no")
    assert await store.waiting.to_deliver(ALICE) == () and len(await store.waiting.of(ALICE)) == 1
    assert await store.waiting.tenants() == []


async def test_no_more_waits_than_may(opened: OpenStore) -> None:
    store = await opened(max_pending_bytes=2_000)
    for number in range(3):
        await store.waiting.put(ALICE, new(number, "x" * 300 + str(number)))
    with pytest.raises(OutboxFull):
        await store.waiting.put(ALICE, new(9, "x" * 1_000))
    assert len(await store.waiting.of(ALICE)) == 3


async def test_changes_are_counted_for_every_process(opened: OpenStore) -> None:
    one, other = await opened(), await opened()

    async def change() -> None:
        for _ in range(5):
            await one.waiting.changed(ALICE)

    async with anyio.create_task_group() as writers:
        for _ in range(3):
            writers.start_soon(change)
    assert (await other.waiting.news(ALICE)).version == 15
    assert (await other.waiting.news(BOB)).version == 0


async def test_the_ledger_gives_back_what_was_put(store: SqlTurnStore) -> None:
    ledger = store.ledger
    made = entry(1, key="k", fields={"pinned": True, "text": "发布\x00"}, history=({"version": 1},))
    assert await ledger.put(ALICE, made)
    assert await ledger.by_id(ALICE, "m_1") == made and await ledger.by_id(BOB, "m_1") is None
    assert await ledger.by_uri(ALICE, [made.uri, "viking://none"]) == {made.uri: made}
    changed = replace(made, version=2, state="superseded")
    assert await ledger.put(ALICE, changed) and await ledger.by_id(ALICE, "m_1") == changed
    assert await ledger.remove(ALICE, "m_1") and not await ledger.remove(ALICE, "m_1")


async def test_of_two_writers_of_an_entry_one_wins(store: SqlTurnStore) -> None:
    won: list[int] = []

    async def write(number: int, if_version: int) -> None:
        if await store.ledger.put(ALICE, entry(1, uri=f"viking://{number}", version=if_version + 1), if_version):
            won.append(number)

    for version in (0, 1):
        won.clear()
        async with anyio.create_task_group() as writers:
            for number in range(6):
                writers.start_soon(write, number, version)
        assert len(won) == 1
        found = await store.ledger.by_id(ALICE, "m_1")
        assert found is not None and (found.uri, found.version) == (f"viking://{won[0]}", version + 1)


async def test_the_ledger_is_paged_newest_first(store: SqlTurnStore) -> None:
    made = [entry(number) for number in range(5)]
    made.append(replace(entry(9), created_at=made[4].created_at))
    for one in made:
        await store.ledger.put(ALICE, one)
    order = [one.memory_id for one in await store.ledger.entries(ALICE)]
    assert order == ["m_9", "m_4", "m_3", "m_2", "m_1", "m_0"]
    page = await store.ledger.entries(ALICE, Place(made[4].created_at, "m_9"), 2)
    assert [one.memory_id for one in page] == ["m_4", "m_3"]
