"""Evidence about each hit, as numbers that mean the same whatever the backend's scale of scores is.

A score alone says nothing: e5 gives 0.85 to anything. What does tell is where a hit stands against the question's own
background, which share of the question's telling words it holds, and whether the question asks for anything personal.
A backend that knows its whole index gives the background with each hit (`Evidence`); for one that gives scores alone it
is read off the candidates.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from app.core.recall.hits import Hit
from app.recall.intent import asks_when
from app.recall.relevance.question_words import QuestionWords, Told, shipped
from app.text.dates import names_a_day
from app.text.log_odds import log_odds
from app.text.scripts import alphabet
from app.text.similarity import words_in
from app.text.words import folded, token_set

COMPARED_CHARS = 4_000
"""How much of a hit's text is compared with the question."""
MAX_REMEMBERED_CHARS = 2_000
"""Longest text of which is kept what stands in it, for the next time it comes up."""
READ_CHARS = 400
"""Of a text the beginning tells what script it is in and whether it names a day."""
MAX_NAMES = 8
LEAST_PERSONAL, MOST_PERSONAL = -4.0, 2.0
"""Log-odds between which it counts how personal a question is: beyond them it is as good as certain."""
LEAST_ODDS = -8.0
"""Log-odds below which less likely means no more; above its opposite neither."""
USUAL_WORDS = 20
"""Words (pairs of characters in Chinese) of a long question: what its words tell together is learnt from questions that
mostly have fewer, and of more each tells as much less. Else nothing answered a question of two clauses."""
_MOST_TOLD = 4.0
"""Log-odds beyond which it tells nothing more which words of the question a hit has, or has not."""
_WHOLE = 0.95
"""From this share on a hit has all of the question's words."""
_LEAST_DEVIATION = 1e-4
_HIGHEST_SCORE = 1e6
"""No backend's scores go so far; sums of them stay finite."""
_FURTHEST = 6.0
"""Deviations from the background beyond which more tell nothing more."""
_FEW = 4
"""So many candidates tell half as much about a background as many do."""
_CLOSE = 6
"""A hit's distance is measured to the sixth best: few questions have more answers than that."""

_LABEL = re.compile(r"[-*\s]{0,8}(?:\[?\d{4}-\d{2}-\d{2}\]?:?\s)?(?:(?P<who>user|assistant):\s)?")
_NAME = re.compile(r"(?<![.!?。！？]\s)(?<!^)\b[A-Z][\w'’-]{1,30}")

Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    """What is known of a question before anything is found. Make it once for all of its hits."""

    text: str
    words: frozenset[str]
    names: frozenset[str]
    alphabet: str = ""
    """`app.text.scripts.alphabet` of the text."""
    personal: float = 0.0
    """Log-odds that an answer depends on who asks; see `app.classify.classifier.Classifier.personal`."""
    told: Mapping[str, Told] = field(default_factory=dict)
    """What each of its words tells of a memory; see `app.recall.relevance.question_words`."""


def question_of(text: str, personal: float | None = None, known: QuestionWords | None = None) -> Question:
    """A question as the features need it. ``personal`` is a probability; None where nobody judged it. ``known`` is what
    is known of words: what was learnt, where nothing else is given."""
    odds = 0.0 if personal is None else log_odds(personal)
    names = frozenset(folded(name) for name in _NAME.findall(text)[:MAX_NAMES])
    words = token_set(text)
    personal_odds = min(MOST_PERSONAL, max(LEAST_PERSONAL, odds))
    told = (known or shipped()).of(words)
    return Question(text, words, names, alphabet(text[:READ_CHARS]), personal_odds, told)


def kind_of(hit: Hit) -> str:
    """The richest evidence that a hit carries, and so which weights judge it.

    ``answer`` where it is known what a similarity means, however few are stored; ``meaning`` where it only stands
    against a background; ``words`` and ``score``. A text that was just told has no vector yet, among others that have.
    """
    evidence = hit.evidence
    if evidence and evidence.similarity is not None:
        if evidence.odds is not None:
            return "answer"
        if evidence.background:
            return "meaning"
    return "words" if evidence and evidence.words is not None else "score"


