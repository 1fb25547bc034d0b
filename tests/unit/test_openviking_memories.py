"""Memories on OpenViking where it differs from a backend of our own: its files, its extraction, its outages."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.memories.memory import Memory, MemoryChange, MemoryFilter, MemorySource, MemoryState, NewMemory
from app.core.memories.withholding import Withholding
from app.errors import VersionConflict
from app.openviking import ledger_changes, ledger_sync
from app.openviking.ledger_entries import file_of, memory_of
from app.ports import Target
from tests.contract.openviking import FakeOpenViking, subject_on
from tests.contract.subject import Subject, soon

pytestmark = pytest.mark.anyio

HOME = "viking://user/alice/memories"
PROFILE = f"{HOME}/profile.md"
NUMBERS = count(1)


@pytest.fixture
def server() -> FakeOpenViking:
    return FakeOpenViking()


@pytest.fixture
async def subject(server: FakeOpenViking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Subject]:
    monkeypatch.setattr(ledger_sync, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(ledger_sync, "LOOK_SHARE", float("inf"))
    async with subject_on(server, tmp_path) as subject:
        yield subject


def new(text: str, **fields: Any) -> NewMemory:
    at = "2026-03-04T09:00:00.000Z"
    return NewMemory(f"m_{next(NUMBERS)}", text, at, MemorySource("api", at), **{"category": "notes", **fields})


async def live(subject: Subject, **wanted: Any) -> dict[str, Memory]:
    assert subject.memories is not None
    found = await subject.memories.newest(subject.who(), MemoryFilter(**wanted), None, 50, soon())
    return {one.text: one for one in found}


async def recalled(subject: Subject, query: str) -> str:
    hits = await subject.backend.find(subject.who(), query, Target.MEMORIES, 20, soon())
    return "\n".join(hit.text for hit in hits)


async def store(subject: Subject, text: str, **fields: Any) -> Memory:
    assert subject.memories is not None
    return (await subject.memories.store(subject.who(), new(text, **fields), soon())).memory


async def change(subject: Subject, memory: Memory, text: str, if_version: int | None = None) -> Memory | None:
    assert subject.memories is not None
    return await subject.memories.change(subject.who(), memory.id, MemoryChange(text=text), if_version, soon())


async def forget(subject: Subject, memory: Memory) -> Any:
    assert subject.memories is not None
    return await subject.memories.forget(subject.who(), memory.id, soon())


def saying(message: CapturedMessage, text: str, at: str) -> CapturedMessage:
    return replace(message, parts=(TextPart(text),), created_at=at)


async def settle(subject: Subject) -> None:
    """What the sidecar's background work does."""
    assert subject.memories is not None
    for tenant in await subject.memories.unsettled():
        await subject.memories.settle(tenant, soon())


# Statements in OpenViking's own files


async def test_each_statement_of_a_file_is_a_memory_with_an_id_that_stays(
    server: FakeOpenViking, subject: Subject
) -> None:
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.")
    server.put(f"{HOME}/events/2026/03/04/shipped.md", "We shipped Atlas.\n- with two fixes\n- on a Friday")
    server.put(f"{HOME}/cases/one.md", "A rubric.")
    server.put(f"{HOME}/soul.md", "- Be helpful.")
    server.put(f"{HOME}/.overview.md", "- profile")
    first = await live(subject)
    event = "We shipped Atlas.\n- with two fixes\n- on a Friday"
    assert set(first) == {"My name is Ada.", "I live in Antwerp.", event}
    assert first[event].created_at == "2026-03-04T00:00:00.000Z" and first[event].category == "events"
    name = first["My name is Ada."]
    assert (name.category, name.uri) == ("profile", f"viking://~/memories/profile.md#{name.id}")
    server.put(PROFILE, "# user\n- I live in Antwerp.\n- I like tea.\n- My name is Ada.")
    second = await live(subject)
    assert second["My name is Ada."].id == name.id
    assert second["I live in Antwerp."].id == first["I live in Antwerp."].id
    assert "I like tea." in second


