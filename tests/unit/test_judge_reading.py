"""Hits that were read together with the question, and those that were not."""

from collections.abc import Sequence

import pytest

from app.core.recall.hits import Evidence, Hit
from app.core.recall.text_pairs import Task, Texts
from app.recall.relevance.evidence import question_of
from app.recall.relevance.model import MEANINGS, judge, load_weights
from app.recall.relevance.read_hits import LEAST_LIKELY, MOST_READ, WHOLE_CHARS, judge_reading
from app.text.log_odds import log_odds

QUESTION = question_of("what colour is my bicycle?", 0.9)


def hits(*odds: float) -> list[Hit]:
    """Hits with so much evidence each."""
    return [
        Hit(f"m/{n}", f"2026-02-01 user: number {n}", 0.5, evidence=Evidence(0.3, (0.2, 0.1), 0.0, odds=one))
        for n, one in enumerate(odds)
    ]


class Reading:
    """What is known of pairs, and which were asked for."""

    def __init__(self, odds: dict[str, float] | None = None, otherwise: float | None = None) -> None:
        self.asked: list[Texts] = []
        self._odds = odds or {}
        self._otherwise = otherwise

    def __call__(self, task: Task, texts: Texts) -> float | None:
        assert task == "answers"
        self.asked.append(texts)
        return self._odds.get(texts[1], self._otherwise)


def probabilities(found: Sequence[Hit], read: Reading) -> list[float]:
    return [one.probability for one in judge_reading(QUESTION, found, read)]


def test_what_was_not_read_is_judged_by_words_and_vectors() -> None:
    found = hits(3.0, 1.0, -2.0)
    assert judge_reading(QUESTION, found, Reading()) == judge(QUESTION, found)


def test_reading_decides_between_hits_that_look_alike() -> None:
    found = hits(1.0, 1.0)
    answer, beside = probabilities(found, Reading({"number 0": 4.0, "number 1": -4.0}))
    assert answer > 0.5 and beside < 0.1


def test_only_the_likeliest_are_read_without_day_and_speaker() -> None:
    found = hits(*(n / 100 for n in range(MOST_READ + 4)), -8.0)
    reading = Reading()
    assert judge_reading(QUESTION, found, reading)[-1].probability < LEAST_LIKELY
    assert reading.asked == [(QUESTION.text, f"number {n}") for n in range(MOST_READ + 3, 3, -1)]


def test_what_nothing_speaks_for_is_not_read() -> None:
    reading = Reading()
    judge_reading(QUESTION, hits(-8.0, -8.0), reading)
    assert not reading.asked


def test_what_was_not_read_is_no_likelier_than_what_was() -> None:
    found = hits(*[4.0] * (MOST_READ + 2))
    judged = probabilities(found, Reading(otherwise=-6.0))
    assert max(judged) == pytest.approx(min(judged))


def test_of_a_long_text_is_read_what_is_about_the_question() -> None:
    long = "It rained again. " * 40 + "The bicycle is green. " + "It rained again. " * 40
    assert len(long) > WHOLE_CHARS
    reading = Reading()
    judge_reading(QUESTION, [hits(4.0)[0]._replace(text=f"2026-02-01 user: {long}")], reading)
    ((_, text),) = reading.asked
    assert "The bicycle is green." in text and len(text) < WHOLE_CHARS and not text.startswith("2026")


def test_the_parts_say_what_the_probability_is_made_of() -> None:
    found = hits(1.0, 0.0)
    before = judge(QUESTION, found)
    weights = load_weights("read", "answers")
    for one, first in zip(judge_reading(QUESTION, found, Reading(otherwise=1.0)), before, strict=True):
        of_before = weights.weights["before"] * (log_odds(first.probability) - sum(first.parts.values()))
        assert sum(one.parts.values()) + weights.bias + of_before == pytest.approx(log_odds(one.probability))
        assert set(one.parts) <= set(MEANINGS)
