"""How much texts are about a query, by its words alone: those that no index has yet, and beside a search by meaning."""

import math
from collections import Counter
from collections.abc import Sequence

from app.text.words import token_set

_LEAST, _MOST = 0.1, 0.95
_RANK_OFFSET = 60
"""How little the first places of a ranking differ."""


def relevance(query: str, text: str) -> float:
    """Between 0 and 0.95: the share of the query's words that the text has; 0 where it has none."""
    asked = token_set(query)
    found = asked & token_set(text)
    return min(_MOST, _LEAST + (1 - _LEAST) * len(found) / len(asked)) if found else 0.0


def shared(query: str, texts: Sequence[str]) -> list[float]:
    """Of each text the share of the query's words that it has, between 0 and 1; words that few of the texts have count
    more."""
    asked = token_set(query)
    found = [asked & token_set(text) for text in texts]
    spread = Counter(word for words in found for word in words)
    rarity = {word: math.log1p((len(texts) + 0.5) / (spread[word] + 0.5)) for word in asked}
    total = sum(rarity.values())
    return [sum(rarity[word] for word in words) / total if total else 0.0 for words in found]


def fused(scores: Sequence[float]) -> list[int]:
    """The places of a ranking, the best first by it and by these ``scores`` together (reciprocal rank fusion); a score
    of 0 says nothing."""
    by_score = sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: -scores[n])
    both = [1 / (_RANK_OFFSET + n) for n in range(len(scores))]
    for rank, n in enumerate(by_score):
        both[n] += 1 / (_RANK_OFFSET + rank)
    return sorted(range(len(scores)), key=lambda n: -both[n])
