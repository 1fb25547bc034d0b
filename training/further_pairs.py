"""The pairs that ``answers`` learns further from: what a later message says of a question beside what it leaves alone.

Questions about a few messages teach that one on the same subject need not answer, and that one that corrects does.
Alone they also teach that whatever is near answers. So most of a pass is of worlds in which much is told, and above all
what is near to questions that nothing answers there. What people say from day to day is put beside what others say.
"""

import heapq
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from app.classify.changes import words_of
from app.classify.replaces import weight_of
from training.read_pairs import TOLD_WEIGHT, Pair, asked
from training.worlds import Fact, Question, World

NEAREST, OTHERS_SHARE = 4, 0.3
"""Of what does not help with a question: those that share most with it, and how much less often others are seen."""
LOOKED_AT = 600
"""Facts of which a prompt off any topic is put beside the nearest."""
LEAST_TOLD = 8
"""Facts of a world in which much is told."""
SAID = "said-"
"""How the names of the worlds begin in which two things are told as people talk from day to day."""
SAID_LOOKED_AT, SAID_NEAREST, SAID_ANY = 500, 2, 1
"""What others say that a question of these is put beside: of so many the nearest, and any."""


class Count(NamedTuple):
    """How many pairs of a group a pass sees."""

    helping: int
    others: int


COUNTS: Mapping[str, Count] = {
    "few messages": Count(600, 400),
    "said": Count(6400, 14000),
    "worlds": Count(1500, 1900),
    "rephrased": Count(1200, 1500),
    "translated": Count(600, 700),
    "unanswered": Count(0, 2500),
    "asked": Count(1400, 3500),
    "off topic": Count(0, 300),
}


def further_pairs(told: Sequence[World], prompts: Iterable[str]) -> Iterator[Pair]:
    """Some 36,000 pairs a pass of all that is ``told``, of prompts that nothing helps with, and of questions of their
    own; which of them differs from pass to pass."""
    said = [world for world in told if world.name.startswith(SAID)]
    few = [world for world in told if len(world.facts) < LEAST_TOLD and not world.name.startswith(SAID)]
    worlds = [world for world in told if len(world.facts) >= LEAST_TOLD]
    groups = {
        "few messages": _beside(few, lambda question: question.kind != "none"),
        "said": _beside_others(said),
        "worlds": _beside(worlds, lambda question: question.kind != "none" and not question.again),
        "rephrased": _beside(worlds, lambda q: q.kind != "none" and q.again and not q.language),
        "translated": _beside(worlds, lambda question: question.kind != "none" and bool(question.language)),
        "unanswered": _beside(worlds, lambda question: question.kind == "none"),
        "asked": asked("asked"),
        "off topic": _off_topic(prompts, worlds),
    }
    for name, group in groups.items():
        pairs = list(group)
        yield from _some([pair for pair in pairs if pair.yes], COUNTS[name].helping)
        yield from _some([pair for pair in pairs if not pair.yes], COUNTS[name].others)


def _some(pairs: Sequence[Pair], count: int) -> Iterator[Pair]:
    """So that about ``count`` of them are seen in a pass."""
    share = count / max(1.0, sum(pair.often for pair in pairs))
    return (pair._replace(often=min(1.0, pair.often * share)) for pair in pairs)


def _beside(told: Iterable[World], wanted: Callable[[Question], bool]) -> Iterator[Pair]:
    """The ``wanted`` questions with all that is told in their worlds."""
    for world in told:
        for question in world.questions:
            if not question.earlier and wanted(question):
                yield from _of_question(question, world)


def _of_question(question: Question, world: World) -> Iterator[Pair]:
    helps = question.needs | question.outdated
    for fact in world.facts:
        if fact.id in helps:
            yield Pair(question.text, fact.text, True, world.language)
    others = sorted((fact for fact in world.facts if fact.id not in helps), key=_nearness(question.text), reverse=True)
    for place, fact in enumerate(others):
        often = 1.0 if place < NEAREST else OTHERS_SHARE
        yield Pair(question.text, fact.text, False, world.language, 1.0, often)


def _beside_others(told: Sequence[World]) -> Iterator[Pair]:
    """The questions with what is told in their worlds, and in others of the same language."""
    chosen = random.Random(6)
    facts: dict[str, list[Fact]] = {}
    for world in told:
        facts.setdefault(world.language, []).extend(world.facts)
    for world in told:
        others = [fact for fact in facts[world.language] if fact not in world.facts]
        for question in world.questions:
            yield from _of_question(question, world)
            some = chosen.sample(others, min(SAID_LOOKED_AT, len(others)))
            nearest = heapq.nlargest(SAID_NEAREST, some, _nearness(question.text))
            for fact in (*nearest, *some[:SAID_ANY]):
                yield Pair(question.text, fact.text, False, world.language)


def _nearness(question: str) -> Callable[[Fact], float]:
    asked = _words(question)
    return lambda fact: weight_of(asked & _words(fact.text))


@cache
def _words(text: str) -> frozenset[str]:
    return words_of(text).bag


def _off_topic(prompts: Iterable[str], told: Iterable[World]) -> Iterator[Pair]:
    """Each prompt beside the nearest of some facts, and beside any."""
    facts = [(fact, world.language) for world in told for fact in world.facts]
    chosen = random.Random(5)
    for prompt in prompts:
        nearness = _nearness(prompt)
        nearest = max(chosen.sample(facts, min(LOOKED_AT, len(facts))), key=lambda one: nearness(one[0]))
        for fact, language in (nearest, chosen.choice(facts)):
            yield Pair(prompt, fact.text, False, language, TOLD_WEIGHT)
