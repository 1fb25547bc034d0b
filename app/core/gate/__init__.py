"""The experience gate: does the latest message ask the agent to act? Deterministic, and each point names its reason.

Source: agent-experience design, section 3 (score table, threshold 3). The design's keyword table counts words
wherever they stand; here a verb counts where somebody is asked to do it, which is what tells "fix the login" from
"I fixed the login" and from "how do I fix a login?". See `app.core.gate.signs` for the whole table. Its hard skips
and forced triggers are in `app.core.occasion`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.gate import chinese, english
from app.core.gate.signs import EVIDENCE_CHARS, Found, Sentence, Sign, own_words, sample, sentences, speaks_chinese

THRESHOLD = 3
OBJECT_CHARS = 1200
"""How far things are looked for; a long paste names them early."""

_SIGNS = tuple(Sign)
_ACTS = {Sign.SIDE_EFFECT, Sign.EXECUTION, Sign.HANDOVER}
_BACKGROUND = {Sign.KNOWLEDGE, Sign.NARRATION, Sign.FEELING, Sign.PAST_TALK, Sign.REMEMBER}
"""What an act that is asked for turns into mere background: "thanks! now deploy it"."""


@dataclass(frozen=True, slots=True)
class Point:
    """One part of a score: why, how much, and the words (at most 40 characters) that show it."""

    reason: str
    value: int
    evidence: str


@dataclass(frozen=True, slots=True)
class GateScore:
    """The score of a message with all its points; ``passes`` says that it reaches the threshold."""

    score: int
    points: tuple[Point, ...]

    @property
    def passes(self) -> bool:
        """Whether the message looks like a task."""
        return self.score >= THRESHOLD


def judge_task(text: str) -> GateScore:
    """Score the latest user message by the table in `signs`. Reads at most 4000 characters of it."""
    own = own_words(sample(text).lower())
    found = [item for sentence in sentences(own) for item in _own_voice(_signs(sentence))]
    own = own[:OBJECT_CHARS]
    found += english.objects(own)
    if speaks_chinese(own):
        found += chinese.objects(own)
    return _score(found)


def _signs(sentence: Sentence) -> list[Found]:
    signs = list(english.read(sentence))
    if speaks_chinese(sentence.text):
        signs += chinese.read(sentence)
    return signs


def _own_voice(signs: list[Found]) -> list[Found]:
    """Within one sentence an act that is held back, remembered, told, a joke, or past talk is no act."""
    kinds = {found.sign for found in signs}
    story = Sign.STORY in kinds and Sign.ADDRESSED not in kinds
    if story or kinds & {Sign.HELD_BACK, Sign.REMEMBER, Sign.PAST_TALK, Sign.CHAT}:
        return [found for found in signs if found.sign not in _ACTS | {Sign.REQUEST, Sign.LOOKUP, Sign.ADDRESSED}]
    return signs


def _score(found: Iterable[Found]) -> GateScore:
    best: dict[Sign, Found] = {}
    for item in found:
        best.setdefault(item.sign, item)
    if not best.keys() & (_ACTS | {Sign.REQUEST, Sign.LOOKUP}):
        best.pop(Sign.THING, None)
    if best.keys() & _ACTS:
        for sign in _BACKGROUND | ({Sign.STORY} if Sign.ADDRESSED in best else set()):
            best.pop(sign, None)
    points = tuple(
        Point(sign.reason, sign.points, best[sign].evidence[:EVIDENCE_CHARS]) for sign in _SIGNS if sign in best
    )
    return GateScore(sum(point.value for point in points), points)
