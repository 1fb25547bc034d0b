"""Recalls that have pairs of texts read together, and go on without where that fails."""

import asyncio
import threading
import time
from collections.abc import Sequence
from functools import partial

import pytest

from app.core.deadline import Deadline
from app.core.recall.text_pairs import KnownPair, Task, Texts
from app.recall import comparisons as module
from app.recall.comparisons import MAX_CHOICES, MAX_UNDER_WAY, Comparisons
from tests.unit.recalling import Recalling, ScriptedBackend, memory

pytestmark = pytest.mark.anyio

PAIR = ("I live in Ghent.", "I moved to Arles.")


class Choice:
    """What is chosen depends on one pair."""

    def __init__(self) -> None:
        self.times = 0

    async def __call__(self, read: KnownPair) -> float | None:
        self.times += 1
        return read("replaces", PAIR)


def soon() -> Deadline:
    return Deadline.after_ms(30_000)


async def test_a_choice_is_made_again_once_its_pairs_were_read_and_not_a_third_time() -> None:
    read: list[Texts] = []

    def compare(_: Task, pairs: Sequence[Texts]) -> list[float]:
        read.extend(pairs)
        return [3.5 for _ in pairs]

    comparisons, first, second = Comparisons(compare), Choice(), Choice()
    assert await comparisons.helping(first, soon()) == 3.5
    assert await comparisons.helping(second, soon()) == 3.5
    assert (first.times, second.times, read) == (2, 1, [PAIR])
    await comparisons.aclose()


async def test_what_helps_is_read_first_and_then_whether_it_still_holds() -> None:
    read: list[tuple[Task, Texts]] = []

    def compare(task: Task, pairs: Sequence[Texts]) -> list[float]:
        read.extend((task, pair) for pair in pairs)
        return [1.0 for _ in pairs]

    comparisons = Comparisons(compare)

    async def choose(known: KnownPair) -> float | None:
        """What could be asked for without end."""
        odds = known("answers", ("Where do I live?", PAIR[1]))
        for n in range(len(read)):
            odds = odds and known("replaces", (PAIR[0], str(n)))
        return odds

    await comparisons.helping(choose, soon())
    replacing = [("replaces", (PAIR[0], str(n))) for n in range(MAX_CHOICES - 2)]
    assert read == [("answers", ("Where do I live?", PAIR[1])), *replacing]
    await comparisons.aclose()


async def test_the_same_texts_may_be_asked_about_two_things() -> None:
    comparisons = Comparisons(lambda task, pairs: [2.0 if task == "answers" else -2.0 for _ in pairs])

    async def choose(known: KnownPair) -> list[float | None]:
        return [known("answers", PAIR), known("replaces", PAIR)]

    assert await comparisons.helping(choose, soon()) == [2.0, -2.0]
    await comparisons.aclose()


@pytest.mark.parametrize("error", [OSError("ended"), ValueError("nonsense")])
async def test_where_reading_fails_the_first_choice_stands(error: Exception) -> None:
    def compare(_: Task, __: Sequence[Texts]) -> list[float]:
        raise error

    comparisons, choice = Comparisons(compare), Choice()
    assert await comparisons.helping(choice, soon()) is None
    assert choice.times == 1
    await comparisons.aclose()


async def test_what_comes_too_late_serves_the_next_recall() -> None:
    go = threading.Event()

    def compare(_: Task, pairs: Sequence[Texts]) -> list[float]:
        go.wait(30)
        return [3.5 for _ in pairs]

    comparisons, choice = Comparisons(compare, wait_s=0), Choice()
    assert await comparisons.helping(choice, soon()) is None
    go.set()
    await comparisons.aclose()
    assert await comparisons.helping(choice, soon()) == 3.5
    assert choice.times == 2


async def test_all_readings_of_a_recall_share_one_wait() -> None:
    clock = [0.0]

    def compare(task: Task, pairs: Sequence[Texts]) -> list[float]:
        clock[0] += 6.0
        return [1.0 for _ in pairs]

    comparisons = Comparisons(compare, wait_s=5.0)

    async def choose(known: KnownPair) -> list[float | None]:
        return [known("answers", PAIR), known("replaces", PAIR)]

    deadline = Deadline(60.0, lambda: clock[0])
    assert await comparisons.helping(choose, deadline) == [1.0, None]
    await comparisons.aclose()


async def test_one_is_read_at_a_time_few_wait_and_take_no_thread() -> None:
    reading, most = 0, 0

    def compare(_: Task, pairs: Sequence[Texts]) -> list[float]:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0)
        reading -= 1
        return [1.0 for _ in pairs]

    comparisons = Comparisons(compare)

    async def choose(n: int, read: KnownPair) -> float | None:
        return read("replaces", ("earlier", str(n)))

    found = await asyncio.gather(*(comparisons.helping(partial(choose, n), soon()) for n in range(MAX_UNDER_WAY + 3)))
    assert (found, most) == ([1.0] * MAX_UNDER_WAY + [None] * 3, 1)
    await comparisons.aclose()


async def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 3)
    comparisons = Comparisons(lambda _, pairs: [1.0 for _ in pairs])

    async def choose(read: KnownPair) -> list[float | None]:
        return [read("replaces", ("earlier", str(n))) for n in range(5)]

    assert (await comparisons.helping(choose, soon())).count(1.0) == 3
    await comparisons.aclose()


@pytest.mark.parametrize(("odds", "shown"), [(7.0, False), (-7.0, True)])
async def test_a_recall_goes_by_what_was_read(odds: float, shown: bool) -> None:
    """The two share no word that would tell."""
    hits = [
        memory("a", "I live in Ghent.", 0.9, updated_at="2026-03-01T09:00:00+00:00"),
        memory(
            "b", "The crates stand unpacked in the new house near Arles.", 0.8, updated_at="2026-05-01T09:00:00+00:00"
        ),
    ]
    comparisons = Comparisons(lambda task, pairs: [odds if task == "replaces" else 3.0 for _ in pairs])
    result = await Recalling(ScriptedBackend(memories=hits), comparisons=comparisons)("Where do I live?")
    block = result.context_block or ""
    assert "Arles" in block and ("Ghent" in block) is shown
    await comparisons.aclose()
