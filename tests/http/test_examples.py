"""The published examples are what the service answers."""

from app.api.examples import ANSWERS, REQUESTS
from tests.examples import comparable, played


def test_the_published_answers_are_those_of_the_service() -> None:
    answers = played()
    assert comparable(answers) == comparable(ANSWERS), "run make openapi"
    assert all("errors" in ANSWERS[name] for name in REQUESTS if name == "problem")


def test_the_published_answers_show_what_the_endpoints_are_for() -> None:
    assert ANSWERS["after-turn"]["status"] == "committed"
    assert ANSWERS["compact"]["result"]["details"]["extracted"] is True
    assert ANSWERS["assemble"]["recall"]["items"]
    assert ANSWERS["assemble-preflight"]["status"] == "assembled"
    assert ANSWERS["tools"]["details"]["matches"]
