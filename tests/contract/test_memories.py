"""What every store of memories promises (`app.ports.MemoryStore`); see `tests.contract.subject` on joining."""

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.core.identity import Identity
from app.core.memories.memory import (
    Memory,
    MemoryChange,
    MemoryFilter,
    MemorySource,
    MemoryState,
    NewMemory,
    Sensitivity,
)
from app.core.memories.not_delivered import changed_while_waiting
from app.core.memories.paging import place_of
from app.core.recall.recall_filter import ANY, RecallFilter
from app.errors import Conflict, VersionConflict
from app.ports import BackendError, MemoryStore, Target
from app.text.dates import moment_of
from tests.contract.openviking import openviking
from tests.contract.subject import SUBJECTS, Subject, eventually, soon

pytestmark = pytest.mark.anyio

NUMBERS = count(1)


@pytest.fixture(params=[*sorted(SUBJECTS), "openviking"])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    plugin = {**SUBJECTS, "openviking": openviking}[request.param]
    async with plugin(tmp_path) as subject:
        yield subject


@pytest.fixture
def memories(subject: Subject) -> MemoryStore:
    if subject.memories is None:
        pytest.skip("keeps no memories one by one")
    return subject.memories


def new(subject: Subject, text: str, **fields: Any) -> NewMemory:
    number = next(NUMBERS)
    at = fields.pop("at", f"2026-03-{number % 28 + 1:02}T09:00:00.{number % 1000:03}Z")
    fields = {"category": "notes", **fields}
    return NewMemory(f"m_{subject.mark}{number}", text, at, MemorySource("api", at), **fields)


async def live(memories: MemoryStore, who: Identity, **wanted: Any) -> list[Memory]:
    return list(await memories.newest(who, MemoryFilter(**wanted), None, 200, soon()))


async def recalled(subject: Subject, who: Identity, query: str) -> str:
    """Everything that recall could show for a query."""
    hits = await subject.backend.find(who, query, Target.MEMORIES, 50, soon())
    return "\n".join(hit.text for hit in hits)


