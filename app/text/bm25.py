"""BM25 over a handful of texts, where no index has counted their words."""

import math
from collections import Counter
from collections.abc import Sequence

from app.text.index_words import terms

MAX_TERMS = 48
"""Different words of a query that count."""
SATURATION, LENGTH = 1.2, 0.75
"""How soon a word that is repeated tells nothing more, and how much a long text counts less: SQLite's own numbers."""


def scores(query: str, texts: Sequence[str]) -> list[float]:
    """Of each text how much it is about the words of the query; 0 where it has none of them."""
    wanted = list(dict.fromkeys(terms(query)))[:MAX_TERMS]
    counted = [Counter(terms(text)) for text in texts]
    lengths = [count.total() for count in counted]
    usual = sum(lengths) / len(lengths) if lengths else 0.0
    found = [0.0] * len(texts)
    for word in wanted:
        holders = [n for n, count in enumerate(counted) if word in count]
        rarity = math.log(1 + (len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for n in holders:
            often = counted[n][word]
            damping = SATURATION * (1 - LENGTH + LENGTH * lengths[n] / usual)
            found[n] += rarity * often * (SATURATION + 1) / (often + damping)
    return found
