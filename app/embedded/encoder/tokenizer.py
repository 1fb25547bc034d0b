"""Text into the model's tokens: SentencePiece's unigram model, which cuts a word where its pieces are most likely.

No piece goes over a space, so every word is cut for itself, and the words that come up again and again are remembered.
"""

from functools import lru_cache

from app.embedded.encoder.weights import Vocabulary

SPACE = "▁"
"""Stands for a space, at the beginning of each word."""
REMEMBERED_WORDS = 50_000
LONGEST_WORD = 400
"""Characters of a word that are cut at once; the work would grow with the longest piece, not with its square."""


class Tokenizer:
    """Cuts text into pieces."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pieces = vocabulary.pieces
        self._scores = vocabulary.scores
        self._replaced = dict(vocabulary.replaced)
        self._unknown = vocabulary.unknown
        self._unknown_score = min(self._scores) - 10
        self._longest = vocabulary.pieces.longest
        self._word = lru_cache(REMEMBERED_WORDS)(self._cut)

    def tokens(self, text: str) -> list[int]:
        """The pieces of ``text`` in order, without those that mark its beginning and its end."""
        words = text.translate(self._replaced).split(" ")
        found: list[int] = []
        for number, word in enumerate(words):
            if word or number == len(words) - 1:
                for start in range(0, max(1, len(word)), LONGEST_WORD):
                    part = word[start : start + LONGEST_WORD]
                    found += self._word(part if start else SPACE + part)
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        """The likeliest pieces of a word (Viterbi)."""
        letters = [letter.encode() for letter in word]
        count = len(letters)
        best = [0.0] + [float("-inf")] * count
        came: list[tuple[int, int]] = [(0, self._unknown)] * (count + 1)
        pieces, scores, unknown = self._pieces, self._scores, self._unknown
        for start in range(count):
            here, piece = best[start], b""
            for stop in range(start + 1, count + 1):
                piece += letters[stop - 1]
                if len(piece) > self._longest:
                    break
                number = pieces.get(piece)
                if number is not None and number != unknown and here + scores[number] > best[stop]:
                    best[stop], came[stop] = here + scores[number], (start, number)
            if here + self._unknown_score > best[start + 1]:
                best[start + 1], came[start + 1] = here + self._unknown_score, (start, unknown)
        found = []
        while count:
            count, number = came[count]
            found.append(number)
        return tuple(reversed(found))
