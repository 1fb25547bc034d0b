"""How much of a query's words stands in a text, in any language, weighted by how telling each word is."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

from app.text.scripts import is_cjk
from app.text.words import folded

PREFIX_CHARS = 4
"""From this length on a word also counts where a longer one begins with it: "flight" in "flights"."""
MAX_REMEMBERED_CHARS = 2_000
"""Longest text whose folded form is kept for the next time it comes up."""
MAX_PLACES = 16
"""Places of a word that are looked at in one text, so that no text can make the search slow."""


def shares(wanted: Collection[str], found: Sequence[Collection[str]]) -> list[float]:
    """For each text the share (0 to 1) of the ``wanted`` words that it holds (``found``), by how telling they are.

    The rarer a word is among the texts, the more it tells: no list of stop words in any language.
    """
    spread = Counter(word for words in found for word in words)
    weights = {word: math.log(1 + len(found) / (1 + spread[word])) for word in sorted(wanted)}
    total = sum(weights.values())
    return [sum(weights[word] for word in words) / total if total else 0.0 for words in found]


def words_in(text: str, wanted: Collection[str]) -> list[str]:
    """The ``wanted`` words (of `app.text.words.token_set`) that stand in ``text``.

    They are searched for where they begin a word, which finds inflections and costs a tenth of cutting candidates into
    words; Chinese, Japanese and Korean bigrams stand anywhere.
    """
    text = _folded(text) if len(text) <= MAX_REMEMBERED_CHARS else folded(text)
    return [word for word in wanted if word in text and _stands_alone(word, text)]


_folded = lru_cache(maxsize=2048)(folded)
"""The same memories come up again and again."""


def _stands_alone(word: str, text: str) -> bool:
    if not word.isascii() and is_cjk(word):
        return True
    at = text.find(word)
    for _ in range(MAX_PLACES):
        end = at + len(word)
        begins = not (at and text[at - 1].isalnum())
        if begins and (len(word) >= PREFIX_CHARS or not text[end : end + 1].isalnum()):
            return True
        at = text.find(word, end)
        if at < 0:
            return False
    return False
