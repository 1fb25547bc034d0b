"""Small worlds made of frames (``examples/relevance/attributes.*.frames``): what people tell, and what is asked of it.

They teach what a handful of written worlds can not: that a question is answered only by the same attribute of the same
owner. Beside the questions that something answers each world has those that nothing does: another attribute of an
owner that is known, the attribute of another owner, and what is not stored of anybody.

A file holds blocks, one for each attribute, with the same names in every language. Its lines begin with who owns the
attribute (``me``, ``p`` a person, ``t`` a thing) and what they are: ``s`` statements, ``q`` questions that ask for the
attribute, ``t`` requests that depend on it. ``v`` and ``k`` are the values for ``{v}`` and ``{k}``; ``near`` names
attributes that may answer for this one. Two blocks at the end say which people and things there are; behind a slash
stands the form behind a preposition (``{d}``).
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from training.worlds import EXAMPLES, Fact, Question, World

LANGUAGES = ("en", "zh", "de")
FACTS = (9, 17)
"""Fewest and most facts of a world."""
JOINED = 0.25
"""Share of the facts that tell two things of one owner."""
ANSWERED, UNANSWERED = 7, 7
"""Questions of a world."""
SHARED_PEOPLE = 6
"""The first of the people are the same in every language."""
_FIRST_DAY = date(2026, 1, 3)


@dataclass
class Attribute:
    """What can be told of an owner, by ``<owner> <what>`` as in the file."""

    name: str
    near: frozenset[str] = frozenset()
    lines: dict[str, Sequence[str]] = field(default_factory=dict)

    def owners(self) -> list[str]:
        """The kinds of owners that have it."""
        return [kind for kind in ("me", "p", "t") if f"{kind} s" in self.lines]


@dataclass
class Frames:
    """All attributes of a language, and who has them."""

    attributes: dict[str, Attribute]
    people: Sequence[str]
    named: Sequence[str]
    things: Sequence[str]


class Told(NamedTuple):
    """One thing that is told: of whom, what, and with which values."""

    kind: str
    owner: str
    attribute: str
    topic: str
    value: str


@cache
def frames(language: str) -> Frames:
    """The frames of a language."""
    blocks = _blocks(EXAMPLES / f"attributes.{language}.frames")
    people, things = blocks.pop("people"), blocks.pop("things")
    attributes = {}
    for name, lines in blocks.items():
        near = frozenset(" ".join(lines.pop("near", ())).split())
        attributes[name] = Attribute(name, near, lines)
    return Frames(attributes, people["self"], people["named"], things["self"])


def _blocks(path: Path) -> dict[str, dict[str, Sequence[str]]]:
    blocks: dict[str, dict[str, Sequence[str]]] = {}
    for part in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in part.splitlines() if line and not line.startswith("#")]
        if lines:
            blocks[lines[0]] = dict(_line(line) for line in lines[1:])
    return blocks


def _line(line: str) -> tuple[str, Sequence[str]]:
    key, _, rest = line.partition(": ")
    return key, [one.strip() for one in rest.split(" | ")]


def made_worlds(count: int, seed: int = 1) -> Iterator[World]:
    """So many worlds, the same for the same ``seed``."""
    choose = random.Random(seed)
    for number in range(count):
        told = choose.choices(LANGUAGES, (6, 4, 2))[0]
        asked = choose.choice(LANGUAGES) if choose.random() < 0.15 else told
        yield _World(choose, told, asked).made(f"made-{seed}-{number}")


class _World:
    """A world while it is made."""

    def __init__(self, choose: random.Random, told: str, asked: str) -> None:
        self.choose = choose
        self.told, self.asked = frames(told), frames(asked)
        self.language = told
        self.foreign = told != asked
        self.attributes = sorted(self.told.attributes.keys() & self.asked.attributes.keys())

    def made(self, name: str) -> World:
        told = self._all_told()
        facts, holders = self._facts(told)
        questions = [*self._answered(told, holders), *self._unanswered(told)]
        return World(name, self.language, tuple(facts), tuple(questions))

    def _all_told(self) -> list[Told]:
        owners = self._owners()
        told: dict[tuple[str, str, str], Told] = {}
        for _ in range(self.choose.randint(*FACTS)):
            kind, owner = self.choose.choice(owners)
            fitting = [name for name in self.attributes if kind in self.told.attributes[name].owners()]
            name = self.choose.choice(fitting)
            if told and self.choose.random() < 0.3:  # near neighbours: what is told of one is told of another
                other = self.choose.choice(list(told.values()))
                name = other.attribute if other.attribute in fitting else name
            attribute = self.told.attributes[name]
            topic = self.choose.choice(attribute.lines.get("k", [""]))
            value = self.choose.choice(attribute.lines["v"])
            told.setdefault((owner, name, topic), Told(kind, owner, name, topic, value))
        return list(told.values())

    def _owners(self) -> list[tuple[str, str]]:
        people = self.told.people[: SHARED_PEOPLE if self.foreign else None]
        named = [] if self.foreign and self.language != "en" else list(self.told.named)
        chosen = self.choose.sample([*people, *named], self.choose.randint(2, 4))
        things = [] if self.foreign else self.choose.sample(list(self.told.things), self.choose.randint(0, 3))
        return (
            [("me", "")] * self.choose.randint(2, 6) + [("p", one) for one in chosen] + [("t", one) for one in things]
        )

    def _facts(self, told: Sequence[Told]) -> tuple[list[Fact], dict[Told, str]]:
        facts: list[Fact] = []
        holders: dict[Told, str] = {}
        day = _FIRST_DAY
        for one in told:
            text = _filled(self.choose.choice(self.told.attributes[one.attribute].lines[f"{one.kind} s"]), one)
            same = [
                n
                for n, fact in enumerate(facts)
                for other, id_ in holders.items()
                if id_ == fact.id and other.owner == one.owner
            ]
            if same and self.choose.random() < JOINED:
                at = self.choose.choice(same)
                gap = "" if self.language == "zh" else " "
                facts[at] = Fact(facts[at].id, f"{facts[at].text}{gap}{text}", facts[at].date)
                holders[one] = facts[at].id
                continue
            day += timedelta(days=self.choose.randint(1, 6))
            holders[one] = f"f{len(facts) + 1}"
            facts.append(Fact(holders[one], text, day.isoformat()))
        return facts, holders

    def _answered(self, told: Sequence[Told], holders: Mapping[Told, str]) -> Iterator[Question]:
        for one in self.choose.sample(list(told), min(ANSWERED, len(told))):
            lines = self.asked.attributes[one.attribute].lines
            asks = "t" if f"{one.kind} t" in lines and self.choose.random() < 0.4 else "q"
            if not (forms := lines.get(f"{one.kind} {asks}")):
                continue
            if self.foreign and one.topic:
                continue
            alike = {id_ for other, id_ in holders.items() if other[:4] == one[:4]}
            needs = alike if asks == "q" else {holders[one]}
            yield Question(
                _filled(self.choose.choice(forms), self._in_asked(one)),
                "implicit" if asks == "t" else "direct",
                frozenset(needs),
            )

    def _unanswered(self, told: Sequence[Told]) -> Iterator[Question]:
        known = {(one.owner, one.attribute) for one in told}
        owners = sorted({(one.kind, one.owner) for one in told})
        attributes = sorted({one.attribute for one in told})
        for _ in range(UNANSWERED):
            kind, owner = self.choose.choice(owners)
            fitting = [n for n in self.attributes if f"{kind} q" in self.asked.attributes[n].lines]
            draw = self.choose.random()
            if draw < 0.35 and not self.foreign:  # an owner that nothing is known of
                kind = self.choose.choice(["p", "t"]) if kind != "me" else "p"
                pool = self.told.things if kind == "t" else [*self.told.people, *self.told.named]
                left = [one for one in pool if (kind, one) not in owners]
                owner = self.choose.choice(left)
                fitting = [
                    n
                    for n in (attributes if draw < 0.25 else self.attributes)
                    if f"{kind} q" in self.asked.attributes[n].lines
                ]
            if not fitting:
                continue
            name = self.choose.choice(fitting)
            near = self.asked.attributes[name].near | self.told.attributes[name].near
            if any((owner, other) in known for other in [name, *near]):
                continue
            attribute = self.asked.attributes[name]
            topic = self.choose.choice(attribute.lines.get("k", [""]))
            one = self._in_asked(Told(kind, owner, name, topic, ""))
            yield Question(_filled(self.choose.choice(attribute.lines[f"{kind} q"]), one), "none")

    def _in_asked(self, one: Told) -> Told:
        """The owner in the language of the questions."""
        if not self.foreign or one.owner not in self.told.people:
            return one
        return one._replace(owner=self.asked.people[list(self.told.people).index(one.owner)])


def _filled(frame: str, one: Told) -> str:
    owner, _, form = one.owner.partition("/")
    text = frame.replace("{P}", owner[:1].upper() + owner[1:]).replace("{p}", owner).replace("{d}", form or owner)
    text = text.replace("{T}", owner[:1].upper() + owner[1:]).replace("{t}", owner)
    text = text.replace("{v}", one.value).replace("{k}", one.topic)
    return text[:1].upper() + text[1:]
