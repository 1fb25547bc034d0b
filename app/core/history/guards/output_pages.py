"""Reading the original of an output that was cut: by character, or by the words of a query. Linear in the text."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.text.words import STOP_WORDS, folded, tokens

MAX_TERMS = 8
_MOST_HITS = 2_000
"""Of one word; the last ones are not looked at."""
WORTH_SHOWING = 0.5
"""A line is shown when it scores at least this part of what the best one scores."""
_AROUND = 200
"""Characters that are shown of a line that is longer, around the word."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a text, character for character. ``following`` is where the next one starts; None for the last."""

    text: str
    offset: int
    following: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """A line with words of the query, and where it begins."""

    offset: int
    text: str


def page(text: str, offset: int, limit: int) -> Page:
    """``limit`` characters from ``offset`` on."""
    end = min(len(text), offset + limit)
    return Page(text[offset:end], offset, end if end < len(text) else None)


def find(text: str, query: str, limit: int) -> list[Place]:
    """The lines with most of the query's words, as many as take ``limit`` characters, in the order of the text."""
    low = folded(text)
    if len(low) != len(text):  # places in one are not places in the other
        low = text.lower() if len(text.lower()) == len(text) else text
    scores: defaultdict[tuple[int, int], float] = defaultdict(float)
    for term in _terms(query):
        found = {_line(text, at) for at in _hits(low, term)}
        for line in found:
            scores[line] += 1 / (1 + math.log(len(found)))  # a rare word says more than a common one
    least = max(scores.values(), default=0) * WORTH_SHOWING
    best = sorted((line for line in scores if scores[line] >= least), key=lambda line: (-scores[line], line))
    return sorted(_fitting(text, best, limit), key=lambda place: place.offset)


def _terms(query: str) -> Sequence[str]:
    phrase = folded(query).strip()
    words = dict.fromkeys(word for word in tokens(query) if word not in STOP_WORDS)
    longest = sorted(words, key=len, reverse=True)[:MAX_TERMS]
    return [term for term in dict.fromkeys([phrase, *longest]) if term]


def _hits(text: str, term: str) -> Iterator[int]:
    at = text.find(term)
    for _ in range(_MOST_HITS):
        if at < 0:
            return
        yield at
        at = text.find(term, at + len(term))


def _line(text: str, at: int) -> tuple[int, int]:
    """The line of a hit; of a very long one what stands around it."""
    start = max(text.rfind("\n", max(0, at - _AROUND), at) + 1, at - _AROUND, 0)
    stop = text.find("\n", at, at + _AROUND)
    return start, min(len(text), at + _AROUND) if stop < 0 else stop


def _fitting(text: str, best: Sequence[tuple[int, int]], room: int) -> Iterator[Place]:
    for start, stop in best:
        room -= stop - start + 12
        if room < 0:
            return
        yield Place(start, text[start:stop])
