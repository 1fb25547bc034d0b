"""`/after-turn` behind the HTTP shell: what is kept, what is skipped and why."""

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.core.capture.captured_turn import CapturedTurn, capture_turn
from app.core.deadline import Deadline
from app.engine.turn_capture import AfterTurn, AfterTurnResult, TurnInput
from app.errors import KeyReused
from app.ports import Recorded
from app.store.turns import SqlTurnStore, open_store
from app.worker.supervisor import Worker, WorkerSettings
from tests.messages import typed
from tests.unit.memory_backend import MemoryBackend, refused
from tests.unit.turning import somebody, work_rules

pytestmark = pytest.mark.anyio

HISTORY = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
TURN = [{"role": "user", "content": "three"}, {"role": "assistant", "content": "four"}]
NOW = 1_795_298_000_000


class Desk:
    def __init__(self, store: SqlTurnStore) -> None:
        self.store = store
        self.backend = MemoryBackend()
        self.worker = Worker(store, self.backend, WorkerSettings())

    async def after(self, messages: list[dict[str, Any]], *, enabled: bool = True, **turn: Any) -> AfterTurnResult:
        asked = TurnInput(typed(messages), **turn)
        deadline = Deadline.after_ms(20_000)
        return await AfterTurn(self.store, self.worker, enabled).run(somebody(), asked, deadline)

    async def told(self) -> list[str]:
        await self.worker.drain()
        return self.backend.texts(somebody())


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules())
    yield Desk(store)
    await store.aclose()


def timed(messages: list[dict[str, Any]], start: int = NOW) -> list[dict[str, Any]]:
    return [{**message, "timestamp": start + index} for index, message in enumerate(messages)]


async def test_only_what_follows_the_prompt_is_kept(desk: Desk) -> None:
    result = await desk.after([*HISTORY, *TURN], pre_prompt_count=2)
    assert (result.status, result.reason, result.captured, result.delivery) == ("committed", "ok", 2, "queued")
    assert result.pending_tokens > 0 and result.turn_id
    assert await desk.told() == ["three", "four"]


async def test_without_a_position_what_was_seen_before_is_left_out(desk: Desk) -> None:
    await desk.after(timed(HISTORY))
    assert (await desk.after(timed([*HISTORY, *TURN]))).captured == 2
    assert await desk.told() == ["one", "two", "three", "four"]


async def test_what_a_host_brings_along_of_an_earlier_turn_is_left_out(desk: Desk) -> None:
    """It counted the messages of a turn that it believes to have failed as new."""
    await desk.after(timed(HISTORY), pre_prompt_count=0, key="k1")
    assert (await desk.after(timed([*HISTORY, *TURN]), pre_prompt_count=0, key="k2")).captured == 2
    assert await desk.told() == ["one", "two", "three", "four"]


async def test_the_length_of_a_session_costs_a_turn_with_a_position_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(*_: object, **_options: object) -> Recorded:
        raise AssertionError("fingerprints of earlier turns were read")

    await desk.after(timed(HISTORY), pre_prompt_count=0, key="k1")
    monkeypatch.setattr(desk.store, "recorded", read)
    assert (await desk.after(timed(TURN, NOW + 9), pre_prompt_count=0, key="k2")).captured == 2


async def test_the_same_turn_again_is_a_duplicate(desk: Desk) -> None:
    first = await desk.after(timed(TURN))
    again = await desk.after(timed(TURN))
    assert (again.status, again.turn_id) == ("duplicate", first.turn_id)
    keyed = await desk.after(HISTORY, key="k")
    assert (await desk.after(HISTORY, key="k")).turn_id == keyed.turn_id
    with pytest.raises(KeyReused):
        await desk.after(TURN, key="k")


async def test_nothing_proves_a_repeat_then_it_is_a_new_turn(desk: Desk) -> None:
    assert [(await desk.after(TURN)).status for _ in range(2)] == ["committed", "committed"]
    assert await desk.told() == ["three", "four"] * 2


async def test_a_heartbeat_is_not_kept_and_not_kept_later_either(desk: Desk) -> None:
    beat = timed([{"role": "user", "content": "Read HEARTBEAT.md"}, {"role": "assistant", "content": "HEARTBEAT_OK"}])
    result = await desk.after(beat, is_heartbeat=True)
    assert (result.status, result.reason, result.captured) == ("skipped", "heartbeat", 0)
    assert (await desk.after([*beat, *timed(TURN, NOW + 10)])).captured == 2
    assert await desk.told() == ["three", "four"]


@pytest.mark.parametrize("huge", ["x" * 300_000, [{"type": "text", "text": "word " * 60_000}]])
async def test_a_huge_turn_leaves_the_event_loop_to_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, huge: object
) -> None:
    threads: list[int] = []

    def watched(*args: Any, **options: Any) -> CapturedTurn:
        threads.append(threading.get_ident())
        return capture_turn(*args, **options)

    monkeypatch.setattr("app.engine.turn_capture.capture_turn", watched)
    await desk.after(TURN)
    await desk.after([{"role": "user", "content": huge}])
    small, large = threads
    assert small == threading.get_ident() != large


async def test_bypassed_switched_off_and_empty_turns_are_skipped(desk: Desk) -> None:
    assert (await desk.after(TURN, bypassed=True)).reason == "session_bypassed"
    assert (await desk.after(TURN, enabled=False)).reason == "capture_disabled"
    assert (await desk.after([])).reason == "no_new_messages"
    assert (await desk.after([{"role": "user", "content": "  "}])).reason == "no_new_messages"
    assert await desk.told() == []


async def test_wait_waits_for_the_backend(desk: Desk) -> None:
    desk.backend.faults = [("before", refused())]
    async with anyio.create_task_group() as group:
        group.start_soon(desk.worker.run)
        result = await desk.after(TURN, wait=True)
        group.cancel_scope.cancel()
    assert (result.status, result.delivery) == ("committed", "delivered")
