"""The worlds that are made of frames say what is asked of them, and no more."""

import re

import pytest

from training.attributes import LANGUAGES, frames, made_worlds

WORLDS = list(made_worlds(60, seed=7))


def test_the_same_seed_makes_the_same_worlds() -> None:
    assert list(made_worlds(60, seed=7)) == WORLDS
    assert list(made_worlds(60, seed=8)) != WORLDS


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_frame_has_its_values_and_no_other_places(language: str) -> None:
    for attribute in frames(language).attributes.values():
        places = set(re.findall(r"{(.*?)}", " ".join(one for lines in attribute.lines.values() for one in lines)))
        assert places <= {"P", "p", "d", "T", "t", "v", "k"}, attribute.name
        assert ("k" in places) == ("k" in attribute.lines), attribute.name
        assert attribute.owners() and attribute.lines["v"], attribute.name
        assert attribute.near <= frames("en").attributes.keys() | {""}, attribute.name


def test_nothing_is_left_open_and_questions_need_facts_of_their_world() -> None:
    for world in WORLDS:
        ids = {fact.id for fact in world.facts}
        said = [*(fact.text for fact in world.facts), *(question.text for question in world.questions)]
        assert not [text for text in said if "{" in text or ("/" in text and "//" not in text)], world.name
        assert all(question.needs <= ids for question in world.questions), world.name
        assert all(bool(question.needs) == (question.kind != "none") for question in world.questions), world.name


def test_there_are_about_as_many_questions_that_nothing_answers() -> None:
    kinds = [question.kind for world in WORLDS for question in world.questions]
    assert 0.35 < kinds.count("none") / len(kinds) < 0.65
    assert kinds.count("implicit") > len(kinds) / 100
