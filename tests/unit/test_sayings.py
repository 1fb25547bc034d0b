"""What says a text that is to be forgotten, by where it stands."""

import pytest

from app.core.memories.forget_selection import Forgetting, Redactor, Statement
from app.core.memories.said_texts import Near

AT = "2026-03-01T09:00:00.000Z"
HOME, DOG, NETWORK = "I live in Berlin.", "My dog is called Rex.", "The network, keep it:\nKestrelnet4471\nBlauBeeren"


def redactor(text: str) -> Redactor:
    return Redactor(Forgetting(AT, (Statement("m_1", "viking://1", "profile", (text,)),)))


def left_of(fact: str, text: str, near: Near) -> str:
    return redactor(fact).text(text, near=near)


@pytest.mark.parametrize(
    ("fact", "text", "left"),
    [
        (HOME, "You live in Berlin!", ""),
        (HOME, "> I live\nin **Berlin**", ""),
        (HOME, "Do you live in Berlin?", None),
        (HOME, "I don't live in Berlin.", None),
        (HOME, "She lives in Berlin.", None),
        (HOME, "I live in Berlinchen.", None),
        (HOME, "I live in Berlin and cook at the old harbour by the sea.", "and cook at the old harbour by the sea."),
        (DOG, "Your dog is called Rex.", ""),
        (DOG, "Bob's dog is called Rex.", None),
        ("我住在柏林", "记住：我住在柏林。", ""),
        ("我住在柏林", "我不住在柏林。我妻子住在柏林。", None),
        (NETWORK, f"Note:\n{NETWORK}", "Note:"),
        (NETWORK, "Kestrelnet4471 is what I typed into the machine.", "is what I typed into the machine."),
        (NETWORK, "BlauBeeren are good.", None),
        ("The path is C:\\new\\temp", '["The path is C:\\\\new\\\\temp"]', ""),
    ],
)
def test_elsewhere_only_the_same_words_say_it(fact: str, text: str, left: str | None) -> None:
    found = left_of(fact, text, Near.ELSEWHERE)
    assert found == (text if left is None else left)
    assert left_of(fact, found, Near.ELSEWHERE) == found


@pytest.mark.parametrize(
    ("fact", "text", "left"),
    [
        (HOME, "In Berlin I live gladly. It rains.", "It rains."),
        (HOME, "My wife lives in Berlin.", None),
        (HOME, "We do not live in Berlin.", None),
        (NETWORK, "BlauBeeren", ""),
    ],
)
def test_its_own_turn_may_say_it_in_another_order(fact: str, text: str, left: str | None) -> None:
    assert left_of(fact, text, Near.TURN) == (text if left is None else left)


def test_an_answer_takes_it_up_in_fewer_words() -> None:
    assert left_of(HOME, "Berlin, noted. It rains.", Near.ANSWER) == "It rains."
    assert left_of(HOME, "Berlin, noted. It rains.", Near.TURN) == "Berlin, noted. It rains."


def test_another_memory_goes_for_the_same_words_alone() -> None:
    found = redactor(HOME)
    assert found.left_of_memory("I live in *Berlin*! It rains.") == "It rains."
    longer = "I live in Berlin with Ann."
    assert found.left_of_memory(longer) == longer and found.holds(longer) and found.drops_text(longer)
    assert not redactor("Rex").drops_text("Rex barks.") and redactor("Rex").holds("Rex barks.")