async def test_a_changed_statement_is_changed_in_its_file_and_nothing_else(
    server: FakeOpenViking, subject: Subject
) -> None:
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.\n\n## More\n- I like tea.")
    memory = (await live(subject))["I live in Antwerp."]
    changed = await change(subject, memory, "I live in Ghent.")
    assert changed is not None and (changed.id, changed.version) == (memory.id, 2)
    assert server.files[PROFILE] == "# user\n- My name is Ada.\n- I live in Ghent.\n\n## More\n- I like tea."
    assert (await live(subject))["I live in Ghent."].id == memory.id
    await forget(subject, changed)
    assert server.files[PROFILE] == "# user\n- My name is Ada.\n\n## More\n- I like tea."
    assert set(await live(subject)) == {"My name is Ada.", "I like tea."}


async def test_only_another_text_is_a_source_of_its_own(subject: Subject) -> None:
    assert subject.memories is not None
    memory = await store(subject, "The office is on floor four.")
    pinned = await subject.memories.change(subject.who(), memory.id, MemoryChange(pinned=True), None, soon())
    assert pinned is not None and (pinned.pinned, pinned.sources) == (True, memory.sources)
    changed = await change(subject, memory, "The office is on floor nine.")
    assert changed is not None and len(changed.sources) == 2


def test_a_change_of_before_that_says_nothing_is_no_source() -> None:
    """Earlier versions of the sidecar noted one for whoever pinned a memory."""
    at = "2026-03-05T09:00:00.000Z"
    entry = ledger_changes.added(new("The office is on floor four."), at, Withholding(b"secret"))
    told = entry.fields["sources"]
    pinned = {"version": 1, "text": "The office is on floor four.", "at": at, "reason": "updated"}
    before = {**entry.fields, "sources": [*told, {**told[0], "at": at}]}
    assert memory_of(replace(entry, fields=before, history=(pinned,)), at).sources == memory_of(entry, at).sources


async def test_the_last_statement_takes_its_file_with_it(server: FakeOpenViking, subject: Subject) -> None:
    server.put(f"{HOME}/preferences/user/tea.md", "- I prefer green tea.")
    await forget(subject, (await live(subject))["I prefer green tea."])
    assert server.files == {}


async def test_a_search_finds_the_statement_and_not_its_file(server: FakeOpenViking, subject: Subject) -> None:
    assert subject.memories is not None
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.")
    found = await subject.memories.search(subject.who(), "where do I live", MemoryFilter(), 5, soon())
    assert found[0].memory.text == "I live in Antwerp."
    assert [one.memory.text for one in found[1:] if one.score >= found[0].score] == []


async def test_many_new_files_are_read_at_once(server: FakeOpenViking, subject: Subject) -> None:
    for number in range(40):
        server.put(f"{HOME}/preferences/user/p{number}.md", f"- I prefer number {number}.\n\n- And 10{number}.")
    asked: list[str] = []
    server.before = lambda request: asked.append(request.url.path)
    assert len(await live(subject)) == 50 and len(asked) <= 6


@pytest.mark.parametrize("name", ["../../x", "a/b", "a#b?c=d%2e", ".", "", "发布", "x" * 300, "\ud83d"])
def test_an_import_can_not_say_where_its_file_stands(name: str) -> None:
    uri = file_of(name, name, name)
    assert re.fullmatch(r"viking://~/(peers/[\w.@-]+/)?memories/notes/(m_[0-9a-f]{32}|[\w-]+)\.md", uri, re.ASCII)
    assert ".." not in uri.split("/")
    assert file_of("m_1", "profile", "bot") == "viking://~/peers/bot/memories/profile/m_1.md"


