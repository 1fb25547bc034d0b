"""What was captured before is captured once, whatever key, position or history it comes with again, on both stores."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import event

from app.core.deadline import Deadline
from app.engine.turn_capture import AfterTurn, AfterTurnResult, TurnInput
from app.store.turns import SqlTurnStore
from app.worker.supervisor import Worker, WorkerSettings
from tests.messages import typed
from tests.unit.memory_backend import MemoryBackend
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio

START = 1_795_298_000_000
Messages = list[dict[str, Any]]


class Desk:
    """`/after-turn` without HTTP, and what the backend has in the end."""

    def __init__(self, store: SqlTurnStore) -> None:
        self.store = store
        self.backend = MemoryBackend()
        self.worker = Worker(store, self.backend, WorkerSettings())

    async def after(self, messages: Sequence[dict[str, Any]], count: int | None = None, **turn: Any) -> AfterTurnResult:
        asked = TurnInput(typed(messages), pre_prompt_count=count, **turn)
        return await AfterTurn(self.store, self.worker).run(somebody(), asked, Deadline.after_ms(20_000))

    async def told(self) -> list[str]:
        await self.worker.drain()
        return self.backend.texts(somebody())


@pytest.fixture
def desk(store: SqlTurnStore) -> Desk:
    return Desk(store)


def said(number: int, *, timed: bool = True) -> Messages:
    """Turn ``number``: a question and its answer."""
    messages: Messages = [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": f"a{number}"}]
    if timed:
        for place, message in enumerate(messages):
            message["timestamp"] = START + number * 1000 + place
    return messages


def texts(*numbers: int) -> list[str]:
    return [f"{who}{number}" for number in numbers for who in "qa"]


def joined(*numbers: int, timed: bool = True) -> Messages:
    return [message for number in numbers for message in said(number, timed=timed)]


HOW = {
    "the turn alone": lambda number: (said(number), 0),
    "behind its history": lambda number: (joined(*range(number + 1)), 2 * number),
    "without a position": lambda number: (said(number), None),
    "the history without a position": lambda number: (joined(*range(number + 1)), None),
    "all of it counted as history": lambda number: (said(number), 2),
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("key", [None, "other"])
async def test_turns_that_were_sent_with_keys_come_again_without_or_with_others(
    desk: Desk, how: str, key: str | None
) -> None:
    numbers = range(40)
    first = [await desk.after(said(number), 0, key=f"first {number}") for number in numbers]
    for attempt in range(2):
        for number in numbers:
            messages, count = HOW[how](number)
            again = await desk.after(messages, count, key=key and f"{key} {attempt} {number}")
            if len(messages) == 2:
                assert (again.status, again.turn_id) == ("duplicate", first[number].turn_id)
            else:
                assert again.status in {"duplicate", "skipped"}
            assert again.status == "duplicate" or again.captured == 0
    assert await desk.told() == texts(*numbers)


async def test_an_early_turn_is_known_behind_any_number_of_others(desk: Desk) -> None:
    """Heartbeats and turns with nothing new stand between, and only one message of two is old."""
    await desk.after(said(0), 0, key="k")
    for number in range(1, 60):
        await desk.after(said(number), 0, key=f"beat {number}", is_heartbeat=True)
    answer = {"role": "assistant", "content": "late", "timestamp": START + 90_000}
    assert (await desk.after([*said(0), answer], 0, key="other")).captured == 1
    assert await desk.told() == ["q0", "a0", "late"]


async def test_equal_words_at_other_times_and_equal_words_under_other_keys_are_new(desk: Desk) -> None:
    for number in range(3):
        yes = [message | {"content": "yes"} for message in said(number)]
        assert (await desk.after(yes, 0, key=f"timed {number}")).status == "committed"
        untimed = [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "done"}]
        assert (await desk.after(untimed, 0, key=f"placed {number}")).status == "committed"
        assert (await desk.after(untimed, 2, key=f"counted {number}")).status == "committed"
    assert await desk.told() == ["yes", "yes", *["go on", "done"] * 2] * 3


@pytest.mark.parametrize("count", [2, 3, 90])
async def test_a_count_at_or_beyond_the_end_means_what_was_not_captured_before(desk: Desk, count: int) -> None:
    first, *more = [await desk.after(said(1, timed=False), count) for _ in range(3)]
    assert first.status == "committed"
    assert [(again.status, again.turn_id) for again in more] == [("duplicate", first.turn_id)] * 2
    assert await desk.told() == texts(1)


async def test_a_history_that_the_host_counts_as_old_is_compared_by_content(desk: Desk) -> None:
    await desk.after(said(1, timed=False), 0)
    assert (await desk.after(joined(1, 2, timed=False), 4)).captured == 2
    assert (await desk.after(joined(1, 2, 2, timed=False), 6)).captured == 2, "said twice"
    assert (await desk.after(joined(1, 2, timed=False), 4)).status == "duplicate"
    assert (await desk.after(said(1, timed=False), 7)).reason == "no_new_messages"
    assert (await desk.after(joined(2, 2, 3, timed=False), 6)).captured == 2
    assert await desk.told() == texts(1, 2, 2, 3)


@pytest.mark.parametrize("count", [None, 2, 9])
async def test_what_was_said_before_a_reset_is_not_captured_behind_it(desk: Desk, count: int | None) -> None:
    await desk.after(joined(1, 2))
    await desk.store.reset(somebody(), 1000)
    result = await desk.after(joined(1, 2, 3) if count is None else joined(2, 3)[:2] + said(3), count)
    assert (result.status, result.captured) == ("committed", 2)
    assert (await desk.after(joined(1, 2))).status == "duplicate"
    assert (await desk.after([*joined(1, 2), *said(3)[:1]])).reason == "no_new_messages"
    assert await desk.told() == texts(1, 2, 3)


async def test_without_times_a_new_epoch_begins_from_nothing(desk: Desk) -> None:
    await desk.after(said(1, timed=False), 2)
    await desk.store.reset(somebody(), 1000)
    assert (await desk.after(said(1, timed=False), 2)).status == "committed"


async def test_taking_a_turn_in_asks_the_store_no_more_for_many_messages_or_a_long_session(desk: Desk) -> None:
    """What a turn is compared with is read before: under the write lock nothing grows with it."""
    statements: list[str] = []
    event.listen(desk.store._database._engine, "before_cursor_execute", lambda *call: statements.append(call[2]))

    async def asked(messages: Messages, count: int) -> list[str]:
        statements.clear()
        await desk.after(messages, count, key=str(messages[0]["timestamp"]))
        counting = ("sum(turns.bytes)", "BEGIN DEFERRED")  # about once a second, and in a transaction of its own
        return [statement for statement in statements if not any(part in statement for part in counting)]

    await desk.after(said(0), 0, key="first")
    small = await asked(said(1), 0)
    large = await asked(joined(*range(2, 2000)), 0)
    assert len(large) == len(small)
    assert not any("turns.prints" in statement.partition("FROM")[0] for statement in small), "prints are read"
    assert len(await asked(said(2001), 0)) == len(small)
