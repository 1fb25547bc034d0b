"""What the store keeps of memories, on both databases: those that wait for the backend, and the ledger."""

from dataclasses import replace
from itertools import count
from typing import Any

import anyio
import pytest

from app.core.identity import Tenant
from app.core.memories.memory import MemoryChange, MemorySource, MemoryVersion, NewMemory
from app.core.memories.not_delivered import changed_while_waiting
from app.core.memories.paging import Place
from app.errors import OutboxFull
from app.ports import LedgerEntry, LedgerRows
from app.store.connections import Database
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


async def test_what_waits_can_be_changed_and_is_then_delivered_as_it_is(store: SqlTurnStore) -> None:
    waiting, first = store.waiting, new(1, "Tea at four.")
    await waiting.put(ALICE, first)
    at = "2026-03-05T09:00:00.000Z"
    change = MemoryChange(text="Tea at five.", pinned=True)
    changed = await waiting.change(ALICE, "m_1", lambda one: changed_while_waiting(one, change, at))
    assert changed is not None and (changed.text, changed.pinned, changed.version) == ("Tea at five.", True, 2)
    assert changed.earlier == (MemoryVersion(1, "Tea at four.", at, "changed"),)
    assert tuple(await waiting.of(ALICE)) == (changed,)
    assert not await waiting.delivered(ALICE, first), "it was changed while it was delivered"
    assert (await waiting.put(ALICE, new(2, "Tea at five."))).memory.id == "m_1"
    assert await waiting.change(BOB, "m_1", lambda one: one) is None
    assert await waiting.delivered(ALICE, changed) and await waiting.change(ALICE, "m_1", lambda one: one) is None


async def test_what_the_backend_refuses_stays_and_is_not_sent_again(store: SqlTurnStore) -> None:
    await store.waiting.put(ALICE, new(1))
    await store.waiting.refuse(ALICE, "m_1", "400 no")
    assert await store.waiting.to_deliver(ALICE) == () and len(await store.waiting.of(ALICE)) == 1
    assert await store.waiting.tenants() == []


async def test_no_more_waits_than_may(opened: OpenStore) -> None:
    store = await opened(max_pending_bytes=2_500)
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


async def put(store: SqlTurnStore, *entries: LedgerEntry, tenant: Tenant = ALICE) -> None:
    def write(rows: LedgerRows) -> None:
        for one in entries:
            rows.put(one)

    await store.ledger.changing(tenant, write)


async def test_the_ledger_gives_back_what_was_put(store: SqlTurnStore) -> None:
    ledger = store.ledger
    made = entry(1, key="k", fields={"pinned": True, "text": "发布\x00"}, history=({"version": 1},), stamp="s")
    await put(store, made, replace(entry(2), uri=made.uri))
    assert await ledger.by_id(ALICE, "m_1") == made and await ledger.by_id(BOB, "m_1") is None
    assert await ledger.by_uri(ALICE, [made.uri, "viking://none"]) == {
        made.uri: [made, replace(entry(2), uri=made.uri)]
    }
    changed = replace(made, version=2, state="superseded")
    await put(store, changed)
    assert await ledger.by_id(ALICE, "m_1") == changed
    await ledger.changing(ALICE, lambda rows: rows.remove("m_1"))
    assert [one.memory_id for one in await ledger.entries(ALICE)] == ["m_2"]


async def test_the_ledger_is_searched_by_text_key_and_place(store: SqlTurnStore) -> None:
    await put(store, entry(1, key="k", text_hash="x"), entry(2, key="k"), entry(3, text_hash="x"))
    await put(store, entry(4, key="k", text_hash="x"), tenant=BOB)

    def look(rows: LedgerRows) -> list[list[str]]:
        return [
            [one.memory_id for one in found] for found in (rows.saying("x"), rows.named("k"), rows.at(entry(2).uri))
        ]

    assert await store.ledger.changing(ALICE, look) == [["m_1", "m_3"], ["m_1", "m_2"], ["m_2"]]
    places = await store.ledger.places(ALICE)
    assert {(one.uri, one.memory_id, one.version) for one in places} == {(entry(n).uri, f"m_{n}", 1) for n in (1, 2, 3)}


