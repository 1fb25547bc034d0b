"""A statement replaces another only when it is about the same thing and is a value of it; otherwise both stay."""

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.extraction.extract import memories_in
from app.embedded.storage.records import Claim, Record, Source, merge
from tests.unit.statement_examples import (
    CORRECTIONS,
    LOOK_ALIKES,
    UNSEEN_CORRECTIONS,
    UNSEEN_LOOK_ALIKES,
    Examples,
)


def stored(*texts: str) -> list[str]:
    """What is stored, without full stops, after each text was said in a message of its own."""
    files: dict[str, list[Record]] = {}
    for day, text in enumerate(texts, 1):
        message = CapturedMessage("user", (TextPart(text),), f"2026-03-{day:02}T09:00:00+00:00", f"t_{day}.0")
        for memory in memories_in([message]):
            files[memory.file] = merge(files.get(memory.file, []), memory.record, memory.claim)
    return [record.value.rstrip(".。") for records in files.values() for record in records]


def pairs(examples: Examples) -> list[tuple[str, str]]:
    return [(first, later) for first, every in examples.items() for later in every]


def is_kept(first: str, later: str) -> bool:
    return first.rstrip(".。") in stored(first, later)


def is_corrected(first: str, later: str) -> bool:
    now = stored(first, later)
    return first.rstrip(".。") not in now and any(value in later for value in now)


@pytest.mark.parametrize("first", [*LOOK_ALIKES, *CORRECTIONS, *UNSEEN_LOOK_ALIKES, *UNSEEN_CORRECTIONS])
def test_a_statement_is_stored(first: str) -> None:
    assert stored(first) == [first.rstrip(".。")]


@pytest.mark.parametrize(("first", "later"), pairs(LOOK_ALIKES))
def test_what_only_looks_alike_replaces_nothing(first: str, later: str) -> None:
    assert is_kept(first, later)


@pytest.mark.parametrize(("first", "later"), pairs(CORRECTIONS))
def test_a_correction_replaces_the_value(first: str, later: str) -> None:
    assert is_corrected(first, later)


def test_what_nobody_thought_of_replaces_nothing_either() -> None:
    assert [pair for pair in pairs(UNSEEN_LOOK_ALIKES) if not is_kept(*pair)] == []


def test_corrections_that_nobody_thought_of_count() -> None:
    corrected = [is_corrected(*pair) for pair in pairs(UNSEEN_CORRECTIONS)]
    assert sum(corrected) >= 0.9 * len(corrected)


@pytest.mark.parametrize(
    ("texts", "now"),
    [
        (["My boss is Carlos.", "My boss is Carlos, call him."], ["My boss is Carlos"]),
        (["My brother is Tom.", "My brother is Tim."], ["My brother is Tom", "My brother is Tim"]),
        (
            ["My brother is Tom.", "My brother is Tim.", "My brother is Jim, not Tim."],
            ["My brother is Tom", "My brother is Jim, not Tim"],
        ),
        (["I'm a nurse.", "I'm a teacher."], ["I'm a nurse", "I'm a teacher"]),
        (["My name is Mara. Sorry, my name is Maria."], ["Sorry, my name is Maria"]),
        (
            ["My wife is Ana.", "My wife is a nurse.", "My wife works at Bosch."],
            ["My wife is Ana", "My wife is a nurse", "My wife works at Bosch"],
        ),
    ],
)
def test_what_stands_beside_what(texts: list[str], now: list[str]) -> None:
    assert stored(*texts) == now


def test_learning_what_stands_beside_another_again_changes_nothing() -> None:
    def brother(name: str, ref: str) -> tuple[Record, Claim]:
        source = Source("chat_turn", ref, "2026-03-01T09:00:00+00:00")
        return Record("profile", "profile.brother", f"My brother is {name}", 0.9, source), Claim(name, replaces=False)

    once = merge(merge([], *brother("Tom", "t_1")), *brother("Tim", "t_2"))
    assert merge(merge(once, *brother("Tom", "t_1")), *brother("Tim", "t_2")) == once
    assert [record.key for record in once] == ["profile.brother", "profile.brother+tim"]
