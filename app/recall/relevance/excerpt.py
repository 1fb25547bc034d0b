"""Of a long text the sentences that answer: what stands in a prompt is read on every turn, and paid for."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from app.text.sentences import sentences
from app.text.similarity import words_in
from app.text.words import token_set

LONG_FROM = 1_200
"""Characters up to which a text stands whole."""
EXCERPT_CHARS = 800
ELLIPSIS = "…"
MAX_SENTENCES = 400
"""Of a longer text the beginning is read."""
_NEAR = 0.4
"""What a sentence gets of the score of the one before it: an answer goes on in the next sentence."""
_LABEL = re.compile(r"[-*\s]{0,8}(?:\[?\d{4}-\d{2}-\d{2}\]?:?\s)?(?:(?:user|assistant):\s)?")


def excerpt(text: str, query: str) -> str:
    """The sentences of a long ``text`` that share most with ``query``, whole and in order, with its date and speaker.

    What is left out is marked by an ellipsis. A text that shares no word with the query stays whole: nothing tells
    which of its sentences answer.
    """
    if len(text) <= LONG_FROM:
        return text
    label = _LABEL.match(text)
    head = label.group() if label else ""
    said = [part for part, _ in zip(sentences(text[len(head) :]), range(MAX_SENTENCES), strict=False)]
    scores = _scores(said, query)
    if not any(scores):
        return text
    chosen = _fitting(said, scores)
    return head + _joined(said, chosen) if chosen else text


def _scores(said: Sequence[str], query: str) -> list[float]:
    wanted = token_set(query)
    found = [frozenset(words_in(sentence, wanted)) for sentence in said]
    spread = Counter(word for words in found for word in words)
    own = [sum(math.log(1 + len(said) / spread[word]) for word in sorted(words)) for words in found]
    return [max(score, _NEAR * before) for score, before in zip(own, [0.0, *own], strict=False)]


def _fitting(said: Sequence[str], scores: Sequence[float]) -> list[int]:
    """The places of the best sentences that fit together, in order."""
    chosen: list[int] = []
    left = EXCERPT_CHARS
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
