"""Small worlds of facts and questions, written for this repository, and prompts that nothing stored helps with.

A file ``*.worlds`` holds worlds. A world begins with ``world <name> <language of the facts>``; a line each follows for

- facts, in order of time: ``f3 2026-02-04 u I moved to Leeds.``; ``u`` was said by the user, ``a`` by the assistant,
  ``r`` is a record that was distilled from a conversation;
- questions: ``superseded f9 -f3: Where do I live?``: the kind, the facts without which a good answer fails, and with a
  minus the facts that are out of date. A follow-up has the user's earlier messages in front: ``... >> and my sister?``

The kinds: ``direct`` asks in the fact's words, ``indirect`` in others, ``implicit`` shares no word with the fact and
depends on it, ``multi`` needs several, ``superseded`` the later of two that disagree, ``follow`` what was said before;
``none`` sounds personal, and nothing answers it. Every fact that a question does not need is noise.

``rephrased.questions`` asks questions of these worlds once more in another manner, ``translated.questions`` in another
language than that of the facts, a line each: ``<world>#<number of the question>: <text>``, with `` <language>`` before
the colon where it is another one. They need the same facts, and belong to their worlds beside the others.

Other files have lines of one form each: ``*.pairs`` of ``<question> | <what an answer is, or depends on>``,
``*.questions`` of ``<language>: <prompt>``, ``*.offtopic`` of ``<kind> <language>: <prompt>``.
"""

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

EXAMPLES = Path(__file__).parent / "examples" / "relevance"

_FACT = re.compile(r"(f\d+) (\d{4}-\d\d-\d\d) ([uar]) (.+)")
_AGAIN = re.compile(r"(\S+)#(\d+)(?: (\S+))?: (.+)")
_WRITTEN_LATER = re.compile(r"[ln]\d-")
"""Names of the worlds of `worlds.logs-*.worlds` and `worlds.needs-*.worlds`."""
_QUESTION = re.compile(r"([a-z]+)((?: -?f\d+)*): (.+)")


@dataclass(frozen=True)
class Fact:
    """Something stored. ``role``: ``user``, ``assistant`` or ``record``."""

    id: str
    text: str
    date: str
    role: str = "user"


@dataclass(frozen=True)
class Question:
    """Something asked. ``earlier`` holds the user's messages before it, oldest first."""

    text: str
    kind: str
    needs: frozenset[str] = frozenset()
    outdated: frozenset[str] = frozenset()
    earlier: tuple[str, ...] = ()
    language: str = ""
    """Where it is another one than that of the facts."""
    again: bool = False
    """Whether it asks once more, in other words, what another question of its world asks."""


@dataclass(frozen=True)
class World:
    """One person's facts, and questions about them."""

    name: str
    language: str
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]


def worlds(blind: bool = False) -> list[World]:
    """The worlds to learn from, with what is asked again, or the ``blind`` ones to be judged on."""
    if blind:
        return read_worlds(EXAMPLES / "blind.worlds")
    told = [world for path in sorted(EXAMPLES.glob("worlds.*.worlds")) for world in read_worlds(path)]
    again = _asked_again()
    return [replace(world, questions=(*world.questions, *_again(world, again))) for world in told]


def updates() -> list[World]:
    """Worlds in which much changes, to learn from what that looks like; nobody learns from them what is relevant."""
    return [world for path in sorted(EXAMPLES.glob("updates.*.worlds")) for world in read_worlds(path)]


def unread(one: World | str) -> bool:
    """Whether `training.reading` does not learn from a world, or from a prompt, so that what it made can be measured
    on it: every fifth, and the worlds that were written last, from which it learnt nothing more."""
    name = one if isinstance(one, str) else one.name
    return zlib.crc32(name.encode()) % 5 == 0 or (isinstance(one, World) and bool(_WRITTEN_LATER.match(name)))


def off_topic(blind: bool = False) -> list[str]:
    """Prompts that nothing stored helps with, to learn from or to be judged on."""
    return read_prompts(EXAMPLES / ("blind.offtopic" if blind else "learnt.offtopic"))


def questions() -> list[tuple[str, str]]:
    """The language of each and prompts that something stored may help with, to learn what such are like."""
    return [(lang, text) for lang, text in (line.split(": ", 1) for line in _lines(EXAMPLES / "learnt.questions"))]


def pairs() -> list[tuple[str, str]]:
    """Questions with a text that belongs to each, to learn from."""
    asked = (line.split(" | ") for line in _lines(EXAMPLES / "learnt.pairs"))
    return [(question, text) for question, text in asked]


def read_worlds(path: Path) -> list[World]:
    """The worlds of a file of this module's format, or of JSON Lines with the same fields."""
    if path.suffix == ".jsonl":
        return [_from_json(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    blocks: list[list[str]] = []
    for line in _lines(path):
        if line.startswith("world "):
            blocks.append([])
        blocks[-1].append(line)
    return [_world(block) for block in blocks]


def read_prompts(path: Path) -> list[str]:
    """The prompts of a file of this module's format, or of JSON Lines with a ``text`` each."""
    if path.suffix == ".jsonl":
        return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    return [line.split(": ", 1)[1] for line in _lines(path)]


def _lines(path: Path) -> Iterator[str]:
    lines = map(str.strip, path.read_text(encoding="utf-8").splitlines())
    return (line for line in lines if line and not line.startswith("#"))


def _asked_again() -> Mapping[str, list[tuple[int, str, str]]]:
    """By world the number of a question, the language where it is another one, and how it is asked again."""
    found: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for name in ("rephrased", "translated"):
        for line in _lines(EXAMPLES / f"{name}.questions"):
            if not (one := _AGAIN.fullmatch(line)):
                raise ValueError(f"{name}: no question asked again: {line}")
            found[one[1]].append((int(one[2]), one[3] or "", one[4]))
    return found


def _again(world: World, asked: Mapping[str, list[tuple[int, str, str]]]) -> Iterator[Question]:
    """What is ``asked`` of a world once more."""
    for number, language, text in asked.get(world.name, ()):
        yield replace(world.questions[number], text=text, language=language, again=True)


def _world(lines: list[str]) -> World:
    _, name, language = lines[0].split()
    facts, questions = [], []
    roles = {"u": "user", "a": "assistant", "r": "record"}
    for line in lines[1:]:
        if fact := _FACT.fullmatch(line):
            facts.append(Fact(fact[1], fact[4], fact[2], roles[fact[3]]))
        elif asked := _QUESTION.fullmatch(line):
            ids = asked[2].split()
            *earlier, text = asked[3].split(" >> ")
            needs = frozenset(one for one in ids if not one.startswith("-"))
            outdated = frozenset(one[1:] for one in ids if one.startswith("-"))
            questions.append(Question(text, asked[1], needs, outdated, tuple(earlier)))
        else:
            raise ValueError(f"{name}: neither a fact nor a question: {line}")
    return World(name, language, tuple(facts), tuple(questions))


def _from_json(data: dict[str, list[dict[str, str]]]) -> World:
    facts = [Fact(fact["id"], fact["text"], fact["date"]) for fact in data["facts"]]
    questions = [
        Question(
            asked["text"],
            asked["kind"],
            frozenset(asked["needs"]),
            frozenset(asked.get("outdated", ())),
        )
        for asked in data["questions"]
    ]
    return World(str(data["world"]), str(data["lang"]), tuple(facts), tuple(questions))
