"""Of a long text the sentences that answer: what stands in a prompt is read on every turn, and paid for."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from app.core.recall.detail import Detail
from app.text.sentences import sentences
from app.text.similarity import words_in
from app.text.words import token_set

LONG_FROM = 1_200
"""Characters up to which a text stands whole."""
EXCERPT_CHARS = 800
ABSTRACT_FROM, ABSTRACT_CHARS = 240, 200
"""The same two for `Detail.ABSTRACT`."""
ELLIPSIS = "…"
MAX_SENTENCES = 400
"""Of a longer text the beginning is read."""
_NEAR = 0.4
"""What a sentence gets of the score of the one before it: an answer goes on in the next sentence."""
_TURN = re.compile(r"^(?:\d{4}-\d{2}-\d{2} )?(?:user|assistant): ", re.MULTILINE)
_DATE_CHARS = len("2026-01-01 ")
_LABEL = re.compile(r"[-*\s]{0,8}(?:\[?\d{4}-\d{2}-\d{2}\]?:?\s)?(?:(?:user|assistant):\s)?")


def excerpt(text: str, query: str, detail: Detail = Detail.OVERVIEW) -> str:
    """The sentences of a long ``text`` that share most with ``query``, whole and in order, with its date and speaker.

    What is left out is marked by an ellipsis. A text that shares no word with the query stays whole, because nothing
    tells which of its sentences answer; an abstract is then its beginning. `Detail.FULL` leaves nothing out.
    """
    if detail is Detail.FULL:
        return text
    if detail is Detail.ABSTRACT:
        return _abstract(text, query)
    if len(text) <= LONG_FROM:
        return text
    head, said = _read(text)
    scores = _scores(said, query)
    if not any(scores):
        return text
    chosen = _fitting(said, scores, EXCERPT_CHARS)
    return head + _joined(said, chosen) if chosen else text


def _abstract(text: str, query: str) -> str:
    """Of several turns the one that answers best, and of it the best sentences; one of them however long it is."""
    if len(text) <= ABSTRACT_FROM:
        return text
    turn, following = _best_turn(text, query)
    head, said = _read(turn)
    scores = _scores(said, query)
    if not any(scores):
        scores = [1 / (1 + place) for place in range(len(said))]
    best = scores.index(max(scores)) if said else 0
    if not said or len(said[best]) > EXCERPT_CHARS:
        return excerpt(text, query)
    fitting = _fitting(said, scores, ABSTRACT_CHARS) if len(said[best]) <= ABSTRACT_CHARS else [best]
    shown = head + _joined(said, fitting)
    return shown if not following or shown.endswith(ELLIPSIS) else f"{shown} {ELLIPSIS}"


def _best_turn(text: str, query: str) -> tuple[str, bool]:
    """The turn that shares most with the query, under the day on which it was said, and whether others follow it."""
    starts = [match.start() for match in _TURN.finditer(text)]
    if len(starts) < 2:
        return text, False
    turns = [text[start:end].strip() for start, end in zip([0, *starts[1:]], [*starts[1:], len(text)], strict=True)]
    scores = _scores(turns, query)
    best = scores.index(max(scores))
    day = ""
    for turn in turns[: best + 1]:
        day = turn[:_DATE_CHARS] if turn[0].isdigit() else day
    return turns[best] if turns[best].startswith(day) else day + turns[best], best + 1 < len(turns)


def _read(text: str) -> tuple[str, list[str]]:
    """What stands in front of a text, and its sentences."""
    label = _LABEL.match(text)
    head = label.group() if label else ""
    return head, [part for part, _ in zip(sentences(text[len(head) :]), range(MAX_SENTENCES), strict=False)]


def _scores(said: Sequence[str], query: str) -> list[float]:
    wanted = token_set(query)
    found = [frozenset(words_in(sentence, wanted)) for sentence in said]
    spread = Counter(word for words in found for word in words)
    own = [sum(math.log(1 + len(said) / spread[word]) for word in sorted(words)) for words in found]
    return [max(score, _NEAR * before) for score, before in zip(own, [0.0, *own], strict=False)]


def _fitting(said: Sequence[str], scores: Sequence[float], left: int) -> list[int]:
    """The places of the best sentences that fit together into ``left`` characters, in order."""
    chosen: list[int] = []
    for place in sorted(range(len(said)), key=lambda place: (-scores[place], place)):
        if scores[place] and len(said[place]) <= left:
            chosen.append(place)
            left -= len(said[place]) + 1
    return sorted(chosen)


def _joined(said: Sequence[str], chosen: Sequence[int]) -> str:
    pieces: list[str] = []
    last = -1
    for place in chosen:
        if place != last + 1:
            pieces.append(ELLIPSIS)
        pieces.append(said[place])
        last = place
    if last + 1 < len(said):
        pieces.append(ELLIPSIS)
    return " ".join(pieces)
