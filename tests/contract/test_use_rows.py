"""Tool and skill memories in the turn store, on both databases: counted with the turn, once, and forgotten with it."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.capture.captured_message import CapturedMessage, ToolPart
from app.core.identity import Identity, Tenant
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.ports import NewTurn
from app.store import use_rows
from app.store.turns import SqlTurnStore
from tests.contract.conftest import OpenStore
from tests.unit.turning import TIME, a_turn, somebody

pytestmark = pytest.mark.anyio

AT = "2099-01-01T00:00:00.000Z"
FACT = "The vault opens with zebra."


def with_calls(text: str, *tools: str, who: Identity | None = None, **more: Any) -> NewTurn:
    parts = tuple(
        ToolPart(f"c{n}", tool, {"word": "zebra", "note": FACT}, "Error: x", True) for n, tool in enumerate(tools)
    )
    turn = a_turn(text, who=who, **more)
    return replace(turn, messages=(*turn.messages, CapturedMessage("assistant", parts, TIME)))


async def counts(store: SqlTurnStore, who: Identity | None = None) -> dict[str, int]:
    return {one.tool: one.calls for one in await store.uses.tools(who or somebody())}


async def test_they_are_counted_once_by_agent_and_over_sessions(opened: OpenStore) -> None:
    store = await opened()
    turn = with_calls("One.", "shell", "shell", "read", key="k1")
    for _ in range(3):
        await store.accept(turn)
    await store.accept(with_calls("Two.", "shell", who=somebody("s2")))
    await store.accept(with_calls("Three.", "shell", who=replace(somebody(), agent="other")))
    await store.accept(with_calls("Four.", "shell", who=replace(somebody(), tenant=Tenant("acme", "bob"))))
    again = await opened()
    assert await counts(again) == {"shell": 3, "read": 1}
    assert await counts(again, replace(somebody(), agent="other")) == {"shell": 1}
    assert await counts(again, replace(somebody(), agent="nobody")) == {}


@pytest.mark.parametrize(
    ("meant", "left"),
    [
        (Forgetting(AT, everything=True), {}),
        (Forgetting(AT, session="s2"), {"shell": 2}),
        (Forgetting(AT, person="nobody"), {"shell": 2, "read": 1}),
        (Forgetting(AT, (Statement("m_1", "viking://x", "notes", (FACT,)),)), {"shell": 2, "read": 1}),
    ],
)
async def test_what_is_forgotten_is_not_told(store: SqlTurnStore, meant: Forgetting, left: dict[str, int]) -> None:
    await store.accept(with_calls("One.", "shell", "shell"))
    await store.accept(with_calls("Two.", "read", who=somebody("s2")))
    await store.erasing.erase(somebody().tenant, meant, Erased())
    assert await counts(store) == left
    assert await store.erasing.look_again(somebody().tenant, meant, Erased()) == []
    told = [text for one in await store.uses.tools(somebody()) for text in one.arguments]
    assert not any(FACT in text for text in told) or not meant.statements


def with_part(part: ToolPart, text: str, **more: Any) -> NewTurn:
    turn = a_turn(text, **more)
    return replace(turn, messages=(CapturedMessage("assistant", (part,), TIME), *turn.messages))


async def test_a_result_that_comes_in_a_later_turn_is_no_second_call(opened: OpenStore) -> None:
    store = await opened()
    called = with_part(ToolPart("c_1", "shell", {"word": "zebra"}, None), "Run it.", key="k1")
    ended = with_part(ToolPart("c1", "", {}, "Error: no such file", True, is_late=True), "And?", key="k2")
    for turn in (called, called, ended, called, ended):
        await store.accept(turn)
    again = await opened()
    [record] = await again.uses.tools(somebody())
    assert (record.tool, record.calls, record.failures) == ("shell", 1, 1)
    assert {text: one.count for text, one in record.errors.items()} == {"Error: no such file": 1}
    await again.accept(with_part(ToolPart("c2", "shell", {"word": "lark"}, "ok"), "Again.", key="k3"))
    [record] = await again.uses.tools(somebody())
    assert dict(record.errors["Error: no such file"].fixes) == {"word=lark": 1}
    orphan = with_part(ToolPart("c9", "", {}, "ok", is_late=True), "And now?", key="k4")
    await again.accept(orphan)
    assert await counts(again) == {"shell": 2, "tool": 1}


async def test_another_session_does_not_get_the_result(store: SqlTurnStore) -> None:
    await store.accept(with_part(ToolPart("c1", "shell", {}, None), "Run it."))
    late = ToolPart("c1", "shell", {}, "Error: no", True, is_late=True)
    await store.accept(with_part(late, "And?", who=somebody("s2")))
    [record] = await store.uses.tools(somebody())
    assert (record.calls, record.failures) == (2, 1)


def with_skill(text: str, *skills: str, who: Identity | None = None, **more: Any) -> NewTurn:
    """A turn that reads these skills and then fails once and works."""
    reads = tuple(
        ToolPart(f"r{n}", "read", {"path": f"/w/skills/{skill}/SKILL.md"}, "# How") for n, skill in enumerate(skills)
    )
    failed = ToolPart("c1", "shell", {"size": "9"}, "Error: too large", True)
    work = failed, ToolPart("c2", "shell", {"size": "1"}, "ok")
    turn = a_turn(text, who=who, **more)
    return replace(turn, messages=(*turn.messages, CapturedMessage("assistant", (*reads, *work), TIME)))


async def test_skills_are_learnt_once_by_agent_and_over_sessions(opened: OpenStore) -> None:
    store = await opened()
    for _ in range(3):
        await store.accept(with_skill("Make the Q3 slides.", "slides", key="k1"))
    await store.accept(with_skill("Make the Q4 slides.", "slides", "chart", who=somebody("s2")))
    again = await opened()
    slides = await again.uses.skill(somebody("s3"), "slides")
    assert slides is not None and (slides.uses, slides.failures) == (2, 0)
    assert [one.task for one in slides.examples] == ["Make the Q3 slides.", "Make the Q4 slides."]
    [(error, found)] = slides.errors.items()
    assert (error, found.count, dict(found.fixes)) == ("shell: Error: too large", 2, {"size=1": 2})
    chart = await again.uses.skill(somebody(), "chart")
    assert chart is not None and chart.uses == 1
    for who in (replace(somebody(), agent="other"), replace(somebody(), tenant=Tenant("acme", "bob"))):
        assert await again.uses.skill(who, "slides") is None


@pytest.mark.parametrize(
    ("meant", "tasks"),
    [
        (Forgetting(AT, everything=True), None),
        (Forgetting(AT, session="s2"), ["The vault opens with zebra."]),
        (Forgetting(AT, (Statement("m_1", "viking://x", "notes", (FACT,)),)), ["Make slides."]),
    ],
)
async def test_what_is_forgotten_is_not_told_of_a_skill(
    store: SqlTurnStore, meant: Forgetting, tasks: list[str] | None
) -> None:
    await store.accept(with_skill(FACT, "slides"))
    await store.accept(with_skill("Make slides.", "slides", who=somebody("s2")))
    await store.erasing.erase(somebody().tenant, meant, Erased())
    record = await store.uses.skill(somebody(), "slides")
    assert (None if record is None else [one.task for one in record.examples]) == tasks
    assert await store.erasing.look_again(somebody().tenant, meant, Erased()) == []


async def test_a_turn_of_any_number_of_calls_writes_a_bounded_number_of_records(store: SqlTurnStore) -> None:
    many = with_calls("Many.", *(f"tool {n % 1_000}" for n in range(3_000)))
    await store.accept(many)
    await store.accept(with_calls("More.", "tool 0", "tool 999"))
    told = await counts(store)
    assert len(told) == use_rows.MAX_NAMES + 1 and sum(told.values()) == 3_002
    assert told["tool 0"] == 4 and told["other tools"] == 3 * 800 + 1


async def test_they_are_bounded(store: SqlTurnStore, monkeypatch: pytest.MonkeyPatch, clock: Any) -> None:
    monkeypatch.setattr(use_rows, "MAX_ROWS", 3)
    monkeypatch.setattr(use_rows, "MAX_NAMES", 2)
    await store.accept(with_calls("Zero.", "a", "b", "c", "d"))
    assert await counts(store) == {"other tools": 2, "a": 1, "b": 1}
    for number in range(4):
        clock.now += 1
        await store.accept(with_calls(f"Turn {number}.", "late", who=somebody(f"n{number}")))
    await store.uses.trim()
    assert await counts(store) == {"late": 3}
