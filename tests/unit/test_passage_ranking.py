"""Which passages answer a question best: words and meaning together, and what stands side by side as one."""

import pytest

from app.core.recall.hits import Hit
from app.documents.passage_ranking import (
    BY_INDEX,
    JOINED_CHARS,
    Found,
    Scale,
    of_candidates,
    ranked,
)
from app.text import bm25

USUAL = Scale((0.8, 0.02), BY_INDEX)


def found(uri: str, text: str, similarity: float | None = None, words: float = 0.0, place: str = "a.md") -> Found:
    return Found(Hit(uri, f"{place}\n{text}", 0.0), similarity, words)


def test_words_and_meaning_count_together() -> None:
    both = found("b.md#1", "The port is 8787.", 0.84, 3.0)
    by_meaning = found("c.md#1", "It listens somewhere.", 0.85)
    by_words = found("d.md#1", "Port wine.", 0.79, 3.2)
    hits = ranked("which port", [by_meaning, by_words, both], USUAL, 3)
    assert [hit.uri for hit in hits] == ["b.md#1", "c.md#1", "d.md#1"]
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_without_vectors_words_decide() -> None:
    hits = ranked("port", [found("a#1", "nothing"), found("b#1", "port", words=2.0)], of_candidates([]), 2)
    assert [hit.uri for hit in hits] == ["b#1", "a#1"]
    assert hits[0].evidence and hits[0].evidence.similarity is None and hits[0].evidence.words == 1.0


def test_a_document_that_is_about_the_question_counts_for_its_passages() -> None:
    about = [found(f"about.md#{n}", "x", 0.84, place=f"about.md > {n}") for n in (1, 3, 5)]
    lone = [found("other.md#1", "x", 0.8401), *(found(f"other.md#{n}", "x", 0.78) for n in (3, 5))]
    assert ranked("q", [*lone, *about], USUAL, 1)[0].uri.startswith("about.md")


def test_passages_side_by_side_come_as_one_in_the_order_of_the_document() -> None:
    second, third = found("a.md#2", "Second.", 0.86), found("a.md#3", "Third.", 0.85)
    first, far = found("a.md#1", "First.", 0.84), found("a.md#9", "Ninth.", 0.83)
    hits = ranked("q", [third, far, first, second], USUAL, 5)
    assert [(hit.uri, hit.text) for hit in hits] == [
        ("a.md#1", "a.md\nFirst.\n\nSecond.\n\nThird."),
        ("a.md#9", "a.md\nNinth."),
    ]


@pytest.mark.parametrize(
    "other",
    [
        found("a.md#3", "x", 0.85, place="a.md > Another heading"),
        found("a.md#3", "x" * JOINED_CHARS, 0.85),
        found("a.md#3", "x", 0.80),
        found("b.md#3", "x", 0.85),
        found("viking://resources/others.md", "x", 0.85),
    ],
    ids=["heading", "length", "score", "document", "no number"],
)
def test_what_does_not_belong_together_stays_apart(other: Found) -> None:
    assert len(ranked("q", [found("a.md#2", "Second.", 0.86), other], USUAL, 5)) == 2


def test_nothing_found_is_nothing_shown_and_one_alone_has_a_score() -> None:
    assert ranked("q", [], of_candidates([]), 3) == []
    [hit] = ranked("port", [found("a#1", "port", 0.9, 1.0)], of_candidates([0.9]), 3)
    assert 0 < hit.score <= 1


def test_rare_words_count_more_and_long_texts_less() -> None:
    texts = ["the valve of ZT-37", "the valve", "the valve and much that is said of other things besides"]
    scores = bm25.scores("the valve of ZT-37", texts)
    assert scores[0] > scores[1] > scores[2] > 0
    assert bm25.scores("anything", []) == [] and bm25.scores("absent", ["x"]) == [0.0]
