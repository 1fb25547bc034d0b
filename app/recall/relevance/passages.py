"""Whether documents are about a question at all: then the best of their passages are shown, else none.

A memory is shown when it answers. Which of three passages answers nobody can tell from words and similarities, but
well whether any does: what the best of them have in common tells more than each of them. So all passages of a search
have one probability, and keep the order in which they were found.
"""

import math
from collections.abc import Sequence

from app.core.recall.hits import Hit
from app.recall.relevance.evidence import Features, Question, features_of, kind_of
from app.recall.relevance.model import Judged, judge, load_weights

BEST = 3
"""So many of the best passages are asked what they have in common."""
WEIGHTS = "documents"
KINDS = frozenset({"meaning", "words"})
"""Evidence for which it was learnt (`training.documents`); with any other a passage is judged as a memory is."""


def judge_passages(question: Question, hits: Sequence[Hit]) -> list[Judged]:
    """How likely the passages are worth their place: as likely as the documents are about the question."""
    kinds = {kind_of(hit) for hit in _best(hits)}
    if len(kinds) != 1 or not kinds <= KINDS:
        return judge(question, hits)
    judged = load_weights(kinds.pop(), WEIGHTS).judge(common_features(question, hits))
    return [judged] * len(hits)


def common_features(question: Question, hits: Sequence[Hit]) -> Features:
    """What the best passages have in common: the mean of each piece of evidence about them."""
    best = _best(hits)
    found = [features for hit, features in zip(hits, features_of(question, hits), strict=True) if hit in best]
    return {name: math.fsum(one[name] for one in found) / len(found) for name in found[0]} if found else {}


def _best(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)[:BEST]
