"""The pairs of texts that a model learns to read together (`training.reading`).

Statements, an earlier and a later one, are those of `training.replaces` and of ``read.jsonl`` beside them, and those of
worlds. Questions, each with a memory that helps with it or does not, are those of worlds and of ``asked.jsonl``, whose
lines have a ``question``, the ``answers`` that belong beside it, and what is ``near`` and does not. Those of
``asked.unread.jsonl`` measure.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from training.query_map import Vectors
from training.replaces import EXAMPLES
from training.world_pairs import pairs_of_worlds
from training.worlds import Fact, Question, World

LOOK_ALIKES_SHARE = 0.4
"""Of what only looks like a replacement in worlds, seen in each epoch: there are nine for each that is one."""
NEAREST, NEAREST_SHARE, OTHERS_SHARE = 6, 0.35, 0.03
"""Of what does not help with a question: so many that are near to it by their vectors, seen in this share of the
epochs, and of all others."""
NEAR_SHARE = 0.5
"""Of what is near to a question of its own and does not help, seen in each epoch: there are five for each that does."""
TOLD_WEIGHT = 2.0
"""What a pair counts that was written as people talk, against one of a list of variants."""


class Pair(NamedTuple):
    """Two texts, and what is to be said of them."""

    first: str
    second: str
    yes: bool
    lang: str
    weight: float = 1.0
    often: float = 1.0
    """In what share of the epochs it is seen."""


def lines(name: str) -> Iterator[dict[str, Any]]:
    """The lines of a file of examples."""
    return map(json.loads, (EXAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())


def statements(name: str, weight: float = 1.0) -> Iterator[Pair]:
    """The pairs of statements of a file."""
    for one in lines(name):
        yield Pair(one["earlier"], one["later"], one["label"] == "replaces", one["lang"], weight)


def statements_of(told: Iterable[World]) -> Iterator[Pair]:
    """The pairs of statements of worlds."""
    for one in pairs_of_worlds(told):
        often = 1.0 if one.replaces else LOOK_ALIKES_SHARE
        yield Pair(one.earlier, one.later, one.replaces, one.world.language, TOLD_WEIGHT, often)


def asked(name: str) -> Iterator[Pair]:
    """The questions of a file with what is told of each."""
    for one in lines(name):
        lang = one.get("memory_lang", one["lang"])
        for text in one["answers"]:
            yield Pair(one["question"], text, True, lang)
        for text in one["near"]:
            yield Pair(one["question"], text, False, lang, often=NEAR_SHARE)


def asked_of(told: Iterable[World], vectors: Vectors) -> Iterator[Pair]:
    """The questions of worlds with all that is told there. What is out of date is as relevant as what replaced it."""
    for world in told:
        for question in world.questions:
            if not question.earlier:
                yield from _beside(question, world, vectors)


def unrelated(prompts: Sequence[str], told: Sequence[World], vectors: Vectors) -> Iterator[Pair]:
    """Prompts that nothing stored helps with, each beside what is nearest to it of all that was told."""
    facts = [(fact.text, world.language) for world in told for fact in world.facts]
    stored = vectors.passages([text for text, _ in facts])
    for prompt in prompts:
        for at in np.argsort(-(stored @ vectors.query(prompt)))[:NEAREST]:
            yield Pair(prompt, facts[at][0], False, facts[at][1], TOLD_WEIGHT)


def _beside(question: Question, world: World, vectors: Vectors) -> Iterator[Pair]:
    helps = question.needs | question.outdated
    others = [fact for fact in world.facts if fact.id not in helps]
    for fact in world.facts:
        if fact.id in helps:
            yield Pair(question.text, fact.text, True, world.language)
    for place, at in enumerate(_nearest(question, others, vectors)):
        often = NEAREST_SHARE if place < NEAREST else OTHERS_SHARE
        yield Pair(question.text, others[at].text, False, world.language, 1.0, often)


def _nearest(question: Question, facts: Sequence[Fact], vectors: Vectors) -> Sequence[int]:
    if len(facts) <= NEAREST:
        return range(len(facts))
    return np.argsort(-(vectors.passages([fact.text for fact in facts]) @ vectors.query(question.text)))
