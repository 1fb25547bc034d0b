"""What is no claim, or about somebody else, takes nothing away from what a person said."""

from datetime import datetime

import pytest

from app.classify.changes import words_of
from app.classify.meant import can_replace
from app.classify.replaces import by_words
from app.core.recall.trace import Verdict
from app.recall.ranking import Policy, rank
from app.recall.relevance.outdated import Outdated
from app.recall.superseded import without_superseded
from tests.unit.recalling import memory

LIVE, WORK = ("I live in Lisbon.", "Where do I live?"), ("I work at Siemens.", "Where do I work?")
DATABASE = ("The production database is on port 5432.", "Which port is the production database on?")
DOSE = ("I take 20 mg of lisinopril.", "How much lisinopril do I take?")
PEANUTS = ("I am allergic to peanuts.", "What am I allergic to?")
SHIP = ("We ship Atlas on Friday.", "When do we ship Atlas?")
WOHNE = ("Ich wohne in Hamburg.", "Wo wohne ich?")
ZH = ("我住在杭州。", "我住在哪里？")


def shown(told: str, later: str, query: str) -> bool:
    at = "2026-{:02}-01T09:00:00+00:00".format
    hits = [memory("a", told, 0.97, updated_at=at(3)), memory("b", later, 0.96, updated_at=at(9))]
    assert datetime.fromisoformat(at(3)) < datetime.fromisoformat(at(9))
    ranked = [one._replace(score=0.95, verdict=Verdict.KEPT) for one in rank(hits, query, Policy())]
    decided = without_superseded(ranked, query, Outdated(query, {}).likely)
    return any(one.hit.text == told and one.verdict is Verdict.KEPT for one in decided)


@pytest.mark.parametrize(
    ("told", "later"),
    [
        (LIVE, "If I lived in Porto now I would be richer."),
        (LIVE, "Guess what, I live in Porto now... just kidding!"),
        (LIVE, "My brother lives in Porto now."),
        (LIVE, 'Bob said: "I live in Porto now."'),
        (LIVE, "Bob wrote me: I live in Porto now."),
        (LIVE, "Translate to German: I live in Porto now."),
        (LIVE, "In my novel the hero says that he lives in Porto now."),
        (LIVE, "I do not live in Porto."),
        (LIVE, "I used to live in Porto."),
        (WORK, "My wife works at Bosch now."),
        (WORK, "Suppose I work at Bosch from now on."),
        (DOSE, "My father takes 40 mg of lisinopril now."),
        (DATABASE, "The staging database is on port 5433."),
        (PEANUTS, "I am not allergic to walnuts."),
        (PEANUTS, "I am allergic to walnuts too."),
        (SHIP, "Someone asked whether we ship Atlas on Monday."),
        (SHIP, "We ship Borea on Monday."),
        (("I drink my coffee black.", "How do I drink my coffee?"), "Peter drinks his coffee with milk now."),
        (
            ("My daughter's birthday is 3 May.", "When is my daughter's birthday?"),
            "Anna's daughter's birthday is 9 June.",
        ),
        (("My wife is called Eva.", "What is my wife called?"), "My boss's wife is called Ina."),
        (SHIP, "Could we ship Atlas on Monday from now on"),
        (WOHNE, "Stell dir vor, ich wohne jetzt in Bremen."),
        (WOHNE, "Mein Bruder wohnt jetzt in Bremen."),
        (ZH, "我弟弟现在住在上海。"),
        (ZH, "如果我现在住在上海就好了。"),
    ],
)
def test_it_takes_nothing_away(told: tuple[str, str], later: str) -> None:
    assert shown(told[0], later, told[1])


@pytest.mark.parametrize(
    ("told", "later"),
    [
        (LIVE, "I live in Porto now."),
        (LIVE, "I used to live in Lisbon, now I live in Porto."),
        (LIVE, "I don't live in Lisbon any more, I live in Porto now."),
        (SHIP, "We ship Atlas on Monday after all."),
        (("My brother lives in Lisbon.", "Where does my brother live?"), "My brother lives in Porto now."),
        (DATABASE, "The production database is on port 5433 now."),
        (WOHNE, "Ich wohne jetzt in Bremen."),
        (ZH, "我现在住在上海。"),
    ],
)
def test_a_change_is_still_one(told: tuple[str, str], later: str) -> None:
    assert not shown(told[0], later, told[1])


@pytest.mark.parametrize("later", ["Translate to German: I live in Porto now.", "I live in Porto now... just kidding!"])
def test_no_memory_is_replaced_by_it_either(later: str) -> None:
    assert by_words().replaces([(LIVE[0], later)]) == [0.0]


@pytest.mark.parametrize(
    "text", ['"a ' * 700, "“" * 2000, "said " * 400, "please " * 300, "my " * 700, "Anna's " * 280]
)
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    assert len(by_words().replaces([(LIVE[0], text)])) == 1


def denies_another(earlier: str, later: str) -> bool:
    return not can_replace(earlier, later, words_of(earlier), words_of(later))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I eat eggs at breakfast.", "I don't eat snails at breakfast."),
        ("The gate opens to guests.", "The gate doesn't opens to dogs."),
        ("Ich esse Eier.", "Ich niemals esse Pilze."),
    ],
)
def test_a_negation_of_something_else_denies_nothing(earlier: str, later: str) -> None:
    assert denies_another(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I eat eggs at breakfast.", "I don't eat eggs at breakfast."),
        ("Anna eats eggs at breakfast.", "Bert doesn't eats eggs at breakfast."),
    ],
)
def test_only_what_stands_behind_a_negation_is_denied(earlier: str, later: str) -> None:
    assert not denies_another(earlier, later)