async def test_a_tenant_of_many_files_is_not_looked_at_all_the_time(server: FakeOpenViking, tmp_path: Path) -> None:
    clock = [0.0]
    asked: list[str] = []

    def takes_a_second(request: httpx.Request) -> None:
        if request.url.path.endswith("tree"):
            clock[0] += 1.0
            asked.append(request.url.params["uri"])

    server.before = takes_a_second
    async with subject_on(server, tmp_path) as subject:
        memories: Any = subject.memories
        memories._settling._monotonic = lambda: clock[0]
        for seconds, looks in ((0.0, 1), (1.0, 1), (20.0, 1), (43.0, 2)):
            clock[0] = max(clock[0], seconds)
            await live(subject)
            assert len(asked) == 2 * looks


# What the extraction does after a change


async def test_a_late_extraction_does_not_bring_back_what_was_forgotten(
    server: FakeOpenViking, subject: Subject
) -> None:
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.")
    await forget(subject, (await live(subject))["I live in Antwerp."])
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.")
    server.put(f"{HOME}/entities/project/home.md", "The user lives in Antwerp now.")
    assert "Antwerp" not in await recalled(subject, "where do I live, Antwerp?")
    assert not any("Antwerp" in text for text in await live(subject, state=None))
    await settle(subject)
    assert server.files[PROFILE] == "# user\n- My name is Ada."


async def test_what_a_user_says_again_is_a_memory_again(server: FakeOpenViking, subject: Subject) -> None:
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.")
    old = (await live(subject))["I live in Antwerp."]
    await forget(subject, old)
    before = subject.message(0, name="old")  # said before it was forgotten, delivered afterwards
    await subject.backend.append(subject.who(), [saying(before, "I live in Antwerp.", "2026-03-01T00:00:00Z")], soon())
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.")
    assert "I live in Antwerp." not in await live(subject)
    await settle(subject)
    after = subject.message(0, name="new")
    await subject.backend.append(subject.who(), [saying(after, "I live in Antwerp.", "2099-03-01T00:00:00Z")], soon())
    server.put(PROFILE, "# user\n- My name is Ada.\n- I live in Antwerp.")
    again = (await live(subject))["I live in Antwerp."]
    assert again.id != old.id and "Antwerp" in await recalled(subject, "where do I live, Antwerp?")
    await settle(subject)
    assert "Antwerp" in server.files[PROFILE]


async def test_a_copy_elsewhere_goes_with_a_changed_statement(server: FakeOpenViking, subject: Subject) -> None:
    server.put(PROFILE, "# user\n- I live in Antwerp.\n- I like tea.")
    server.put(f"{HOME}/preferences/user/home.md", "- I live in Antwerp.")
    found = await live(subject)
    await change(subject, found["I live in Antwerp."], "I live in Ghent.")
    assert "Antwerp" not in await recalled(subject, "where do I live, in Antwerp or Ghent?")
    await settle(subject)
    assert "Antwerp" not in "".join(server.files.values())


async def test_what_somebody_edits_in_openviking_is_the_next_version(server: FakeOpenViking, subject: Subject) -> None:
    assert subject.memories is not None
    memory = await store(subject, "The office is on floor two.")
    await live(subject)
    (uri,) = server.files
    server.put(uri, "The office is on floor nine.")
    edited = (await live(subject))["The office is on floor nine."]
    assert (edited.id, edited.version) == (memory.id, 2)
    read = await subject.memories.get(subject.who(), memory.id, soon())
    assert read is not None and [one.text for one in read.history] == [memory.text]


async def test_what_openviking_loses_is_gone_and_comes_back_with_it(server: FakeOpenViking, subject: Subject) -> None:
    memory = await store(subject, "The office is on floor two.")
    (uri,) = server.files
    assert list(await live(subject)) == [memory.text]
    text = server.files.pop(uri)
    assert await live(subject) == {}
    server.put(uri, text)
    assert (await live(subject))[memory.text].id == memory.id


# Outages, late writes, and other processes