def features_of(question: Question, hits: Sequence[Hit]) -> list[Features]:
    """The evidence about each hit, by name."""
    texts = [hit.text[:COMPARED_CHARS] for hit in hits]
    found = [frozenset(words_in(text, question.words)) for text in texts]
    shares = _shares(question.words, found, hits)
    heights = _heights(hits)
    best, most = max(heights, default=0.0), max(shares, default=0.0)
    second = sorted(heights)[-2] if len(heights) > 1 else best - 1
    odds = [_odds(hit) for hit in hits]
    answering = sum(map(math.exp, odds))
    anywhere = frozenset().union(*found)
    unseen = 1 - len(anywhere) / len(question.words) if question.words else 0.0
    without = math.fsum(told.missing for told in question.told.values())
    each = min(1.0, USUAL_WORDS / max(1, len(question.told)))
    numbers = []
    forms = [(_form_of if len(text) <= MAX_REMEMBERED_CHARS else _form_of.__wrapped__)(text) for text in texts]
    about_time = any(form.dated for form in forms) and asks_when(question.text)
    for form, words, share, height, own in zip(forms, found, shares, heights, odds, strict=True):
        named = _named(question.names, words) if question.names else 0
        numbers.append(
            {
                "personal": question.personal,
                "height": height,
                "behind": best - height,
                "first": min(1.0, height - second) if height > second else 0.0,
                "odds": own,
                "rivals": math.log1p(max(0.0, answering - math.exp(own))),
                "words": share,
                "behind_words": most - share,
                "whole": float(share > _WHOLE),
                "found": _told(each * math.fsum(question.told[word].found for word in words)),
                "missing": _told(each * (without - math.fsum(question.told[word].missing for word in words))),
                "hits_words": min(3.0, float(len(words))),
                "unseen": unseen,
                "named": min(2.0, float(named)),
                "unnamed": min(2.0, float(len(question.names) - named)),
                "length": form.length,
                "asks": form.asks,
                "assistant": form.assistant,
                "dated": float(about_time and form.dated),
                "foreign": float(bool(form.alphabet and question.alphabet) and form.alphabet != question.alphabet),
            }
        )
    return numbers


class _Form(NamedTuple):
    """What tells of a text whatever is asked: how long it is without its label, and how it is said."""

    length: float
    asks: float
    assistant: float
    dated: bool
    alphabet: str


@lru_cache(maxsize=2048)
def _form_of(text: str) -> _Form:
    """The same memories come up again and again."""
    label = _LABEL.match(text)
    said = without_label(text)
    return _Form(
        length=math.log(max(20, len(said)) / 100),
        asks=float(said.rstrip().endswith(("?", "？"))),
        assistant=float(bool(label and label["who"] == "assistant")),
        dated=names_a_day(said[:READ_CHARS]),
        alphabet=alphabet(said[:READ_CHARS]),
    )


def without_label(text: str) -> str:
    """``text`` without the day and the speaker that stand in front of it."""
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def _named(names: Collection[str], words: Collection[str]) -> int:
    """How many of the question's names stand in a text."""
    return sum(any(word.startswith(name) or name.startswith(word) for word in words) for name in names)


def _told(odds: float) -> float:
    return _within(odds, -_MOST_TOLD, _MOST_TOLD)


def _odds(hit: Hit) -> float:
    odds = hit.evidence.odds if hit.evidence else None
    return LEAST_ODDS if odds is None or not math.isfinite(odds) else _within(odds, LEAST_ODDS, -LEAST_ODDS)


def _heights(hits: Sequence[Hit]) -> list[float]:
    """How far each hit stands above the background of the question, in deviations."""
    heights = []
    scores = [_finite(hit.score) for hit in hits]
    of_scores = _background(scores)
    known = len(hits) / (len(hits) + _FEW)
    for hit, own in zip(hits, scores, strict=True):
        evidence = hit.evidence
        if evidence and evidence.similarity is not None and evidence.background:
            (mean, deviation), score, sure = evidence.background, evidence.similarity, 1.0
        else:
            (mean, deviation), score, sure = of_scores, own, known
        height = sure * (score - mean) / max(deviation, _LEAST_DEVIATION)
        heights.append(_within(height, -_FURTHEST, _FURTHEST))
    return heights


def _finite(score: float) -> float:
    return _within(score, -_HIGHEST_SCORE, _HIGHEST_SCORE) if math.isfinite(score) else 0.0


def _within(number: float, least: float, most: float) -> float:
    """``number`` within these bounds; 0 for what is no number, which would pass every bar."""
    return 0.0 if math.isnan(number) else min(most, max(least, number))


def _background(scores: Sequence[float]) -> tuple[float, float]:
    """Mean and deviation of the scores that are nobody's answer, as far as the candidates tell: all but the best."""
    rest = sorted(scores)[: -_CLOSE // 2] if len(scores) > _CLOSE else list(scores)
    if not rest:
        return 0.0, 1.0
    mean = math.fsum(rest) / len(rest)
    # Not `statistics.pstdev`: it computes with fractions, a fiftieth as fast.
    return mean, math.sqrt(math.fsum((score - mean) ** 2 for score in rest) / len(rest))


def _shares(wanted: Collection[str], found: Sequence[Collection[str]], hits: Sequence[Hit]) -> list[float]:
    """The share of the question's words in each hit, weighted by rarity: the backend's, or read off the candidates."""
    weights = _rarity(wanted, found)
    total = sum(weights.values()) or 1.0
    return [
        _within(hit.evidence.words, 0.0, 1.0)
        if hit.evidence and hit.evidence.words is not None
        else sum(weights[word] for word in words) / total
        for hit, words in zip(hits, found, strict=True)
    ]


def _rarity(wanted: Collection[str], found: Sequence[Collection[str]]) -> Mapping[str, float]:
    spread = dict.fromkeys(wanted, 0)  # not a `Counter`: making one takes longer than to count
    for words in found:
        for word in words:
            spread[word] += 1
    return {word: math.log(1 + len(found) / (0.5 + spread[word])) for word in sorted(wanted)}