async def test_the_ledger_knows_what_is_not_as_the_backend_has_it(store: SqlTurnStore) -> None:
    await put(store, entry(1), entry(2, plain=False), entry(3, plain=False, settled=False))
    assert [one.memory_id for one in await store.ledger.notable(ALICE)] == ["m_2", "m_3"]
    assert await store.ledger.unsettled() == [ALICE]
    await put(store, entry(3, plain=False))
    assert await store.ledger.unsettled() == []


async def test_a_change_of_the_ledger_is_counted_and_one_that_fails_leaves_nothing(store: SqlTurnStore) -> None:
    before = await store.ledger.version(ALICE)
    await put(store, entry(1))
    assert await store.ledger.version(ALICE) == (await store.waiting.news(ALICE)).version == before + 1

    def fail(rows: LedgerRows) -> None:
        rows.put(entry(2))
        raise LookupError

    with pytest.raises(LookupError):
        await store.ledger.changing(ALICE, fail)
    assert await store.ledger.by_id(ALICE, "m_2") is None


async def test_writers_of_one_tenant_come_one_after_the_other(opened: OpenStore) -> None:
    stores = [await opened(), await opened()]

    numbers = count(1)

    def add(rows: LedgerRows) -> None:
        if not rows.saying("same"):
            rows.put(entry(next(numbers), text_hash="same"))

    async with anyio.create_task_group() as writers:
        for writer in range(8):
            writers.start_soon(stores[writer % 2].ledger.changing, ALICE, add)
    assert len(await stores[0].ledger.entries(ALICE)) == 1


async def test_the_ledger_is_listed_by_state(store: SqlTurnStore) -> None:
    await put(store, entry(1), entry(2, state="superseded"), entry(3, state="forgotten"))
    found = await store.ledger.entries(ALICE, states=("live", "superseded"))
    assert [one.memory_id for one in found] == ["m_2", "m_1"]


async def test_the_ledger_is_paged_newest_first(store: SqlTurnStore) -> None:
    made = [entry(number) for number in range(5)]
    made.append(replace(entry(9), created_at=made[4].created_at))
    await put(store, *made)
    order = [one.memory_id for one in await store.ledger.entries(ALICE)]
    assert order == ["m_9", "m_4", "m_3", "m_2", "m_1", "m_0"]
    page = await store.ledger.entries(ALICE, Place(made[4].created_at, "m_9"), 2)
    assert [one.memory_id for one in page] == ["m_4", "m_3"]


async def test_what_nobody_changed_is_not_read_again(
    opened: OpenStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = await opened(), await opened()
    reads: list[object] = []
    read = Database.read

    async def counted(self: Database, work: Any, *args: Any, **named: Any) -> Any:
        reads.append(work)
        return await read(self, work, *args, **named)

    monkeypatch.setattr(Database, "read", counted)

    async def asked() -> tuple[int, int, int]:
        """What is known of Alice's memories, and how often the database was asked for it."""
        reads.clear()
        news, version = await store.waiting.news(ALICE), await store.ledger.version(ALICE)
        return len(news.waiting), version, len(reads)

    each_time = 0 if url.startswith("sqlite") else 2
    assert await asked() == (0, 0, 2)
    assert await asked() == (0, 0, each_time)
    await store.waiting.put(ALICE, new(1))  # by this process, another tenant's as well
    assert (await asked())[::2] == (1, 2)
    await other.waiting.put(ALICE, new(2))
    await other.waiting.changed(ALICE)
    waiting, version, times = await asked()
    assert (waiting, times) == (2, 2) and version > 0
    assert await asked() == (2, version, each_time)
