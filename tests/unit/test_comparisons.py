"""Recalls that have pairs of statements read together, and go on without where that fails."""

import asyncio
import threading
import time
from collections.abc import Sequence
from functools import partial

import pytest

from app.core.deadline import Deadline
from app.recall import comparisons as module
from app.recall.comparisons import Comparisons, Texts
from app.recall.relevance.outdated import Compared
from tests.unit.recalling import Recalling, ScriptedBackend, memory

pytestmark = pytest.mark.anyio

PAIR = ("I live in Ghent.", "I moved to Arles.")


class Choice:
    """What is chosen depends on one pair."""

    def __init__(self) -> None:
        self.times = 0

    async def __call__(self, compared: Compared) -> float | None:
        self.times += 1
        return compared(*PAIR)


def soon() -> Deadline:
    return Deadline.after_ms(30_000)


async def test_a_choice_is_made_again_once_its_pairs_were_read_and_not_a_third_time() -> None:
    read: list[Texts] = []

    def compare(pairs: Sequence[Texts]) -> list[float]:
        read.extend(pairs)
        return [3.5 for _ in pairs]

    comparisons, first, second = Comparisons(compare), Choice(), Choice()
    assert await comparisons.helping(first, soon()) == 3.5
    assert await comparisons.helping(second, soon()) == 3.5
    assert (first.times, second.times, read) == (2, 1, [PAIR])
    await comparisons.aclose()


@pytest.mark.parametrize("error", [OSError("ended"), ValueError("nonsense")])
async def test_where_reading_fails_the_first_choice_stands(error: Exception) -> None:
    def compare(_: Sequence[Texts]) -> list[float]:
        raise error

    comparisons, choice = Comparisons(compare), Choice()
    assert await comparisons.helping(choice, soon()) is None
    assert choice.times == 1
    await comparisons.aclose()


async def test_what_comes_too_late_serves_the_next_recall() -> None:
    go = threading.Event()

    def compare(pairs: Sequence[Texts]) -> list[float]:
        go.wait(30)
        return [3.5 for _ in pairs]

    comparisons, choice = Comparisons(compare, wait_s=0), Choice()
    assert await comparisons.helping(choice, soon()) is None
    go.set()
    await comparisons.aclose()
    assert await comparisons.helping(choice, soon()) == 3.5
    assert choice.times == 2


async def test_one_is_read_at_a_time_and_those_that_wait_take_no_thread() -> None:
    reading, most = 0, 0

    def compare(pairs: Sequence[Texts]) -> list[float]:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0)
        reading -= 1
        return [1.0 for _ in pairs]

    comparisons = Comparisons(compare)

    async def choose(n: int, compared: Compared) -> float | None:
        return compared("earlier", str(n))

    found = await asyncio.gather(*(comparisons.helping(partial(choose, n), soon()) for n in range(12)))
    assert (found, most) == ([1.0] * 12, 1)
    await comparisons.aclose()


async def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 3)
    comparisons = Comparisons(lambda pairs: [1.0 for _ in pairs])

    async def choose(compared: Compared) -> list[float | None]:
        return [compared("earlier", str(n)) for n in range(5)]

    assert await comparisons.helping(choose, soon()) == [None, None, 1.0, 1.0, 1.0]
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
    comparisons = Comparisons(lambda pairs: [odds for _ in pairs])
    result = await Recalling(ScriptedBackend(memories=hits), comparisons=comparisons)("Where do I live?")
    block = result.context_block or ""
    assert "Arles" in block and ("Ghent" in block) is shown
    await comparisons.aclose()
