"""Pairs of statements that follow from worlds: what a question says is out of date, and what only looks like it.

A question's outdated facts are replaced by the one that it needs. Whatever else was said later does not replace what a
question is about: of these pairs those that share most are the look-alikes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from app.classify.changes import words_of
from app.classify.replaces import weight_of
from training.worlds import Fact, World

LOOK_ALIKES = 2
"""Earlier facts for each later one: those that share most with it."""


class Told(NamedTuple):
    """Two statements of a world, the one later than the other."""

    earlier: str
    later: str
    replaces: bool
    world: World


def pairs_of_worlds(worlds: Iterable[World]) -> Iterator[Told]:
    """What is replaced in each world, and what is not although it was said before something that is much like it."""
    for world in worlds:
        place = {fact.id: number for number, fact in enumerate(world.facts)}
        for old, new in sorted(replaced_in(world)):
            if world.facts[place[new]].role != "assistant" and place[old] < place[new]:
                yield Told(world.facts[place[old]].text, world.facts[place[new]].text, True, world)
        for earlier, later in _look_alikes(world):
            yield Told(earlier.text, later.text, False, world)


def replaced_in(world: World) -> set[tuple[str, str]]:
    """The ids of facts of which the first is out of date because of the second."""
    return {
        (old, new)
        for question in world.questions
        if len(question.needs) == 1
        for old in question.outdated
        for new in question.needs
    }


def alone(world: World) -> Iterator[World]:
    """For each question that one fact answers a world of two: that fact after the one that it replaces, or before that
    which is most like it of all that was said later."""
    place = {fact.id: number for number, fact in enumerate(world.facts)}
    outdated = {one for question in world.questions for one in question.outdated}
    for question in world.questions:
        if question.earlier or len(question.needs) != 1:
            continue
        (needed,) = question.needs
        for old in question.outdated:
            two = (world.facts[place[old]], world.facts[place[needed]])
            yield replace(world, facts=two, questions=(replace(question, outdated=frozenset({old})),))
        later = [one for one in world.facts[place[needed] + 1 :] if one.role != "assistant"]
        if later and needed not in outdated and not question.outdated:
            said = words_of(world.facts[place[needed]].text).bag
            like = max(later, key=lambda one: weight_of(said & words_of(one.text).bag))
            yield replace(world, facts=(world.facts[place[needed]], like), questions=(question,))


def _look_alikes(world: World) -> Iterator[tuple[Fact, Fact]]:
    known = {one for question in world.questions for one in question.needs | question.outdated}
    said = {fact.id: words_of(fact.text).bag for fact in world.facts}
    for number, later in enumerate(world.facts):
        if later.role == "assistant":
            continue
        others = [one for one in world.facts[:number] if one.id in known and not _are_of_one(one.id, later.id, world)]
        others.sort(key=lambda one: -weight_of(said[one.id] & said[later.id]))
        for one in others[:LOOK_ALIKES]:
            yield one, later


def _are_of_one(first: str, second: str, world: World) -> bool:
    """Whether one question is about both: then one of them may have replaced the other."""
    told = (question.needs | question.outdated for question in world.questions if question.outdated)
    return any({first, second} <= one for one in told)
