"""Tool memories in the turn store, on both databases: counted with the turn, once, and forgotten with it."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.capture.captured_message import CapturedMessage, ToolPart
from app.core.identity import Identity, Tenant
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.ports import NewTurn
from app.store import tool_rows
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
    return {one.tool: one.calls for one in await store.tools.of(who or somebody())}


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
    told = [text for one in await store.tools.of(somebody()) for text in one.arguments]
    assert not any(FACT in text for text in told) or not meant.statements


async def test_they_are_bounded(store: SqlTurnStore, monkeypatch: pytest.MonkeyPatch, clock: Any) -> None:
    monkeypatch.setattr(tool_rows, "MAX_ROWS", 3)
    monkeypatch.setattr(tool_rows, "MAX_TOOLS", 2)
    await store.accept(with_calls("Zero.", "a", "b", "c", "d"))
    assert await counts(store) == {"other tools": 2, "a": 1, "b": 1}
    for number in range(4):
        clock.now += 1
        await store.accept(with_calls(f"Turn {number}.", "late", who=somebody(f"n{number}")))
    await store.tools.trim()
    assert await counts(store) == {"late": 3}