async def test_a_stored_memory_comes_back_as_it_is(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    text = "Release steps:\n\n- tag the commit\n- 发布到上海\n\n```\n# not a heading\n<!-- MEMORY_FIELDS -->\n```"
    asked = new(
        subject, text, category="entities", key="release", ttl_days=2.5, sensitivity=Sensitivity.HIGH, pinned=True
    )
    stored = await memories.store(who, asked, soon())
    memory = stored.memory
    assert stored.created and memory.id == asked.id and memory.text == text
    assert (memory.category, memory.key, memory.sensitivity, memory.pinned) == ("entities", "release", "high", True)
    assert (memory.created_at, memory.version, memory.state) == (asked.created_at, 1, MemoryState.LIVE) or (
        memory.state is MemoryState.EXPIRED  # its two days are long over
    )
    read = await memories.get(who, asked.id, soon())
    assert read is not None and read.memory == memory and read.history == ()


async def test_what_is_stored_is_found_in_other_sessions(subject: Subject, memories: MemoryStore) -> None:
    asked = new(subject, f"The staging password hint is {subject.mark} marmalade.")
    await memories.store(subject.who("one"), asked, soon())
    other = subject.who("two")
    found = await eventually(
        lambda: memories.search(other, "staging password hint", MemoryFilter(), 10, soon()), lambda f: bool(f)
    )
    assert found[0].memory.id == asked.id and 0 < found[0].score <= 1
    assert subject.mark in await recalled(subject, other, "what is the staging password hint?")


async def test_the_same_text_is_one_memory_and_is_confirmed(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    first = await memories.store(who, new(subject, "I drink green tea.", at="2026-03-01T09:00:00.000Z"), soon())
    again = await memories.store(who, new(subject, "i drink  green tea", at="2026-03-05T09:00:00.000Z"), soon())
    assert not again.created and again.memory.id == first.memory.id
    assert again.memory.last_confirmed_at == "2026-03-05T09:00:00.000Z" and again.memory.version == 1
    assert [one.id for one in await live(memories, who)] == [first.memory.id]


async def test_of_what_is_stored_again_the_higher_marks_count(subject: Subject, memories: MemoryStore) -> None:
    who, high = subject.who(), {"sensitivity": Sensitivity.HIGH, "has_asked_sensitivity": True}
    await memories.store(who, new(subject, "I drink green tea."), soon())
    again = await memories.store(who, new(subject, "I drink green tea.", confidence=1.0, **high), soon())
    assert (again.memory.confidence, again.memory.sensitivity) == (1.0, Sensitivity.HIGH)
    last = await memories.store(who, new(subject, "I drink green tea."), soon())
    assert (last.memory.confidence, last.memory.sensitivity) == (1.0, Sensitivity.HIGH)


async def test_the_same_key_with_another_text_supersedes(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    blue = await memories.store(who, new(subject, "The theme is blue.", key="theme"), soon())
    green = await memories.store(who, new(subject, "The theme is green.", key="theme"), soon())
    assert green.created and green.memory.id != blue.memory.id
    assert [one.id for one in await live(memories, who)] == [green.memory.id]
    gone = await live(memories, who, state=MemoryState.SUPERSEDED)
    assert [(one.id, one.text) for one in gone] == [(blue.memory.id, "The theme is blue.")]
    assert "blue" not in await recalled(subject, who, "which theme, blue or green?")
    other_key = await memories.store(who, new(subject, "The theme was blue.", key="old theme"), soon())
    assert {one.id for one in await live(memories, who)} == {green.memory.id, other_key.memory.id}


async def test_what_was_changed_while_it_waited_comes_with_its_history(subject: Subject, memories: MemoryStore) -> None:
    who, at = subject.who(), "2026-04-01T09:00:00.000Z"
    asked = changed_while_waiting(new(subject, "The key is red."), MemoryChange(text="The key is green."), at)
    memory = (await memories.store(who, asked, soon())).memory
    assert (memory.text, memory.version, memory.last_confirmed_at) == ("The key is green.", 2, at)
    read = await memories.get(who, asked.id, soon())
    assert read is not None and read.history == asked.earlier
    assert "red" not in await recalled(subject, who, "is the key red or green?")


async def test_storing_the_same_one_again_does_no_harm(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    asked = replace(new(subject, "Backups run at four."), promised=True)
    for _ in range(2):
        assert (await memories.store(who, asked, soon())).memory.id == asked.id
    assert [one.id for one in await live(memories, who)] == [asked.id]


async def test_a_promised_id_takes_the_place_of_the_same_text(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    first = await memories.store(who, new(subject, "Backups run at four."), soon())
    promised = replace(new(subject, "Backups run at four."), promised=True)
    await memories.store(who, promised, soon())
    assert [one.id for one in await live(memories, who)] == [promised.id]
    old = await memories.get(who, first.memory.id, soon())
    assert old is not None and old.memory.state is MemoryState.SUPERSEDED


async def test_the_newest_come_first_and_pages_stay_put(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    asked = [new(subject, f"Fact number {n}.", at=f"2026-03-{n + 1:02}T09:00:00.000Z") for n in range(9)]
    for one in asked:
        await memories.store(who, one, soon())
    order = [one.id for one in reversed(asked)]
    page = list(await memories.newest(who, MemoryFilter(), None, 4, soon()))
    assert [one.id for one in page] == order[:4]
    await memories.store(who, new(subject, "Said meanwhile.", at="2026-04-01T09:00:00.000Z"), soon())
    await memories.forget(who, order[0], soon())
    rest = await memories.newest(who, MemoryFilter(), place_of(page[-1]), 50, soon())
    assert [one.id for one in rest] == order[4:]


async def test_equal_times_make_no_gap_between_pages(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    at = "2026-03-04T09:00:00.000Z"
    ids = {(await memories.store(who, new(subject, f"Thing {n}.", at=at), soon())).memory.id for n in range(5)}
    seen: list[str] = []
    after = None
    while page := await memories.newest(who, MemoryFilter(), after, 2, soon()):
        seen += [one.id for one in page]
        after = place_of(page[-1])
    assert sorted(seen) == sorted(ids)


async def test_filters(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    plain = await memories.store(who, new(subject, "Plain.", at="2026-03-02T09:00:00.000Z"), soon())
    pinned = await memories.store(
        who, new(subject, "Pinned.", at="2026-03-04T09:00:00.000Z", pinned=True, category="preferences"), soon()
    )
    peers = new(subject, "A peer's.", at="2026-03-06T09:00:00.000Z", peer="bot")
    peers = replace(peers, source=MemorySource("api", peers.created_at, "talk 7"))
    await memories.store(who, peers, soon())
    over = await memories.store(who, new(subject, "Over.", at="2020-01-01T09:00:00.000Z", ttl_days=1), soon())

    async def ids(**wanted: Any) -> list[str]:
        return [one.id for one in await live(memories, who, **wanted)]

    assert await ids() == [peers.id, pinned.memory.id, plain.memory.id]
    assert await ids(category="preferences") == await ids(pinned=True) == [pinned.memory.id]
    assert await ids(peer="bot") == await ids(session="talk 7") == [peers.id]
    assert await ids(visible_to=frozenset()) == [pinned.memory.id, plain.memory.id]
    assert await ids(visible_to=frozenset({"bot"})) == await ids()
    assert await ids(since="2026-03-03T00:00:00.000Z", until="2026-03-05T00:00:00.000Z") == [pinned.memory.id]
    assert await ids(state=MemoryState.EXPIRED) == [over.memory.id]
    assert await ids(session="talk") == []
    found = await memories.search(who, "over", MemoryFilter(state=MemoryState.EXPIRED), 5, soon())
    assert [one.memory.id for one in found] == [over.memory.id]


async def test_a_change_makes_a_version_and_the_old_text_is_found_no_more(
    subject: Subject, memories: MemoryStore
) -> None:
    who = subject.who()
    stored = (await memories.store(who, new(subject, "The printer stands in Antwerp."), soon())).memory
    changed = await memories.change(who, stored.id, MemoryChange(text="The printer stands in Ghent."), 1, soon())
    assert changed is not None and (changed.id, changed.version) == (stored.id, 2)
    assert changed.text == "The printer stands in Ghent." and changed.created_at == stored.created_at
    read = await memories.get(who, stored.id, soon())
    assert read is not None and read.memory == changed
    assert [(one.version, one.text, one.reason) for one in read.history] == [
        (1, "The printer stands in Antwerp.", "changed")
    ]
    text = await recalled(subject, who, "where does the printer stand, Antwerp or Ghent?")
    assert "Ghent" in text and "Antwerp" not in text
    found = await memories.search(who, "printer Antwerp", MemoryFilter(), 10, soon())
    assert all("Antwerp" not in one.memory.text for one in found)


async def test_each_field_can_change_alone(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    stored = (await memories.store(who, new(subject, "The gate code is 4711."), soon())).memory
    changed = await memories.change(
        who, stored.id, MemoryChange(category="entities", pinned=True, sensitivity=Sensitivity.HIGH), None, soon()
    )
    assert changed is not None and changed.text == stored.text
    assert (changed.category, changed.pinned, changed.sensitivity) == ("entities", True, "high")
    assert [one.id for one in await live(memories, who, category="entities")] == [stored.id]
    timed = await memories.change(who, stored.id, MemoryChange(ttl_days=0.5), None, soon())
    assert timed is not None and timed.expires_at is not None and timed.state is MemoryState.LIVE
    for_good = await memories.change(who, stored.id, MemoryChange(ends_ttl=True), None, soon())
    assert for_good is not None and for_good.expires_at is None
    same = await memories.change(who, stored.id, MemoryChange(pinned=True), for_good.version, soon())
    assert same is not None and same.version == for_good.version


async def test_a_stale_version_changes_nothing(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    stored = (await memories.store(who, new(subject, "Lunch is at noon."), soon())).memory
    await memories.change(who, stored.id, MemoryChange(text="Lunch is at one."), 1, soon())
    with pytest.raises(VersionConflict):
        await memories.change(who, stored.id, MemoryChange(text="Lunch is at two."), 1, soon())
    read = await memories.get(who, stored.id, soon())
    assert read is not None and read.memory.text == "Lunch is at one."


async def test_of_two_writers_one_wins_and_nothing_is_double(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    stored = (await memories.store(who, new(subject, "Version zero."), soon())).memory
    won: list[str] = []
    ids: set[str] = set()

    async def change(number: int) -> None:
        text = f"Version of writer {number}."
        try:
            await memories.change(who, stored.id, MemoryChange(text=text), 1, soon())
        except VersionConflict:
            return
        won.append(text)

    async def store() -> None:
        ids.add((await memories.store(who, new(subject, "Said by all."), soon())).memory.id)

    async with anyio.create_task_group() as writers:
        for number in range(8):
            writers.start_soon(change, number)
            writers.start_soon(store)
    assert len(won) == 1 and len(ids) == 1
    assert {one.text for one in await live(memories, who)} == {won[0], "Said by all."}


async def test_a_forgotten_memory_is_gone(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    asked = new(subject, "The safe opens with 8213.")
    stored = (await memories.store(who, asked, soon())).memory
    receipt = await memories.forget(who, stored.id, soon())
    assert receipt is not None and not receipt.dry_run and receipt.removed["memories"] == 1
    assert [(one.id, one.category) for one in receipt.selected] == [(stored.id, "notes")]
    assert await memories.get(who, stored.id, soon()) is None
    assert await memories.forget(who, stored.id, soon()) is None
    assert await memories.change(who, stored.id, MemoryChange(text="x"), None, soon()) is None
    assert await live(memories, who) == [] and await live(memories, who, state=None) == []
    assert "8213" not in await recalled(subject, who, "what opens the safe?")
    with pytest.raises(BackendError) as refused:
        await memories.store(who, replace(asked, promised=True), soon())
    assert refused.value.not_found
    again = await memories.store(who, new(subject, "The safe opens with 8213."), soon())
    assert again.created and again.memory.id != stored.id


@pytest.mark.parametrize("how", ["changed", "superseded", "forgotten"])
async def test_what_was_said_does_not_give_the_old_text_away(subject: Subject, memories: MemoryStore, how: str) -> None:
    who, key = subject.who("one"), "home"
    said = subject.turn("By the way, I live in Antwerp. The weather is mild here.", "Noted, you live in Antwerp.")
    await subject.backend.append(who, said, soon())
    later = "2026-05-01T09:00:00.000Z"
    stored = (await memories.store(who, new(subject, "I live in Antwerp.", key=key, at=later), soon())).memory
    if how == "changed":
        await memories.change(who, stored.id, MemoryChange(text="I live in Ghent."), None, soon())
    elif how == "superseded":
        await memories.store(who, new(subject, "I live in Ghent.", key=key, at=later), soon())
    else:
        await memories.forget(who, stored.id, soon())
    assert "Antwerp" not in await recalled(subject, subject.who("two"), "Do I live in Antwerp?")
    assert "Antwerp" not in str(await memories.search(who, "live in Antwerp", MemoryFilter(), 20, soon()))


async def test_what_was_said_is_listed_as_events_only(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    await subject.backend.append(who, subject.turn("The ferry leaves at seven.", "Good to know."), soon())
    stored = (await memories.store(who, new(subject, "Ferries are blue."), soon())).memory
    assert [one.id for one in await live(memories, who)] == [stored.id]
    events = await live(memories, who, category="events")
    for event in events:
        read = await memories.get(who, event.id, soon())
        assert read is not None and read.memory.text == event.text and event.sources[0].kind == "turn"
        with pytest.raises(Conflict):
            await memories.change(who, event.id, MemoryChange(text="x"), None, soon())


async def test_tenants_are_apart(subject: Subject, memories: MemoryStore) -> None:
    alice, bob = subject.who(), subject.who(user="bob")
    stored = (await memories.store(alice, new(subject, "Alice likes olives."), soon())).memory
    assert await memories.get(bob, stored.id, soon()) is None
    assert await memories.forget(bob, stored.id, soon()) is None
    assert await memories.change(bob, stored.id, MemoryChange(text="x"), None, soon()) is None
    assert stored.id not in {one.id for one in await live(memories, bob, state=None)}
    assert not await memories.search(bob, "olives", MemoryFilter(), 10, soon())
    records = await memories.export(alice, None, 100, soon())
    assert len(await memories.take_in(bob, records, soon())) == len(records)
    copy = await memories.get(bob, stored.id, soon())
    assert copy is not None and copy.memory.text == "Alice likes olives."
    await memories.forget(bob, stored.id, soon())
    assert await memories.get(alice, stored.id, soon()) is not None


async def test_an_export_taken_in_is_the_same(subject: Subject, memories: MemoryStore) -> None:
    alice, bob = subject.who(), subject.who(user="bob")
    first = (await memories.store(alice, new(subject, "Tea at four.", key="tea"), soon())).memory
    await memories.store(alice, new(subject, "Tea at five.", key="tea", ttl_days=40_000), soon())
    other = (await memories.store(alice, new(subject, "Line one.\n\nLine two.", peer="bot"), soon())).memory
    await memories.change(alice, other.id, MemoryChange(text="Line one.\nLine three.", pinned=True), None, soon())
    records = await memories.export(alice, None, 100, soon())
    assert {one.memory.id for one in records} >= {first.id, other.id}
    taken_in = await memories.take_in(bob, [*records, *records[:1]], soon())
    assert sorted(taken_in) == sorted(one.memory.id for one in records)
    assert list(await memories.take_in(bob, records, soon())) == []
    taken = await memories.export(bob, None, 100, soon())
    plain = [replace(one, memory=replace(one.memory, uri="")) for one in records]
    assert [replace(one, memory=replace(one.memory, uri="")) for one in taken] == plain


async def test_what_is_taken_in_after_it_was_forgotten_is_a_new_memory(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    stored = (await memories.store(who, new(subject, "Tea at four.", key="tea"), soon())).memory
    records = await memories.export(who, None, 100, soon())
    await memories.forget(who, stored.id, soon())
    (again,) = await memories.take_in(who, records, soon())
    assert again != stored.id and await memories.get(who, stored.id, soon()) is None
    copy = await memories.get(who, again, soon())
    assert copy is not None and replace(copy.memory, id=stored.id, uri=stored.uri) == stored
    assert "Tea at four" in await recalled(subject, who, "When is tea?")
    assert list(await memories.take_in(who, records, soon())) == [], "once"


async def test_unknown_users_have_nothing(subject: Subject, memories: MemoryStore) -> None:
    nobody = subject.who(user="bob")
    assert list(await memories.newest(nobody, MemoryFilter(state=None), None, 5, soon())) == []
    assert list(await memories.search(nobody, "anything", MemoryFilter(), 5, soon())) == []
    assert list(await memories.export(nobody, None, 5, soon())) == []
    assert await memories.get(nobody, "m_none", soon()) is None


async def test_what_a_search_finds_is_known_by_its_id(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    stored = (await memories.store(who, new(subject, "Mia likes green tea."), soon())).memory
    hits = await subject.backend.find(who, "green tea", Target.MEMORIES, 5, soon())
    uris = [hit.uri for hit in hits if "green tea" in hit.text]
    assert uris and await memories.ids(who, [*uris, f"{uris[0]}-gone"], soon()) == dict.fromkeys(uris, stored.id)
    assert await memories.ids(subject.who(user="bob"), uris, soon()) == {}


async def test_recall_keeps_to_categories_and_a_period(subject: Subject, memories: MemoryStore) -> None:
    who = subject.who()
    taste = new(subject, f"Mia likes green tea {subject.mark}.", category="preferences", at="2026-03-05T09:00:00.000Z")
    shop = new(subject, f"Green tea is sold in the harbour {subject.mark}.", at="2026-03-10T09:00:00.000Z")
    for one in (taste, shop):
        await memories.store(who, one, soon())

    async def found(only: RecallFilter, limit: int = 20) -> set[str]:
        hits = await subject.backend.find(who, f"green tea {subject.mark}", Target.MEMORIES, limit, soon(), only)
        return {one.category for one in (taste, shop) if any(one.text in hit.text for hit in hits)}

    both, day = {"preferences", "notes"}, moment_of("2026-03-07")
    assert await found(ANY) == both
    assert await found(RecallFilter(categories=frozenset({"preferences"}))) == {"preferences"}
    assert await found(RecallFilter(categories=frozenset({"notes"})), limit=1) == {"notes"}
    assert await found(RecallFilter(excluded=frozenset({"preferences", "events"}))) == {"notes"}
    assert await found(RecallFilter(since=day)) == {"notes"}
    assert await found(RecallFilter(until=day)) == {"preferences"}
    assert await found(RecallFilter(since=moment_of("2026-03-01"), until=moment_of("2026-03-31"))) == both
    assert await found(RecallFilter(categories=frozenset())) == set()
    assert await found(RecallFilter(since=moment_of("2026-03-31"), until=moment_of("2026-03-01"))) == set()