async def test_an_outage_delays_files_and_nothing_else(server: FakeOpenViking, subject: Subject) -> None:
    assert subject.memories is not None
    blue = await store(subject, "The lamp is blue.", key="lamp")
    door = await store(subject, "The door is open.")
    safe = await store(subject, "The safe opens with 8213.")
    server.down = True
    await store(subject, "The lamp is green.", key="lamp")
    window = await store(subject, "The window is shut.")
    assert (await change(subject, door, "The door is closed.", 1)) is not None
    assert (await change(subject, window, "The window is ajar.", 1)) is not None
    receipt = await forget(subject, safe)
    assert [one.what for one in receipt.kept] == [f"viking://~/memories/notes/{safe.id}.md"]
    held = {"The lamp is green.", "The door is closed.", "The window is ajar."}
    assert set(await live(subject)) == held
    here = await subject.memories.undelivered(subject.who().tenant)
    assert {one.text for one in here} == held
    found = await subject.memories.search(subject.who(), "is the window ajar", MemoryFilter(), 5, soon())
    assert found[0].memory.id == window.id
    server.down = False
    assert await recalled(subject, "lamp blue door open safe 8213 window") == "", "files of before, none of which holds"
    await settle(subject)
    assert set(server.files.values()) == held
    assert await subject.memories.undelivered(subject.who().tenant) == []
    old = await subject.memories.get(subject.who(), blue.id, soon())
    assert old is not None and old.memory.state is MemoryState.SUPERSEDED


async def test_a_write_that_comes_late_is_put_right(server: FakeOpenViking, subject: Subject) -> None:
    memory = await store(subject, "The lamp is blue.")
    (uri,) = server.files
    await change(subject, memory, "The lamp is green.")
    server.put(uri, "The lamp is blue.")  # a server carries out a write whose client has gone
    assert await recalled(subject, "lamp") == "The lamp is green."
    assert list(await live(subject)) == ["The lamp is green."]
    await settle(subject)
    assert server.files[uri] == "The lamp is green."


async def test_a_file_that_openviking_refuses_is_recalled_from_here(server: FakeOpenViking, subject: Subject) -> None:
    assert subject.memories is not None
    server.refuses = True
    memory = await store(subject, "The lamp is blue.")
    assert await subject.memories.unsettled() == []
    assert [one.id for one in await subject.memories.undelivered(subject.who().tenant)] == [memory.id]
    assert list(await live(subject)) == [memory.text]
    server.refuses = False
    await change(subject, memory, "The lamp is green.")
    assert list(server.files.values()) == ["The lamp is green."]
    assert await subject.memories.undelivered(subject.who().tenant) == []


async def test_writers_in_two_processes(server: FakeOpenViking, subject: Subject, tmp_path: Path) -> None:
    async with subject_on(server, tmp_path) as other:
        memory = await store(subject, "Version zero.")
        won: list[str] = []
        ids: set[str] = set()

        async def write(subject: Subject, number: int) -> None:
            try:
                changed = await change(subject, memory, f"Version of writer {number}.", 1)
            except VersionConflict:
                pass
            else:
                assert changed is not None
                won.append(changed.text)
            ids.add((await store(subject, "Said by all.")).id)

        async with anyio.create_task_group() as writers:
            for number in range(12):
                writers.start_soon(write, (subject, other)[number % 2], number)
        assert len(won) == 1 and len(ids) == 1
        assert set(await live(other)) == {won[0], "Said by all."}
        await settle(subject)
        assert sorted(server.files.values()) == sorted({won[0], "Said by all."})


async def test_memories_of_many_users_at_once_stay_apart(server: FakeOpenViking, subject: Subject) -> None:
    assert subject.memories is not None
    memories = subject.memories

    async def one(number: int) -> None:
        who = subject.who(user=f"user{number}")
        await memories.store(who, new(f"The locker of user {number} is {number}77."), soon())
        found = await memories.newest(who, MemoryFilter(), None, 10, soon())
        assert [one.text for one in found] == [f"The locker of user {number} is {number}77."]
        hits = await subject.backend.find(who, "locker of the user", Target.MEMORIES, 10, soon())
        assert [hit.text for hit in hits] == [found[0].text]

    async with anyio.create_task_group() as users:
        for number in range(64):
            users.start_soon(one, number)
